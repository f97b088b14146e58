//! The covered rows as text, for those who summarize with a model.
//!
//! What is nobody's to read is left out: reasoning, encoded bytes, a provider's
//! opaque blocks. Results are data, and stand in a fence that nothing in them
//! can close.

mod blocks;

use std::collections::BTreeSet;

use self::blocks::Sizes;
use super::{EarlierSummary, Material, MaterialRound, text::cut_to_tokens};
use crate::{model::Seq, tokens::count_text};

/// Material as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MaterialText {
    /// The text.
    pub text: String,
    /// Its tokens, uncalibrated.
    pub tokens: i64,
    /// True where it holds less than it would without a limit.
    pub is_cut: bool,
}

/// The rows as text, earlier summaries among them at their places, in at most
/// `max_tokens` tokens (zero or less: as many as it takes).
///
/// Long results and arguments are shortened to head and tail; where the whole
/// is too long, further, and then the oldest rounds are left out, with a line
/// that says so.
#[must_use]
pub fn material_text(material: &Material, max_tokens: i64) -> MaterialText {
    let mut last = String::new();
    for sizes in Sizes::ALL {
        let text = whole(material, sizes);
        let tokens = i64::from(count_text(&text));
        if max_tokens <= 0 || tokens <= max_tokens {
            return MaterialText { text, tokens, is_cut: sizes != Sizes::ALL[0] };
        }
        last = text;
    }
    let text = newest(material, max_tokens).unwrap_or_else(|| cut_to_tokens(&last, max_tokens));
    let tokens = i64::from(count_text(&text));
    MaterialText { text, tokens, is_cut: true }
}

/// Tokens of the text in which everything is shortened as far as it can be and
/// no message is left out.
#[must_use]
pub fn least_material_tokens(material: &Material) -> i64 {
    i64::from(count_text(&whole(material, Sizes::ALL[Sizes::ALL.len() - 1])))
}

/// Tokens of the rows in full, as they were counted when they came, earlier
/// summaries included; [`material_text`] has about as many, or less.
#[must_use]
pub fn material_tokens(material: &Material) -> i64 {
    let mut seen = BTreeSet::new();
    let rows = material.rounds.iter().flat_map(|round| &round.rows);
    let rows = rows.filter(|row| seen.insert(row.seq)).map(|row| row.tokens.total);
    let earlier = material.earlier.iter().map(|it| i64::from(count_text(&it.text)));
    rows.chain(earlier).fold(0, i64::saturating_add)
}

/// A piece of the text, and the row that it starts with.
struct Piece {
    first: Seq,
    text: String,
}

/// The pieces in order: rounds as they come, each summary before the first
/// round that is newer than its first row.
fn pieces(material: &Material, sizes: Sizes) -> Vec<Piece> {
    let mut summaries: Vec<Piece> = material.earlier.iter().map(summary).collect();
    summaries.sort_by_key(|it| it.first);
    let mut summaries = summaries.into_iter().peekable();
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for round in &material.rounds {
        while let Some(summary) = summaries.next_if(|it| it.first < round.id) {
            out.push(summary);
        }
        out.push(Piece { first: round.id, text: self::round(round, sizes, &mut seen) });
    }
    out.extend(summaries);
    out.retain(|it| !it.text.is_empty());
    out
}

fn summary(summary: &EarlierSummary) -> Piece {
    let first = summary.covered.first().map_or(Seq(0), |it| it.first);
    let last = summary.covered.last().map_or(first, |it| it.last);
    let text = blocks::fenced("summary", summary.text.trim());
    Piece { first, text: format!("[earlier summary of messages {first}-{last}]\n{text}\n") }
}

fn round(round: &MaterialRound, sizes: Sizes, seen: &mut BTreeSet<Seq>) -> String {
    let mut out = String::new();
    for row in &round.rows {
        if seen.insert(row.seq) {
            blocks::row(row, sizes, &mut out);
        }
    }
    out
}

fn whole(material: &Material, sizes: Sizes) -> String {
    let pieces = pieces(material, sizes);
    pieces.iter().map(|it| it.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// The newest pieces that fit, after a line that says what is left out.
fn newest(material: &Material, max_tokens: i64) -> Option<String> {
    let pieces = pieces(material, Sizes::ALL[Sizes::ALL.len() - 1]);
    let note = |count: usize| format!("[the oldest {count} parts are left out]\n");
    let mut free = max_tokens - i64::from(count_text(&note(pieces.len()))) - 1;
    let mut from = pieces.len();
    while let Some(piece) = from.checked_sub(1).and_then(|at| pieces.get(at)) {
        free -= i64::from(count_text(&piece.text)) + 1;
        if free < 0 {
            break;
        }
        from -= 1;
    }
    let kept: Vec<&str> = pieces.get(from..)?.iter().map(|it| it.text.as_str()).collect();
    let text = format!("{}{}", note(from), kept.join("\n"));
    (!kept.is_empty() && i64::from(count_text(&text)) <= max_tokens).then_some(text)
}

#[cfg(test)]
mod tests;
