//! The rows of a segment as a summarizer gets them.

use std::sync::Arc;

use crate::{
    model::{Overlay, OverlayKind, RowSet, Seq},
    projection::{History, Round},
    summary::{EarlierSummary, Material, MaterialCall, MaterialRound},
};

/// The covered rows; those under earlier summaries too as long as all of them
/// are at most `most_tokens`, else the summaries in their place. Rows under a
/// snip or a clear are there in full.
pub(super) fn material(
    history: &History,
    covered: &RowSet,
    in_force: &[Overlay],
    most_tokens: i64,
) -> Material {
    let tokens: i64 =
        covered.iter().filter_map(|seq| history.row(seq)).map(|row| row.tokens.total).sum();
    let summaries = if tokens > most_tokens { outermost(covered, in_force) } else { Vec::new() };
    let is_summarized = |round: &Round| summaries.iter().any(|it| it.covered.contains(round.id));
    // By the rows that are covered, not by all there are.
    let rounds = covered.iter().filter_map(|seq| history.round(seq));
    let settled = rounds.filter_map(|it| Some((it.settled?, it.id, it)));
    let mut rounds: Vec<_> = settled.filter(|(.., it)| !is_summarized(it)).collect();
    rounds.sort_unstable_by_key(|(settled, id, _)| (*settled, *id));
    let rounds = rounds.into_iter().map(|(.., round)| round);
    Material {
        rounds: rounds.map(|round| material_round(history, covered, round)).collect(),
        earlier: summaries
            .iter()
            .map(|it| EarlierSummary {
                covered: it.covered.ranges().to_vec(),
                text: it.summary.clone(),
            })
            .collect(),
        covered: covered.ranges().to_vec(),
    }
}

/// The outermost summaries inside a range, by what they cover.
fn outermost<'a>(covered: &RowSet, in_force: &'a [Overlay]) -> Vec<&'a Overlay> {
    let is_summary =
        |it: &&Overlay| matches!(it.kind, OverlayKind::Collapse | OverlayKind::Compact);
    let inside: Vec<&Overlay> = in_force
        .iter()
        .filter(is_summary)
        .filter(|it| it.covered != *covered && covered.contains_all(&it.covered))
        .collect();
    let is_inner = |it: &Overlay| {
        inside.iter().any(|other| {
            other.id != it.id
                && other.covered.contains_all(&it.covered)
                && (other.covered != it.covered || other.commit_revision > it.commit_revision)
        })
    };
    let mut out: Vec<&Overlay> = inside.iter().copied().filter(|it| !is_inner(it)).collect();
    out.sort_by_key(|it| it.covered.ranges().first().map(|range| range.first));
    out
}

fn material_round(history: &History, covered: &RowSet, round: &Round) -> MaterialRound {
    let answers = round.calls.iter().filter_map(|call| call.answers.last());
    let answers: Vec<(Seq, u32)> =
        answers.map(|it| (it.seq, it.block)).filter(|(seq, _)| covered.contains(*seq)).collect();
    let mut rows: Vec<Seq> =
        round.rows.iter().copied().chain(answers.iter().map(|(seq, _)| *seq)).collect();
    rows.sort_unstable();
    rows.dedup();
    rows.retain(|seq| covered.contains(*seq));
    MaterialRound {
        id: round.id,
        turn: history.row(round.id).map_or(0, |row| row.turn),
        rows: rows.iter().filter_map(|seq| history.row(*seq)).map(Arc::clone).collect(),
        calls: round
            .calls
            .iter()
            .map(|call| MaterialCall {
                call: (round.id, call.block),
                answer: call
                    .answers
                    .last()
                    .map(|it| (it.seq, it.block))
                    .filter(|at| answers.contains(at)),
            })
            .collect(),
    }
}
