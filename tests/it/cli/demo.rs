//! `concertina demo`: what a stranger sees first.

use super::support::{concertina, json_lines, stderr, stdout};

/// Everything that the demo promises, in order.
const SECTIONS: [&str; 8] = [
    "An agent mends a tide table.",
    "of the limit",
    "What each stage has saved of the last context",
    "Overlays in force",
    "Start of the last context",
    "Nothing is lost",
    "ReadHistory",
    "ReadContent",
];

#[test]
fn the_demo_shows_how_the_window_filled_and_that_nothing_is_lost() {
    let assert = concertina(&["demo"]).assert().success();
    let text = stdout(&assert);
    let mut rest = text.as_str();
    for section in SECTIONS {
        let at = rest.find(section);
        rest = &rest[at.unwrap_or_else(|| panic!("{section} in its place in:\n{text}"))..];
    }
    assert!(text.contains("RollbackOverlay"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert_eq!(stderr(&assert), "");
}

#[test]
fn no_call_of_the_demo_is_above_the_limit() {
    let assert = concertina(&["demo", "--output", "json"]).assert().success();
    let calls = json_lines(&assert);
    assert!(calls.len() > 30, "{}", calls.len());
    let number = |value: &serde_json::Value| value.as_i64().expect("a number");
    for call in &calls {
        let budget = &call["budget"];
        let sent = number(&budget["fixed"]) + number(&budget["messages"]);
        assert!(sent <= number(&budget["window"]) - number(&budget["output_reserve"]), "{call}");
    }
    let last = &calls.last().expect("calls")["budget"];
    assert!(number(&last["history"]) > 2 * number(&last["window"]), "it would not have fitted");
}

#[test]
fn the_demo_runs_with_every_preset_that_reduces() {
    for preset in ["four-level", "cascade", "teaching"] {
        let text = stdout(&concertina(&["demo", "--preset", preset]).assert().success());
        assert!(text.contains(&format!("policy `{preset}`")), "{text}");
    }
}

#[test]
fn the_data_stays_where_it_was_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("kept");
    let data = data.to_str().expect("a name");
    let text = stdout(&concertina(&["demo", "--data", data]).assert().success());
    assert!(text.contains(&format!("concertina serve --data {data}")), "{text}");
    assert!(std::fs::read_dir(data).expect("the folder is there").next().is_some());
}
