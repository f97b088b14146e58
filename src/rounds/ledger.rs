//! The running state of pairing.

use std::collections::{BTreeMap, HashMap};

use super::MessageShape;
use crate::model::{Role, Seq};

/// Where each call of a session stands, and which rounds are in flight.
///
/// Either it has seen every row, or (in the store's writer) it was loaded with
/// the rounds in flight only and is told of older calls by id, through
/// [`Ledger::missing_ids`] and [`Ledger::learn`], before a message is placed.
#[derive(Debug, Clone)]
pub struct Ledger {
    next_seq: Seq,
    turn: i64,
    open: BTreeMap<Seq, OpenRound>,
    calls: HashMap<String, Vec<KnownCall>>,
    knows_all_calls: bool,
}

/// A round whose results have not all come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundState {
    /// The seq of its first message.
    pub round: Seq,
    /// Its lane.
    pub lane: String,
    /// Calls without an answer.
    pub unanswered: usize,
}

#[derive(Debug, Clone)]
struct OpenRound {
    lane: String,
    unanswered: usize,
}

/// Names a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallKey {
    /// The row that holds it; also its round.
    pub seq: Seq,
    /// The block there.
    pub block: u32,
}

/// A call that was made, and the answer that is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownCall {
    /// The call.
    pub call: CallKey,
    /// Its lane.
    pub lane: String,
    /// The row and block of the newest answer.
    pub answer: Option<(Seq, u32)>,
}

/// Where a message belongs and what it changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// Its position.
    pub seq: Seq,
    /// The session's turn then.
    pub turn: i64,
    /// The round that it joined or started.
    pub round: Seq,
    /// Rounds that settled with it, itself included; sorted.
    pub settles: Vec<Seq>,
    /// Of its own calls, in order: block, id, and whether the id was used
    /// before.
    pub calls: Vec<(u32, String, bool)>,
    /// Its results that answer a call, in order.
    pub answers: Vec<Answered>,
    /// Blocks of its results that answer nothing.
    pub orphans: Vec<u32>,
    /// What a projection will have to mend.
    pub oddities: Vec<(Oddity, String)>,
}

/// A result and the call that it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The result's block.
    pub block: u32,
    /// The call.
    pub call: CallKey,
    /// The older answer whose place it takes.
    pub supersedes: Option<(Seq, u32)>,
    /// True where the call's round had settled before.
    pub is_late: bool,
}

/// Something stored as it came that a projection will have to mend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Oddity {
    /// A result of no known call.
    OrphanResult,
    /// A call whose id was used before.
    DuplicateCallId,
    /// A call without an id.
    EmptyCallId,
    /// A result that takes an older one's place.
    ResultSuperseded,
}

impl Oddity {
    /// Its name, as `AppendWarning.reason` spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OrphanResult => "ORPHAN_RESULT",
            Self::DuplicateCallId => "DUPLICATE_CALL_ID",
            Self::EmptyCallId => "EMPTY_CALL_ID",
            Self::ResultSuperseded => "RESULT_SUPERSEDED",
        }
    }
}

impl Default for Ledger {
    fn default() -> Self {
        Self::new()
    }
}

impl Ledger {
    /// Of a session without messages.
    #[must_use]
    pub fn new() -> Self {
        Self {
            next_seq: Seq(1),
            turn: 0,
            open: BTreeMap::new(),
            calls: HashMap::new(),
            knows_all_calls: true,
        }
    }

    /// Of a session whose older calls are not in memory.
    #[must_use]
    pub fn resume(next_seq: Seq, turn: i64, open: Vec<RoundState>) -> Self {
        let open = open
            .into_iter()
            .map(|it| (it.round, OpenRound { lane: it.lane, unanswered: it.unanswered }))
            .collect();
        Self { next_seq, turn, open, calls: HashMap::new(), knows_all_calls: false }
    }

    /// Where the next message goes.
    #[must_use]
    pub fn next_seq(&self) -> Seq {
        self.next_seq
    }

    /// The turn of the newest message.
    #[must_use]
    pub fn turn(&self) -> i64 {
        self.turn
    }

    /// How many calls it holds in memory.
    #[must_use]
    pub fn known_calls(&self) -> usize {
        self.calls.values().map(Vec::len).sum()
    }

    /// The rounds in flight, oldest first.
    #[must_use]
    pub fn open_rounds(&self) -> Vec<RoundState> {
        self.open
            .iter()
            .map(|(round, it)| RoundState {
                round: *round,
                lane: it.lane.clone(),
                unanswered: it.unanswered,
            })
            .collect()
    }

