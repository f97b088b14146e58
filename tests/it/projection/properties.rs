//! What holds whatever the history, the policy and the window: each case is a
//! whole life of an agent, checked at every step.

use std::collections::{BTreeMap, BTreeSet};

use concertina::{
    model::{Overlay, OverlayKind, Role, Row, Seq, StageKind, WireFormat, shown::Answer},
    projection::{Composed, Fate, History, Sight, share_of},
    render::{Rendered, check},
    rounds::MessageShape,
    tokens,
};
use proptest::{prelude::*, strategy::ValueTree as _};

use super::{
    generate::{Circumstances, Event, agent, circumstances, events, plain_agent},
    support::{Agent, FORMATS, Look, rendered, shown_block, words},
};

/// Role and blocks of each message (Anthropic), or each message.
fn blocks(rendered: &Rendered, format: WireFormat) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Merged<'a> {
        role: &'a str,
        #[serde(borrow)]
        content: Vec<&'a serde_json::value::RawValue>,
    }
    let mut out = Vec::new();
    for json in &rendered.messages {
        if format != WireFormat::AnthropicMessages {
            out.push(String::from_utf8(json.to_vec()).unwrap());
            continue;
        }
        let message: Merged<'_> = serde_json::from_slice(json).unwrap();
        out.push(message.role.to_owned());
        out.extend(message.content.iter().map(|block| block.get().to_owned()));
    }
    out
}

/// A life, lived step by step, with what is remembered from one to the next.
struct Life {
    agent: Agent,
    by_lane: bool,
    /// Grows with everything that may change what was shown before.
    epoch: usize,
    shown: BTreeMap<(Option<String>, usize), (usize, Vec<String>)>,
    /// Whether the newest requests together were ever above their share.
    requests_were_large: bool,
}

impl Life {
    fn of(circumstances: &Circumstances, by_lane: bool) -> Self {
        let agent = agent(circumstances);
        Self { agent, by_lane, epoch: 0, shown: BTreeMap::new(), requests_were_large: false }
    }

    fn live(&mut self, event: Event) {
        match event {
            Event::Wait(minutes) => self.agent.wait_minutes(minutes),
            Event::RollBack(nth) => self.roll_back(nth),
            Event::Snip(first, last) => self.epoch += usize::from(self.agent.snip(first, last)),
            Event::Clear(at) => self.epoch += usize::from(self.agent.clear(at)),
            Event::Append(message) => {
                let lane = self.by_lane.then(|| message.lane.clone());
                let placement = self.agent.say(*message);
                let is_late =
                    |it: &concertina::rounds::Answered| it.is_late || it.supersedes.is_some();
                if placement.answers.iter().any(is_late) {
                    self.epoch += 1;
                }
                self.ask(lane.as_deref());
            }
        }
    }

    fn roll_back(&mut self, nth: usize) {
        let in_force = self.agent.in_force();
        if let Some(overlay) = in_force.get(nth % in_force.len().max(1)) {
            let id = overlay.id.clone();
            self.agent.roll_back(&id);
            self.epoch += 1;
        }
    }

    fn ask(&mut self, lane: Option<&str>) {
        let before = self.agent.ever.len();
        let asked = self.agent.try_look(lane);
        if self.agent.ever.len() > before {
            self.epoch += 1;
        }
        let Ok(look) = asked else { return };
        if look.composed.entries.is_empty() {
            return;
        }
        let composed = &look.composed;
        i4_the_budget_is_kept(&self.agent, composed);
        i15_nothing_got_larger(&self.agent, &look, lane);
        i2_every_block_is_accounted_for(&self.agent, composed, lane);
        i14_markers_resolve(&self.agent, composed);
        only_fit_goes_beyond_pins(&self.agent, lane);
        self.i13_newest_requests_are_whole(composed, lane);
        i6_it_is_the_same_from_scratch(&self.agent, composed, lane);
        for (at, format) in FORMATS.into_iter().enumerate() {
            let request = rendered(composed, format);
            if request.messages.is_empty() {
                // Nothing was said yet: the server calls the session empty.
                continue;
            }
            let broken = check::violations(format, &request);
            assert!(broken.is_empty(), "I3: {format:?}: {broken:?}");
            self.i7_it_grows_at_its_end((lane.map(str::to_owned), at), blocks(&request, format));
        }
    }

