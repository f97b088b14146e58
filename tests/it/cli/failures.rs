//! What is said when something goes wrong, where, and with which exit code.

use super::support::{Server, concertina, stderr, stdout};

/// Nothing listens on it: the port is asked for and given back.
fn nobody() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").to_string()
}

#[test]
fn wrong_usage_exits_with_2() {
    for arguments in [&["nonsense"][..], &["context"], &["count", "x", "--output", "xml"]] {
        let assert = concertina(arguments).assert().code(2);
        assert_eq!(stdout(&assert), "", "{arguments:?}");
        assert!(stderr(&assert).contains("Usage") || stderr(&assert).contains("possible values"));
    }
}

#[test]
fn without_a_server_the_hint_says_how_to_start_one() {
    let assert = concertina(&["--server", &nobody(), "sessions"]).assert().code(1);
    assert_eq!(stdout(&assert), "");
    let words = stderr(&assert);
    assert!(words.starts_with("error: cannot talk to the server: "), "{words}");
    assert!(words.contains("hint: is a server running there? `concertina serve --data DIR`"));
}

#[test]
fn an_address_that_is_none_is_told() {
    let assert = concertina(&["--server", "not an address", "sessions"]).assert().code(1);
    assert!(stderr(&assert).contains("`http://not an address` is not an address"));
}

#[test]
fn a_refusal_tells_reason_metadata_and_a_hint_on_standard_error() {
    let server = Server::start();
    let assert = server.command(&["history", "nowhere"]).assert().code(1);
    assert_eq!(stdout(&assert), "");
    let words = stderr(&assert);
    for expected in [
        "error: ",
        "reason: SESSION_NOT_FOUND",
        "session_id: nowhere",
        "hint: `concertina sessions` lists what is there",
    ] {
        assert!(words.contains(expected), "{expected} in:\n{words}");
    }
}

#[test]
fn an_unknown_policy_key_is_named() {
    let server = Server::start();
    let patch = r#"{"result_cap":{"limit_charz":1}}"#;
    let assert = server.command(&["create", "s", "--policy", patch]).assert().code(1);
    let words = stderr(&assert);
    assert!(words.contains("reason: INVALID_POLICY"), "{words}");
    assert!(words.contains("result_cap.limit_charz"), "{words}");
    assert!(server.json(&["sessions"]).is_empty());
}

#[test]
fn a_payload_that_is_not_json_stores_nothing() {
    let server = Server::start();
    server.run(&["create", "s"]);
    let append = ["append", "s", "{oops", "--payload-format", "chat"];
    let assert = server.command(&append).assert().code(1);
    assert!(stderr(&assert).contains("reason: INVALID_PAYLOAD"));
    assert!(server.json(&["history", "s"]).is_empty());
}

#[test]
fn delete_asks_and_where_nobody_can_answer_refuses() {
    let server = Server::start();
    server.run(&["create", "s"]);
    let assert = server.command(&["delete", "s"]).write_stdin("yes\n").assert().code(2);
    assert!(stderr(&assert).contains("say `--yes`"));
    assert_eq!(server.json(&["sessions"]).len(), 1);
}
