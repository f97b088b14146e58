//! What each stage has saved, piece by piece, and what fills the window.

use std::collections::{BTreeMap, BTreeSet};

use super::{Composed, Lens, compose::plain_block, history::Fate};
use crate::{
    model::{
        BlockKind, BudgetPart, ContentRef, Overlay, OverlayId, PartKind, Role, Seq, SeqRange,
        StageKind,
        shown::{Answer, Entry},
    },
    tokens,
};

/// One reduced piece of content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reduced {
    /// The piece.
    pub content: ContentRef,
    /// The stage that did it; empty by hand.
    pub stage: String,
    /// The overlay, where one did.
    pub overlay: Option<OverlayId>,
    /// Uncalibrated tokens without it.
    pub before: i64,
    /// … and with it.
    pub after: i64,
}

/// What one stage has in force.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Saving {
    /// Uncalibrated tokens that the view would have more without it.
    pub tokens: i64,
    /// Messages that are shown shorter or not at all.
    pub messages: i64,
}

/// Every reduced piece that is shown, in shown order.
#[must_use]
pub fn reductions(lens: Lens<'_>, composed: &Composed, overlays: &[Overlay]) -> Vec<Reduced> {
    let mut cleared: BTreeMap<(Seq, u32), Vec<(&Overlay, ContentRef)>> = BTreeMap::new();
    for overlay in overlays {
        for piece in &overlay.cleared {
            let at = (piece.content.seq, piece.content.block);
            cleared.entry(at).or_default().push((overlay, piece.content));
        }
    }
    let repeats: BTreeSet<(Seq, u32)> =
        composed.repeats.iter().map(|(repeat, _)| *repeat).collect();
    let mut out = Vec::new();
    for (at, shown) in shown_blocks(composed) {
        out.extend(of_block(lens, &repeats, &cleared, at, shown));
    }
    out
}

/// The shown blocks with their tokens, dropped ones (of shown rows) with zero.
fn shown_blocks(composed: &Composed) -> Vec<((Seq, u32), i64)> {
    let mut out = Vec::new();
    for round in composed.rounds() {
        for message in &round.messages {
            let mut next = 0;
            for block in &message.blocks {
                out.extend((next..block.index).map(|index| ((message.seq, index), 0)));
                next = block.index + 1;
                out.push(((message.seq, block.index), i64::from(block.tokens)));
            }
        }
        for call in &round.calls {
            if let Answer::Result { seq, index, tokens, .. } = &call.answer {
                out.push(((*seq, *index), i64::from(*tokens)));
            }
        }
    }
    out
}

fn of_block(
    lens: Lens<'_>,
    repeats: &BTreeSet<(Seq, u32)>,
    cleared: &BTreeMap<(Seq, u32), Vec<(&Overlay, ContentRef)>>,
    at: (Seq, u32),
    shown: i64,
) -> Vec<Reduced> {
    let whole = ContentRef { seq: at.0, block: at.1, output: None };
    let mut out = Vec::new();
    let Some(row) = lens.history.row(at.0) else { return out };
    if shown == 0 && matches!(lens.history.fate(at.0, at.1), Some(Fate::Answers(_))) {
        return out;
    }
    for step in lens.sight.seen(at.0, at.1).map_or(&[][..], |seen| &seen.steps) {
        out.push(Reduced {
            content: whole,
            stage: step.stage.name().to_owned(),
            overlay: None,
            before: i64::from(step.before),
            after: i64::from(step.after),
        });
    }
    let before = plain_block(lens, row, at.1).map_or(0, |(_, count)| i64::from(count));
    if repeats.contains(&at) {
        out.push(Reduced {
            content: whole,
            stage: StageKind::DedupeFiles.name().to_owned(),
            overlay: None,
            before,
            after: shown,
        });
    } else if let Some((overlay, content)) = cleared.get(&at).and_then(|all| all.last()) {
        out.push(Reduced {
            content: *content,
            stage: overlay.stage.clone(),
            overlay: Some(overlay.id.clone()),
            before,
            after: shown,
        });
    }
    out
}

