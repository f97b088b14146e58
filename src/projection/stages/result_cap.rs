//! `result_cap`: one tool result, cut to its head and tail, or its head only.
//!
//! May drop: the middle of a result's text. Keeps: its ends, its images, every
//! other block.

use crate::{
    model::{BlockKind, StageKind, ToolOutput, ToolResult, policy::ResultCap},
    policies::tools,
    projection::{
        History,
        sight::{Drafts, Sizes, result_bytes, result_chars},
        text,
    },
};

pub(crate) fn apply(policy: &ResultCap, sizes: Sizes, history: &History, drafts: &mut Drafts) {
    let seq = drafts.seq();
    let share = sizes.chars(policy.window_share);
    for draft in drafts.iter_mut() {
        let Some(result) = draft.result() else { continue };
        let tool = draft.call.and_then(|call| history.call(call)).map_or("", |(name, _)| name);
        let limit = limit_for(policy, tool).min(share);
        // A character is at most four bytes and at least one: most results are
        // passed without counting.
        if result_bytes(result) <= limit || result_chars(result) <= limit {
            continue;
        }
        let keep = if limit < policy.limit_chars {
            policy.keep_chars.min(limit)
        } else {
            policy.keep_chars
        };
        let marker = |removed: usize, total: usize| {
            let values: [(&str, &dyn std::fmt::Display); 4] =
                [("removed", &removed), ("total", &total), ("seq", &seq), ("block", &draft.index)];
            text::fill(&policy.marker, &values)
        };
        // A preview is cut as it is: its end points to the whole.
        let is_preview = draft.was_reduced_by(StageKind::BatchBudget);
        let whole = if is_preview { draft.result() } else { draft.uncut() };
        let cut = whole.and_then(|it| cut_result(it, keep, policy.head_ratio, marker));
        if let Some(cut) = cut {
            draft.replace(StageKind::ResultCap, Some(BlockKind::ToolResult(cut)));
        }
    }
}

fn limit_for(policy: &ResultCap, tool: &str) -> usize {
    let by_name = policy.per_tool_chars.get(tool).copied();
    let by_class = || {
        policy
            .per_tool_chars
            .iter()
            .find(|(key, _)| tools::selects(std::slice::from_ref(*key), tool))
            .map(|(_, chars)| *chars)
    };
    by_name.or_else(by_class).unwrap_or(policy.limit_chars)
}

/// `result` with about `keep` characters of its text: `marker` is told how many
/// were removed of how many. Images and opaque parts stay where they are.
pub(crate) fn cut_result(
    result: &ToolResult,
    keep: usize,
    head_ratio: f64,
    marker: impl Fn(usize, usize) -> String,
) -> Option<ToolResult> {
    let texts: Vec<String> = result
        .output
        .iter()
        .map(|part| match part {
            ToolOutput::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            _ => String::new(),
        })
        .collect();
    let whole = texts.concat();
    let total = whole.chars().count();
    if total <= keep {
        return None;
    }
    let (head, tail) = text::split_keep(keep, head_ratio);
    let head_end = text::head_end(&whole, head);
    let tail_start = text::tail_start(&whole, tail, total).max(head_end);
    let removed = whole[head_end..tail_start].chars().count();
    if removed == 0 {
        return None;
    }
    let mut output = Vec::with_capacity(result.output.len());
    let mut at = 0;
    let mut is_marked = false;
    for (part, words) in result.output.iter().zip(&texts) {
        if !matches!(part, ToolOutput::Text(_)) {
            output.push(part.clone());
            continue;
        }
        let (from, to) = (at, at + words.len());
        at = to;
        let mut shown = String::new();
        shown.push_str(&whole[from.min(head_end)..to.min(head_end)]);
        if !is_marked && to >= head_end {
            is_marked = true;
            shown.push_str(&marker(removed, total));
        }
        shown.push_str(&whole[from.max(tail_start)..to.max(tail_start)]);
        if !shown.is_empty() {
            output.push(ToolOutput::Text(shown.into()));
        }
    }
    Some(ToolResult { output, ..result.clone() })
}
