//! The documents, held to what they speak of.

use concertina::{policies::Presets, proto::v1::ErrorReason};
use serde_json::Value;

use super::support::Server;

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

/// Each as a user would type it, ids filled in from what was printed before.
#[test]
fn the_readmes_commands_on_collapse_run_as_they_stand() {
    let start = README.find("## Context Collapse").expect("the section");
    let end = README.find("## Point an agent").expect("the section after it");
    let lines = README[start..end].lines().filter(|line| line.starts_with("concertina "));
    let server = Server::start();
    let (mut plan, mut told) = (String::new(), 0);
    for line in lines {
        let id = |listing: &str| {
            let listed = server.json(&[listing, "tides"]);
            let folded = listed.iter().rfind(|it| it["kind"] != "clear").expect(line);
            folded["id"].as_str().expect("an id").to_owned()
        };
        let mut line = line.replace("PLAN", &plan);
        for (word, listing) in [("OVERLAY", "overlays"), ("PIN", "pins")] {
            if line.contains(word) {
                line = line.replace(word, &id(listing));
            }
        }
        let printed = server.shell(&line);
        if let Some(made) = printed.strip_prefix("plan ") {
            plan = made.lines().next().expect("a line").to_owned();
        }
        told += 1;
    }
    assert!(told > 20, "{told}");
}
