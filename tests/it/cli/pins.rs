//! `concertina pin`, `unpin` and `pins`.

use expect_test::expect;

use super::support::{Server, anonymous, stderr};

#[test]
fn pins_are_set_listed_and_taken_away() {
    let server = Server::with_turns(4);
    let pin = ["pin", "s", "3-4", "--reason", "the plan", "--author", "lena"];
    let made = server.json(&pin).remove(0);
    assert_eq!(made["pin"]["rows"], serde_json::json!({"first_seq": 3, "last_seq": 4}));
    let id = made["pin"]["id"].as_str().expect("an id");
    expect![[r"
        id                                    rows  since                 by    reason
        <id>  3–4   <time>  lena  the plan
    "]]
    .assert_eq(&anonymous(&server.run(&["pins", "s"])));
    let strip = server.run(&["overlays", "s"]);
    assert!(strip.contains("██▲▲████"), "{strip}");

    let text = server.run(&["unpin", "s", id]);
    assert!(anonymous(&text).starts_with("unpinned <id> (revision "), "{text}");
    assert!(server.json(&["pins", "s"]).is_empty());
    let assert = server.command(&["pins", "s"]).assert().success();
    assert_eq!(stderr(&assert), "no pins\n");
    let words = server.refused(&["unpin", "s", id]);
    assert!(words.contains("reason: PIN_NOT_FOUND"), "{words}");
    assert!(words.contains("hint: `concertina pins SESSION` lists them"), "{words}");
}

#[test]
fn a_pin_is_told_in_a_line_and_one_row_is_enough() {
    let server = Server::with_turns(4);
    let text = anonymous(&server.run(&["pin", "s", "3"]));
    assert!(text.starts_with("pinned row 3: <id> (revision "), "{text}");
}

#[test]
fn a_retry_with_the_same_request_id_pins_once() {
    let server = Server::with_turns(4);
    let pin = ["pin", "s", "3", "--request-id", "r-1"];
    assert_eq!(server.json(&pin)[0]["pin"]["id"], server.json(&pin)[0]["pin"]["id"]);
    assert_eq!(server.json(&["pins", "s"]).len(), 1);
}

#[test]
fn what_cannot_be_pinned_is_told_with_its_reason() {
    let server = Server::with_turns(4);
    server.run(&["views", "set", "s", "tiny", "--window", "700", "--reserve", "100"]);
    let cases: [(&[&str], &str); 3] = [
        (&["s", "7-99"], "RANGE_NOT_FOUND"),
        (&["s", "1-8", "--view", "tiny"], "PIN_TOO_LARGE"),
        (&["s", "1", "--view", "none"], "VIEW_NOT_FOUND"),
    ];
    for (arguments, reason) in cases {
        let words = server.refused(&[&["pin"], arguments].concat());
        assert!(words.contains(&format!("reason: {reason}")), "{words}");
        assert!(words.contains("hint: "), "{words}");
    }
    server.command(&["pin", "s"]).assert().code(2);
}

#[test]
fn what_is_pinned_stays_where_a_segment_around_it_is_chosen_by_the_policy() {
    let server = Server::with_turns(12);
    server.run(&["pin", "s", "4"]);
    let made = server.json(&["collapse", "s"]).remove(0);
    assert_eq!(made["overlay"]["kept"][0], serde_json::json!({"first_seq": 4, "last_seq": 4}));
    let strip = server.run(&["overlays", "s"]);
    assert!(strip.contains("]▲█"), "{strip}");
}

#[test]
fn a_pin_under_a_fold_says_what_keeps_it_folded_and_marks_the_block() {
    let server = Server::with_turns(6);
    let id = server.collapsed("1-4");
    let assert = server.command(&["pin", "s", "3-6"]).assert().success();
    let expected = format!("rows 3–4 stay folded until overlay {id} (A) is rolled back\n");
    assert_eq!(stderr(&assert), expected);
    let strip = server.run(&["overlays", "s"]);
    assert!(strip.contains("[A turns 1–2 ▲]▲▲██████"), "{strip}");
    let assert = server.command(&["pin", "s", "9"]).assert().success();
    assert_eq!(stderr(&assert), "");
}
