//! `concertina collapse`: by the server, and by callers that summarize
//! themselves.

use expect_test::expect;

use super::support::{Server, anonymous, stderr, stdout};

#[test]
fn r62_a_segment_is_collapsed_and_told_with_its_summary_and_how_to_undo_it() {
    let server = Server::with_turns(6);
    let assert = server.command(&["collapse", "s", "1-4"]).assert().success();
    let text = anonymous(&stdout(&assert));
    let (head, summary) = text.split_once('\n').expect("a head and a summary");
    assert!(head.starts_with("collapsed rows 1–4 (4 messages), 1,194 → "), "{head}");
    assert!(head.ends_with(" tokens: <id> (revision 3)"), "{head}");
    assert!(summary.lines().count() > 3, "{summary}");
    assert!(summary.lines().all(|line| line.starts_with("  ")), "{summary}");
    let words = anonymous(&stderr(&assert));
    assert_eq!(words, "undo it: `concertina rollback s <id>`\n");
}

#[test]
fn without_rows_the_policys_oldest_segment_is_taken() {
    let server = Server::with_turns(12);
    let made = server.json(&["collapse", "s", "--author", "lena"]).remove(0);
    assert_eq!(made["overlay"]["covered"][0]["first_seq"], 1);
    assert_eq!(made["overlay"]["author"], "lena");
    assert_eq!(made["overlay"]["cause"], "manual");
    assert!(made["revision"].as_i64() > Some(2), "{made}");
}

#[test]
fn a_retry_with_the_same_request_id_makes_no_second_overlay() {
    let server = Server::with_turns(6);
    let collapse = ["collapse", "s", "1-4", "--request-id", "r-1"];
    let (first, again) = (server.json(&collapse), server.json(&collapse));
    assert_eq!(first[0]["overlay"]["id"], again[0]["overlay"]["id"]);
    assert_eq!(server.json(&["overlays", "s"]).len(), 1);
}

