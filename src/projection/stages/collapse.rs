//! `collapse`: the oldest segments as a summary each, down to the low mark; on
//! a ladder one pass at each of its steps. Where all summaries together are too
//! many, the oldest half of them lies under one wider collapse.
//!
//! May drop: what the summary does not say. Keeps: every row beneath, the
//! newest turns, and what is protected, right after the summary.

use crate::{
    model::{Cause, RowSet},
    projection::{Collapsing, Summarize, Wanted, bench::Bench, segments::Finder},
};

/// A plan looks for segments at most so often: a guard, not a limit that a view
/// within its window reaches.
const MOST_ROUNDS: usize = 256;

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
    for _ in 0..MOST_ROUNDS {
        let mut finder = Finder::of(bench, &refused);
        let segments = match finder.merged() {
            Some(merged) => vec![merged],
            None if finder.is_triggered() => finder.down_to_the_mark(),
            None => break,
        };
        if segments.is_empty() {
            if trigger == "below_threshold" {
                trigger = "nothing_to_collapse";
            }
            break;
        }
        // All that one look finds: a long history that just came has hundreds.
        let mut written = Vec::new();
        for segment in segments {
            match summarize(&segment) {
                Some(text) => written.push((segment, text)),
                None => refused.push(segment.covered),
            }
        }
        let was_asked = !written.is_empty();
        let covered: Vec<RowSet> = written.iter().map(|(it, _)| it.covered.clone()).collect();
        let laid = bench.collapse(Cause::Pressure, written);
        if laid.contains(&true) {
            trigger = "over_threshold";
        } else if trigger != "over_threshold" {
            trigger = if was_asked { "not_smaller" } else { "nothing_to_collapse" };
        }
        let vain = covered.into_iter().zip(laid).filter(|(_, is_laid)| !is_laid);
        refused.extend(vain.map(|(covered, _)| covered));
    }
    trigger
}
