//! `snip_turns` and `snip_middle`: what goes, what stays, and that no call is
//! ever parted from its result.

use concertina::{
    model::{Block, Role, Seq, SeqRange, StageKind, shown::Answer},
    render::check,
};

use super::support::{
    Agent, FORMATS, Look, call, in_lane, message, of_tokens, policy, prose, rendered, result,
};

/// limit − min(13,000, 6.5 % of limit − fixed): above it the cascade snips.
fn threshold(agent: &Agent) -> i64 {
    let limit = agent.window.limit();
    limit - 13_000.min((limit * 65 + 999) / 1000)
}

/// A turn that counts `tokens` in all.
fn turn(agent: &mut Agent, tokens: i64) -> Seq {
    let seq = agent.user(&of_tokens(tokens / 2 - 4));
    agent.assistant(&of_tokens(tokens - tokens / 2 - 4));
    seq
}

#[test]
fn r56_the_cascade_snips_above_limit_less_13k_and_not_at_it() {
    for (above, acts) in [(-1, false), (0, false), (1, true)] {
        let mut agent = Agent::of("cascade", 200_000);
        let threshold = threshold(&agent);
        for _ in 0..9 {
            turn(&mut agent, 5_000);
        }
        turn(&mut agent, threshold - 45_000 + above);
        let look = agent.look();
        assert_eq!(look.added.len(), usize::from(acts), "{above}");
    }
}

#[test]
fn r56_r59_the_oldest_turns_go_and_no_more_of_them_than_needed() {
    let mut agent = Agent::of("cascade", 200_000);
    let threshold = threshold(&agent);
    let turns: Vec<Seq> = (0..40).map(|_| turn(&mut agent, 5_000)).collect();
    let look = agent.look();
    let shown = turns.iter().filter(|seq| look.shows(**seq)).count();
    assert!(agent.used(&look.composed) <= threshold);
    assert!(agent.used(&look.composed) + 5_000 > threshold, "one more would have been too many");
    assert!(turns[40 - shown..].iter().all(|seq| look.shows(*seq)), "the newest stay");
    // Five turns of 5,000 are about 25,000 tokens.
    let freed = look.added[0].tokens_before - look.added[0].tokens_after;
    assert_eq!((shown, freed), (35, 25_000));
}

#[test]
fn r57_a_snip_of_turns_has_no_marker_and_loses_no_row() {
    let mut agent = Agent::of("cascade", 200_000);
    for _ in 0..40 {
        turn(&mut agent, 5_000);
    }
    let look = agent.look();
    assert_eq!(look.notices(), Vec::<String>::new());
    assert_eq!(agent.history.rows().len(), 80);
}

#[test]
fn r58_what_is_left_starts_with_a_users_words() {
    let mut agent = Agent::of("cascade", 40_000);
    for nth in 0..30 {
        agent.user(&prose(400));
        agent.tool("edit_file", "{}", &prose(3000 + nth));
        agent.assistant(&prose(2000));
    }
    let look = agent.look();
    assert!(!look.added.is_empty());
    let first = look.composed.visible[0];
    assert!(agent.history.round(first).unwrap().starts_turn);
}

#[test]
fn r59_snips_that_grow_do_not_pile_up() {
    let mut agent = Agent::of("cascade", 40_000);
    let mut acts = 0;
    for _ in 0..60 {
        turn(&mut agent, 2_000);
        acts += usize::from(!agent.look().added.is_empty());
    }
    assert!(acts > 5);
    assert_eq!(agent.in_force().len(), 1, "a wider one takes the narrower one's place");
}

#[test]
fn edge_12_one_prompt_and_200_tool_rounds_are_snipped_in_rounds() {
    let mut agent = Agent::of("cascade", 40_000);
    let prompt = agent.user("fix everything");
    for _ in 0..200 {
        agent.tool("mcp__x__y", "{}", &prose(1500));
        let look = agent.look();
        assert!(agent.used(&look.composed) <= threshold(&agent));
    }
    let look = agent.look();
    assert!(look.shows(prompt), "edge 13: the request survives");
    assert_eq!(look.text(prompt, 0).unwrap(), "fix everything");
    assert_eq!(look.trigger(StageKind::Fit), "below_threshold");
}

#[test]
fn edge_13_the_last_request_survives_every_preset() {
    for preset in ["default", "four-level", "cascade", "teaching"] {
        let mut agent = Agent::of(preset, 8_000);
        for _ in 0..40 {
            agent.exchange(&prose(500), &prose(500));
        }
        let request = agent.user("the one thing that matters");
        for _ in 0..60 {
            agent.tool("bash", "{}", &prose(1500));
        }
        let shown = agent.look().text(request, 0);
        assert_eq!(shown.as_deref(), Some("the one thing that matters"), "{preset}");
    }
}

