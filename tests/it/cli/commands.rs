//! Each command against a real server.

use serde_json::Value;

use super::support::{Server, concertina, stderr, stdout};

const COMMANDS: [&str; 25] = [
    "serve",
    "demo",
    "create",
    "import",
    "append",
    "context",
    "history",
    "content",
    "explain",
    "sessions",
    "items",
    "collapse",
    "overlays",
    "expand",
    "rollback",
    "pin",
    "unpin",
    "pins",
    "views",
    "revisions",
    "fork",
    "delete",
    "policy",
    "count",
    "health",
];

#[test]
fn every_command_has_help_on_standard_output() {
    let all = stdout(&concertina(&["--help"]).assert().success());
    assert!(all.contains("Exit codes: 0 it worked, 1 it failed, 2 it was asked for wrongly."));
    for command in COMMANDS {
        assert!(all.contains(command), "{command}");
        let help = concertina(&[command, "--help"]).assert().success();
        assert!(stdout(&help).contains("Usage: concertina"), "{command}");
        assert_eq!(stderr(&help), "", "{command}");
        let help = stdout(&help);
        let global = help.find("\nGlobal options:").expect(command);
        assert!(help.find("--server").expect(command) > global, "{command}");
        assert!(!help.contains(r#"[default: ""]"#), "{command}: {help}");
    }
}

#[test]
fn a_session_is_created_filled_read_and_deleted() {
    let server = Server::start();
    assert_eq!(server.run(&["create", "s", "--name", "tides", "--window", "32000"]), "s\n");
    server.run(&["append", "s", "When is high water?"]);
    let answer = r#"{"role":"assistant","content":[{"type":"text","text":"At noon."}]}"#;
    server.run(&["append", "s", answer, "--payload-format", "anthropic"]);

    let listed = server.json(&["sessions"]);
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0]["id"], &listed[0]["next_seq"]), (&"s".into(), &3.into()));
    let rows = server.json(&["history", "s"]);
    assert_eq!(rows[0]["content"][0]["text"], "When is high water?");
    assert_eq!(rows[1]["role"], "assistant");
    assert_eq!(server.run(&["content", "s", "2", "0"]), "At noon.");

    server.run(&["delete", "s", "--yes"]);
    assert!(server.json(&["sessions"]).is_empty());
}

#[test]
fn the_context_is_a_request_that_is_ready_to_send() {
    let server = Server::start();
    server.run(&["create", "s", "--model", "some-model", "--window", "32000"]);
    server.run(&["items", "set", "s", "system", "Be brief."]);
    server.run(&["append", "s", "When is high water?"]);
    let context = server.json(&["context", "s"]).remove(0);
    assert_eq!(context["messages"][0]["role"], "user");
    assert!(context["system"].to_string().contains("Be brief."));
    assert_eq!(context["meta"]["preview"], false);
    assert_ne!(context["meta"]["fingerprint"], "");

    let chat = server.json(&["context", "s", "--format", "chat"]).remove(0);
    assert_eq!(chat["messages"][0]["role"], "system");
}

#[test]
fn a_window_a_preset_and_explain_are_previews() {
    let server = Server::start();
    server.run(&["create", "s", "--window", "32000"]);
    server.run(&["append", "s", "Hello."]);
    let previews: [&[&str]; 3] = [&["--window", "9000"], &["--preset", "cascade"], &["--explain"]];
    for arguments in previews {
        let context = server.json(&[&["context", "s"], arguments].concat()).remove(0);
        assert_eq!(context["meta"]["preview"], true, "{arguments:?}");
    }
}

#[test]
fn the_context_for_people_shows_budget_stages_and_messages() {
    let server = Server::start();
    server.run(&["create", "s", "--window", "32000"]);
    server.run(&["append", "s", "When is high water?"]);
    let text = server.run(&["context", "s"]);
    for expected in ["tokens", "normal", "Stages", "fit", "Start of the messages", "high water?"] {
        assert!(text.contains(expected), "{expected} in:\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "no colours where there is no terminal");
}

#[test]
fn arguments_of_calls_keep_their_order() {
    let server = Server::start();
    server.run(&["create", "s", "--window", "32000"]);
    server.run(&["append", "s", "Look."]);
    let call = r#"[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"edit","input":{"path":"a","by":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"done"}]}]"#;
    server.run(&["append", "s", call, "--payload-format", "anthropic"]);
    for command in ["context", "history"] {
        let text = server.run(&[command, "s"]);
        assert!(text.contains(r#"⇒ edit {"path":"a","by":1}"#), "{text}");
    }
}

#[test]
fn counts_that_a_factor_estimates_are_labelled() {
    let server = Server::start();
    server.run(&["create", "s", "--model", "claude-sonnet-4-5"]);
    server.run(&["append", "s", "When is high water?"]);
    let text = server.run(&["context", "s"]);
    assert!(text.contains(" tokens, estimated ×1."), "{text}");
    assert!(text.contains("Stages (tokens as counted, without the ×1."), "{text}");
}

#[test]
fn items_are_set_listed_and_removed() {
    let server = Server::start();
    server.run(&["create", "s"]);
    server.run(&["items", "set", "s", "date", "30 November", "--placement", "reminder"]);
    let items = server.json(&["items", "list", "s"]);
    assert_eq!(items[0]["placement"], "reminder");
    assert_eq!(items[0]["content"], "30 November");
    server.run(&["items", "remove", "s", "date"]);
    assert!(server.json(&["items", "list", "s"]).is_empty());
}

#[test]
fn explain_tells_what_is_shown() {
    let server = Server::start();
    server.run(&["create", "s", "--window", "32000"]);
    server.run(&["append", "s", "When is high water?"]);
    let finding = server.json(&["explain", "s", "1"]).remove(0);
    assert_eq!(finding["verdict"], "shown");
    let text = server.run(&["explain", "s", "1"]);
    assert!(text.contains("Shown as it was written, in message 0"), "{text}");
}

#[test]
fn text_comes_from_standard_input_too() {
    let server = Server::start();
    server.run(&["create", "s"]);
    server.command(&["append", "s", "-"]).write_stdin("from a pipe").assert().success();
    assert_eq!(server.run(&["content", "s", "1", "0"]), "from a pipe");
}

#[test]
fn a_retry_with_the_same_request_id_stores_nothing_twice() {
    let server = Server::start();
    server.run(&["create", "s"]);
    let append = ["append", "s", "once", "--request-id", "r-1"];
    assert_eq!(server.json(&append)[0]["replayed"], false);
    assert_eq!(server.json(&append)[0]["replayed"], true);
    assert_eq!(server.json(&["history", "s"]).len(), 1);
}

#[test]
fn tokens_are_counted() {
    let server = Server::start();
    let count = server.json(&["count", "hello world"]).remove(0);
    assert_eq!(count["tokens"], 2);
    assert_eq!(count["tokenizer"], "o200k_base");
}

#[test]
fn a_server_that_is_up_is_healthy() {
    let server = Server::start();
    assert_eq!(server.run(&["health"]), "SERVING\n");
    assert_eq!(server.json(&["health"])[0]["status"], Value::from("SERVING"));
}
