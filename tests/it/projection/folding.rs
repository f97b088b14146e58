//! `tool_fold`: completed calls as a line, once later work used them.

use concertina::{
    model::{
        BlockKind, Cause, OverlayKind, Role, Seq, SeqRange, StageKind, ToolResult, WireFormat,
    },
    projection::share_of,
};

use super::support::{
    Agent, Look, call, in_lane, message, of_tokens, policy, prose, rendered, result, shown_block,
};

/// Folding alone, on a view whose limit is 10,000 tokens.
const ALONE: &str = r#"{"stages":["tool_fold","fit"],"window":{"output_reserve_tokens":0},
    "collapse":{"keep_turns":2}}"#;

fn alone() -> Agent {
    let mut agent = Agent::under(policy("default", ALONE), 10_000);
    agent.window.reserve = 0;
    agent
}

/// A file of so many lines, about ten tokens each.
fn file(lines: usize) -> String {
    (0..lines).map(|nth| format!("let line_{nth} = over(the, lazy, dog);\n")).collect()
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
    let hits: String = (0..60).map(|nth| format!("src/f{nth}.rs:{nth}: fn foo() {{}}\n")).collect();
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
    let names: String = (0..80).map(|nth| format!("-rw-r--r-- 1 u u 10 f{nth}.rs\n")).collect();
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
fn r72_what_the_model_has_not_seen_and_the_newest_rounds_stay() {
    let mut agent = alone();
    agent.user("read it");
    agent.tool("Task", "{}", &of_tokens(6_000));
    agent.tool("Read", &path("a.rs"), &file(100));
    agent.tool("Edit", &path("a.rs"), "done");
    assert_eq!(agent.look().trigger(StageKind::ToolFold), "nothing_to_fold");
    agent.assistant("done");
    assert_eq!(folded(&agent.look()).len(), 1);
}

#[test]
fn r72_in_a_session_of_turns_the_newest_two_turns_stay() {
    let mut agent = alone();
    for nth in 0..4 {
        agent.user(&format!("turn {nth}"));
        agent.tool("Read", &path(&format!("f{nth}.rs")), &file(120));
        agent.tool("Edit", &path(&format!("f{nth}.rs")), "done");
        agent.assistant("done");
    }
    agent.window.fixed = 3_000;
    let look = agent.look();
    let rows: Vec<i64> = folded(&look).into_iter().map(|(seq, _)| seq).collect();
    assert_eq!(rows, [3, 9]);
}

#[test]
fn r72_pinned_rounds_stay() {
    let mut agent = alone();
    agent.user("read it");
    let read = agent.tool("Read", &path("a.rs"), &file(300));
    agent.tool("Edit", &path("a.rs"), "done");
    agent.pins.push(SeqRange { first: read, last: read });
    stays(&mut agent, read);
}

#[test]
fn r72_an_original_takes_its_duplicates_along_or_stays() {
    let patch = r#"{"stages":["dedupe_files","tool_fold","fit"]}"#;
    let mut agent = Agent::under(policy("default", patch), 10_000);
    agent.window.reserve = 0;
    agent.user("read it");
    let first = agent.tool("Read", &path("a.rs"), &file(200));
    let second = agent.tool("Read", &path("a.rs"), &file(200));
    // The newest reading is a duplicate of the first: neither may go alone.
    stays(&mut agent.clone(), first);
    agent.tool("Edit", &path("a.rs"), "done");
    fill(&mut agent);
    let look = agent.look();
    let rows: Vec<i64> = folded(&look).into_iter().map(|(seq, _)| seq).collect();
    assert_eq!(rows, [first.0, second.0]);
    assert!(look.text(second, 0).unwrap().contains("edited later in message 6"));
}

#[test]
fn r72_work_that_began_before_the_result_came_did_not_use_it() {
    let mut agent = alone();
    agent.user("both");
    let calls = vec![call("r", "Read", &path("a.rs")), call("e", "Edit", &path("a.rs"))];
    agent.say(message(Role::Assistant, calls));
    let answers = vec![result("r", &file(300)), result("e", "done")];
    let seq = agent.say(message(Role::User, answers)).seq;
    stays(&mut agent, seq);
    // Another agent's edit, called before this one's reading was answered.
    let mut agent = alone();
    agent.user("both");
    agent.say(in_lane("a", message(Role::Assistant, vec![call("r", "Read", &path("a.rs"))])));
    agent.say(in_lane("b", message(Role::Assistant, vec![call("e", "Edit", &path("a.rs"))])));
    let seq = agent.say(in_lane("a", message(Role::User, vec![result("r", &file(300))]))).seq;
    agent.say(in_lane("b", message(Role::User, vec![result("e", "done")])));
    agent.say(in_lane("a", message(Role::Assistant, vec![call("n", "Task", "{}")])));
    stays(&mut agent, seq);
}

#[test]
fn r11_r72_it_acts_at_the_high_mark_and_stops_at_the_low_one() {
    let mut agent = alone();
    agent.user("go");
    for nth in 0..30 {
        agent.tool("Read", &path(&format!("f{nth}.rs")), &file(20));
        agent.tool("Edit", &path(&format!("f{nth}.rs")), "done");
    }
    go_on(&mut agent);
    let composed = agent.composed_with(&[], None);
    agent.window.fixed = 5_999 - composed.tokens;
    assert_eq!(agent.look().trigger(StageKind::ToolFold), "below_threshold");
    agent.window.fixed += 1;
    let look = agent.look();
    assert_eq!(look.trigger(StageKind::ToolFold), "over_threshold");
    let used = agent.used(&look.composed);
    assert!((4_700..=5_000).contains(&used), "{used}");
    let rows: Vec<i64> = folded(&look).into_iter().map(|(seq, _)| seq).collect();
    let oldest: Vec<i64> = (0..rows.len()).map(|nth| 3 + 4 * i64::try_from(nth).unwrap()).collect();
    assert_eq!(rows, oldest, "the oldest go first");
    assert_eq!(look.added[0].cause, Cause::Pressure);
    assert_eq!(look.added[0].kind, OverlayKind::Clear);
}

#[test]
fn r21_r72_only_results_are_touched_and_a_second_plan_adds_nothing() {
    let mut agent = alone();
    agent.user("change it");
    let read = agent.tool("Read", &path("a.rs"), &file(300));
    agent.tool("Edit", &path("a.rs"), "done");
    fill(&mut agent);
    let rows = agent.history.rows().to_vec();
    let look = agent.look();
    let [overlay] = look.added.as_slice() else { panic!("one act") };
    assert!(overlay.tokens_after < overlay.tokens_before);
    let [piece] = overlay.cleared.as_slice() else { panic!("one piece") };
    assert_eq!((piece.content.seq, piece.content.block), (read, 0));
    assert!(rows == agent.history.rows());
    assert_eq!(agent.look().added, []);
    assert!(agent.plan(None).added.is_empty());
}

#[test]
fn i7_what_was_folded_keeps_its_bytes_until_the_next_act() {
    let mut agent = alone();
    agent.user("go");
    for nth in 0..14 {
        agent.tool("Read", &path(&format!("f{nth}.rs")), &file(40));
        agent.tool("Edit", &path(&format!("f{nth}.rs")), "done");
    }
    let format = WireFormat::OpenAiChat;
    let mut before = rendered(&agent.look().composed, format).messages;
    let mut acts = 0;
    for nth in 0..60 {
        // Files that were folded are changed again: their lines stay.
        agent.tool("Edit", &path(&format!("f{}.rs", nth % 14)), "done");
        agent.tool("Read", &path(&format!("g{nth}.rs")), &file(6));
        let look = agent.look();
        let now = rendered(&look.composed, format).messages;
        if look.added.is_empty() {
            assert_eq!(now[..before.len()], before);
        }
        acts += usize::from(!look.added.is_empty());
        before = now;
    }
    assert!((1..=4).contains(&acts), "{acts}");
}

#[test]
fn r72_little_is_left_for_a_larger_act() {
    let mut agent = alone();
    agent.user("go");
    let read = agent.tool("Read", &path("a.rs"), &file(15));
    agent.tool("Edit", &path("a.rs"), "done");
    fill(&mut agent);
    let look = agent.look();
    assert_eq!(look.trigger(StageKind::ToolFold), "frees_too_little");
    assert_eq!(look.text(read, 0).unwrap(), file(15));
    let least = share_of(10_000, 0.1) / 4;
    agent.tool("Read", &path("b.rs"), &of_tokens(least));
    agent.tool("Edit", &path("b.rs"), "done");
    go_on(&mut agent);
    assert_eq!(folded(&agent.look()).len(), 2);
}

#[test]
fn r73_a_rollback_shows_what_was_folded() {
    let mut agent = alone();
    agent.user("change it");
    let read = agent.tool("Read", &path("a.rs"), &file(300));
    agent.tool("Edit", &path("a.rs"), "done");
    fill(&mut agent);
    let whole = agent.composed_with(&[], None);
    let id = agent.look().added[0].id.clone();
    agent.roll_back(&id);
    let back = agent.composed_with(&agent.in_force(), None);
    assert_eq!(back.entries, whole.entries);
    assert_eq!(shown_block(&back, read, 0), shown_block(&whole, read, 0));
}

#[test]
fn r72_the_presets_fold_before_they_clear() {
    let mut agent = Agent::of("default", 40_000);
    agent.user("go");
    let mut reads = Vec::new();
    for nth in 0..12 {
        reads.push(agent.tool("Read", &path(&format!("f{nth}.rs")), &file(180)));
        agent.tool("Edit", &path(&format!("f{nth}.rs")), "done");
        let look = agent.look();
        if !look.added.is_empty() {
            assert_eq!(look.added[0].stage, "tool_fold");
            assert_eq!(look.added.len(), 1);
            assert!(look.text(reads[0], 0).unwrap().starts_with("[read f0.rs, 180 lines; "));
            return;
        }
    }
    panic!("it never folded");
}

#[test]
fn r72_teaching_collapse_folds_from_nine_tenths_of_the_window() {
    let patch = r#"{"micro_clear":{"keep_results":50}}"#;
    let mut agent = Agent::under(policy("teaching-collapse", patch), 10_000);
    agent.user("go");
    let read = agent.tool("Read", &path("a.rs"), &file(200));
    agent.tool("Edit", &path("a.rs"), "done");
    go_on(&mut agent);
    let composed = agent.composed_with(&[], None);
    // The limit is below nine tenths of this window: it fires there.
    agent.window.reserve = 500;
    agent.window.fixed = 8_999 - composed.tokens;
    assert_eq!(agent.look().trigger(StageKind::ToolFold), "below_threshold");
    agent.window.fixed += 1;
    assert!(agent.look().text(read, 0).unwrap().starts_with("[read a.rs, 200 lines; "));
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
