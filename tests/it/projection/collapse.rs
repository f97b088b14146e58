//! Collapse: what it takes, when, and what is left of it.

use concertina::{
    model::{Overlay, OverlayKind, Seq, SeqRange, StageKind},
    projection::{Written, share_of},
    tokens::count_text,
};

use super::support::{Agent, Look, of_tokens, policy};

/// Under a preset in a window with a reserve of 5,000.
fn agent(preset: &str, patch: &str, tokens: i64) -> Agent {
    let mut agent = Agent::under(policy(preset, patch), tokens);
    agent.window.reserve = 5_000;
    agent
}

/// A turn of about so many tokens; the seq of its request.
fn turn(agent: &mut Agent, tokens: i64) -> Seq {
    let request = agent.user("do the next thing");
    agent.assistant(&of_tokens(tokens - 20));
    request
}

fn collapses(agent: &Agent) -> Vec<Overlay> {
    agent.in_force().into_iter().filter(|it| it.kind == OverlayKind::Collapse).collect()
}

/// How many summaries are shown, and the requests that are.
fn layout(look: &Look, requests: &[Seq]) -> (usize, Vec<usize>) {
    let shown = (1..).zip(requests).filter(|(_, seq)| look.shows(**seq)).map(|(turn, _)| turn);
    (look.notices().len(), shown.collect())
}

#[test]
fn r66_h6_a_ladder_of_three_passes_takes_half_then_two_then_two_of_ten_turns() {
    let mut agent = agent("four-level", "", 200_000);
    let requests: Vec<Seq> = (0..10).map(|_| turn(&mut agent, 14_990)).collect();
    let look = agent.look();
    assert_eq!(layout(&look, &requests).0, 0, "{} is below 150k", agent.used(&look.composed));

    agent.assistant(&of_tokens(150_000 - agent.used(&look.composed)));
    let look = agent.look();
    assert_eq!(layout(&look, &requests), (1, vec![6, 7, 8, 9, 10]));

    agent.assistant(&of_tokens(179_900 - agent.used(&look.composed)));
    let look = agent.look();
    assert_eq!(layout(&look, &requests).0, 1, "{} is below 180k", agent.used(&look.composed));
    agent.assistant(&of_tokens(150));
    let look = agent.look();
    assert_eq!(layout(&look, &requests), (2, vec![8, 9, 10]));

    agent.assistant(&of_tokens(194_900 - agent.used(&look.composed)));
    let look = agent.look();
    assert_eq!(layout(&look, &requests).0, 2, "{} is below 195k", agent.used(&look.composed));
    agent.assistant(&of_tokens(150));
    let look = agent.look();
    assert_eq!(layout(&look, &requests), (3, vec![10]));
    assert!(agent.used(&look.composed) < 195_000);
}

#[test]
fn r63_r64_h5_the_oldest_turns_go_in_segments_of_five_to_ten() {
    let mut agent = agent("default", "", 200_000);
    let requests: Vec<Seq> = (0..30).map(|_| turn(&mut agent, 5_900)).collect();
    let look = agent.look();
    let made = collapses(&agent);
    let sizes: Vec<i64> = made.iter().map(|it| it.covered.len() / 2).collect();
    // 10 % of the limit are reached with the fourth turn, but five are the least.
    assert_eq!(sizes, [5, 5], "{:?}", look.triggers);
    assert_eq!(layout(&look, &requests), (2, (11..=30).collect()));
    assert!(made.iter().all(|it| it.stage == "collapse" && it.summarizer == "test"));
}

#[test]
fn r68_r75_it_starts_at_its_ratio_and_not_below() {
    for (tokens, acts) in [(175_400, false), (175_500, true)] {
        let mut agent = agent("default", "", 200_000);
        let requests: Vec<Seq> = (0..20).map(|_| turn(&mut agent, 8_000)).collect();
        agent.assistant(&of_tokens(tokens - agent.used(&agent.composed_with(&[], None))));
        let look = agent.look();
        assert_eq!(layout(&look, &requests).0 > 0, acts, "{}", look.trigger(StageKind::Collapse));
    }
}

