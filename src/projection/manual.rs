//! What a caller reduces by hand: protected or not, as named.

use super::{
    History, Lens, Memo, Sight,
    bench::{directly_under, widen},
    compose::compose,
    sight::{result_bytes, result_chars},
    stages::strip_images,
    text,
};
use crate::{
    model::{
        Block, BlockKind, ContentRef, Overlay, OverlayId, Policy, RowSet, Seq, SeqRange, ToolOutput,
    },
    projection::history::{Fate, Round},
};

/// What a range that a caller named comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManualSnip {
    /// Whole rounds and whole overlays.
    pub covered: RowSet,
    /// The overlays directly under it.
    pub covered_overlays: Vec<OverlayId>,
    /// BLAKE3 over the digests of the covered rows.
    pub source_digest: [u8; 32],
}

/// Widens a named range to whole rounds and whole overlays in force. `None`
/// where it adds nothing: it holds no settled round, or lies wholly under one
/// overlay.
#[must_use]
pub fn manual_snip(history: &History, in_force: &[Overlay], rows: SeqRange) -> Option<ManualSnip> {
    let rounds = history.order().iter().filter_map(|id| history.round(*id));
    let rounds = rounds.filter(|round| takes(history, round, rows));
    let whole = RowSet::of(rounds.flat_map(|round| round.rows.iter().copied()).collect());
    if whole.is_empty() {
        return None;
    }
    let covered = widen(&whole, in_force);
    let is_under = |it: &&Overlay| it.is_range() && it.covered.contains_all(&covered);
    if in_force.iter().any(|it| is_under(&it)) {
        return None;
    }
    let mut hasher = blake3::Hasher::new();
    for row in covered.iter().filter_map(|seq| history.row(seq)) {
        hasher.update(&row.digest);
    }
    Some(ManualSnip {
        covered_overlays: directly_under(&covered, in_force),
        covered,
        source_digest: hasher.finalize().into(),
    })
}

/// Says whether a range takes a round: it names one of its rows; but a round
/// whose last row also holds a user's words only where it names that row.
pub(crate) fn takes(history: &History, round: &Round, rows: SeqRange) -> bool {
    let names = |seq: &Seq| (rows.first..=rows.last).contains(seq);
    let last = round.rows.last().copied().unwrap_or(round.id);
    let ends_with_words = last != round.id
        && history.row(last).is_some_and(|row| {
            let blocks = 0..u32::try_from(row.message.blocks.len()).unwrap_or(u32::MAX);
            let mut fates = blocks.map(|block| history.fate(last, block));
            let has_words = fates.clone().any(|fate| fate.is_none());
            has_words && fates.any(|fate| matches!(fate, Some(Fate::Answers(_))))
        });
    if ends_with_words { names(&last) } else { round.rows.iter().any(names) }
}

/// Uncalibrated tokens of the whole view, without and with one more overlay.
#[must_use]
pub fn measure(
    history: &History,
    sight: &Sight,
    in_force: &[Overlay],
    overlay: &Overlay,
    memo: &mut Memo,
) -> (i64, i64) {
    let lens = Lens { history, sight, shown: history.order().len() };
    let before = compose(lens, in_force, memo).tokens;
    let mut with: Vec<Overlay> = in_force.to_vec();
    with.push(overlay.clone());
    (before, compose(lens, &with, memo).tokens)
}

/// Uncalibrated tokens of the whole view.
#[must_use]
pub fn tokens_of(history: &History, sight: &Sight, in_force: &[Overlay], memo: &mut Memo) -> i64 {
    compose(Lens { history, sight, shown: history.order().len() }, in_force, memo).tokens
}

/// The policy's placeholder for a piece.
#[must_use]
pub fn placeholder(
    policy: &Policy,
    history: &History,
    content: ContentRef,
    block: &Block,
) -> String {
    let (bytes, chars) = match (&block.kind, content.output) {
        (BlockKind::Image(image), _) => return image_line(policy, image, content),
        (BlockKind::ToolResult(result), None) => (result_bytes(result), result_chars(result)),
        (BlockKind::ToolResult(result), Some(output)) => {
            let part = usize::try_from(output).ok().and_then(|at| result.output.get(at));
            match part {
                Some(ToolOutput::Image(image)) => return image_line(policy, image, content),
                Some(ToolOutput::Text(text)) => {
                    (text.len(), String::from_utf8_lossy(text).chars().count())
                }
                Some(ToolOutput::Opaque(opaque)) => (opaque.json.len(), opaque.json.len()),
                None => (0, 0),
            }
        }
        (BlockKind::Text(words), _) => (words.text.len(), words.text.chars().count()),
        (kind, _) => {
            let bytes = super::bench::kind_bytes(kind);
            (bytes, bytes)
        }
    };
    let tool = match history.fate(content.seq, content.block) {
        Some(Fate::Answers(call)) => history.call(call).map_or("", |(name, _)| name),
        _ => "",
    };
    let values: [(&str, &dyn std::fmt::Display); 5] = [
        ("bytes", &bytes),
        ("chars", &chars),
        ("seq", &content.seq),
        ("block", &content.block),
        ("tool", &tool),
    ];
    text::fill(&policy.micro_clear.placeholder, &values)
}

fn image_line(policy: &Policy, image: &crate::model::Image, content: ContentRef) -> String {
    strip_images::describe(&policy.strip_images.marker, image, content.seq, content.block)
        .unwrap_or_else(|| format!("[{} not shown]", image.media_type))
}
