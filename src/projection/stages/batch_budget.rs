//! `batch_budget`: the results of one round together; the largest of a row
//! become previews until what is left of the round's budget holds them.
//!
//! May drop: all of a result but its preview. Keeps: images, every other
//! block, and the full text, one read away.

use std::collections::HashMap;

use crate::{
    model::{BlockKind, Seq, StageKind, policy::BatchBudget},
    projection::{
        sight::{Draft, Drafts, Sizes, result_bytes, result_chars},
        stages::result_cap::cut_result,
        text,
    },
};

pub(crate) fn apply(
    policy: &BatchBudget,
    sizes: Sizes,
    used: &mut HashMap<Seq, usize>,
    drafts: &mut Drafts,
) {
    let limit = policy.limit_chars.min(sizes.chars(policy.window_share));
    let seq = drafts.seq();
    for round in rounds_of(drafts) {
        let before = used.get(&round).copied().unwrap_or(0);
        let budget = limit.saturating_sub(before);
        let mut results: Vec<(usize, &mut Draft)> = drafts
            .iter_mut()
            .filter(|draft| round_of(draft, seq) == round)
            .filter_map(|draft| draft.result().map(result_chars).map(|chars| (chars, draft)))
            .collect();
        let mut sum: usize = results.iter().map(|(chars, _)| chars).sum();
        // Largest first; of equal ones the later, so that the order of what
        // stays is that of the calls.
        results.sort_by_key(|(chars, draft)| std::cmp::Reverse((*chars, draft.index)));
        for keep in previews(policy, budget, results.len()) {
            for (chars, draft) in &mut results {
                if sum <= budget {
                    break;
                }
                let shown = shorten(policy, seq, keep, *chars, draft);
                sum = sum - *chars + shown;
                *chars = shown;
            }
        }
        used.insert(round, before + sum);
    }
}

/// The sizes of preview to try: the policy's, then an equal share of the
/// budget, then nothing but the pointer.
fn previews(policy: &BatchBudget, budget: usize, results: usize) -> [usize; 3] {
    let fair = budget / results.max(1);
    [policy.preview_chars, policy.preview_chars.min(fair.saturating_sub(200)), 0]
}

fn shorten(policy: &BatchBudget, seq: Seq, keep: usize, chars: usize, draft: &mut Draft) -> usize {
    let Some(result) = draft.uncut() else { return chars };
    if chars <= policy.floor_chars.max(keep) {
        return chars;
    }
    let bytes = result_bytes(result);
    let index = draft.index;
    let marker = |removed: usize, total: usize| {
        let values: [(&str, &dyn std::fmt::Display); 5] = [
            ("removed", &removed),
            ("total", &total),
            ("bytes", &bytes),
            ("seq", &seq),
            ("block", &index),
        ];
        text::fill(&policy.marker, &values)
    };
    let Some(cut) = cut_result(result, keep, 1.0, marker) else { return chars };
    let shown = result_chars(&cut);
    if shown < chars && draft.replace(StageKind::BatchBudget, Some(BlockKind::ToolResult(cut))) {
        shown
    } else {
        chars
    }
}

/// The rounds that a row's results belong to: those of the calls that they
/// answer; a row of orphans is a round of its own.
fn rounds_of(drafts: &mut Drafts) -> Vec<Seq> {
    let seq = drafts.seq();
    let mut rounds: Vec<Seq> = drafts
        .iter_mut()
        .filter(|draft| draft.result().is_some())
        .map(|draft| round_of(draft, seq))
        .collect();
    rounds.sort_unstable();
    rounds.dedup();
    rounds
}

fn round_of(draft: &Draft, seq: Seq) -> Seq {
    draft.call.map_or(seq, |call| call.seq)
}