    fn i7_it_grows_at_its_end(&mut self, key: (Option<String>, usize), now: Vec<String>) {
        if let Some((epoch, before)) = self.shown.get(&key)
            && *epoch == self.epoch
        {
            let same = before.iter().zip(&now).take_while(|(a, b)| a == b).count();
            assert!(same == before.len(), "I7: {same} of {before:#?}\nnow {now:#?}");
        }
        self.shown.insert(key, (self.epoch, now));
    }

    /// Word for word, unless `fit` shortened it.
    fn i13_newest_requests_are_whole(&mut self, composed: &Composed, lane: Option<&str>) {
        let agent = &self.agent;
        let mut newest: BTreeMap<&str, Seq> = BTreeMap::new();
        let order = agent.history.order();
        let is_shown_to: BTreeSet<Seq> =
            order[..agent.history.shown_to(lane)].iter().copied().collect();
        for row in agent.history.rows() {
            let round = agent.history.round_of(row.seq).unwrap();
            let has_words = MessageShape::of(&row.message).starts_turn();
            if has_words && order.contains(&round.id) {
                newest.insert(&row.message.lane, round.id);
            }
        }
        let room = agent.window.room();
        let share = share_of(room, agent.policy().protect.newest_requests_share);
        let plain = |id: Seq| concertina::projection::report::plain_tokens(agent.lens(), id);
        let all: i64 = newest.values().map(|id| agent.window.used(plain(*id))).sum();
        self.requests_were_large |= all > share;
        let very_newest = newest.values().max().copied();
        for id in newest.values().copied() {
            let by_hand =
                agent.in_force().iter().any(|it| it.stage.is_empty() && it.covered.contains(id));
            if by_hand {
                continue;
            }
            let is_above_share = Some(id) != very_newest && self.requests_were_large;
            if is_above_share || !is_shown_to.contains(&id) {
                continue;
            }
            let rows = &agent.history.round(id).unwrap().rows;
            let rows = rows.iter().map(|seq| agent.history.row(*seq).unwrap());
            for row in rows.filter(|row| row.message.role == Role::User) {
                whole_or_cut_by_fit(agent, composed, row);
            }
        }
    }
}

fn whole_or_cut_by_fit(agent: &Agent, composed: &Composed, row: &Row) {
    for index in 0..u32::try_from(row.message.blocks.len()).unwrap() {
        if agent.history.fate(row.seq, index).is_some() {
            continue;
        }
        let shown = shown_block(composed, row.seq, index)
            .unwrap_or_else(|| panic!("I13: request {} is not shown", row.seq));
        let plain = agent.sight.block_at_first_sight(&agent.history, (row.seq, index)).unwrap();
        let by_fit = agent.in_force().iter().any(|it| {
            (it.stage == StageKind::Fit.name() || it.stage.is_empty())
                && it
                    .cleared
                    .iter()
                    .any(|piece| (piece.content.seq, piece.content.block) == (row.seq, index))
        });
        assert!(by_fit || shown == plain, "I13: request {} is not whole", row.seq);
    }
}

fn only_fit_goes_beyond_pins(agent: &Agent, lane: Option<&str>) {
    let order = &agent.history.order()[..agent.history.shown_to(lane)];
    for pin in &agent.pins {
        let Some(round) = agent.history.round_of(pin.first) else { continue };
        if !order.contains(&round.id) {
            continue;
        }
        // The first that takes it; who covers that one later takes it along.
        let first = agent.ever.iter().find(|it| it.is_range() && it.covered.contains(round.id));
        let stage = first.map_or("", |it| it.stage.as_str());
        let may = stage.is_empty() || stage == StageKind::Fit.name();
        assert!(may, "{stage} took the pinned row {}", pin.first);
    }
}

fn i4_the_budget_is_kept(agent: &Agent, composed: &Composed) {
    let (used, limit) = (agent.used(composed), agent.window.limit());
    assert!(used <= limit, "I4: {used} of {limit}");
}

fn i15_nothing_got_larger(agent: &Agent, look: &Look, lane: Option<&str>) {
    for overlay in &look.added {
        let (before, after) = (overlay.tokens_before, overlay.tokens_after);
        // What only bytes were the matter of may count as much as before.
        let is_smaller = after < before || (after == before && agent.window.bytes_limit < 1 << 40);
        assert!(is_smaller, "I15: {} of {}: {before} to {after}", overlay.id, overlay.stage);
    }
    if lane.is_none() {
        // A lane may see the marker of a range whose rows it does not see yet.
        let whole = agent.composed_with(&[], None).tokens;
        assert!(look.composed.tokens <= whole, "I15: {} of {whole}", look.composed.tokens);
    }
}

