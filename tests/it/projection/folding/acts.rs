//! When folding acts, what it leaves alone, and what then stays as it is.

use concertina::{
    model::{Cause, OverlayKind, Role, SeqRange, StageKind, WireFormat},
    projection::share_of,
};

use super::{
    super::support::{
        Agent, call, in_lane, message, of_tokens, policy, rendered, result, shown_block,
    },
    alone, file, fill, folded, go_on, path, stays,
};

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
    let patch = r#"{"stages":["dedupe_files","tool_fold","fit"],"tool_fold":{"start_ratio":0.6}}"#;
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