    /// The ids of `shape` whose earlier calls must be learned before it is
    /// placed; none where every call is in memory.
    #[must_use]
    pub fn missing_ids(&self, shape: &MessageShape) -> Vec<String> {
        if self.knows_all_calls {
            return Vec::new();
        }
        let calls = shape.calls.iter().map(|it| &it.id);
        let results = shape.results.iter().map(|it| &it.id);
        let mut ids: Vec<String> =
            calls.chain(results).filter(|id| !self.calls.contains_key(*id)).cloned().collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Takes in every call of that id that the session has, oldest first.
    pub fn learn(&mut self, id: &str, calls: Vec<KnownCall>) {
        self.calls.insert(id.to_owned(), calls);
    }

    /// Forgets calls, to bound memory: they are asked for by id from now on.
    pub fn forget_calls(&mut self) {
        self.calls.clear();
        self.knows_all_calls = false;
    }

    /// Places the next message.
    ///
    /// A result answers the newest round with an unanswered call of its id, in
    /// its own lane before any other, and the first such call there; without
    /// one it takes the place of the answer to the latest call of that id;
    /// without that it is an orphan.
    pub fn place(&mut self, shape: &MessageShape) -> Placement {
        let seq = self.next_seq;
        self.next_seq = seq.next();
        if shape.starts_turn() {
            self.turn += 1;
        }
        let mut placement = Placement {
            seq,
            turn: self.turn,
            round: seq,
            settles: Vec::new(),
            calls: Vec::new(),
            answers: Vec::new(),
            orphans: Vec::new(),
            oddities: Vec::new(),
        };
        for result in &shape.results {
            self.pair(seq, &shape.lane, result.block, &result.id, &mut placement);
        }
        placement.round = round_of(shape, &placement);
        self.settle(shape, &mut placement);
        self.take_calls(shape, &mut placement);
        placement.settles.sort_unstable();
        placement
    }

    fn pair(&mut self, seq: Seq, lane: &str, block: u32, id: &str, placement: &mut Placement) {
        let Some(call) = self.calls.get_mut(id).and_then(|calls| choose(calls, lane)) else {
            placement.orphans.push(block);
            placement.oddities.push((Oddity::OrphanResult, id.to_owned()));
            return;
        };
        let supersedes = call.answer.replace((seq, block));
        let key = call.call;
        let open = self.open.get_mut(&key.seq);
        let is_late = open.is_none();
        match (supersedes, open) {
            (None, Some(round)) => round.unanswered = round.unanswered.saturating_sub(1),
            (Some(_), _) => placement.oddities.push((Oddity::ResultSuperseded, id.to_owned())),
            (None, None) => {}
        }
        placement.answers.push(Answered { block, call: key, supersedes, is_late });
    }

    fn settle(&mut self, shape: &MessageShape, placement: &mut Placement) {
        let settled: Vec<Seq> = self
            .open
            .iter()
            .filter(|(_, it)| {
                it.unanswered == 0 || (shape.holds_more_than_results && it.lane == shape.lane)
            })
            .map(|(round, _)| *round)
            .collect();
        for round in settled {
            self.open.remove(&round);
            placement.settles.push(round);
        }
        if placement.round == placement.seq && shape.calls.is_empty() {
            placement.settles.push(placement.seq);
        }
    }

    fn take_calls(&mut self, shape: &MessageShape, placement: &mut Placement) {
        for call in &shape.calls {
            let known = self.calls.entry(call.id.clone()).or_default();
            let repeats = !known.is_empty();
            if call.id.is_empty() {
                placement.oddities.push((Oddity::EmptyCallId, String::new()));
            } else if repeats {
                placement.oddities.push((Oddity::DuplicateCallId, call.id.clone()));
            }
            known.push(KnownCall {
                call: CallKey { seq: placement.seq, block: call.block },
                lane: shape.lane.clone(),
                answer: None,
            });
            placement.calls.push((call.block, call.id.clone(), repeats));
        }
        if !shape.calls.is_empty() {
            let open = OpenRound { lane: shape.lane.clone(), unanswered: shape.calls.len() };
            self.open.insert(placement.seq, open);
        }
    }
}

/// The call that a result of this id and lane answers.
fn choose<'a>(calls: &'a mut [KnownCall], lane: &str) -> Option<&'a mut KnownCall> {
    let newest_open = |own_lane_only: bool| {
        calls
            .iter()
            .filter(|it| it.answer.is_none() && (!own_lane_only || it.lane == lane))
            .map(|it| it.call.seq)
            .max()
    };
    let open = newest_open(true).or_else(|| newest_open(false));
    let index = match open {
        Some(round) => calls.iter().position(|it| it.answer.is_none() && it.call.seq == round),
        None => calls.iter().rposition(|it| it.lane == lane).or(calls.len().checked_sub(1)),
    }?;
    calls.get_mut(index)
}