fn i6_it_is_the_same_from_scratch(agent: &Agent, composed: &Composed, lane: Option<&str>) {
    let mut again = agent.clone();
    let mut history = History::new();
    for row in agent.history.rows() {
        history.push(std::sync::Arc::clone(row));
    }
    let policy = std::sync::Arc::clone(agent.sight.policy());
    again.sight = Sight::of(policy, agent.sight.sizes(), &history);
    again.history = history;
    let fresh = again.composed_with(&agent.in_force(), lane);
    assert!(fresh.entries == composed.entries, "I6: other entries from scratch");
    assert_eq!((fresh.tokens, fresh.repeats), (composed.tokens, composed.repeats.clone()), "I6");
}

/// Shown exactly once, or not at all for a reason.
fn i2_every_block_is_accounted_for(agent: &Agent, composed: &Composed, lane: Option<&str>) {
    let mut shown: BTreeMap<(Seq, u32), usize> = BTreeMap::new();
    for round in composed.rounds() {
        for message in &round.messages {
            for block in &message.blocks {
                *shown.entry((message.seq, block.index)).or_default() += 1;
            }
        }
        for call in &round.calls {
            if let Answer::Result { seq, index, .. } = &call.answer {
                *shown.entry((*seq, *index)).or_default() += 1;
            }
        }
    }
    let in_force = agent.in_force();
    let order = &agent.history.order()[..agent.history.shown_to(lane)];
    let settled: BTreeSet<Seq> = order.iter().copied().collect();
    for row in agent.history.rows() {
        for index in 0..u32::try_from(row.message.blocks.len()).unwrap() {
            let at = (row.seq, index);
            let why = why_not(agent, &in_force, &settled, at);
            let times = shown.remove(&at).unwrap_or(0);
            match why {
                None => assert_eq!(times, 1, "I2: {at:?} is shown {times} times"),
                Some("either") => assert!(times <= 1, "I2: {at:?} is shown {times} times"),
                Some(why) => assert_eq!(times, 0, "I2: {at:?} is shown, but {why}"),
            }
        }
    }
    assert!(shown.is_empty(), "I2: blocks from nowhere: {shown:?}");
}

fn why_not(
    agent: &Agent,
    in_force: &[Overlay],
    settled: &BTreeSet<Seq>,
    at: (Seq, u32),
) -> Option<&'static str> {
    let is_covered = |seq: Seq| in_force.iter().any(|it| it.is_range() && it.covered.contains(seq));
    if agent.sight.seen(at.0, at.1).is_some_and(|seen| seen.block.is_none()) {
        return Some("it says nothing new");
    }
    let own = agent.history.round_of(at.0).expect("a row has a round").id;
    let round = match agent.history.fate(at.0, at.1) {
        Some(Fate::Answers(call)) => {
            let round = agent.history.round(call.seq).unwrap();
            let asked = round.calls.iter().find(|it| it.block == call.block).unwrap();
            let last = asked.answers.last().unwrap();
            if (last.seq, last.block) != at {
                return Some("a newer answer took its place");
            }
            if !is_covered(call.seq) && settled.contains(&call.seq) {
                return None;
            }
            // Its call is covered: it is shown where it came.
            if is_covered(call.seq) && !is_covered(at.0) {
                return (!settled.contains(&own) || own == call.seq).then_some("either");
            }
            call.seq
        }
        _ => own,
    };
    if is_covered(round) {
        return Some("it is under an overlay");
    }
    (!settled.contains(&round)).then_some("its round is in flight")
}

fn i14_markers_resolve(agent: &Agent, composed: &Composed) {
    for (repeat, original) in &composed.repeats {
        let whole =
            |at: (Seq, u32)| words(&agent.sight.block_at_first_sight(&agent.history, at).unwrap());
        let shown = shown_block(composed, original.0, original.1).map(|block| words(&block));
        assert_eq!(shown.as_ref(), Some(&whole(*original)), "I14: {original:?} is not in the view");
        assert_eq!(whole(*repeat), whole(*original), "I14: {repeat:?} is no repeat");
    }
    for row in agent.history.rows() {
        for index in 0..u32::try_from(row.message.blocks.len()).unwrap() {
            let Some(seen) = agent.sight.seen(row.seq, index) else { continue };
            if seen.steps.iter().any(|step| step.stage == StageKind::BatchBudget) {
                let text = words(seen.block.as_ref().unwrap());
                let pointer = format!("message {} block {index}<", row.seq);
                assert!(text.contains(&pointer), "I14: {text:?} does not name its row");
            }
        }
    }
}

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

