//! `concertina overlays` and `expand`: a view as a strip, and what lies under
//! its folds.

use expect_test::expect;

use super::support::{Server, anonymous, stderr, stdout};

#[test]
fn the_strip_shows_folds_by_letter_and_the_table_names_them() {
    let server = Server::with_turns(12);
    server.run(&["pin", "s", "14"]);
    server.collapsed("1-4");
    server.collapsed("1-8");
    server.collapsed("15-18");
    expect![[r"
        rows 1–24: a fold is one block, outside it one sign a row
        [A turns 1–4]█████▲[B turns 8–9]██████
        █ shown   [ ] folded into a text   ▲ pinned

           id                                    kind      by      rows   before  after
        A  <id>  collapse  manual  1–8     2,042  1,644
        B  <id>  collapse  manual  15–18   1,644  1,298
        1 more beneath them (--nested shows them)
    "]]
    .assert_eq(&anonymous(&server.run(&["overlays", "s"])));
    let nested = anonymous(&server.run(&["overlays", "s", "--nested"]));
    let table: Vec<_> = nested.lines().skip(5).collect();
    expect![[r"
        A       <id>  collapse  manual  1–8     2,042  1,644
          in A  <id>  collapse  manual  1–4     2,388  2,042
        B       <id>  collapse  manual  15–18   1,644  1,298
    "]]
    .assert_eq(&format!("{}\n", table.join("\n")));
    assert_eq!(server.json(&["overlays", "s"]).len(), 3, "as JSON, all of them");
}

#[test]
fn an_overlay_goes_by_its_letter_and_by_the_start_of_its_id() {
    let server = Server::with_turns(12);
    let first = server.collapsed("1-4");
    let second = server.collapsed("9-12");
    // Ids bear their time first: the start of one is its own only as a whole but for little.
    for (named, expected) in [("A", "1–4"), ("B", "9–12"), (&second[..35], "9–12")] {
        let text = server.run(&["expand", "s", named]);
        let head = format!("collapse of rows {expected} in view main, ");
        assert!(text.starts_with(&head), "{named}: {text}");
    }
    let opened = server.json(&["context", "s", "--expand", "B"]).remove(0);
    let by_id = server.json(&["context", "s", "--expand", &second]).remove(0);
    assert_eq!(opened["messages"].to_string(), by_id["messages"].to_string());

    let common: String =
        first.chars().zip(second.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    if common.len() >= 6 {
        let assert = server.command(&["rollback", "s", &common]).assert().code(2);
        assert!(stderr(&assert).contains("is ambiguous"), "{}", stderr(&assert));
    }
    let assert = server.command(&["rollback", "s", "C"]).assert().code(2);
    let words = stderr(&assert);
    assert!(words.contains("expected one of `A` to `B`, the folds in view main"), "{words}");
    assert_eq!(server.json(&["overlays", "s"]).len(), 2);
    server.run(&["rollback", "s", "A"]);
    assert_eq!(server.json(&["overlays", "s"])[0]["id"], second.as_str());
}

#[test]
fn letters_are_of_the_view_that_is_named() {
    let server = Server::with_turns(6);
    server.run(&["views", "set", "s", "small", "--window", "50000"]);
    server.run(&["collapse", "s", "1-4", "--view", "small"]);
    let assert = server.command(&["expand", "s", "A"]).assert().code(2);
    assert!(stderr(&assert).contains("nothing is folded in view main"), "{}", stderr(&assert));
    let text = server.run(&["expand", "s", "A", "--view", "small"]);
    assert!(text.starts_with("collapse of rows 1–4 in view small, "), "{text}");
    let opened = server.json(&["context", "s", "--view", "small", "--expand", "A"]).remove(0);
    assert_eq!(opened["meta"]["preview"], true);
}

#[test]
fn expand_says_what_lies_directly_beneath() {
    let server = Server::with_turns(12);
    let inner = server.collapsed("1-4");
    server.collapsed("1-8");
    let text = server.run(&["expand", "s", "A"]);
    assert!(text.contains(&format!("\nover collapse of rows 1–4: {inner}\n")), "{text}");
}

#[test]
fn what_was_rolled_back_is_listed_on_demand_and_not_drawn() {
    let server = Server::with_turns(6);
    let id = server.collapsed("1-4");
    server.run(&["rollback", "s", &id]);
    let assert = server.command(&["overlays", "s"]).assert().success();
    expect![[r"
        rows 1–12, one sign a row
        ████████████
        █ shown
    "]]
    .assert_eq(&anonymous(&stdout(&assert)));
    assert_eq!(stderr(&assert), "no overlays\n");
    expect![[r"
        rows 1–12, one sign a row
        ████████████
        █ shown

           id                                    kind      by      rows  before  after  until
        –  <id>  collapse  manual  1–4    1,194    848      4
    "]]
    .assert_eq(&anonymous(&server.run(&["overlays", "s", "--all"])));
    assert!(server.json(&["overlays", "s"]).is_empty());
    let all = server.json(&["overlays", "s", "--all"]);
    assert_eq!((&all[0]["id"], &all[0]["in_force"]), (&id.as_str().into(), &false.into()));
}

#[test]
fn an_empty_session_has_no_strip_and_an_unknown_view_is_told() {
    let server = Server::start();
    server.run(&["create", "s"]);
    assert_eq!(server.run(&["overlays", "s"]), "");
    let words = server.refused(&["overlays", "s", "--view", "none"]);
    assert!(words.contains("reason: VIEW_NOT_FOUND"), "{words}");
    assert!(words.contains("hint: `concertina views list SESSION` lists them"), "{words}");
}

#[test]
fn each_view_has_a_strip_of_its_own() {
    let server = Server::with_turns(6);
    server.run(&["views", "set", "s", "small", "--window", "50000"]);
    server.collapsed("1-4");
    let main = server.run(&["overlays", "s"]);
    assert!(main.contains("[A turns 1–2]████████"), "{main}");
    let small = server.run(&["overlays", "s", "--view", "small"]);
    assert!(small.contains("████████████\n"), "{small}");
}

#[test]
fn r62_expand_shows_the_rows_under_an_overlay() {
    let server = Server::with_turns(6);
    let id = server.collapsed("1-4");
    let text = anonymous(&server.run(&["expand", "s", &id]));
    let under: Vec<_> = text.lines().skip_while(|line| *line != "under it:").collect();
    expect![[r"
        under it:
              1  user        Please mend part 1. It is broken again. It is broken again. It is broken a…
              2  assistant   Part 1 is mended. It works as it should. It works as it should. It works a…
              3  user        Please mend part 2. It is broken again. It is broken again. It is broken a…
              4  assistant   Part 2 is mended. It works as it should. It works as it should. It works a…
    "]]
    .assert_eq(&format!("{}\n", under.join("\n")));
    let head = text.lines().next().expect("a line");
    assert!(head.starts_with("collapse of rows 1–4 in view main, "), "{head}");

    let rows = server.json(&["expand", "s", &id]);
    let seqs: Vec<_> = rows.iter().filter_map(|row| row["seq"].as_i64()).collect();
    assert_eq!(seqs, [1, 2, 3, 4]);
    let full = server.run(&["expand", "s", &id, "--full"]);
    assert!(full.contains("It works as it should. It works"), "{full}");
}

#[test]
fn expand_shows_the_context_with_an_overlay_opened_and_commits_nothing() {
    let server = Server::with_turns(6);
    let before = server.json(&["context", "s"]).remove(0);
    let id = server.collapsed("1-4");
    let opened = [
        server.json(&["expand", "s", &id, "--context"]).remove(0),
        server.json(&["context", "s", "--preview", "--expand", &id]).remove(0),
        server.json(&["context", "s", "--expand", &id]).remove(0),
    ];
    for context in opened {
        assert_eq!(context["meta"]["preview"], true);
        assert_eq!(context["messages"].to_string(), before["messages"].to_string());
    }
    assert_eq!(server.json(&["overlays", "s"]).len(), 1);
    let text = server.run(&["expand", "s", &id, "--context"]);
    assert!(text.contains("preview, nothing committed"), "{text}");
}

#[test]
fn expand_of_nothing_is_told() {
    let server = Server::with_turns(1);
    for arguments in [&["expand", "s", "none"][..], &["context", "s", "--expand", "none"]] {
        let words = server.refused(arguments);
        assert!(words.contains("reason: OVERLAY_NOT_FOUND"), "{words}");
        assert!(words.contains("hint: `concertina overlays SESSION --all`"), "{words}");
    }
    let assert = server.command(&["expand", "s", "x", "--format", "chat"]).assert().code(2);
    assert!(stderr(&assert).contains("--context"), "{}", stderr(&assert));
}