/// The round of a message whose results are paired.
///
/// It joins the newest round that it answers. Words that come with a late
/// result are news, though: they stand where they came, not where the call was
/// long ago, so such a message is a round of its own.
fn round_of(shape: &MessageShape, placement: &Placement) -> Seq {
    if shape.role == Role::Assistant {
        return placement.seq;
    }
    placement
        .answers
        .iter()
        .filter(|it| !(it.is_late && shape.holds_more_than_results))
        .map(|it| it.call.seq)
        .max()
        .unwrap_or(placement.seq)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::{CallShape, ResultShape};

    fn call(lane: &str, ids: &[&str]) -> MessageShape {
        let calls = ids.iter().zip(0..).map(|(id, block)| CallShape { block, id: (*id).into() });
        MessageShape {
            role: Role::Assistant,
            lane: lane.into(),
            calls: calls.collect(),
            results: Vec::new(),
            holds_more_than_results: true,
        }
    }

    fn results(lane: &str, ids: &[&str], words: bool) -> MessageShape {
        let results =
            ids.iter().zip(0..).map(|(id, block)| ResultShape { block, id: (*id).into() });
        MessageShape {
            role: Role::User,
            lane: lane.into(),
            calls: Vec::new(),
            results: results.collect(),
            holds_more_than_results: words,
        }
    }

    fn words(lane: &str) -> MessageShape {
        results(lane, &[], true)
    }

    #[test]
    fn a_round_settles_with_its_last_result() {
        let mut ledger = Ledger::new();
        ledger.place(&words(""));
        assert_eq!(ledger.place(&call("", &["a", "b"])).settles, []);
        assert_eq!(ledger.place(&results("", &["b"], false)).settles, []);
        let last = ledger.place(&results("", &["a"], false));
        assert_eq!((last.round, last.settles), (Seq(2), vec![Seq(2)]));
    }

    #[test]
    fn a7_newer_words_of_the_lane_settle_an_unanswered_round() {
        let mut ledger = Ledger::new();
        ledger.place(&call("x", &["a"]));
        assert_eq!(ledger.place(&words("y")).settles, [Seq(2)]);
        assert_eq!(ledger.place(&words("x")).settles, [Seq(1), Seq(3)]);
        let late = ledger.place(&results("x", &["a"], false));
        assert!(late.answers[0].is_late);
        assert_eq!(late.round, Seq(1));
    }

    #[test]
    fn c1_results_answer_calls_of_one_id_in_order() {
        let mut ledger = Ledger::new();
        let calls = ledger.place(&call("", &["a", "a"]));
        assert_eq!(calls.calls, [(0, "a".into(), false), (1, "a".into(), true)]);
        let first = ledger.place(&results("", &["a"], false));
        let second = ledger.place(&results("", &["a"], false));
        assert_eq!(first.answers[0].call.block, 0);
        assert_eq!(second.answers[0].call.block, 1);
        let third = ledger.place(&results("", &["a"], false));
        assert_eq!(third.answers[0].supersedes, Some((Seq(3), 0)));
    }

    #[test]
    fn a3_words_with_results_end_the_round() {
        let mut ledger = Ledger::new();
        ledger.place(&call("", &["a", "b"]));
        let mixed = ledger.place(&results("", &["a"], true));
        assert_eq!((mixed.round, mixed.settles), (Seq(1), vec![Seq(1)]));
        let late = ledger.place(&results("", &["b"], true));
        assert_eq!((late.round, late.settles), (Seq(3), vec![Seq(3)]), "words are news");
    }

    #[test]
    fn a_result_prefers_the_call_of_its_own_lane() {
        let mut ledger = Ledger::new();
        ledger.place(&call("x", &["a"]));
        ledger.place(&call("y", &["a"]));
        assert_eq!(ledger.place(&results("x", &["a"], false)).round, Seq(1));
        assert_eq!(ledger.place(&results("z", &["a"], false)).round, Seq(2));
    }

    #[test]
    fn an_orphan_is_a_round_of_its_own() {
        let mut ledger = Ledger::new();
        let orphan = ledger.place(&results("", &["nobody"], false));
        assert_eq!((orphan.round, orphan.settles), (Seq(1), vec![Seq(1)]));
        assert_eq!(orphan.oddities, [(Oddity::OrphanResult, "nobody".into())]);
    }

    #[test]
    fn a_resumed_ledger_asks_for_calls_by_id() {
        let mut ledger = Ledger::resume(Seq(9), 3, Vec::new());
        let shape = results("", &["old"], false);
        assert_eq!(ledger.missing_ids(&shape), ["old"]);
        let call = CallKey { seq: Seq(4), block: 1 };
        ledger.learn("old", vec![KnownCall { call, lane: String::new(), answer: None }]);
        assert_eq!(ledger.missing_ids(&shape), Vec::<String>::new());
        let placed = ledger.place(&shape);
        assert_eq!((placed.round, placed.turn), (Seq(4), 3));
        assert!(placed.answers[0].is_late);
    }
}