fn said(count: usize) -> Agent {
    let mut agent = Agent::of("teaching", 1_000_000);
    for nth in 0..count {
        if nth % 2 == 0 {
            agent.user(&format!("question {nth} {}", prose(100)));
        } else {
            agent.assistant(&format!("answer {nth} {}", prose(100)));
        }
    }
    agent
}

#[test]
fn r60_50_messages_are_all_shown() {
    for count in [1, 3, 49, 50] {
        let mut agent = said(count);
        let look = agent.look();
        assert_eq!(look.layout(&agent.history), [count.to_string()]);
    }
}

#[test]
fn r60_h9_more_than_50_are_3_a_marker_and_47() {
    for count in [51, 52, 60, 500] {
        let mut agent = said(count);
        let look = agent.look();
        assert_eq!(look.layout(&agent.history), ["3", "marker", "47"], "of {count}");
        let cut = count - 50;
        assert_eq!(look.notices(), [format!("[{cut} messages in the middle are not shown]")]);
    }
}

#[test]
fn i15_a_message_that_is_shorter_than_the_marker_is_not_cut() {
    let mut agent = Agent::of("teaching", 1_000_000);
    for _ in 0..51 {
        agent.user("ok");
    }
    let look = agent.look();
    assert_eq!(look.trigger(StageKind::SnipMiddle), "not_smaller");
    assert_eq!(look.layout(&agent.history), ["51"]);
    for _ in 0..9 {
        agent.user("ok");
    }
    assert_eq!(agent.look().layout(&agent.history), ["3", "marker", "47"]);
}

#[test]
fn edge_1_a_second_pass_never_cuts_or_counts_the_marker() {
    let mut agent = said(51);
    for count in 51..140 {
        for _ in 0..2 {
            let look = agent.look();
            assert_eq!(look.layout(&agent.history), ["3", "marker", "47"], "of {count}");
            let cut = count - 50;
            assert_eq!(look.notices(), [format!("[{cut} messages in the middle are not shown]")]);
        }
        assert_eq!(agent.in_force().len(), 1);
        agent.user(&format!("more {count}"));
    }
}

#[test]
fn edge_1_idempotent_where_nothing_came() {
    let mut agent = said(77);
    agent.look();
    for _ in 0..5 {
        assert_eq!(agent.look().added, []);
    }
}

/// Rounds of one call each, so that the edges fall inside rounds.
#[test]
fn r61_head_and_tail_grow_over_the_rounds_at_their_edges() {
    for lead in 0..4 {
        let mut agent = Agent::of("teaching", 1_000_000);
        for nth in 0..lead {
            agent.user(&format!("lead {nth}"));
        }
        for _ in 0..60 {
            agent.tool("bash", "{}", "ok");
        }
        let look = agent.look();
        let layout = look.layout(&agent.history);
        let (head, tail): (usize, usize) = (layout[0].parse().unwrap(), layout[2].parse().unwrap());
        assert!((3..=4).contains(&head) && (47..=48).contains(&tail), "{layout:?}");
        is_paired(&look);
    }
}

#[test]
fn r61_edge_2_parallel_results_in_rows_of_their_own_stay_with_their_calls() {
    for parallel in 1..8 {
        let mut agent = Agent::of("teaching", 1_000_000);
        agent.user("go");
        for nth in 0..20 {
            let ids: Vec<String> = (0..parallel).map(|id| format!("c{nth}-{id}")).collect();
            let calls = ids.iter().map(|id| call(id, "bash", "{}")).collect();
            agent.say(message(Role::Assistant, calls));
            for id in &ids {
                agent.result(id, "ok");
            }
        }
        is_paired(&agent.look());
    }
}

#[test]
fn edge_4_a_head_that_reaches_the_tail_leaves_all_as_it_is() {
    let mut agent = Agent::of("teaching", 1_000_000);
    agent.user("go");
    let ids: Vec<String> = (0..50).map(|id| format!("c{id}")).collect();
    agent.say(message(Role::Assistant, ids.iter().map(|id| call(id, "bash", "{}")).collect()));
    for id in &ids {
        agent.result(id, "ok");
    }
    let look = agent.look();
    assert_eq!(look.trigger(StageKind::SnipMiddle), "head_meets_tail");
    assert_eq!(look.layout(&agent.history), ["52"]);
}

#[test]
fn r60_a_request_of_a_slow_lane_stays_in_the_middle() {
    let mut agent = said(10);
    let words = message(Role::User, vec![Block::text("the other agent's task")]);
    let other = agent.say(in_lane("b", words)).seq;
    for nth in 0..80 {
        agent.user(&format!("more {nth}"));
    }
    let look = agent.look();
    assert!(look.shows(other), "the newest request of every active lane is protected");
    assert_eq!(look.layout(&agent.history), ["3", "marker", "48"]);
}

