//! The rows of a session, and what their order and pairing come to.
//!
//! Grows at its end only. Everything here is a function of the rows: nothing
//! knows of policies, overlays or views.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use crate::{
    model::{BlockKind, Role, Row, Seq, SeqRange, Timestamp},
    rounds::{CallKey, Ledger, MessageShape, Placement},
};

/// Rows, rounds and lanes.
#[derive(Debug, Clone, Default)]
pub struct History {
    rows: Vec<Arc<Row>>,
    ledger: Ledger,
    rounds: BTreeMap<Seq, Round>,
    order: Vec<Seq>,
    lanes: BTreeMap<Arc<str>, Lane>,
    fates: HashMap<(Seq, u32), Fate>,
    late: Vec<LateAnswer>,
    call_seqs: Vec<Seq>,
    last_assistant_at: Option<Timestamp>,
}

/// A round.
#[derive(Debug, Clone)]
pub struct Round {
    /// The seq of its first message.
    pub id: Seq,
    /// Its lane.
    pub lane: Arc<str>,
    /// Its rows, in order.
    pub rows: Vec<Seq>,
    /// Its calls, in the order of their blocks.
    pub calls: Vec<RoundCall>,
    /// The row that settled it, once one did.
    pub settled: Option<Seq>,
    /// True where a row of it holds a user's words: a turn starts with it.
    pub starts_turn: bool,
}

/// A call of a round.
#[derive(Debug, Clone)]
pub struct RoundCall {
    /// The block that holds it.
    pub block: u32,
    /// The caller's id.
    pub id: Arc<str>,
    /// True where the id was used before.
    pub repeats: bool,
    /// What answered it, oldest first; the newest is in force.
    pub answers: Vec<AnswerAt>,
}

/// Where an answer lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerAt {
    /// The row.
    pub seq: Seq,
    /// The block there.
    pub block: u32,
    /// True where the round had settled before, or it took another's place.
    pub is_late: bool,
}

/// An answer that came when its round may have been covered already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LateAnswer {
    /// The round of the call.
    pub round: Seq,
    /// The row of the answer.
    pub seq: Seq,
    /// The block there.
    pub block: u32,
}

/// What becomes of a result block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It answers this call.
    Answers(CallKey),
    /// It answers nothing.
    Orphan,
}

#[derive(Debug, Clone, Default)]
struct Lane {
    last_assistant: Option<Seq>,
    newest_row: Option<Seq>,
    /// Rounds that hold a user's words, oldest first.
    requests: Vec<Seq>,
    /// The settled round of it that is shown last: (settled, round).
    newest_settled: Option<(Seq, Seq)>,
}

impl Round {
    /// True where it settled and some call has no answer.
    #[must_use]
    pub fn is_unanswered(&self) -> bool {
        self.settled.is_some() && self.calls.iter().any(|call| call.answers.is_empty())
    }
}

impl History {
    /// Of a session without messages.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the next row; rows come in seq order, without gaps.
    ///
    /// Returns where it belongs, for who keeps more by round.
    pub fn push(&mut self, row: Arc<Row>) -> Placement {
        let shape = MessageShape::of(&row.message);
        let placement = self.ledger.place(&shape);
        let lane: Arc<str> = self.lane_name(&shape.lane);
        self.join_round(&shape, &placement, &lane);
        self.take_answers(&placement);
        for settled in &placement.settles {
            self.settle(*settled, placement.seq);
        }
        self.note_lane(&shape, &placement, &lane, &row);
        self.rows.push(row);
        placement
    }

    fn lane_name(&self, lane: &str) -> Arc<str> {
        self.lanes.get_key_value(lane).map_or_else(|| Arc::from(lane), |(name, _)| Arc::clone(name))
    }

    fn join_round(&mut self, shape: &MessageShape, placement: &Placement, lane: &Arc<str>) {
        let round = self.rounds.entry(placement.round).or_insert_with(|| Round {
            id: placement.round,
            lane: Arc::clone(lane),
            rows: Vec::new(),
            calls: Vec::new(),
            settled: None,
            starts_turn: false,
        });
        round.rows.push(placement.seq);
        round.starts_turn |= shape.starts_turn();
        for (block, id, repeats) in &placement.calls {
            round.calls.push(RoundCall {
                block: *block,
                id: Arc::from(id.as_str()),
                repeats: *repeats,
                answers: Vec::new(),
            });
            self.call_seqs.push(placement.seq);
        }
    }

    fn take_answers(&mut self, placement: &Placement) {
        let seq = placement.seq;
        for answer in &placement.answers {
            let round = answer.call.seq;
            self.fates.insert((seq, answer.block), Fate::Answers(answer.call));
            let call = self
                .rounds
                .get_mut(&round)
                .and_then(|it| it.calls.iter_mut().find(|call| call.block == answer.call.block));
            let is_late = answer.is_late || answer.supersedes.is_some();
            if let Some(call) = call {
                call.answers.push(AnswerAt { seq, block: answer.block, is_late });
            }
            if is_late {
                self.late.push(LateAnswer { round, seq, block: answer.block });
            }
        }
        for block in &placement.orphans {
            self.fates.insert((seq, *block), Fate::Orphan);
        }
    }

