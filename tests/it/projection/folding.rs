//! `tool_fold`: completed calls as a line, once later work used them.

mod acts;

use concertina::model::{BlockKind, Role, Seq, StageKind, ToolResult};

use super::support::{Agent, Look, message, of_tokens, policy, prose, result, shown_block};

/// Folding alone, on a view whose limit is 10,000 tokens.
const ALONE: &str = r#"{"stages":["tool_fold","fit"],"window":{"output_reserve_tokens":0},
    "collapse":{"keep_turns":2},"tool_fold":{"start_ratio":0.6}}"#;

fn alone() -> Agent {
    let mut agent = Agent::under(policy("default", ALONE), 10_000);
    agent.window.reserve = 0;
    agent
}

/// A file of so many lines, about ten tokens each.
fn file(lines: usize) -> String {
    written(lines, |nth| format!("let line_{nth} = over(the, lazy, dog);\n"))
}

fn written(lines: usize, line: impl Fn(usize) -> String) -> String {
    (0..lines).map(line).collect::<Vec<_>>().concat()
}

fn path(name: &str) -> String {
    format!(r#"{{"file_path":"{name}"}}"#)
}

/// Two rounds that say nothing, so that what came before is not the newest.
fn go_on(agent: &mut Agent) {
    agent.tool("Task", "{}", "ok");
    agent.tool("Task", "{}", "ok");
    agent.assistant("I go on");
}

/// Fills the view up to the mark where folding starts.
fn fill(agent: &mut Agent) {
    let look = agent.composed_with(&agent.in_force(), None);
    let missing = 6_100 - agent.used(&look);
    if missing > 0 {
        agent.tool("Task", "{}", &of_tokens(missing));
    }
    go_on(agent);
}

fn folded(look: &Look) -> Vec<(i64, String)> {
    let overlays = look.added.iter().filter(|it| it.stage == StageKind::ToolFold.name());
    let cleared = overlays.flat_map(|it| &it.cleared);
    cleared.map(|it| (it.content.seq.0, it.shown_as.clone())).collect()
}

/// The line that a result is shown as after the view has filled.
#[track_caller]
fn line(agent: &mut Agent, seq: Seq) -> String {
    fill(agent);
    let look = agent.look();
    assert_eq!(look.trigger(StageKind::ToolFold), "over_threshold");
    look.text(seq, 0).unwrap()
}

#[track_caller]
fn stays(agent: &mut Agent, seq: Seq) {
    let before = agent.composed_with(&[], None);
    fill(agent);
    let look = agent.look();
    let shown = shown_block(&look.composed, seq, 0);
    assert_eq!(shown, shown_block(&before, seq, 0), "message {seq} is folded");
}

#[test]
fn r72_a_file_that_was_read_and_edited_later_is_one_line() {
    for (tool, later) in [
        ("Edit", "edited later in message 4"),
        ("Write", "written later in message 4"),
        ("MultiEdit", "edited later in message 4"),
    ] {
        let mut agent = alone();
        agent.user("change the port");
        let read = agent.tool("Read", &path("src/config.rs"), &file(300));
        agent.tool(tool, &path("src/config.rs"), "done");
        assert_eq!(
            line(&mut agent, read),
            format!("[read src/config.rs, 300 lines; {later}; kept: message 3 block 0]")
        );
    }
}

#[test]
fn r72_without_later_work_a_result_stays() {
    let mut agent = alone();
    agent.user("look");
    let read = agent.tool("Read", &path("src/config.rs"), &file(300));
    agent.tool("Edit", &path("src/other.rs"), "done");
    fill(&mut agent);
    let look = agent.look();
    assert_eq!(look.trigger(StageKind::ToolFold), "nothing_to_fold");
    assert_eq!(look.text(read, 0).unwrap(), file(300));
}

#[test]
fn r72_an_edit_that_failed_used_nothing() {
    let mut agent = alone();
    agent.user("change it");
    let read = agent.tool("Read", &path("a.rs"), &file(300));
    agent.call("e1", "Edit", &path("a.rs"));
    let mut failed = result("e1", "old_string was not found");
    if let BlockKind::ToolResult(ToolResult { is_error, .. }) = &mut failed.kind {
        *is_error = true;
    }
    agent.say(message(Role::User, vec![failed]));
    stays(&mut agent, read);
}

#[test]
fn r72_of_several_readings_the_newest_stays() {
    let mut agent = alone();
    agent.user("look");
    let first = agent.tool("Read", &path("/r/src/a.rs"), &file(100));
    let second = agent.tool("Bash", r#"{"command":"cat src/a.rs"}"#, &file(110));
    let third = agent.tool("Read", &path("/r/src/a.rs"), &file(120));
    fill(&mut agent);
    let look = agent.look();
    let expected = |lines: usize, path: &str, seq: i64| {
        (
            seq,
            format!(
                "[read {path}, {lines} lines; read again in message 6; kept: message {seq} block 0]"
            ),
        )
    };
    assert_eq!(
        folded(&look),
        [expected(100, "/r/src/a.rs", first.0), expected(110, "src/a.rs", second.0)]
    );
    assert_eq!(look.text(third, 0).unwrap(), file(120));
}

#[test]
fn r72_a_reading_of_another_part_does_not_replace_one() {
    let part = |from: i64, count: i64| {
        format!(r#"{{"file_path":"a.rs","offset":{from},"limit":{count}}}"#)
    };
    let mut agent = alone();
    agent.user("look");
    let first = agent.tool("Read", &part(1, 200), &file(200));
    agent.tool("Read", &part(201, 10), &file(10));
    stays(&mut agent.clone(), first);
    agent.tool("Read", &part(1, 250), &file(250));
    assert_eq!(
        line(&mut agent, first),
        "[read a.rs lines 1-200, 200 lines; read again in message 6; kept: message 3 block 0]"
    );
}

#[test]
fn r72_a_reading_that_is_not_shown_whole_replaces_none() {
    let mut agent = alone();
    agent.user("look");
    let first = agent.tool("Read", &path("a.rs"), &file(200));
    let second = agent.tool("Read", &path("a.rs"), &file(201));
    let by_hand = super::support::clear(&agent, second, 0, "gone");
    agent.commit(vec![by_hand], &[]);
    stays(&mut agent, first);
}

#[test]
fn r72_of_a_command_that_was_run_again_the_newest_run_stays() {
    let run = r#"{"command":"cargo test","description":"Run tests"}"#;
    let mut agent = alone();
    agent.user("make it pass");
    let failed = agent.tool("Bash", run, &format!("Exit code 101\n{}", file(50)));
    let flagged = agent.tool(
        "exec_command",
        r#"{"cmd":"cargo test"}"#,
        &format!("Process exited with code 0\n{}", file(60)),
    );
    let newest = agent.tool("Bash", r#"{"command":"cargo test"}"#, &file(60));
    fill(&mut agent);
    let look = agent.look();
    assert_eq!(
        folded(&look),
        [
            (failed.0, r#"[ran "cargo test" (failed, exit code 101), 51 lines; run again in message 6; kept: message 3 block 0]"#.to_owned()),
            (flagged.0, r#"[ran "cargo test" (exit code 0), 61 lines; run again in message 6; kept: message 5 block 0]"#.to_owned()),
        ]
    );
    assert_eq!(look.text(newest, 0).unwrap(), file(60));
}

#[test]
fn r72_a_search_whose_hit_was_opened_is_one_line() {
    let hits = written(60, |nth| format!("src/f{nth}.rs:{nth}: fn foo() {{}}\n"));
    let mut agent = alone();
    agent.user("find it");
    let grep = agent.tool("Grep", r#"{"pattern":"foo"}"#, &hits);
    agent.tool("Read", &path("/repo/src/f7.rs"), "fn foo() {}");
    assert_eq!(
        line(&mut agent, grep),
        r#"[searched "foo": 60 lines; src/f7.rs opened in message 4; kept: message 3 block 0]"#
    );
}

#[test]
fn r72_a_listing_is_used_by_the_file_that_was_opened_or_changed() {
    let names = written(80, |nth| format!("-rw-r--r-- 1 u u 10 f{nth}.rs\n"));
    for (tool, input) in [
        ("Bash", r#"{"command":"ls -l src"}"#),
        ("exec_command", r#"{"cmd":"ls -l","workdir":"src"}"#),
        ("LS", r#"{"path":"src"}"#),
    ] {
        let mut agent = alone();
        agent.user("find it");
        let listed = agent.tool(tool, input, &names);
        agent.tool("Edit", &path("src/f7.rs"), "done");
        let shown = line(&mut agent, listed);
        assert!(shown.starts_with("[listed \""), "{shown}");
        assert!(shown.contains("80 lines; src/f7.rs edited in message 4;"), "{shown}");
    }
    let mut agent = alone();
    agent.user("find it");
    let listed = agent.tool("LS", r#"{"path":"docs"}"#, &names);
    agent.tool("Edit", &path("src/f7.rs"), "done");
    stays(&mut agent, listed);
}

#[test]
fn r72_a_long_answer_to_an_edit_is_one_line_once_the_file_was_used_again() {
    let mut agent = alone();
    agent.user("change it");
    let edit = agent.tool("Edit", &path("a.rs"), &file(100));
    let write = agent.tool("Write", &path("b.rs"), &file(100));
    agent.tool("Edit", &path("a.rs"), "done");
    agent.tool("Read", &path("b.rs"), "text");
    fill(&mut agent);
    let look = agent.look();
    assert_eq!(
        look.text(edit, 0).unwrap(),
        "[edited a.rs, 100 lines; edited again in message 6; kept: message 3 block 0]"
    );
    assert_eq!(
        look.text(write, 0).unwrap(),
        "[wrote b.rs, 100 lines; read later in message 8; kept: message 5 block 0]"
    );
}

#[test]
fn r72_an_edit_that_names_no_file_is_of_the_one_opened_last() {
    let mut agent = alone();
    agent.user("fix it");
    let open = agent.tool("open", r#"{"path":"src/f.py","line_number":3}"#, &file(100));
    agent.tool("edit", r#"{"search":"a","replace":"b"}"#, "done");
    let shown = line(&mut agent, open);
    assert!(shown.contains("edited later in message 4;"), "{shown}");
}

#[test]
fn r72_a_line_keeps_the_error_and_every_format_takes_it() {
    let mut agent = alone();
    agent.user("read it");
    agent.call("c1", "Read", &path("a.rs"));
    let mut failed = result("c1", &file(100));
    if let BlockKind::ToolResult(ToolResult { is_error, .. }) = &mut failed.kind {
        *is_error = true;
    }
    let seq = agent.say(message(Role::User, vec![failed])).seq;
    agent.tool("Write", &path("a.rs"), "done");
    fill(&mut agent);
    let look = agent.look();
    let shown = shown_block(&look.composed, seq, 0).unwrap();
    let BlockKind::ToolResult(shown) = &shown.kind else { panic!("no result") };
    assert!(shown.is_error);
    assert_eq!(
        look.text(seq, 0).unwrap(),
        "[read a.rs (failed), 100 lines; written later in message 4; kept: message 3 block 0]"
    );
}

#[test]
fn r72_a_short_result_stays_as_it_is() {
    let mut agent = alone();
    agent.user("read it");
    let short = agent.tool("Read", &path("a.rs"), "fn main() {}");
    agent.tool("Read", &path("b.rs"), &file(200));
    agent.tool("Edit", &path("a.rs"), "done");
    agent.tool("Edit", &path("b.rs"), "done");
    stays(&mut agent, short);
}

#[test]
fn r72_lines_are_short_whatever_a_call_names() {
    let long = format!("/{}/a.rs", "dïr/".repeat(800));
    let command = serde_json::json!({ "command": format!("make \"x\ny\" {}", prose(4_000)) });
    let mut agent = alone();
    agent.user("go");
    let read = agent.tool("Read", &path(&long), &file(100));
    agent.tool("Edit", &path(&long), "done");
    let ran = agent.tool("Bash", &command.to_string(), &file(100));
    agent.tool("Bash", &command.to_string(), "ok");
    fill(&mut agent);
    let look = agent.look();
    for seq in [read, ran] {
        let shown = look.text(seq, 0).unwrap();
        assert!(shown.starts_with('[') && shown.chars().count() < 200, "{shown}");
        assert!(!shown.contains('\n'), "{shown}");
    }
}
