//! What an append changes in `rounds` and `calls`, told by its placements.

use std::collections::BTreeMap;

use super::super::values::json;
use crate::{
    model::Seq,
    rounds::{Answered, CallKey, Placement},
    store::NewRow,
};

/// Rows to add and to change.
#[derive(Debug, Default)]
pub(super) struct Pairing<'a> {
    new_rounds: BTreeMap<Seq, NewRound<'a>>,
    new_calls: BTreeMap<CallKey, NewCall<'a>>,
    changed_rounds: BTreeMap<Seq, ChangedRound>,
    answered_calls: BTreeMap<CallKey, NewCall<'a>>,
}

#[derive(Debug)]
struct NewRound<'a> {
    lane: &'a str,
    unanswered: usize,
    settled: Option<Seq>,
}

#[derive(Debug, Default)]
struct ChangedRound {
    answers: usize,
    settled: Option<Seq>,
}

#[derive(Debug)]
struct NewCall<'a> {
    id: &'a str,
    answer: Option<(Seq, u32)>,
}

impl<'a> Pairing<'a> {
    /// Takes in where a row went; in the order of the rows.
    pub(super) fn add(&mut self, row: &'a NewRow, placement: &'a Placement) {
        for answered in &placement.answers {
            self.add_answer(row, placement.seq, answered);
        }
        for round in &placement.settles {
            if let Some(new) = self.new_rounds.get_mut(round) {
                new.settled = Some(placement.seq);
            } else if *round != placement.seq {
                self.changed_rounds.entry(*round).or_default().settled = Some(placement.seq);
            }
        }
        if placement.calls.is_empty() {
            return;
        }
        let unanswered = placement.calls.len();
        let round = NewRound { lane: &row.shape.lane, unanswered, settled: None };
        self.new_rounds.insert(placement.seq, round);
        for (block, id, _) in &placement.calls {
            let call = CallKey { seq: placement.seq, block: *block };
            self.new_calls.insert(call, NewCall { id, answer: None });
        }
    }

    fn add_answer(&mut self, row: &'a NewRow, seq: Seq, answered: &Answered) {
        let call = answered.call;
        if answered.supersedes.is_none() && !answered.is_late {
            match self.new_rounds.get_mut(&call.seq) {
                Some(round) => round.unanswered = round.unanswered.saturating_sub(1),
                None => self.changed_rounds.entry(call.seq).or_default().answers += 1,
            }
        }
        let answer = Some((seq, answered.block));
        if let Some(new) = self.new_calls.get_mut(&call) {
            new.answer = answer;
            return;
        }
        let result = row.shape.results.iter().find(|it| it.block == answered.block);
        if let Some(result) = result {
            self.answered_calls.insert(call, NewCall { id: &result.id, answer });
        }
    }

    /// Says whether the append neither calls nor answers anything.
    pub(super) fn is_empty(&self) -> bool {
        self.new_rounds.is_empty()
            && self.changed_rounds.is_empty()
            && self.answered_calls.is_empty()
    }

    pub(super) fn new_rounds(&self) -> String {
        let row = |(seq, it): (&Seq, &NewRound<'a>)| {
            (seq.0, it.lane.to_owned(), it.unanswered, it.settled.map(|seq| seq.0))
        };
        json(&self.new_rounds.iter().map(row).collect::<Vec<_>>())
    }

    pub(super) fn new_calls(&self) -> String {
        calls(&self.new_calls)
    }

    pub(super) fn changed_rounds(&self) -> String {
        let row =
            |(seq, it): (&Seq, &ChangedRound)| (seq.0, it.answers, it.settled.map(|seq| seq.0));
        json(&self.changed_rounds.iter().map(row).collect::<Vec<_>>())
    }

    pub(super) fn answered_calls(&self) -> String {
        calls(&self.answered_calls)
    }
}

fn calls(calls: &BTreeMap<CallKey, NewCall<'_>>) -> String {
    let row = |(key, it): (&CallKey, &NewCall<'_>)| {
        let (seq, block) = (it.answer.map(|it| it.0.0), it.answer.map(|it| it.1));
        (it.id.to_owned(), key.seq.0, key.block, seq, block)
    };
    json(&calls.iter().map(row).collect::<Vec<_>>())
}