    fn settle(&mut self, round: Seq, at: Seq) {
        let Some(it) = self.rounds.get_mut(&round) else { return };
        it.settled = Some(at);
        // Rounds settle in the order of the rows that settle them, and those
        // that settle together come sorted: the order grows at its end.
        self.order.push(round);
        let lane = self.lanes.entry(Arc::clone(&it.lane)).or_default();
        lane.newest_settled = lane.newest_settled.max(Some((at, round)));
    }

    fn note_lane(
        &mut self,
        shape: &MessageShape,
        placement: &Placement,
        name: &Arc<str>,
        row: &Row,
    ) {
        let lane = self.lanes.entry(Arc::clone(name)).or_default();
        lane.newest_row = Some(placement.seq);
        if shape.role == Role::Assistant {
            lane.last_assistant = Some(placement.seq);
            self.last_assistant_at = Some(row.record_time);
        }
        if shape.starts_turn() {
            lane.requests.push(placement.round);
        }
    }

    /// The rows.
    #[must_use]
    pub fn rows(&self) -> &[Arc<Row>] {
        &self.rows
    }

    /// One row.
    #[must_use]
    pub fn row(&self, seq: Seq) -> Option<&Arc<Row>> {
        usize::try_from(seq.0 - 1).ok().and_then(|index| self.rows.get(index))
    }

    /// The seq of the newest row; zero where there is none.
    #[must_use]
    pub fn newest(&self) -> Seq {
        Seq(self.ledger.next_seq().0 - 1)
    }

    /// One round.
    #[must_use]
    pub fn round(&self, id: Seq) -> Option<&Round> {
        self.rounds.get(&id)
    }

    /// The round of a row.
    #[must_use]
    pub fn round_of(&self, seq: Seq) -> Option<&Round> {
        let row = self.row(seq)?;
        // The store's own number is not trusted over the rows' order.
        let placed = self.rounds.get(&row.round).filter(|it| it.rows.contains(&seq));
        placed.or_else(|| {
            self.rounds.range(..=seq).rev().map(|(_, it)| it).find(|it| it.rows.contains(&seq))
        })
    }

    /// The rounds that hold a row of `ranges`.
    #[must_use]
    pub fn rounds_within(&self, ranges: &[SeqRange]) -> BTreeSet<Seq> {
        let newest = self.newest();
        let rows = ranges.iter().flat_map(|it| (it.first.0..=it.last.min(newest).0).map(Seq));
        rows.filter_map(|seq| self.round_of(seq)).map(|round| round.id).collect()
    }

    /// The settled rounds, in the order in which they are shown.
    #[must_use]
    pub fn order(&self) -> &[Seq] {
        &self.order
    }

    /// How many rounds are in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.ledger.open_rounds().len()
    }

    /// What becomes of a result block; `None` where it is no result.
    #[must_use]
    pub fn fate(&self, seq: Seq, block: u32) -> Option<Fate> {
        self.fates.get(&(seq, block)).copied()
    }

    /// Answers that came after their round had settled, oldest first.
    #[must_use]
    pub fn late_answers(&self) -> &[LateAnswer] {
        &self.late
    }

    /// How many of the settled rounds a caller of `lane` is shown: up to the
    /// newest of that lane. All of them without a lane, or where the lane has
    /// none yet.
    #[must_use]
    pub fn shown_to(&self, lane: Option<&str>) -> usize {
        let newest = lane.and_then(|name| self.lanes.get(name)).and_then(|it| it.newest_settled);
        let Some(newest) = newest else { return self.order.len() };
        self.order.partition_point(|id| self.position(*id) <= Some(newest))
    }

    /// A settled round's place in the order: (settled, round).
    fn position(&self, round: Seq) -> Option<(Seq, Seq)> {
        self.rounds.get(&round).and_then(|it| it.settled.map(|at| (at, round)))
    }

    /// Says whether no assistant message of the result's lane came after it.
    #[must_use]
    pub fn is_unseen(&self, lane: &str, result: Seq) -> bool {
        self.lanes.get(lane).and_then(|it| it.last_assistant).is_none_or(|last| last < result)
    }

    /// The rounds that hold a user's words, per lane that has a row at or after
    /// `since`, newest first within each lane.
    pub fn requests_of_active_lanes(
        &self,
        since: Seq,
    ) -> impl Iterator<Item = (&Arc<str>, impl Iterator<Item = Seq> + '_)> + '_ {
        self.lanes
            .iter()
            .filter(move |(_, it)| it.newest_row.is_some_and(|row| row >= since))
            .map(|(name, it)| (name, it.requests.iter().rev().copied()))
    }

    /// The rows that hold the session's calls, one entry a call, in order.
    #[must_use]
    pub fn call_seqs(&self) -> &[Seq] {
        &self.call_seqs
    }

    /// When the newest assistant message was recorded.
    #[must_use]
    pub fn last_assistant_at(&self) -> Option<Timestamp> {
        self.last_assistant_at
    }

    /// The name and arguments of a call.
    #[must_use]
    pub fn call(&self, key: CallKey) -> Option<(&str, &[u8])> {
        let block = self.row(key.seq)?.message.blocks.get(usize::try_from(key.block).ok()?)?;
        match &block.kind {
            BlockKind::ToolUse(call) => Some((&call.name, &call.input_json)),
            BlockKind::Opaque(opaque) => Some(("", &opaque.json)),
            _ => None,
        }
    }
}