#[test]
fn a_callers_own_summary_goes_from_prepare_to_commit() {
    let server = Server::with_turns(6);
    let plan = server.json(&["collapse", "prepare", "s", "1-4", "--lease", "60"]).remove(0);
    assert_eq!(plan["covered"][0], serde_json::json!({"first_seq": 1, "last_seq": 4}));
    let material = plan["material"].as_str().expect("a text");
    assert!(material.contains("Please mend part 2."), "{material}");
    assert!(!material.contains("part 3"), "{material}");
    assert!(plan["max_summary_tokens"].as_i64() >= Some(100), "{plan}");

    let id = plan["plan_id"].as_str().expect("an id");
    let commit = ["collapse", "commit", "s", id, "-", "--author", "lena"];
    let mut command = server.command(&commit);
    let summary = "Parts 1 and 2 are mended.";
    let assert = command.write_stdin(summary).assert().success();
    expect![[r"
        collapsed rows 1–4 (4 messages), 1,194 → 853 tokens: <id> (revision 3)
          Parts 1 and 2 are mended.
    "]]
    .assert_eq(&anonymous(&stdout(&assert)));
    let overlay = server.json(&["overlays", "s"]).remove(0);
    assert_eq!((&overlay["summary"], &overlay["summarizer"]), (&summary.into(), &"client".into()));
    // The same once more is the same overlay.
    let again = server.json(&["collapse", "commit", "s", id, summary]).remove(0);
    assert_eq!(again["overlay"]["id"], overlay["id"]);
}

#[test]
fn a_plan_for_people_tells_the_lease_the_limits_and_what_to_do_next() {
    let server = Server::with_turns(6);
    let assert = server.command(&["collapse", "prepare", "s", "1-4"]).assert().success();
    let text = anonymous(&stdout(&assert));
    let head: Vec<_> = text.lines().take(5).collect();
    expect![[r"
        plan <id>
        rows 1–4, leased until <time>
        summary of at most 300 tokens; the view holds 1,194

        Instructions
    "]]
    .assert_eq(&format!("{}\n", head.join("\n")));
    assert!(text.contains("\nMaterial\n"), "{text}");
    assert_eq!(anonymous(&stderr(&assert)), "next: `concertina collapse commit s <id> @FILE`\n");
}

#[test]
fn a_plan_that_was_given_back_frees_its_rows() {
    let server = Server::with_turns(6);
    let plan = server.json(&["collapse", "prepare", "s", "1-4"]).remove(0);
    let id = plan["plan_id"].as_str().expect("an id");
    let words = server.refused(&["collapse", "s", "3-6"]);
    assert!(words.contains("reason: RANGE_LEASED"), "{words}");
    assert!(words.contains("`concertina collapse abandon SESSION PLAN`"), "{words}");

    let text = server.run(&["collapse", "abandon", "s", id]);
    assert_eq!(text, format!("gave back plan {id}\n"));
    assert_eq!(server.json(&["collapse", "abandon", "s", id])[0]["abandoned"], *id);
    server.run(&["collapse", "s", "3-6"]);
    let words = server.refused(&["collapse", "commit", "s", id, "Too late."]);
    assert!(words.contains("reason: PLAN_NOT_FOUND"), "{words}");
    assert!(words.contains("hint: `concertina collapse prepare` makes a new one"), "{words}");
}

#[test]
fn a_poor_summary_is_refused_and_the_lease_holds() {
    let server = Server::with_turns(6);
    let plan = server.json(&["collapse", "prepare", "s", "1-4"]).remove(0);
    let id = plan["plan_id"].as_str().expect("an id");
    let long = "word ".repeat(5_000);
    let cases: [(&[&str], &str); 3] = [
        (&["..."], "SUMMARY_REJECTED"),
        (&["It was", "--finish-reason", "max_tokens"], "SUMMARY_REJECTED"),
        (&[&long], "SUMMARY_TOO_LONG"),
    ];
    for (summary, reason) in cases {
        let words = server.refused(&[&["collapse", "commit", "s", id], summary].concat());
        assert!(words.contains(&format!("reason: {reason}")), "{words}");
        assert!(words.contains("a lease of yours holds on"), "{words}");
    }
    assert!(server.json(&["overlays", "s"]).is_empty());
    server.run(&["collapse", "commit", "s", id, "Parts 1 and 2 are mended."]);
}

#[test]
fn what_cannot_be_collapsed_is_told_with_its_reason() {
    let server = Server::with_turns(6);
    server.run(&["collapse", "s", "1-6"]);
    let cases: [(&[&str], &str); 5] = [
        (&["s", "1-4"], "NOTHING_TO_COLLAPSE"),
        (&["s", "7-11"], "RANGE_HOLDS_NEWEST_REQUEST"),
        (&["s", "7-99"], "RANGE_NOT_FOUND"),
        (&["s", "--view", "none"], "VIEW_NOT_FOUND"),
        (&["none"], "SESSION_NOT_FOUND"),
    ];
    for (arguments, reason) in cases {
        let words = server.refused(&[&["collapse"], arguments].concat());
        assert!(words.contains(&format!("reason: {reason}")), "{words}");
        assert!(words.contains("hint: "), "{words}");
    }
}

#[test]
fn what_belongs_to_a_step_stands_after_its_name() {
    let server = Server::with_turns(2);
    for arguments in [
        &["collapse", "--view", "x", "abandon", "s", "p"][..],
        &["collapse", "s", "abandon", "s", "p"],
    ] {
        let assert = server.command(arguments).assert().code(2);
        assert!(stderr(&assert).contains("after its name"), "{}", stderr(&assert));
    }
}

#[test]
fn rows_that_are_none_and_a_missing_session_are_wrong_usage() {
    let server = Server::start();
    for rows in ["0", "9-3", "a", "1-2-3"] {
        let assert = server.command(&["collapse", "s", rows]).assert().code(2);
        assert!(stderr(&assert).contains("expected `3` or `3-17`"), "{}", stderr(&assert));
    }
    let assert = server.command(&["collapse"]).assert().code(2);
    assert!(stderr(&assert).contains("expected a session"), "{}", stderr(&assert));
}

#[test]
fn options_of_every_command_may_stand_anywhere() {
    let server = Server::with_turns(6);
    let places: [&[&str]; 3] = [
        &["--output", "json", "collapse", "prepare", "s", "1-2"],
        &["collapse", "--output", "json", "prepare", "s", "3-4"],
        &["collapse", "prepare", "s", "5-6", "--output", "json"],
    ];
    for arguments in places {
        assert!(server.run(arguments).starts_with('{'), "{arguments:?}");
    }
}

#[test]
fn r69_a_rollback_gives_the_same_bytes_again() {
    let server = Server::with_turns(6);
    let shown = || server.json(&["context", "s"]).remove(0)["messages"].clone();
    let before = shown();
    let overlay = server.json(&["collapse", "s", "1-4"]).remove(0)["overlay"].clone();
    let folded = shown();
    assert!(folded.to_string().len() < before.to_string().len());
    assert!(folded[0].to_string().contains("conversation_summary"), "{folded}");
    let id = overlay["id"].as_str().expect("an id");
    let text = server.run(&["rollback", "s", id, "--reason", "too short", "--author", "lena"]);
    assert!(text.starts_with("rolled back collapse of rows 1–4 (revision "), "{text}");
    assert_eq!(shown().to_string(), before.to_string());
    let gone = server.json(&["overlays", "s", "--all"]).remove(0);
    assert_eq!((&gone["rollback_reason"], &gone["in_force"]), (&"too short".into(), &false.into()));

    let words = server.refused(&["rollback", "s", id]);
    assert!(words.contains("reason: ALREADY_ROLLED_BACK"), "{words}");
}

#[test]
fn a_rollback_may_pin_what_shows_again() {
    let server = Server::with_turns(6);
    let overlay = server.json(&["collapse", "s", "1-4"]).remove(0)["overlay"].clone();
    let id = overlay["id"].as_str().expect("an id");
    let text = server.run(&["rollback", "s", id, "--pin"]);
    assert!(anonymous(&text).ends_with("pinned rows 1–4: <id>\n"), "{text}");
    let pins = server.json(&["pins", "s"]);
    assert_eq!(pins[0]["rows"], serde_json::json!({"first_seq": 1, "last_seq": 4}));
    let words = server.refused(&["collapse", "s", "1-4"]);
    assert!(words.contains("reason: RANGE_PINNED"), "{words}");
    assert!(words.contains(pins[0]["id"].as_str().expect("an id")), "{words}");
}

#[test]
fn a_rollback_tells_what_covers_the_rows_still() {
    let server = Server::with_turns(8);
    let inner = server.json(&["collapse", "s", "1-4"]).remove(0)["overlay"]["id"].clone();
    let outer = server.json(&["collapse", "s", "1-8"]).remove(0)["overlay"]["id"].clone();
    let command = ["rollback", "s", inner.as_str().expect("an id"), "--output", "json"];
    let done = server.json(&command[..3]).remove(0);
    assert_eq!(done["hidden_by_overlay_id"], outer);
    assert_eq!(server.json(&["overlays", "s"]).len(), 1);
}

#[test]
fn a_rollback_whose_pin_would_be_too_large_says_how_to_go_on() {
    let server = Server::with_turns(8);
    server.run(&["views", "set", "s", "main", "--window", "1400", "--reserve", "100"]);
    let id = server.collapsed("1-8");
    let words = server.refused(&["rollback", "s", &id, "--pin"]);
    assert!(words.contains("reason: PIN_TOO_LARGE"), "{words}");
    assert!(words.contains("hint: roll back without `--pin`, then `concertina pin"), "{words}");
    server.run(&["rollback", "s", &id]);
}

#[test]
fn a_rollback_that_takes_clears_along_tells_which() {
    let server = Server::start();
    server.run(&["import", "demo/session.jsonl", "--session", "s", "--window", "16000"]);
    server.run(&["context", "s"]);
    let clears = server.json(&["overlays", "s"]).into_iter().filter(|it| it["kind"] == "clear");
    let ids: Vec<_> = clears.map(|it| it["id"].clone()).collect();
    let text = server.run(&["rollback", "s", "A", "--clears-too"]);
    assert!(text.contains("\nno clear lay wholly inside\n2 clears reach beyond it"), "{text}");
    let done = server.json(&["rollback", "s", "A", "--clears-too"]).remove(0);
    let staying = done["staying_clear_ids"].as_array().expect("a list");
    assert!(staying.iter().all(|id| ids.contains(id)) && !staying.is_empty(), "{done}");
    assert_eq!(done["rolled_back_clear_ids"], serde_json::json!([]));
    let without = server.json(&["rollback", "s", "A"]).remove(0);
    assert!(without.get("staying_clear_ids").is_none(), "{without}");
}

#[test]
fn only_who_has_a_plan_is_told_of_a_lease() {
    let server = Server::start();
    server.run(&["create", "s", "--window", "32000"]);
    for (role, text) in [("user", "Hello."), ("assistant", "Yes?"), ("user", "Go on.")] {
        server.run(&["append", "s", text, "--role", role]);
    }
    let words = server.refused(&["collapse", "s", "1-2"]);
    assert!(words.contains("reason: SUMMARY_NOT_SMALLER"), "{words}");
    assert!(words.contains("hint: name a wider range"), "{words}");
    assert!(!words.contains("lease"), "{words}");
}
