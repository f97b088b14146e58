//! `collapse`: the oldest segments as a summary each, down to the low mark; on
//! a ladder one pass at each of its steps. Where all summaries together are too
//! many, the oldest half of them lies under one wider collapse.
//!
//! May drop: what the summary does not say. Keeps: every row beneath, the
//! newest turns, and what is protected, right after the summary.

use crate::{
    model::{Cause, RowSet, StageKind},
    projection::{
        Collapsing, Summarize, Wanted,
        bench::{Bench, Proposal, Reduction},
        segments::{Counting, Finder},
    },
};

/// A plan makes at most so many summaries: a guard, not a limit that a view
/// within its window reaches.
const MOST_SEGMENTS: usize = 1024;

/// Collapses at once where summaries can be had; else tells what is wanted.
pub(crate) fn run(bench: &mut Bench<'_>) -> (&'static str, Option<Wanted>) {
    match bench.facts.collapsing {
        Collapsing::Now(summarize) => (now(bench, summarize), None),
        Collapsing::Later { .. } => later(bench),
        Collapsing::FirstNow(summarize) => match later(bench) {
            (_, Some(wanted)) if wanted.is_urgent => (now(bench, summarize), None),
            told => told,
        },
    }
}

pub(crate) fn later(bench: &Bench<'_>) -> (&'static str, Option<Wanted>) {
    let mut finder = Finder::of(bench, bench.facts.refused);
    if let Some(merged) = finder.merged() {
        return ("summaries_too_many", Some(Wanted { segments: vec![merged], is_urgent: false }));
    }
    if !finder.is_triggered() {
        return ("below_threshold", None);
    }
    let is_urgent = finder.is_urgent();
    let segments = finder.down_to_the_mark();
    if segments.is_empty() {
        return ("nothing_to_collapse", None);
    }
    ("over_threshold", Some(Wanted { segments, is_urgent }))
}

fn now(bench: &mut Bench<'_>, summarize: &Summarize<'_>) -> &'static str {
    let mut refused: Vec<RowSet> = bench.facts.refused.to_vec();
    let mut trigger = "below_threshold";
    // What it went on in: turns, or rounds where there were no more turns. Down
    // to the low mark alone no turn that stays is taken to pieces.
    let mut going_in: Option<Counting> = None;
    for _ in 0..MOST_SEGMENTS {
        let mut finder = Finder::of(bench, &refused);
        let next = match finder.merged() {
            Some(merged) => Some(merged),
            None if finder.is_triggered()
                || (going_in == Some(finder.counting()) && !finder.is_at_the_mark()) =>
            {
                going_in = Some(finder.counting());
                if trigger == "below_threshold" {
                    trigger = "nothing_to_collapse";
                }
                finder.oldest()
            }
            None => None,
        };
        let Some(segment) = next else { break };
        let covered = segment.covered.clone();
        let Some(written) = summarize(&segment) else {
            refused.push(covered);
            continue;
        };
        let proposal = Proposal {
            stage: StageKind::Collapse,
            cause: Cause::Pressure,
            reduction: Reduction::Collapse(segment, written),
        };
        if bench.apply(proposal) {
            trigger = "over_threshold";
        } else {
            refused.push(covered);
            if trigger != "over_threshold" {
                trigger = "not_smaller";
            }
        }
    }
    trigger
}
