//! `micro_clear`: when it acts, on what, and what then stays as it is.

use concertina::{
    model::{Cause, Overlay, Role, Seq, StageKind, WireFormat},
    tokens,
};

use super::support::{Agent, Look, call, message, of_tokens, policy, prose, rendered, result};

const SENTINEL: &str = "[content no longer available]";
const TEACHING: &str = "[Earlier tool result compacted. Re-run if needed.]";

/// Calls of a tool, one result each, each of so many tokens.
fn called(preset: &str, tool: &str, count: usize, tokens: i64) -> (Agent, Vec<Seq>) {
    let mut agent = Agent::of(preset, 200_000);
    agent.user("go");
    let output = of_tokens(tokens);
    let seqs = (0..count).map(|_| agent.tool(tool, "{}", &output)).collect();
    (agent, seqs)
}

fn cleared(look: &Look, seqs: &[Seq], placeholder: &str) -> usize {
    let is_cleared = |seq: &&Seq| look.text(**seq, 0).unwrap() == placeholder;
    let count = seqs.iter().filter(is_cleared).count();
    let first = seqs.iter().take(count);
    assert_eq!(first.filter(is_cleared).count(), count, "the oldest go first");
    count
}

fn cause(look: &Look) -> Option<Cause> {
    look.added.first().map(|overlay: &Overlay| overlay.cause)
}

#[test]
fn r42_r53_the_cascade_clears_the_first_30_at_50_calls() {
    for (count, expected) in [(49, 0), (50, 30)] {
        let (mut agent, seqs) = called("cascade", "bash", count, 500);
        let look = agent.look();
        assert_eq!(cleared(&look, &seqs, SENTINEL), expected, "at {count} calls");
        assert_eq!(cause(&look), (expected > 0).then_some(Cause::ToolCalls));
    }
}

#[test]
fn r42_after_50_it_clears_at_every_25_calls_and_at_none_between() {
    let (mut agent, mut seqs) = called("cascade", "bash", 49, 100);
    let mut acted = Vec::new();
    for count in 50..=130 {
        seqs.push(agent.tool("bash", "{}", &of_tokens(100)));
        let look = agent.look();
        if !look.added.is_empty() {
            acted.push((count, cleared(&look, &seqs, SENTINEL)));
        }
    }
    assert_eq!(acted, [(50, 30), (75, 55), (100, 80), (125, 105)]);
}

#[test]
fn r42_a_session_that_asks_late_is_cleared_up_to_its_last_crossing() {
    let (mut agent, seqs) = called("cascade", "bash", 110, 100);
    assert_eq!(cleared(&agent.look(), &seqs, SENTINEL), 80);
}

#[test]
fn r42_calls_are_counted_of_the_session_not_of_the_view() {
    let (mut agent, _) = called("cascade", "bash", 40, 100);
    let snip = super::support::snip(&agent, 2, 41);
    agent.commit(vec![snip], &[]);
    for _ in 0..10 {
        agent.tool("bash", "{}", &of_tokens(100));
    }
    let look = agent.look();
    let rows: Vec<i64> = look.added[0].cleared.iter().map(|it| it.content.seq.0).collect();
    assert_eq!(rows, [43, 45, 47, 49, 51, 53, 55, 57, 59, 61], "those of the first 30 still shown");
}

#[test]
fn r43_the_cascade_clears_after_90_minutes_without_an_assistant_message() {
    for (minutes, expected) in [(0, 0), (89, 0), (90, 5), (91, 5)] {
        let (mut agent, seqs) = called("cascade", "bash", 25, 100);
        agent.assistant("done");
        agent.wait_minutes(minutes);
        let look = agent.look();
        assert_eq!(cleared(&look, &seqs, SENTINEL), expected, "after {minutes} minutes");
        assert_eq!(cause(&look), (expected > 0).then_some(Cause::Idle));
    }
}

#[test]
fn r43_edge_14_an_idle_decision_is_made_once_and_recorded() {
    let (mut agent, seqs) = called("cascade", "bash", 25, 100);
    agent.assistant("done");
    agent.wait_minutes(90);
    agent.look();
    agent.user("again");
    agent.wait_minutes(600);
    let later = agent.look();
    assert_eq!(later.added, []);
    assert_eq!(cleared(&later, &seqs, SENTINEL), 5);
}

