//! What an append changes in `rounds` and `calls`, told by its placements.

use std::collections::BTreeMap;

use super::super::values::json;
use crate::{
    model::Seq,
    rounds::{Answered, CallKey, Placement},
    store::NewRow,
};

/// Rounds and calls that are new or change.
#[derive(Debug, Default)]
pub(super) struct Pairing<'a> {
    rounds: BTreeMap<Seq, Round<'a>>,
    calls: BTreeMap<CallKey, Call<'a>>,
}

#[derive(Debug, Default)]
struct Round<'a> {
    /// Of a new round; one that is there keeps its own.
    lane: &'a str,
    /// How many calls without an answer came or (below zero) went.
    unanswered: i64,
    settled: Option<Seq>,
}

#[derive(Debug)]
struct Call<'a> {
    id: &'a str,
    answer: Option<(Seq, u32)>,
}

impl<'a> Pairing<'a> {
    /// Takes in where a row went; in the order of the rows.
    pub(super) fn add(&mut self, row: &'a NewRow, placement: &'a Placement) {
        for answered in &placement.answers {
            self.add_answer(row, placement.seq, answered);
        }
        // A message without calls settles as it comes and has no round to keep.
        for round in placement.settles.iter().filter(|round| **round != placement.seq) {
            self.rounds.entry(*round).or_default().settled = Some(placement.seq);
        }
        for (block, id, _) in &placement.calls {
            let call = CallKey { seq: placement.seq, block: *block };
            self.calls.insert(call, Call { id, answer: None });
            let round = self.rounds.entry(placement.seq).or_default();
            round.lane = &row.shape.lane;
            round.unanswered += 1;
        }
    }

    fn add_answer(&mut self, row: &'a NewRow, seq: Seq, answered: &Answered) {
        if answered.supersedes.is_none() && !answered.is_late {
            self.rounds.entry(answered.call.seq).or_default().unanswered -= 1;
        }
        let result = row.shape.results.iter().find(|it| it.block == answered.block);
        if let Some(result) = result {
            let call = Call { id: &result.id, answer: Some((seq, answered.block)) };
            self.calls.insert(answered.call, call);
        }
    }

    /// Says whether the append neither calls nor answers anything.
    pub(super) fn is_empty(&self) -> bool {
        self.rounds.is_empty() && self.calls.is_empty()
    }

    /// The rounds as a JSON array of rows.
    pub(super) fn rounds(&self) -> String {
        let row = |(seq, it): (&Seq, &Round<'a>)| {
            (seq.0, it.lane, it.unanswered, it.settled.map(|seq| seq.0))
        };
        json(&self.rounds.iter().map(row).collect::<Vec<_>>())
    }

    /// The calls as a JSON array of rows.
    pub(super) fn calls(&self) -> String {
        let row = |(key, it): (&CallKey, &Call<'a>)| {
            (it.id, key.seq.0, key.block, it.answer.map(|it| it.0.0), it.answer.map(|it| it.1))
        };
        json(&self.calls.iter().map(row).collect::<Vec<_>>())
    }
}
