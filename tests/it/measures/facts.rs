//! Facts, and whether a summary names them.

use std::{collections::BTreeSet, sync::Arc};

use concertina::model::{Block, BlockKind, Message, Role, ToolOutput, ToolResult, ToolUse};

use super::{named::Summary, oracle::facts};

fn said(text: &str) -> Message {
    Message { blocks: vec![Arc::new(Block::text(text))], ..Message::default() }
}

fn called(name: &str, input: &str, result: &str, is_error: bool) -> [Message; 2] {
    let call = ToolUse {
        id: "c".into(),
        name: name.into(),
        input_json: input.to_owned().into(),
        ..ToolUse::default()
    };
    let answer = ToolResult {
        tool_use_id: "c".into(),
        is_error,
        output: vec![ToolOutput::Text(result.to_owned().into())],
        ..ToolResult::default()
    };
    let message = |role, kind| Message {
        role,
        blocks: vec![Arc::new(Block::new(kind))],
        ..Message::default()
    };
    [
        message(Role::Assistant, BlockKind::ToolUse(call)),
        message(Role::User, BlockKind::ToolResult(answer)),
    ]
}

fn set(items: &[&str]) -> BTreeSet<String> {
    items.iter().map(|it| (*it).to_owned()).collect()
}

#[track_caller]
fn check_request(text: &str, expected: &[&str]) {
    assert_eq!(facts(&[said(text)]).requests, set(expected));
}

#[test]
fn a_request_is_what_a_person_wrote() {
    check_request("mend the gate", &["mend the gate"]);
    check_request("<environment_context>\n<cwd>/w</cwd>\n</environment_context>", &[]);
    check_request("<current_datetime>now</current_datetime>\n\nmend it", &["mend it"]);
    check_request("mend it\n<system-reminder>be kind</system-reminder>", &["mend it"]);
    check_request("# AGENTS.md instructions for /w\n\nUse tabs.", &[]);
    check_request("[Request interrupted by user for tool use]", &[]);
    check_request("<command-name>/plan</command-name>\n<command-args>a b</command-args>", &["a b"]);
    check_request("<div> is not closed", &["is not closed"]);
}

#[test]
fn a_message_that_is_marked_as_a_programs_is_no_request() {
    let marked = Message {
        extra_json: r#"{"meta":{"kind":"tool_output"}}"#.into(),
        ..said("Applied edit to a.py")
    };
    assert_eq!(facts(&[marked]).requests, set(&[]));
    let queued = Message {
        extra_json: r#"{"meta":{"kind":"queued_user_input"}}"#.into(),
        ..said("and the tests")
    };
    assert_eq!(facts(&[queued]).requests, set(&["and the tests"]));
}

