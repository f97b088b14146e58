//! A life of an agent, lived step by step, with everything checked that must
//! hold at each step.

use std::collections::{BTreeMap, BTreeSet};

use concertina::{
    model::{Overlay, Role, Row, RowSet, Seq, StageKind, WireFormat},
    projection::{Composed, History, Sight, share_of},
    render::{Rendered, check},
    rounds::MessageShape,
};

use super::{
    account::{self, View},
    generate::{Circumstances, Event, agent, plain_agent},
    hands::Prepared,
    support::{Agent, FORMATS, Look, rendered, shown_block},
};

/// A life, with what is remembered from one step to the next.
pub(crate) struct Life {
    pub(crate) agent: Agent,
    by_lane: bool,
    /// What somebody summarizes, oldest first.
    prepared: Vec<Prepared>,
    /// Grows with everything that may change what was shown before.
    epoch: usize,
    shown: BTreeMap<(Option<String>, usize), (usize, Vec<String>)>,
    /// Whether the newest requests together were ever above their share.
    requests_were_large: bool,
}

impl Life {
    pub(crate) fn of(circumstances: &Circumstances, by_lane: bool) -> Self {
        Self { by_lane, ..Self::from(agent(circumstances)) }
    }

    /// Under a preset alone.
    pub(crate) fn under(preset: &str, window: i64) -> Self {
        Self::from(plain_agent(preset, window))
    }

    fn from(agent: Agent) -> Self {
        Self {
            agent,
            by_lane: false,
            prepared: Vec::new(),
            epoch: 0,
            shown: BTreeMap::new(),
            requests_were_large: false,
        }
    }

    /// Lives through an event, and checks what the agent is shown then.
    pub(crate) fn live(&mut self, event: Event) {
        match event {
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
            Event::RollBack(nth) => self.roll_back_checked(nth),
            event => self.by_hand(&event),
        }
        let in_force = self.agent.in_force();
        none(&account::crossing(&in_force));
        for overlay in self.agent.ever.iter().filter(|it| has_digest(it)) {
            none(&account::not_what_was_covered(&self.agent.history, overlay));
        }
    }

    /// Lives through an event; nothing is checked.
    pub(crate) fn pass(&mut self, event: Event) {
        match event {
            Event::Append(message) => {
                self.agent.say(*message);
                let _ = self.agent.try_look(None);
            }
            event => self.by_hand(&event),
        }
    }

    fn by_hand(&mut self, event: &Event) {
        let agent = &mut self.agent;
        let has_changed = match *event {
            Event::Wait(minutes) => {
                agent.wait_minutes(minutes);
                false
            }
            Event::RollBack(nth) => match nth_of(&agent.in_force(), nth) {
                Some(overlay) => {
                    agent.roll_back(&overlay.id);
                    true
                }
                None => false,
            },
            Event::Snip(first, last) => agent.snip((first, last)),
            Event::Clear(at) => agent.clear(at),
            Event::Collapse(first, last) => agent.collapse((first, last)),
            Event::Prepare(first, last) => {
                self.prepared.extend(agent.prepare((first, last)));
                false
            }
            Event::Finish => {
                !self.prepared.is_empty() && {
                    let oldest = self.prepared.remove(0);
                    agent.finish(&oldest)
                }
            }
            Event::Pin(first, last) => {
                agent.pin((first, last));
                false
            }
            Event::Unpin(nth) => {
                if !agent.pins.is_empty() {
                    agent.pins.remove(nth % agent.pins.len());
                }
                false
            }
            Event::Append(_) => unreachable!("nobody's hand appends"),
        };
        self.epoch += usize::from(has_changed);
    }

    fn roll_back_checked(&mut self, nth: usize) {
        if let Some(overlay) = nth_of(&self.agent.in_force(), nth) {
            roll_back(&mut self.agent, &overlay);
            self.epoch += 1;
        }
    }

    fn ask(&mut self, lane: Option<&str>) {
        let before = self.agent.ever.len();
        let pinned = shown_pins(&self.agent);
        let mut leased: Vec<RowSet> = Vec::new();
        for prepared in self.prepared.iter().filter(|it| self.agent.is_untouched(it)) {
            leased.push(prepared.extent());
        }
        let asked = self.agent.try_look(lane);
        let added = &self.agent.ever[before..];
        only_fit_goes_beyond(&pinned, &leased, added);
        if !added.is_empty() {
            self.epoch += 1;
        }
        let Ok(look) = asked else { return };
        if look.composed.entries.is_empty() {
            return;
        }
        let composed = &look.composed;
        i4_the_budget_is_kept(&self.agent, composed);
        i15_nothing_got_larger(&self.agent, &look, lane);
        let in_force = self.agent.in_force();
        let view = View { lane, ..self.agent.view(&in_force, composed) };
        none(&account::unaccounted(view));
        none(&account::unresolved(view));
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

#[track_caller]
pub(crate) fn none(faults: &[String]) {
    assert_eq!(faults, Vec::<String>::new());
}

/// Rolls one overlay back; every other stays as it was, and what is shown
/// changes only where it lay.
pub(crate) fn roll_back(agent: &mut Agent, overlay: &Overlay) {
    let (was_in_force, ever) = (agent.in_force(), agent.ever.clone());
    let was = agent.composed_with(&was_in_force, None);
    agent.roll_back(&overlay.id);
    let in_force = agent.in_force();
    let is = agent.composed_with(&in_force, None);
    let others = |all: &[Overlay]| -> Vec<Overlay> {
        all.iter().filter(|it| it.id != overlay.id).cloned().collect()
    };
    assert_eq!(others(&agent.ever), others(&ever));
    let (before, after) = (agent.view(&was_in_force, &was), agent.view(&in_force, &is));
    assert_eq!(account::changed_elsewhere(overlay, before, after), None);
}

fn nth_of(in_force: &[Overlay], nth: usize) -> Option<Overlay> {
    in_force.get(nth % in_force.len().max(1)).cloned()
}

/// What a test made without a segment names no digest.
fn has_digest(overlay: &Overlay) -> bool {
    overlay.source_digest != [0; 32]
}

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

/// The pinned rounds that are settled and under nothing.
fn shown_pins(agent: &Agent) -> Vec<Seq> {
    let in_force = agent.in_force();
    let pinned = agent.history.rounds_within(&agent.pins).into_iter();
    let is_shown = |id: &Seq| {
        let is_covered = in_force.iter().any(|it| it.is_range() && it.covered.contains(*id));
        agent.history.round(*id).unwrap().settled.is_some() && !is_covered
    };
    pinned.filter(is_shown).collect()
}

/// The first overlay that takes a pinned round, or what somebody summarizes,
/// is one of `fit`; who covers that one later takes it along.
fn only_fit_goes_beyond(pinned: &[Seq], leased: &[RowSet], added: &[Overlay]) {
    let is_fit = |it: &Overlay| it.stage == StageKind::Fit.name();
    for id in pinned {
        let first = added.iter().find(|it| it.is_range() && it.covered.contains(*id));
        let stage = first.map_or("", |it| it.stage.as_str());
        assert!(first.is_none_or(is_fit), "{stage} took the pinned row {id}");
    }
    for leased in leased {
        let first = added.iter().find(|it| it.covered.intersects(leased));
        let stage = first.map_or("", |it| it.stage.as_str());
        assert!(first.is_none_or(is_fit), "{stage} took what somebody summarizes: {leased:?}");
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
