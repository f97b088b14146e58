//! What an append changes in `rounds` and `calls`, told by its placements.

use std::collections::BTreeMap;

use super::super::values::json;
use crate::{
    model::Seq,
    rounds::{Answered, Placement},
    store::NewRow,
};

/// Rounds that are new or change, calls and answers that are new.
#[derive(Debug, Default)]
pub(super) struct Pairing<'a> {
    rounds: BTreeMap<Seq, Round<'a>>,
    /// Id, seq and block.
    calls: Vec<(&'a str, i64, u32)>,
    /// Seq and block of the call, then of its answer.
    answers: Vec<(i64, u32, i64, u32)>,
}

#[derive(Debug, Default)]
struct Round<'a> {
    /// Of a new round; one that is there keeps its own.
    lane: &'a str,
    /// How many calls without an answer came or (below zero) went.
    unanswered: i64,
    settled: Option<Seq>,
}

impl<'a> Pairing<'a> {
    /// Takes in where a row went; in the order of the rows.
    pub(super) fn add(&mut self, row: &'a NewRow, placement: &'a Placement) {
        for answered in &placement.answers {
            self.add_answer(placement.seq, answered);
        }
        // A message without calls settles as it comes and has no round to keep.
        for round in placement.settles.iter().filter(|round| **round != placement.seq) {
            self.rounds.entry(*round).or_default().settled = Some(placement.seq);
        }
        for (block, id, _) in &placement.calls {
            self.calls.push((id, placement.seq.0, *block));
            let round = self.rounds.entry(placement.seq).or_default();
            round.lane = &row.shape.lane;
            round.unanswered += 1;
        }
    }

    fn add_answer(&mut self, seq: Seq, answered: &Answered) {
        let call = answered.call;
        if answered.supersedes.is_none() && !answered.is_late {
            self.rounds.entry(call.seq).or_default().unanswered -= 1;
        }
        self.answers.push((call.seq.0, call.block, seq.0, answered.block));
    }

    /// Says whether the append neither calls nor answers anything.
    pub(super) fn is_empty(&self) -> bool {
        self.rounds.is_empty() && self.calls.is_empty() && self.answers.is_empty()
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
        json(&self.calls)
    }

    /// The answers as a JSON array of rows.
    pub(super) fn answers(&self) -> String {
        json(&self.answers)
    }
}