#[test]
fn paths_are_those_of_calls_that_changed_something() {
    let paths = |name, input, result, is_error| {
        facts(&called(name, input, result, is_error)).paths.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(paths("Edit", r#"{"file_path":"/w/a.rs"}"#, "ok", false), ["/w/a.rs"]);
    assert!(paths("Edit", r#"{"file_path":"/w/a.rs"}"#, "not read yet", true).is_empty());
    assert!(paths("Read", r#"{"file_path":"/w/a.rs"}"#, "text", false).is_empty());
    assert!(paths("str_replace_editor", r#"{"command":"view","path":"a"}"#, "x", false).is_empty());
    let patch = r#"{"input":"*** Begin Patch\n*** Update File: src/a.rs\n@@\n*** Add File: b.md"}"#;
    assert_eq!(paths("apply_patch", patch, "done", false), ["b.md", "src/a.rs"]);
}

#[test]
fn commands_are_those_that_failed() {
    let commands = |name, input, result, is_error| {
        facts(&called(name, input, result, is_error)).commands.into_iter().collect::<Vec<_>>()
    };
    let make = r#"{"command":"make all"}"#;
    assert_eq!(commands("Bash", make, "Exit code 2\nno rule", true), ["make all"]);
    assert_eq!(
        commands("exec_command", r#"{"cmd":"ls x"}"#, "Process exited with code 1\n", false),
        ["ls x"]
    );
    assert!(commands("exec_command", make, "Process exited with code 0\n", false).is_empty());
    assert!(commands("Bash", make, "The user doesn't want to proceed", true).is_empty());
    assert!(commands("Bash", make, "<tool_use_error>Sibling tool call errored", true).is_empty());
    let words = r#"{"command":["bash","-lc","make all"]}"#;
    assert_eq!(commands("shell", words, "Exit code: 2", false), ["make all"]);
}

#[test]
fn to_dos_are_those_of_the_last_list_that_are_open() {
    let list = |items: &str| called("TodoWrite", &format!(r#"{{"todos":[{items}]}}"#), "ok", false);
    let one = r#"{"content":"one","status":"pending"}"#;
    let two = r#"{"content":"two","status":"in_progress"}"#;
    let done = r#"{"content":"one","status":"completed"}"#;
    let first = list(&format!("{one},{two}"));
    assert_eq!(facts(&first).todos, set(&["one", "two"]));
    let both: Vec<Message> = first.into_iter().chain(list(&format!("{done},{two}"))).collect();
    assert_eq!(facts(&both).todos, set(&["two"]));
    let created = called("TaskCreate", r#"{"subject":"three"}"#, "Task #7 created", false);
    assert_eq!(facts(&created).todos, set(&["three"]));
    let ended = called("TaskUpdate", r#"{"taskId":"7","status":"completed"}"#, "ok", false);
    let both: Vec<Message> = created.into_iter().chain(ended).collect();
    assert_eq!(facts(&both).todos, set(&[]));
}

#[track_caller]
fn check_path(summary: &str, path: &str, others: &[&str], expected: bool) {
    let all: BTreeSet<String> = set(others).into_iter().chain([path.to_owned()]).collect();
    assert_eq!(Summary::new(summary).names_path(path, &all), expected, "{summary}: {path}");
}

#[test]
fn a_path_is_named_whole_or_by_its_end_or_under_a_folder() {
    check_path("- /w/src/a.rs: edited", "/w/src/a.rs", &[], true);
    check_path("- src/a.rs: edited", "/w/src/a.rs", &[], true);
    check_path("- a.rs: edited", "/w/src/a.rs", &[], false);
    check_path("- /w/src/{a.rs, b.rs}", "/w/src/b.rs", &[], true);
    check_path("- src/ab.rs: edited", "/w/src/b.rs", &[], false);
    check_path("- src/a.rs: edited", "/w/src/a.rs", &["/v/src/a.rs"], false);
    check_path("- w/src/a.rs: edited", "/w/src/a.rs", &["/v/src/a.rs"], true);
    let list = "- paths are under /w/src/\n- a.rs: edited\n- x/b.rs: edited";
    check_path(list, "/w/src/a.rs", &[], true);
    check_path(list, "/w/src/x/b.rs", &[], true);
    check_path(list, "/w/src/b.rs", &[], false);
    check_path("- /tmp/: 4 files changed", "/tmp/a.json", &[], false);
}

#[test]
fn a_command_is_named_by_its_start_or_its_program_and_what_it_is_for() {
    let names = |summary: &str, command: &str| Summary::new(summary).names_command(command);
    assert!(names("- `go test ./a` failed", "cd /w && go test ./a"));
    assert!(names("- `git status` failed (exit 128)", "git status 2>&1"));
    assert!(names("- `go test ./a` failed", "CGO=1 go test -v ./a | tail -5"));
    assert!(!names("- `go test ./b` failed", "go test ./a | tail"));
    assert!(!names("- `go` failed at its test\n- ./a", "go test ./a"));
    let long = "grep -rn something --include=*.rs src/one src/two src/three";
    assert!(names("- `grep -rn something --include=*.rs src/o…` failed", long));
    assert!(names("- `grep -rn something … src/three` failed (exit 1)", long));
    assert!(!names("- `grep -rn … src/three` failed", long));
    assert!(!names("- `grep -rn something … src/four` failed", long));
}

#[test]
fn words_are_named_by_their_start() {
    let names = |summary: &str, words: &str| Summary::new(summary).names_words(words);
    assert!(names("- \"Mend the  gate\"", "mend the gate"));
    assert!(!names("- \"yesterday\"", "yes"));
    let long = "please look at the gate of the old garden and mend what is broken there";
    assert!(names("- \"please look at the gate of the old garden…\"", long));
    assert!(!names("- \"please look at the gate … there\"", long));
    assert!(names("- \"please look at the gate … what is broken there\"", long));
    let longer = format!("{long} {}", "and so on ".repeat(20));
    assert!(names("- \"please look at the gate … on\"", &longer));
}
