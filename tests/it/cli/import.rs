//! `concertina import`.

use std::{fs, path::PathBuf};

use serde_json::json;

use super::support::{Server, json_lines, stderr, stdout};

fn write(server: &Server, name: &str, text: &str) -> PathBuf {
    let path = server.folder.path().join(name);
    fs::write(&path, text).expect("a file");
    path
}

fn line(role: &str, text: &str) -> String {
    json!({"role": role, "content": [{"type": "text", "text": text}]}).to_string()
}

#[test]
fn a_damaged_line_is_named_and_the_rest_imported() {
    let server = Server::start();
    let lines = [line("user", "one"), "{\"role\": oops".to_owned(), line("assistant", "three")];
    let path = write(&server, "talk.jsonl", &lines.join("\n"));
    let file = path.to_str().expect("a name");
    let assert = server.command(&["import", file, "--session", "s"]).assert().code(1);
    assert!(stderr(&assert).contains(&format!("{file}:2: ")), "{}", stderr(&assert));
    assert!(stdout(&assert).contains("2 messages, 1 damaged line"), "{}", stdout(&assert));
    let rows = server.json(&["history", "s"]);
    let texts: Vec<_> = rows.iter().map(|row| row["content"][0]["text"].clone()).collect();
    assert_eq!(texts, ["one", "three"]);
}

#[test]
fn importing_again_stores_nothing_twice() {
    let server = Server::start();
    let lines: Vec<_> = (0..150).map(|number| line("user", &format!("line {number}"))).collect();
    let path = write(&server, "long.jsonl", &lines.join("\n"));
    let import = ["import", path.to_str().expect("a name"), "--session", "s"];
    assert_eq!(server.json(&import)[0]["messages"], 150);
    let again = &server.json(&import)[0];
    assert_eq!((&again["messages"], &again["already_there"]), (&0.into(), &150.into()));
    assert_eq!(server.json(&["history", "s"]).len(), 150);
}

#[test]
fn a_file_that_is_no_session_does_not_keep_the_others_out() {
    let server = Server::start();
    let bad = write(&server, "notes.txt", "just words");
    let good = write(&server, "good.jsonl", &line("user", "hello"));
    let files = [bad.to_str().expect("a name"), good.to_str().expect("a name")];
    let assert = server.command(&["import", files[0], files[1]]).assert().code(1);
    assert!(stderr(&assert).contains("notes.txt: expected a recorded session"));
    assert_eq!(server.json(&["sessions"]).len(), 1);
}

#[test]
fn an_exported_history_can_be_imported_again() {
    let server = Server::start();
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/demo/session.jsonl");
    server.run(&["import", demo, "--session", "first"]);
    let exported = server.run(&["history", "first", "--output", "json"]);
    let path = write(&server, "exported.jsonl", &exported);
    server.run(&["import", path.to_str().expect("a name"), "--session", "second"]);
    let content = |session: &str| -> Vec<_> {
        let rows = server.json(&["history", session]);
        rows.into_iter().map(|row| (row["role"].clone(), row["content"].clone())).collect()
    };
    assert_eq!(content("first"), content("second"));
}

#[test]
fn each_file_becomes_a_session_that_bears_its_name() {
    let server = Server::start();
    let one = write(&server, "one.jsonl", &line("user", "1"));
    let two = write(&server, "two.jsonl", &line("user", "2"));
    let files = [one.to_str().expect("a name"), two.to_str().expect("a name")];
    let mut command = server.command(&["import", files[0], files[1], "--output", "json"]);
    let reports = json_lines(&command.assert().success());
    assert_ne!(reports[0]["session_id"], reports[1]["session_id"]);
    let mut names: Vec<_> =
        server.json(&["sessions"]).iter().map(|it| it["display_name"].to_string()).collect();
    names.sort();
    assert_eq!(names, [r#""one.jsonl""#, r#""two.jsonl""#]);
}