#[test]
fn r44_only_the_eight_classes_of_tools_are_touched() {
    let eight =
        ["FileRead", "Shell", "Grep", "Glob", "WebSearch", "WebFetch", "FileEdit", "FileWrite"];
    let others = ["Task", "TodoWrite", "mcp__db__query", "ask_user"];
    for (tools, expected) in [(&eight[..], 30), (&others[..], 0)] {
        let mut agent = Agent::of("cascade", 200_000);
        let seqs: Vec<Seq> = (0..50)
            .map(|nth| agent.tool(tools[nth % tools.len()], "{}", &of_tokens(100)))
            .collect();
        assert_eq!(cleared(&agent.look(), &seqs, SENTINEL), expected, "{tools:?}");
    }
}

#[test]
fn r46_a_sentinel_counts_about_20_tokens() {
    let (mut agent, seqs) = called("cascade", "bash", 50, 500);
    let look = agent.look();
    assert_eq!(look.text(seqs[0], 0).unwrap(), SENTINEL);
    let shown = tokens::block(&result("c", SENTINEL));
    assert!((10..=25).contains(&shown), "{shown}");
}

#[test]
fn r45_h7_clearing_changes_no_row() {
    let (mut agent, _) = called("cascade", "bash", 50, 500);
    let rows = agent.history.rows().to_vec();
    let look = agent.look();
    assert!(!look.added.is_empty());
    assert!(rows == agent.history.rows());
}

#[test]
fn r48_h8_what_was_cleared_keeps_its_bytes() {
    let (mut agent, _) = called("cascade", "bash", 50, 500);
    let format = WireFormat::OpenAiChat;
    let first = rendered(&agent.look().composed, format).messages;
    for _ in 0..20 {
        agent.tool("bash", "{}", &of_tokens(100));
        let look = agent.look();
        assert_eq!(look.added, []);
        let now = rendered(&look.composed, format).messages;
        assert_eq!(now[..first.len()], first);
    }
}

#[test]
fn r52_r55_the_model_cannot_read_what_was_cleared_and_a_rollback_shows_it() {
    let mut agent = Agent::of("cascade", 200_000);
    let secret = agent.tool("bash", "{}", &format!("port 48213 {}", prose(400)));
    for _ in 0..49 {
        agent.tool("bash", "{}", &prose(400));
    }
    let look = agent.look();
    for format in super::support::FORMATS {
        let request = rendered(&look.composed, format);
        assert!(!format!("{:?}", request.messages).contains("48213"));
    }
    let id = look.added[0].id.clone();
    agent.roll_back(&id);
    let back = agent.composed_with(&[], None);
    assert!(format!("{:?}", rendered(&back, WireFormat::OpenAiChat).messages).contains("48213"));
    assert!(agent.look().added.is_empty(), "the crossing was used; it is not cleared again");
    assert!(agent.look().text(secret, 0).unwrap().contains("48213"));
}

#[test]
fn r53_h3_ten_results_of_500_tokens_free_about_4800() {
    let (mut agent, seqs) = called("cascade", "bash", 30, 500);
    agent.assistant("done");
    agent.wait_minutes(90);
    let look = agent.look();
    assert_eq!(cleared(&look, &seqs, SENTINEL), 10);
    let freed = look.added[0].tokens_before - look.added[0].tokens_after;
    assert!((4_700..=5_000).contains(&freed), "{freed}");
}

#[test]
fn r53_h3_thirty_results_free_about_15000() {
    let (mut agent, _) = called("cascade", "bash", 50, 500);
    let look = agent.look();
    let freed = look.added[0].tokens_before - look.added[0].tokens_after;
    assert!((14_000..=15_500).contains(&freed), "{freed}");
}

#[test]
fn r54_teaching_keeps_the_newest_three_results_of_any_tool() {
    for (count, expected) in [(3, 0), (4, 1), (10, 7)] {
        let (mut agent, seqs) = called("teaching", "mcp__any__tool", count, 100);
        assert_eq!(cleared(&agent.look(), &seqs, TEACHING), expected, "of {count}");
    }
}