#[test]
fn r68_later_is_told_with_its_urgency() {
    for (tokens, urgent) in [(180_000, false), (186_000, true)] {
        let mut agent = agent("default", "", 200_000);
        agent.summarize = None;
        for _ in 0..20 {
            turn(&mut agent, 8_000);
        }
        agent.assistant(&of_tokens(tokens - agent.used(&agent.composed_with(&[], None))));
        let plan = agent.plan(None);
        let wanted = plan.wanted.expect("segments");
        assert_eq!((wanted.is_urgent, plan.waits), (urgent, urgent));
        assert!(plan.added.is_empty());
        assert!(wanted.segments.len() >= 2);
    }
}

#[test]
fn r65_the_newest_turns_stay_whole_as_far_as_they_fit() {
    let mut agent = agent("default", "", 200_000);
    let requests: Vec<Seq> = (0..12).map(|_| turn(&mut agent, 15_000)).collect();
    let look = agent.look();
    let (_, shown) = layout(&look, &requests);
    assert!(shown.contains(&11) && shown.contains(&12), "{shown:?}");
}

#[test]
fn r65_on_the_way_to_the_low_mark_the_newest_turns_are_not_taken_to_pieces() {
    for summarize in [Some(super::support::summary_of as _), None] {
        let mut agent = agent("cascade", r#"{"stages":["collapse","fit"]}"#, 200_000);
        let mut requests: Vec<Seq> = (0..4).map(|_| turn(&mut agent, 6_000)).collect();
        requests.extend((0..2).map(|_| turn(&mut agent, 79_000)));
        agent.summarize = summarize;
        let planned = agent.plan(None).wanted.map_or_else(Vec::new, |it| it.segments);
        let covers = |seq: Seq| planned.iter().any(|it| it.covered.contains(seq));
        let look = agent.look();
        // Both ways: at once, and as it is told to the background.
        for (turn, request) in (1..).zip(&requests) {
            let is_collapsed = !look.shows(*request) || covers(*request);
            let answer = request.next();
            assert_eq!(is_collapsed, turn <= 4, "the request of turn {turn}");
            assert_eq!(!look.shows(answer) || covers(answer), turn <= 4, "the answer to {turn}");
        }
        assert!(agent.used(&look.composed) > 140_000, "the low mark is out of reach");
    }
}

#[test]
fn edge_12_one_prompt_and_200_tool_rounds_collapse_in_rounds() {
    let mut agent = agent("default", r#"{"stages":["collapse","fit"]}"#, 32_000);
    agent.user("go");
    for _ in 0..200 {
        agent.tool("bash", "{}", &of_tokens(400));
        agent.look();
    }
    let made = collapses(&agent);
    assert!(made.len() > 10, "{}", made.len());
    assert!(agent.look().shows(Seq(1)), "the newest request is kept");
    assert!(made.iter().all(|it| it.covered.len() <= 20));
}

#[test]
fn pins_and_requests_between_what_is_collapsed_are_kept_after_the_summary() {
    let mut agent = agent("default", "", 200_000);
    let requests: Vec<Seq> = (0..20).map(|_| turn(&mut agent, 9_000)).collect();
    agent.pins.push(SeqRange { first: requests[2], last: requests[2] });
    let look = agent.look();
    let made = collapses(&agent);
    assert!(look.shows(requests[2]) && !look.shows(requests[1]) && !look.shows(requests[3]));
    assert!(made[0].kept.contains(requests[2]) && !made[0].covered.contains(requests[2]));
}

#[test]
fn a_leased_range_is_left_to_who_works_on_it() {
    let mut agent = agent("default", "", 200_000);
    for _ in 0..20 {
        turn(&mut agent, 9_000);
    }
    let leased = concertina::model::RowSet::of((1..=10).map(Seq).collect());
    agent.leased.push(leased.clone());
    let look = agent.look();
    assert!(collapses(&agent).iter().all(|it| !it.covered.intersects(&leased)));
    assert!(look.shows(Seq(1)));
}

#[test]
fn a_snip_of_the_oldest_leaves_what_is_hidden_in_a_leased_range() {
    let mut agent = agent("cascade", r#"{"stages":["snip_turns","fit"]}"#, 32_000);
    for _ in 0..2 {
        turn(&mut agent, 100);
    }
    let hidden = super::support::snip(&agent, 1, 2);
    agent.commit(vec![hidden], &[]);
    let leased = concertina::model::RowSet::of((1..=4).map(Seq).collect());
    agent.leased.push(leased.clone());
    for _ in 0..6 {
        turn(&mut agent, 5_000);
    }
    let look = agent.look();
    assert_eq!(look.trigger(StageKind::SnipTurns), "over_threshold");
    assert!(look.added.iter().all(|it| !it.covered.intersects(&leased)), "{:?}", look.added);
}

#[test]
fn a_snip_of_what_is_hidden_already_is_none() {
    let mut agent = agent("cascade", r#"{"stages":["snip_turns","fit"]}"#, 32_000);
    turn(&mut agent, 100);
    let mut hidden = super::support::snip(&agent, 1, 2);
    hidden.summary = "a marker that a snip without one would be smaller than".into();
    agent.commit(vec![hidden], &[]);
    let asked = turn(&mut agent, 13_000);
    agent.pins.push(SeqRange { first: asked, last: asked.next() });
    turn(&mut agent, 13_000);
    let plan = agent.plan(None);
    assert!(plan.triggers.contains(&(StageKind::SnipTurns, "nothing_to_snip")), "{plan:?}");
}

#[test]
fn a_snip_of_the_middle_waits_for_who_summarizes_what_it_would_replace() {
    let mut agent = agent("teaching", r#"{"stages":["snip_middle","fit"]}"#, 200_000);
    let go_on = |agent: &mut Agent| {
        for _ in 0..30 {
            agent.exchange(&of_tokens(100), "ok");
        }
        agent.look()
    };
    let first = go_on(&mut agent).added.remove(0);
    agent.leased.push(first.covered.clone());
    let look = go_on(&mut agent);
    assert_eq!((look.added.len(), look.trigger(StageKind::SnipMiddle)), (0, "leased"));
    agent.leased.clear();
    assert!(agent.look().added[0].covered.contains_all(&first.covered));
}

#[test]
fn a_segment_whose_summary_is_refused_is_tried_wider() {
    let mut agent = agent("default", "", 200_000);
    agent.summarize = Some(|segment| {
        (segment.covered.len() > 10).then(|| super::support::summary_of(segment)).flatten()
    });
    for _ in 0..30 {
        turn(&mut agent, 5_950);
    }
    agent.look();
    let made = collapses(&agent);
    assert!(!made.is_empty());
    assert!(made.iter().all(|it| it.covered.len() > 10));
}

#[test]
fn too_many_summaries_are_covered_by_one_wider_collapse() {
    let patch = r#"{"stages":["collapse","fit"],"collapse":{"all_summaries_share":0.01}}"#;
    let mut agent = agent("default", patch, 32_000);
    let mut requests = Vec::new();
    for _ in 0..60 {
        requests.push(turn(&mut agent, 900));
        agent.look();
    }
    let made = collapses(&agent);
    let wide: Vec<&Overlay> = made.iter().filter(|it| !it.covered_overlays.is_empty()).collect();
    assert!(!wide.is_empty());
    let look = agent.look();
    assert!(look.notices().len() < made.len());
    for overlay in wide {
        agent.roll_back(&overlay.id);
    }
}

#[test]
fn a_wider_summary_may_say_its_share_of_what_those_under_it_say() {
    let rules = |share: f64| {
        format!(
            r#"{{"stages":["collapse","fit"],
                "collapse":{{"all_summaries_share":0.05,"wider_share":{share}}}}}"#
        )
    };
    let widest = |share: f64| {
        let mut agent = agent("default", &rules(share), 64_000);
        agent.summarize = Some(|segment| {
            let text = of_tokens(segment.max_summary_tokens);
            Some(Written { text, summarizer: "test".into() })
        });
        let mut most = 0;
        for _ in 0..80 {
            turn(&mut agent, 1_500);
            agent.look();
            let made = collapses(&agent);
            for wide in made.iter().filter(|it| !it.covered_overlays.is_empty()) {
                let words = |it: &Overlay| i64::from(count_text(&it.summary));
                let under = made.iter().filter(|it| wide.covered_overlays.contains(&it.id));
                // 120 for what stands around each.
                let allowed = share_of(under.map(|it| words(it) + 120).sum(), share).max(300);
                let words = words(wide);
                assert!(words <= allowed, "{words} of {allowed}");
                most = most.max(words);
            }
        }
        most
    };
    let (none, some, half) = (widest(0.0), widest(0.3), widest(0.5));
    assert_eq!(none, 300, "what one of a segment may have");
    assert!(none < some && some < half, "{none} {some} {half}");
}

#[test]
fn r19_x13_auto_compact_waits_for_what_collapse_cannot_do_where_it_is_replaced() {
    let acts = |mode: &str, tokens: i64| {
        let patch = format!(r#"{{"collapse":{{"with_auto_compact":"{mode}"}}}}"#);
        let mut agent = agent("default", &patch, 200_000);
        agent.summarize = Some(|_| None);
        agent.user("go");
        agent.assistant(&of_tokens(tokens));
        agent.look().trigger(StageKind::AutoCompact)
    };
    // Its own trigger is limit - 13K, of which 6.5 % of the room are the most.
    assert_eq!(acts("overlapping", 184_000), "not_available");
    assert_eq!(acts("replaced", 184_000), "below_threshold");
    assert_eq!(acts("replaced", 186_000), "not_available");
}

#[test]
fn segments_laid_together_are_what_each_alone_would_be() {
    // A long history that just came, with files that are read again and again,
    // so that what one segment hides changes what is shown of others.
    let mut agent = agent("default", "", 20_000);
    for nth in 0..400 {
        agent.user("do the next thing");
        agent.tool("Read", &format!(r#"{{"file_path":"f{}.rs"}}"#, nth % 7), &of_tokens(120));
        agent.assistant(&of_tokens(60));
    }
    let look = agent.look();
    let made: Vec<Overlay> =
        look.added.iter().filter(|it| it.kind == OverlayKind::Collapse).cloned().collect();
    assert!(made.len() > 20, "{}", made.len());
    let inner: Vec<&Overlay> = made.iter().filter(|it| it.covered_overlays.is_empty()).collect();
    assert!(inner.windows(2).all(|it| !it[0].covered.intersects(&it[1].covered)));
    for overlay in &made {
        assert!(overlay.tokens_after < overlay.tokens_before, "{overlay:?}");
    }
    for pair in inner.windows(2) {
        assert_eq!(pair[0].tokens_after, pair[1].tokens_before, "one follows on the other");
    }
}

#[test]
fn what_is_kept_of_composing_follows_what_is_shown() {
    let mut agent = agent("default", "", 20_000);
    let mut most = 0;
    for _ in 0..300 {
        turn(&mut agent, 150);
        agent.look();
        most = most.max(agent.memo.bytes());
    }
    let shown = agent.look().composed.visible.len();
    let rows = agent.history.order().len();
    assert!(shown * 4 < rows, "{shown} of {rows}");
    assert!(agent.memo.bytes() < 4 * 1024 * (shown + 20), "{} for {shown}", agent.memo.bytes());
    assert!(most < 1024 * rows, "{most} for {rows}");
}
