//! `concertina views`: other windows and policies over one history.

use expect_test::expect;

use super::support::{Server, stderr, stdout, trimmed};

#[test]
fn views_are_added_listed_and_deleted() {
    let server = Server::with_turns(4);
    let text =
        server.run(&["views", "set", "s", "small", "--window", "9000", "--preset", "cascade"]);
    assert!(text.starts_with("view small: preset cascade, window 9,000 (revision "), "{text}");
    expect![[r"
        view   preset     model   window  reserve  overrides
        main   (default)         100,000
        small  cascade             9,000
    "]]
    .assert_eq(&trimmed(&server.run(&["views", "list", "s"])));
    let listed = server.json(&["views", "list", "s"]);
    let small = listed.iter().find(|view| view["name"] == "small").expect("it is there");
    assert_eq!((&small["preset"], &small["context_window"]), (&"cascade".into(), &9_000.into()));
    assert_eq!(small["policy"]["collapse"]["commit_ratio"], 0.9, "every key, as it was resolved");

    let text = server.run(&["views", "delete", "s", "small"]);
    assert!(text.starts_with("deleted view small (revision "), "{text}");
    assert_eq!(server.json(&["views", "list", "s"]).len(), 1);
    let words = server.refused(&["context", "s", "--view", "small"]);
    assert!(words.contains("reason: VIEW_NOT_FOUND"), "{words}");
}

#[test]
fn two_views_of_one_history_show_it_each_in_its_window() {
    let server = Server::with_turns(60);
    server.run(&["views", "set", "s", "small", "--window", "6000", "--preset", "cascade"]);
    let sent = |view: &str| {
        let context = server.json(&["context", "s", "--view", view]).remove(0);
        let budget = &context["meta"]["budget"];
        let number = |key: &str| budget[key].as_i64().expect("a number");
        assert!(number("messages") <= number("window") - number("output_reserve"), "{budget}");
        (number("messages"), number("history"))
    };
    let (main, small) = (sent("main"), sent("small"));
    assert_eq!(main.1, small.1, "one history");
    assert!(main.0 > 9_000 && small.0 < 6_000, "{main:?} {small:?}");
}

#[test]
fn what_is_not_said_of_a_view_stays_as_it_is() {
    let server = Server::with_turns(1);
    let patch = r#"{"collapse":{"commit_ratio":0.8}}"#;
    let set = ["views", "set", "s", "small", "--preset", "cascade", "--policy", patch];
    server.run(&[&set[..], &["--model", "m", "--window", "9000"]].concat());
    let changed = server.json(&["views", "set", "s", "small", "--window", "8000"]).remove(0);
    let view = &changed["view"];
    assert_eq!((&view["preset"], &view["context_window"]), (&"cascade".into(), &8_000.into()));
    assert_eq!((&view["model"], &view["overrides"].to_string()), (&"m".into(), &patch.to_owned()));
    assert_eq!(view["policy"]["collapse"]["commit_ratio"], 0.8);
    // Setting what is there already changes nothing.
    let again = server.json(&["views", "set", "s", "small"]).remove(0);
    assert_eq!(again["revision"], changed["revision"]);
}

#[test]
fn a_policy_or_a_view_that_cannot_be_is_told() {
    let server = Server::with_turns(1);
    let cases: [(&[&str], &str); 5] = [
        (&["set", "s", "small", "--preset", "nonsense"], "INVALID_POLICY"),
        (&["set", "s", "small", "--policy", r#"{"collapze":{}}"#], "INVALID_POLICY"),
        (&["set", "s", "small", "--model", "never-heard-of"], "UNKNOWN_MODEL"),
        (&["delete", "s", "main"], "INVALID_FIELD"),
        (&["delete", "s", "none"], "VIEW_NOT_FOUND"),
    ];
    for (arguments, reason) in cases {
        let words = server.refused(&[&["views"], arguments].concat());
        assert!(words.contains(&format!("reason: {reason}")), "{words}");
    }
    let assert = server.command(&["views"]).assert().code(2);
    assert!(stderr(&assert).contains("Usage"), "{}", stderr(&assert));
}

#[test]
fn help_names_the_preset_that_reduces_nothing() {
    let server = Server::start();
    for command in [&["create", "--help"][..], &["views", "set", "--help"], &["context", "--help"]]
    {
        let help = stdout(&server.command(command).assert().success());
        assert!(help.contains("`off` reduces nothing"), "{help}");
    }
}