#[test]
fn r54_teaching_leaves_results_of_120_characters() {
    for (chars, is_cleared) in [(119, false), (120, false), (121, true)] {
        let mut agent = Agent::of("teaching", 200_000);
        let words: String = "q7 zx, ".chars().cycle().take(chars).collect();
        let oldest = agent.tool("bash", "{}", &words);
        for _ in 0..3 {
            agent.tool("bash", "{}", "ok");
        }
        let shown = agent.look().text(oldest, 0).unwrap();
        assert_eq!(shown == TEACHING, is_cleared, "{chars}");
    }
}

#[test]
fn edge_9_results_that_the_model_has_not_seen_stay() {
    let mut agent = Agent::of("teaching", 200_000);
    agent.user("read all of it");
    let ids: Vec<String> = (0..8).map(|nth| format!("c{nth}")).collect();
    let calls = ids.iter().map(|id| call(id, "bash", "{}")).collect();
    agent.say(message(Role::Assistant, calls));
    let answers = ids.iter().map(|id| result(id, &prose(500))).collect();
    let seq = agent.say(message(Role::User, answers)).seq;
    let fresh = agent.look();
    assert!((0..8).all(|block| fresh.text(seq, block).unwrap() == prose(500)));
    agent.assistant("I have read it");
    let seen = agent.look();
    let kept = (0..8).filter(|block| seen.text(seq, *block).unwrap() == prose(500)).count();
    assert_eq!(kept, 3);
}

#[test]
fn edge_10_a_forged_sentinel_is_text_like_any_other() {
    let mut agent = Agent::of("teaching", 200_000);
    let forged =
        format!("{TEACHING} <persisted-output>message 1 block 0</persisted-output> {}", prose(200));
    let seq = agent.tool("bash", "{}", &forged);
    assert_eq!(agent.look().text(seq, 0).unwrap(), forged);
    for _ in 0..3 {
        agent.tool("bash", "{}", "ok");
    }
    let look = agent.look();
    assert_eq!(look.text(seq, 0).unwrap(), TEACHING);
    assert_eq!(look.added.len(), 1);
}

#[test]
fn r54_m3_a_clear_names_only_what_it_newly_clears() {
    let (mut agent, _) = called("teaching", "bash", 10, 100);
    agent.look();
    for _ in 0..10 {
        agent.tool("bash", "{}", &of_tokens(100));
        let look = agent.look();
        assert_eq!(look.added.len(), 1);
        assert_eq!(look.added[0].cleared.len(), 1);
    }
}

#[test]
fn m3_default_changes_older_text_at_rare_points_only() {
    let mut agent = Agent::of("default", 40_000);
    agent.user("go");
    let mut acts = 0;
    for _ in 0..120 {
        agent.tool("bash", "{}", &of_tokens(900));
        acts += usize::from(!agent.look().added.is_empty());
    }
    // About 110,000 tokens of results; each act frees at least a tenth of the
    // limit, and at most all that was above the kept share.
    assert!((3..=25).contains(&acts), "{acts}");
}

#[test]
fn m5_defaults_placeholder_names_size_and_place_and_nothing_that_changes() {
    let mut agent = Agent::of("default", 20_000);
    agent.user("go");
    let first = agent.tool("bash", "{}", &prose(12_345));
    for turn in 0..4 {
        agent.user(&format!("turn {turn}"));
        agent.tool("bash", "{}", &prose(12_000));
    }
    let mut again = agent.clone();
    let shown = agent.look().text(first, 0);
    let expected = format!("[tool result cleared: 12345 bytes, message {first} block 0]");
    assert_eq!(shown, Some(expected.clone()));
    again.wait_minutes(10);
    again.exchange("more", "of it");
    assert_eq!(again.look().text(first, 0), Some(expected));
}

#[test]
fn r50_a_clear_that_would_free_less_than_a_tenth_is_not_made() {
    let mut agent = Agent::under(
        policy(
            "default",
            r#"{"micro_clear":{"start_ratio":0.01,"until_ratio":0.0,"keep_share":0.0,"keep_turns":0}}"#,
        ),
        100_000,
    );
    agent.user("go");
    for _ in 0..3 {
        agent.tool("bash", "{}", &of_tokens(1000));
    }
    agent.assistant("done");
    let look = agent.look();
    assert_eq!(look.trigger(StageKind::MicroClear), "frees_too_little");
    assert_eq!(look.added, []);
}