#[test]
fn pins_stay_whatever_is_snipped_around_them() {
    for preset in ["cascade", "teaching"] {
        let mut agent = Agent::of(preset, 40_000);
        for nth in 0..70 {
            agent.exchange(&format!("question {nth} {}", prose(1500)), &prose(1500));
        }
        agent.pins.push(SeqRange { first: Seq(21), last: Seq(22) });
        let look = agent.look();
        assert!(look.shows(Seq(21)) && look.shows(Seq(22)), "{preset}");
        assert!(!look.shows(Seq(23)), "{preset}");
        if let Some(snip) = look.added.iter().find(|it| it.is_range()) {
            assert!(!snip.covered.contains(Seq(21)));
            assert!(snip.kept.contains(Seq(21)));
        }
    }
}

/// Every call that is shown has its answer right there, and no result stands
/// alone: in the composed view, and by the rules of each format.
fn is_paired(look: &Look) {
    for round in look.composed.rounds() {
        let answered = round.calls.iter().all(|it| matches!(it.answer, Answer::Result { .. }));
        assert!(answered, "round {} lost a result", round.id);
    }
    for format in FORMATS {
        let request = rendered(&look.composed, format);
        assert_eq!(check::violations(format, &request), [], "{format:?}");
        assert!(
            request.repairs.iter().all(|it| it.reason.name() == "ENDS_WITH_ASSISTANT"
                || it.reason.name() == "STARTS_WITH_ASSISTANT"),
            "{:?}",
            request.repairs
        );
    }
}

#[test]
fn r105_no_range_that_is_named_parts_a_call_from_its_result() {
    let mut agent = Agent::under(policy("off", ""), 1_000_000);
    agent.user("go");
    for nth in 0..3 {
        let ids = [format!("a{nth}"), format!("b{nth}")];
        agent.say(message(Role::Assistant, ids.iter().map(|id| call(id, "bash", "{}")).collect()));
        agent.result(&ids[1], "b");
        agent.say(message(Role::User, vec![result(&ids[0], "a"), Block::text("and more")]));
        agent.assistant("ok");
    }
    let newest = agent.history.newest().0;
    for first in 1..=newest {
        for last in first..=newest {
            let range = SeqRange { first: Seq(first), last: Seq(last) };
            if concertina::projection::manual_snip(&agent.history, &[], range).is_none() {
                continue;
            }
            let mut cut = agent.clone();
            let snip = super::support::snip(&cut, first, last);
            cut.commit(vec![snip], &[]);
            if !cut.composed_with(&cut.in_force(), None).entries.is_empty() {
                is_paired(&cut.look());
            }
        }
    }
}

#[test]
fn a3_a_range_takes_a_round_that_ends_with_words_only_where_it_names_them() {
    let mut agent = Agent::under(policy("off", ""), 1_000_000);
    agent.user("go");
    agent.call("c1", "bash", "{}");
    let mixed = vec![result("c1", "ok"), Block::text("also rename it to k.rs")];
    let mixed = agent.say(message(Role::User, mixed)).seq;
    agent.assistant("done");
    let narrow = super::support::snip(&agent, 1, 2);
    assert!(!narrow.covered.contains(mixed) && !narrow.covered.contains(Seq(2)));
    let wide = super::support::snip(&agent, 1, 3);
    assert!(wide.covered.contains(mixed) && wide.covered.contains(Seq(2)));
}

#[test]
fn a5_a_late_answer_of_a_hidden_call_stays_shown_to_its_lane() {
    let mut agent = Agent::under(policy("off", ""), 1_000_000);
    agent.call("c1", "ask_confirm", "{}");
    agent.user("meanwhile");
    let snip = super::support::snip(&agent, 1, 1);
    agent.commit(vec![snip], &[]);
    let late = agent.result("c1", "approved");
    assert!(agent.try_look(Some("")).unwrap().shows(late));
    // Another lane goes on: this one is not shown that yet, but what it had.
    agent.say(in_lane("b", message(Role::User, vec![Block::text("elsewhere")])));
    let look = agent.try_look(Some("")).unwrap();
    assert!(look.shows(late) && !look.shows(Seq(4)));
}

#[test]
fn i15_fit_shows_no_short_round_as_a_longer_marker() {
    let mut agent = Agent::of("default", 1000);
    agent.user("");
    let request = agent.user(&of_tokens(800));
    let look = agent.look();
    assert_eq!(look.notices(), Vec::<String>::new(), "an empty message is shorter than a marker");
    assert!(look.shows(request) && look.shows(Seq(1)));
}
