//! Shortening what is left of a view: for `fit`, which asks for one class of
//! content after the other.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    model::{Block, BlockKind, Cleared, ContentRef, Role, Seq, ToolOutput, shown::Answer},
    projection::{
        bench::{Bench, kind_bytes},
        compose::{plain_block, shown_as},
        json, text,
    },
    tokens,
};

/// What may be shortened, in the order in which it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Tool results; their pictures go first.
    Results,
    /// Long strings among the arguments of calls.
    Arguments,
    /// Assistant text, and user text that is not a newest request.
    OtherText,
    /// Pictures and opaque blocks of messages.
    Media,
    /// The newest requests.
    NewestRequest,
}

pub(crate) const CLASSES: [Class; 5] =
    [Class::Results, Class::Arguments, Class::OtherText, Class::Media, Class::NewestRequest];

/// Characters that are left of a text at least.
const SHORTEST: usize = 40;

struct Piece {
    content: ContentRef,
    /// As it looked at first sight: what is cut, so that no cut is cut again.
    plain: Arc<Block>,
    /// Tokens as it is shown now.
    tokens: i64,
    /// Characters as it is shown now.
    chars: usize,
}

/// What to show of the pieces of `class` so that the view comes down to about
/// `goal` calibrated tokens: all of them cut to one length, the longest that
/// does.
pub(crate) fn plan(
    bench: &Bench<'_>,
    class: Class,
    goal: i64,
    newest: &BTreeSet<Seq>,
) -> Vec<Cleared> {
    let pieces = pieces(bench, class, newest);
    let over = over(bench, goal);
    let longest = pieces.iter().map(|piece| piece.chars).max().unwrap_or(0);
    let frees = |keep: usize| pieces.iter().map(|piece| estimate(piece, keep)).sum::<i64>();
    let is_over_bytes = bench.is_over_bytes();
    let (mut low, mut high) = (SHORTEST, longest.max(SHORTEST));
    if is_over_bytes {
        high = (longest / 2).max(SHORTEST);
    }
    while low < high {
        let middle = (low + high).div_ceil(2);
        if frees(middle) >= over {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    let mark = &bench.facts.policy.fit.cut_marker;
    pieces
        .iter()
        .filter(|piece| piece.chars > low || class == Class::Media)
        .filter_map(|piece| {
            let text = shorten(&piece.plain, low, mark)?;
            // The marker of a short text may cost more than the cut frees.
            let count = i64::from(tokens::block(&shown_as(&piece.plain, None, &text)));
            let is_smaller = count < piece.tokens || is_over_bytes;
            is_smaller.then_some(Cleared { content: piece.content, shown_as: text })
        })
        .collect()
}

/// Uncalibrated tokens that the view is above `goal`.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "token counts are far below 2^52"
)]
fn over(bench: &Bench<'_>, goal: i64) -> i64 {
    let room = (goal - bench.facts.window.fixed).max(0) as f64 / bench.facts.window.factor;
    bench.composed.tokens - room.floor() as i64
}

/// About how many tokens cutting a piece to `keep` characters frees.
fn estimate(piece: &Piece, keep: usize) -> i64 {
    if piece.chars <= keep {
        return 0;
    }
    let chars = i64::try_from(piece.chars).unwrap_or(i64::MAX);
    let gone = i64::try_from(piece.chars - keep).unwrap_or(i64::MAX);
    (piece.tokens.saturating_mul(gone) / chars - 16).max(0)
}

fn pieces(bench: &Bench<'_>, class: Class, newest: &BTreeSet<Seq>) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut take = |seq: Seq, index: u32, block: &Block, tokens: u32| {
        let row = bench.lens.history.row(seq);
        let Some((plain, _)) = row.and_then(|row| plain_block(bench.lens, row, index)) else {
            return;
        };
        let content = ContentRef { seq, block: index, output: None };
        out.push(Piece { content, plain, tokens: i64::from(tokens), chars: chars(block) });
    };
    for round in bench.composed.rounds() {
        if class == Class::Results {
            for call in &round.calls {
                if let Answer::Result { seq, index, block, tokens, .. } = &call.answer {
                    take(*seq, *index, block, *tokens);
                }
            }
        }
        for message in &round.messages {
            let is_newest = newest.contains(&round.id) && message.role == Role::User;
            for block in &message.blocks {
                if class_of(&block.block.kind, is_newest) == Some(class) {
                    take(message.seq, block.index, &block.block, block.tokens);
                }
            }
        }
    }
    out
}

fn class_of(kind: &BlockKind, is_newest_request: bool) -> Option<Class> {
    match kind {
        BlockKind::Text(_) if is_newest_request => Some(Class::NewestRequest),
        BlockKind::Text(_) => Some(Class::OtherText),
        BlockKind::ToolUse(_) => Some(Class::Arguments),
        BlockKind::ToolResult(_) => Some(Class::Results),
        BlockKind::Image(_) => Some(Class::Media),
        BlockKind::Opaque(opaque) if opaque.call_id.is_empty() => Some(Class::Media),
        BlockKind::Opaque(_) | BlockKind::Thinking(_) | BlockKind::RedactedThinking(_) => None,
    }
}

fn chars(block: &Block) -> usize {
    match &block.kind {
        BlockKind::Text(words) => text_of(words).chars().count(),
        BlockKind::ToolResult(result) => words_of(&result.output).chars().count(),
        BlockKind::ToolUse(call) => String::from_utf8_lossy(&call.input_json).chars().count(),
        kind => kind_bytes(kind),
    }
}

fn text_of(words: &crate::model::Text) -> String {
    if words.raw.is_empty() {
        words.text.clone()
    } else {
        String::from_utf8_lossy(&words.raw).into_owned()
    }
}

/// A block in about `keep` characters; `None` where that is not shorter.
fn shorten(block: &Block, keep: usize, mark: &str) -> Option<String> {
    let marker = |total: usize| {
        move |removed: usize| text::fill(mark, &[("removed", &removed), ("total", &total)])
    };
    match &block.kind {
        BlockKind::Text(words) => {
            let words = text_of(words);
            text::cut(&words, keep, 0.6, marker(words.chars().count()))
        }
        BlockKind::ToolResult(result) => {
            let words = words_of(&result.output);
            let has_media = result.output.iter().any(|part| !matches!(part, ToolOutput::Text(_)));
            let cut = text::cut(&words, keep, 0.6, marker(words.chars().count()));
            cut.or_else(|| has_media.then_some(words))
        }
        BlockKind::ToolUse(call) => {
            let cut =
                |words: &str, keep| text::cut(words, keep, 0.6, marker(words.chars().count()));
            json::shorten_strings(&call.input_json, keep, &cut)
        }
        BlockKind::Image(image) => Some(format!("[{} not shown]", image.media_type)),
        BlockKind::Opaque(opaque) => {
            Some(format!("[provider block not shown: {} bytes]", opaque.json.len()))
        }
        BlockKind::Thinking(_) | BlockKind::RedactedThinking(_) => None,
    }
}

/// A result as words alone: its text, and a line for everything else.
fn words_of(output: &[ToolOutput]) -> String {
    let parts: Vec<String> = output
        .iter()
        .map(|part| match part {
            ToolOutput::Text(text) => String::from_utf8_lossy(text).into_owned(),
            ToolOutput::Image(image) => format!("[{} not shown]", image.media_type),
            ToolOutput::Opaque(opaque) => {
                format!("[provider block not shown: {} bytes]", opaque.json.len())
            }
        })
        .collect();
    parts.join("\n")
}
