//! `concertina demo`: what a stranger sees first.

use super::support::{concertina, json_lines, stderr, stdout};

/// Everything that the demo promises, in order.
const SECTIONS: [&str; 12] = [
    "An agent mends a tide table.",
    "of the limit",
    "What each stage has saved of the last context",
    "Start of the last context",
    "prompt cache: the first ",
    "The view as a strip",
    "A collapse on demand, and back",
    "CreateCollapse ",
    "Two views of one history",
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
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert_eq!(stderr(&assert), "");
}

#[test]
fn i5_the_demos_rollback_gives_the_same_bytes_again() {
    let text = stdout(&concertina(&["demo"]).assert().success());
    let shown: Vec<_> = text.lines().filter(|line| line.contains(" bytes, blake3 ")).collect();
    let [before, folded, after] = shown[..] else { panic!("three contexts in:\n{text}") };
    let digest = |line: &str| line.split("blake3 ").nth(1).expect(line)[..12].to_owned();
    assert_eq!(digest(before), digest(after));
    assert_ne!(digest(before), digest(folded));
    assert!(after.ends_with(": the same bytes"), "{after}");
    assert!(text.contains("[A turn 1]"), "what it folded by itself, in:\n{text}");
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
    for preset in ["four-level", "cascade", "teaching", "teaching-collapse", "claude-code"] {
        let text = stdout(&concertina(&["demo", "--preset", preset]).assert().success());
        assert!(text.contains(&format!("policy `{preset}`")), "{text}");
        assert!(text.contains(": the same bytes"), "{text}");
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