/// What each stage has in force, by name.
#[must_use]
pub fn savings(
    lens: Lens<'_>,
    composed: &Composed,
    overlays: &[Overlay],
) -> BTreeMap<String, Saving> {
    let mut out: BTreeMap<String, Saving> = BTreeMap::new();
    let mut rows: BTreeSet<(String, Seq)> = BTreeSet::new();
    for reduced in reductions(lens, composed, overlays) {
        out.entry(reduced.stage.clone()).or_default().tokens += reduced.before - reduced.after;
        if rows.insert((reduced.stage.clone(), reduced.content.seq)) {
            out.entry(reduced.stage).or_default().messages += 1;
        }
    }
    let notices: BTreeMap<&OverlayId, i64> = composed
        .entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Notice(notice) => Some((&notice.overlay, notice.tokens)),
            Entry::Round(_) => None,
        })
        .collect();
    for (index, rounds) in &composed.hidden {
        let Some(overlay) = overlays.get(*index) else { continue };
        let hidden: i64 = rounds.iter().map(|id| plain_tokens(lens, *id)).sum();
        let saving = out.entry(overlay.stage.clone()).or_default();
        saving.tokens += hidden - notices.get(&overlay.id).copied().unwrap_or(0);
        saving.messages += overlay.covered.len();
    }
    out
}

/// Tokens of a round as it looked at first sight.
#[must_use]
pub fn plain_tokens(lens: Lens<'_>, round: Seq) -> i64 {
    let Some(round) = lens.history.round(round) else { return 0 };
    let rows = round.rows.iter().filter_map(|seq| lens.history.row(*seq));
    rows.map(|row| {
        let blocks = 0..u32::try_from(row.message.blocks.len()).unwrap_or(u32::MAX);
        let blocks = blocks.filter_map(|index| plain_block(lens, row, index));
        tokens::MESSAGE_TOKENS + blocks.map(|(_, count)| i64::from(count)).sum::<i64>()
    })
    .sum()
}

/// Tokens of the rounds that hold a row of `ranges`, each once, as they looked
/// at first sight.
#[must_use]
pub fn tokens_within(lens: Lens<'_>, ranges: &[SeqRange]) -> i64 {
    lens.history.rounds_within(ranges).into_iter().map(|id| plain_tokens(lens, id)).sum()
}

/// What fills the messages, by kind, uncalibrated.
#[must_use]
pub fn parts(composed: &Composed) -> BTreeMap<PartKind, i64> {
    let mut out: BTreeMap<PartKind, i64> = BTreeMap::new();
    for entry in &composed.entries {
        let round = match entry {
            Entry::Notice(notice) => {
                *out.entry(PartKind::Summary).or_default() += notice.tokens;
                continue;
            }
            Entry::Round(round) => round,
        };
        let mut left = round.tokens;
        let mut add = |kind: PartKind, count: i64| {
            left -= count;
            *out.entry(kind).or_default() += count;
        };
        let mut said = PartKind::User;
        for message in &round.messages {
            if message.role == Role::Assistant {
                said = PartKind::Assistant;
            }
            for block in &message.blocks {
                let kind = part_of(&block.block.kind, message.role);
                add(kind, i64::from(block.tokens));
            }
        }
        for call in &round.calls {
            let count = match &call.answer {
                Answer::Result { tokens, .. } => i64::from(*tokens),
                Answer::Missing => tokens::SYNTHETIC_RESULT_TOKENS,
            };
            add(PartKind::ToolResult, count);
        }
        // What messages cost beside their blocks goes to who speaks first.
        *out.entry(said).or_default() += left;
    }
    out
}

fn part_of(kind: &BlockKind, role: Role) -> PartKind {
    match kind {
        BlockKind::Text(_) | BlockKind::Opaque(_) if role == Role::Assistant => PartKind::Assistant,
        BlockKind::Text(_) | BlockKind::Opaque(_) => PartKind::User,
        BlockKind::Thinking(_) | BlockKind::RedactedThinking(_) => PartKind::Thinking,
        BlockKind::ToolUse(_) => PartKind::ToolUse,
        BlockKind::ToolResult(_) => PartKind::ToolResult,
        BlockKind::Image(_) => PartKind::Image,
    }
}

/// Parts as a budget lists them.
#[must_use]
pub fn budget_parts(parts: &BTreeMap<PartKind, i64>, factor: f64) -> Vec<BudgetPart> {
    parts
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(kind, count)| BudgetPart {
            kind: *kind,
            name: String::new(),
            tokens: tokens::calibrate(*count, factor),
        })
        .collect()
}
