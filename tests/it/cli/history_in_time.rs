//! `concertina revisions`, and what was shown at one of them.

use expect_test::expect;

use super::support::{Server, anonymous, stderr, stdout};

/// One change of every sort.
fn eventful() -> Server {
    let server = Server::with_turns(6);
    let id = |value: &serde_json::Value| value.as_str().expect("an id").to_owned();
    let overlay = server.collapsed("1-4");
    server.run(&["rollback", "s", &overlay, "--reason", "too short"]);
    let made = server.json(&["pin", "s", "3", "--reason", "the plan"]).remove(0);
    server.run(&["unpin", "s", &id(&made["pin"]["id"])]);
    server.run(&["views", "set", "s", "small", "--window", "9000", "--preset", "cascade"]);
    server.run(&["views", "delete", "s", "small"]);
    server.run(&["items", "set", "s", "system", "Be brief."]);
    server.run(&["append", "s", "One more thing.", "--lane", "helper"]);
    server
}

#[test]
fn each_revision_is_a_line_that_says_what_changed() {
    let server = eventful();
    let text = anonymous(&server.run(&["revisions", "s"]));
    let lines: Vec<_> = text.lines().map(str::trim_start).collect();
    expect![[r"
        1  <time>  view main: preset (default), window 100,000
        2  <time>  rows 1–12 appended
        3  <time>  collapse of rows 1–4 by hand, 1,194 → 848 tokens, by lena
        4  <time>  rolled back: collapse of rows 1–4 by hand: too short
        5  <time>  row 3 pinned: the plan
        6  <time>  row 3 unpinned
        7  <time>  view small: preset cascade, window 9,000
        8  <time>  view small deleted
        9  <time>  context item system set or removed (system)
        10  <time>  row 13 appended in lane helper"]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn as_json_each_change_stands_under_its_name() {
    let server = eventful();
    let revisions = server.json(&["revisions", "s"]);
    let numbers: Vec<_> = revisions.iter().filter_map(|it| it["revision"].as_i64()).collect();
    let expected: Vec<_> = (numbers[0]..).take(numbers.len()).collect();
    assert_eq!(numbers, expected, "none is left out");
    let of = |name: &str| {
        let found = revisions.iter().rev().find(|it| !it[name].is_null());
        &found.unwrap_or_else(|| panic!("no {name}"))[name]
    };
    assert_eq!(of("appended")["lane"], "helper");
    assert_eq!(of("overlay_committed")["author"], "lena");
    assert_eq!(of("overlay_rolled_back")["rollback_reason"], "too short");
    assert_eq!(of("pinned")["reason"], "the plan");
    assert_eq!(of("unpinned")["id"], of("pinned")["id"]);
    assert_eq!(of("view_set")["preset"], "cascade");
    assert_eq!(of("view_deleted"), "small");
    assert_eq!(of("context_item_set")["name"], "system");
}

#[test]
fn revisions_are_paged() {
    let server = eventful();
    let all = server.run(&["revisions", "s"]);
    let assert = server.command(&["revisions", "s", "--limit", "4"]).assert().success();
    let first = stdout(&assert);
    assert_eq!(first.lines().count(), 4);
    let words = stderr(&assert);
    let after = words.strip_prefix("more: `--after ").and_then(|it| it.strip_suffix("`\n"));
    let rest = server.run(&["revisions", "s", "--after", after.expect(&words)]);
    assert_eq!(first + &rest, all);
    assert_eq!(server.run(&["revisions", "s", "--after", "999"]), "");
    let words = server.refused(&["revisions", "none"]);
    assert!(words.contains("reason: SESSION_NOT_FOUND"), "{words}");
}

#[test]
fn i8_an_earlier_context_comes_back_byte_for_byte() {
    let server = Server::with_turns(6);
    let before = server.json(&["context", "s"]).remove(0);
    server.run(&["collapse", "s", "1-4"]);
    server.run(&["append", "s", "One more thing."]);
    let revision = before["meta"]["revision"].to_string();
    for option in ["--at", "--at-revision"] {
        let then = server.json(&["context", "s", option, &revision]).remove(0);
        assert_eq!(then["messages"].to_string(), before["messages"].to_string());
        assert_eq!(then["meta"]["revision"], before["meta"]["revision"]);
    }
    let text = server.run(&["context", "s", "--at", &revision]);
    assert!(text.contains(&format!("revision {revision} ")), "{text}");
}

#[test]
fn an_earlier_state_above_the_limit_says_so() {
    let server = Server::start();
    server.run(&["import", "demo/session.jsonl", "--session", "s", "--window", "16000"]);
    let text = server.run(&["context", "s", "--at", "3"]);
    assert!(text.contains(" above the limit: shown as it stood then, no stage runs"), "{text}");
    let text = server.run(&["context", "s"]);
    assert!(!text.contains("above the limit"), "{text}");
}

#[test]
fn a_revision_that_is_not_there_and_another_window_in_the_past_are_refused() {
    let server = Server::with_turns(1);
    let words = server.refused(&["context", "s", "--at", "99"]);
    for expected in ["reason: REVISION_NOT_FOUND", "hint: `concertina revisions SESSION`"] {
        assert!(words.contains(expected), "{words}");
    }
    let others: [&[&str]; 3] = [&["--window", "9000"], &["--preset", "off"], &["--model", "m"]];
    for other in others {
        let arguments = [&["context", "s", "--at", "1"], other].concat();
        let assert = server.command(&arguments).assert().code(2);
        assert!(stderr(&assert).contains("cannot be used with"), "{}", stderr(&assert));
    }
}

#[test]
fn a_context_says_what_a_providers_cache_can_use_again() {
    let server = Server::with_turns(6);
    let first = server.run(&["context", "s"]);
    assert!(first.contains("prompt cache: no message is as it was sent last"), "{first}");
    server.run(&["append", "s", "One more thing."]);
    let second = server.run(&["context", "s"]);
    assert!(
        second.contains("prompt cache: the first 11 of 13 messages (1,086 tokens)"),
        "{second}"
    );
}