/// Everything rolled back, in an order that `seed` picks.
fn rolled_back(mut agent: Agent, mut seed: u64) -> Agent {
    loop {
        let in_force = agent.in_force();
        if in_force.is_empty() {
            return agent;
        }
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let nth = usize::try_from(seed >> 33).unwrap() % in_force.len();
        agent.roll_back(&in_force[nth].id);
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
        let mut life = agent(&circumstances);
        for event in events {
            match event {
                Event::Append(message) => {
                    life.say(*message);
                    let _ = life.try_look(None);
                }
                Event::Snip(first, last) => drop(life.snip(first, last)),
                Event::Clear(at) => drop(life.clear(at)),
                Event::Wait(minutes) => life.wait_minutes(minutes),
                Event::RollBack(_) => {}
            }
        }
        let never = life.composed_with(&[], None);
        let back = rolled_back(life.clone(), seed);
        let again = back.composed_with(&back.in_force(), None);
        prop_assert_eq!(&again.entries, &never.entries);
        prop_assert_eq!(again.tokens, never.tokens);
        for format in FORMATS {
            prop_assert_eq!(rendered(&again, format), rendered(&never, format));
        }
    }

    #[test]
    fn i2_ranges_in_force_are_disjoint_or_nested(
        circumstances in circumstances(),
        events in events(24),
    ) {
        let mut life = Life::of(&circumstances, false);
        for event in events {
            match event {
                Event::Append(message) => {
                    life.agent.say(*message);
                    let _ = life.agent.try_look(None);
                }
                Event::RollBack(nth) => life.roll_back(nth),
                Event::Snip(first, last) => drop(life.agent.snip(first, last)),
                Event::Clear(at) => drop(life.agent.clear(at)),
                Event::Wait(minutes) => life.agent.wait_minutes(minutes),
            }
            let in_force = life.agent.in_force();
            let ranges: Vec<_> = in_force.iter().filter(|it| it.is_range()).collect();
            for (at, one) in ranges.iter().enumerate() {
                for other in &ranges[at + 1..] {
                    let nested = one.covered.contains_all(&other.covered)
                        || other.covered.contains_all(&one.covered);
                    prop_assert!(nested || !one.covered.intersects(&other.covered));
                    let is_piled_up = one.kind == OverlayKind::Snip
                        && !one.stage.is_empty()
                        && one.stage == other.stage;
                    prop_assert!(!(nested && is_piled_up), "{} is not superseded", one.stage);
                }
            }
        }
    }

    #[test]
    fn i13_the_newest_request_survives_in_the_smallest_window(
        first in "[a-z ]{0,4000}",
        request in "[a-z ]{1,200}",
        preset in prop::sample::select(vec!["default", "four-level", "cascade", "teaching"]),
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

/// A message of one lane, for a check of what the generator reaches.
fn is_in_lane(event: &Event, lane: &str) -> bool {
    matches!(event, Event::Append(message) if message.lane == lane)
}

#[test]
fn generated_histories_reach_what_they_are_for() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut late, mut replaced, mut orphans, mut repeats, mut lanes) = (0, 0, 0, 0, 0);
    let mut folds = 0;
    for _ in 0..40 {
        let events = events(24).new_tree(&mut runner).unwrap().current();
        lanes += events.iter().filter(|event| is_in_lane(event, "a")).count();
        let mut life = plain_agent("default", 200_000);
        let mut narrow = plain_agent("default", 20_000);
        for event in events {
            let Event::Append(message) = event else { continue };
            narrow.say((*message).clone());
            let _ = narrow.try_look(None);
            let placed = life.say(*message);
            late += placed.answers.iter().filter(|it| it.is_late).count();
            replaced += placed.answers.iter().filter(|it| it.supersedes.is_some()).count();
            orphans += placed.orphans.len();
        }
        repeats += life.composed_with(&[], None).repeats.len();
        let is_fold = |it: &&Overlay| it.stage == StageKind::ToolFold.name();
        folds += narrow.ever.iter().filter(is_fold).count();
    }
    let reached = [late, replaced, orphans, repeats, lanes, folds];
    assert!(reached.iter().all(|count| *count > 0), "{reached:?}");
}
