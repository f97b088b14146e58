//! The documents, held to what they speak of.

use concertina::{policies::Presets, proto::v1::ErrorReason};
use serde_json::Value;

use super::support::{Server, anonymous};

const ERRORS: &str = include_str!("../../../docs/errors.md");
const POLICIES: &str = include_str!("../../../docs/policies.md");
const FORMATS: &str = include_str!("../../../docs/formats.md");
const README: &str = include_str!("../../../README.md");

#[test]
fn every_reason_is_documented_once() {
    let reasons: Vec<_> = (1..=200)
        .filter_map(|number| ErrorReason::try_from(number).ok())
        .map(|reason| reason.as_str_name().trim_start_matches("ERROR_REASON_"))
        .collect();
    assert!(reasons.len() > 40, "{}", reasons.len());
    for reason in &reasons {
        // A status stands in the second column; `INTERNAL` is one too.
        assert_eq!(ERRORS.matches(&format!("\n| `{reason}` | `")).count(), 1, "{reason}");
    }
}

#[test]
fn every_preset_and_every_parameter_is_documented() {
    let presets = Presets::embedded();
    for name in presets.names() {
        let policy = presets.resolve(name, b"").expect(name).policy;
        let stages: Vec<_> = policy.stages.iter().map(|stage| stage.name()).collect();
        let row = format!("| `{name}` | {} |", stages.join(" → "));
        assert!(POLICIES.contains(&row), "{row}");
    }
    let whole = presets.resolve("default", b"").expect("a preset").json;
    let whole: Value = serde_json::from_slice(&whole).expect("JSON");
    for (table, parameters) in whole.as_object().expect("tables") {
        for parameter in parameters.as_object().into_iter().flat_map(|it| it.keys()) {
            let row = format!("| `{table}.{parameter}` |");
            assert!(POLICIES.contains(&row), "{row}");
        }
    }
}

#[test]
fn every_import_format_is_documented() {
    for (_, name) in concertina::ingest::session::SourceFormat::ALL {
        assert!(FORMATS.contains(&format!("| `{name}` |")), "{name}");
    }
}

#[test]
fn the_readme_names_the_two_commands_and_every_method_that_is_built() {
    assert!(README.contains("cargo run --release -- demo"));
    assert!(README.contains("\ncargo test "));
    for method in ["AppendTurn", "GetContext", "StreamContext", "RollbackOverlay", "ReadContent"] {
        assert!(README.contains(method), "{method}");
    }
}

/// The commands between two headings of a document, without their remarks.
fn commands<'a>(document: &'a str, from: &str, to: &str) -> impl Iterator<Item = &'a str> {
    let start = document.find(from).expect(from);
    let end = start + document[start..].find(to).expect(to);
    document[start..end].lines().filter(|line| line.starts_with("concertina "))
}

#[test]
fn the_readmes_first_session_runs_as_it_stands() {
    let server = Server::start();
    let told: Vec<_> = commands(README, "### With the command line", "### With grpcurl").collect();
    assert!(told.len() > 10, "{told:?}");
    for line in told {
        server.shell(line);
    }
}

#[test]
fn the_commands_on_policies_run_as_they_stand() {
    let server = Server::start();
    let told: Vec<_> = commands(POLICIES, "# Policies", "## Presets").collect();
    assert!(told.len() > 6, "{told:?}");
    for line in told {
        server.shell(line);
    }
}

/// Each as a user would type it from top to bottom, with the ids that the
/// command before printed.
#[test]
fn the_readmes_commands_on_collapse_run_as_they_stand() {
    let server = Server::start();
    let (mut plan, mut pin, mut told) = (String::new(), String::new(), 0);
    for line in commands(README, "## Context Collapse", "## Point an agent") {
        let printed = server.shell(&line.replace("PLAN", &plan).replace("PIN", &pin));
        if let Some(made) = printed.strip_prefix("plan ") {
            plan = made.lines().next().expect("a line").to_owned();
        }
        if printed.starts_with("pinned ") {
            let id = printed.split_whitespace().find(|word| word.len() == 36);
            pin = id.expect("an id").to_owned();
        }
        if line.starts_with("concertina overlays tides ") && told < 3 {
            let sample = README.split("```text\n").nth(1).and_then(|it| it.split("```").next());
            assert_eq!(anonymous(sample.expect("a sample")), anonymous(&printed));
        }
        told += 1;
    }
    assert!(told > 20, "{told}");
}
