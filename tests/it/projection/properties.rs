//! What holds whatever the history, the policy and the window: each case is a
//! whole life of an agent, checked at every step.

use concertina::{
    model::{Message, Overlay, StageKind, shown::Answer},
    projection::Composed,
    tokens,
};
use proptest::{prelude::*, strategy::ValueTree as _};

use super::{
    generate::{Event, circumstances, events, plain_agent},
    life::{Life, roll_back},
    support::{Agent, FORMATS, rendered},
};

/// What is told of a context's size is the size of what is shown.
fn counts_are_of_what_is_shown(composed: &Composed) {
    for round in composed.rounds() {
        let mut count = 0;
        for message in &round.messages {
            count += tokens::MESSAGE_TOKENS;
            for shown in &message.blocks {
                assert_eq!(shown.tokens, tokens::block(&shown.block), "row {}", message.seq);
                count += i64::from(shown.tokens);
            }
        }
        for call in &round.calls {
            count += match &call.answer {
                Answer::Missing => tokens::SYNTHETIC_RESULT_TOKENS,
                Answer::Result { block, tokens, .. } => {
                    assert_eq!(*tokens, tokens::block(block), "answer of round {}", round.id);
                    i64::from(*tokens)
                }
            };
        }
        assert_eq!(round.tokens, count, "round {}", round.id);
    }
}

/// Everything rolled back, in an order that `seed` picks, each one checked.
fn rolled_back(mut agent: Agent, mut seed: u64) -> Agent {
    loop {
        let in_force = agent.in_force();
        if in_force.is_empty() {
            return agent;
        }
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let nth = usize::try_from(seed >> 33).unwrap() % in_force.len();
        roll_back(&mut agent, &in_force[nth]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 40,
        max_shrink_iters: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn i2_i3_i4_i6_i7_i13_i14_i15_hold_at_every_step(
        circumstances in circumstances(),
        by_lane in any::<bool>(),
        events in events(24),
    ) {
        let mut life = Life::of(&circumstances, by_lane);
        for event in events {
            life.live(event);
        }
        counts_are_of_what_is_shown(&life.agent.composed_with(&life.agent.in_force(), None));
    }

    #[test]
    fn i5_rolling_everything_back_gives_what_was_never_reduced(
        circumstances in circumstances(),
        events in events(24),
        seed in any::<u64>(),
    ) {
        let mut life = Life::of(&circumstances, false);
        for event in events {
            life.pass(event);
        }
        let never = life.agent.composed_with(&[], None);
        let back = rolled_back(life.agent, seed);
        let again = back.composed_with(&back.in_force(), None);
        prop_assert_eq!(&again.entries, &never.entries);
        prop_assert_eq!(again.tokens, never.tokens);
        for format in FORMATS {
            prop_assert_eq!(rendered(&again, format), rendered(&never, format));
        }
    }

    #[test]
    fn i13_the_newest_request_survives_in_the_smallest_window(
        first in "[a-z ]{0,4000}",
        request in "[a-z ]{1,200}",
        preset in prop::sample::select(vec![
            "default", "four-level", "cascade", "teaching", "teaching-collapse", "claude-code",
        ]),
    ) {
        let mut life = plain_agent(preset, 1000);
        life.exchange(&first, "ok");
        let seq = life.user(&request);
        for _ in 0..5 {
            life.tool("bash", "{}", &"out ".repeat(600));
        }
        prop_assert_eq!(life.look().text(seq, 0), Some(request));
    }
}

/// What a generated life came to, for a check of what the generator reaches.
#[derive(Debug, Default)]
struct Reached {
    late: usize,
    replaced: usize,
    orphans: usize,
    repeats: usize,
    lanes: usize,
    folds: usize,
    nested: usize,
    collapsed_by_hand: usize,
    kept: usize,
    rolled_back_inside: usize,
}

impl Reached {
    fn by(&mut self, events: &[Event]) {
        let messages = events.iter().filter_map(|event| match event {
            Event::Append(message) => Some(message.as_ref()),
            _ => None,
        });
        let messages: Vec<&Message> = messages.collect();
        let mut wide = plain_agent("default", 200_000);
        for message in &messages {
            self.lanes += usize::from(message.lane == "a");
            let placed = wide.say((*message).clone());
            self.late += placed.answers.iter().filter(|it| it.is_late).count();
            self.replaced += placed.answers.iter().filter(|it| it.supersedes.is_some()).count();
            self.orphans += placed.orphans.len();
        }
        self.repeats += wide.composed_with(&[], None).repeats.len();
        let mut narrow = Life::under("default", 20_000);
        for event in events {
            narrow.pass(event.clone());
        }
        let ever = &narrow.agent.ever;
        let is_fold = |it: &&Overlay| it.stage == StageKind::ToolFold.name();
        self.folds += ever.iter().filter(is_fold).count();
        self.nested += ever.iter().filter(|it| !it.covered_overlays.is_empty()).count();
        let by_hand = |it: &&Overlay| it.stage.is_empty() && !it.summary.is_empty();
        self.collapsed_by_hand += ever.iter().filter(by_hand).count();
        self.kept += ever.iter().filter(|it| !it.kept.is_empty()).count();
        let inside = |it: &&Overlay| {
            let is_inside = |outer: &Overlay| outer.covered_overlays.contains(&it.id);
            it.rollback.is_some() && ever.iter().any(is_inside)
        };
        self.rolled_back_inside += ever.iter().filter(inside).count();
    }
}

#[test]
fn generated_histories_reach_what_they_are_for() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut it = Reached::default();
    for _ in 0..100 {
        it.by(&events(24).new_tree(&mut runner).unwrap().current());
    }
    let agents = [it.late, it.replaced, it.orphans, it.repeats, it.lanes, it.folds];
    let hands = [it.nested, it.collapsed_by_hand, it.kept, it.rolled_back_inside];
    assert!(agents.iter().chain(&hands).all(|count| *count > 0), "{it:?}");
}
