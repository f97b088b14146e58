//! Cutting text so that nothing breaks: never inside a character, nor between a
//! base and what combines with it.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

/// How far a grapheme may reach before a cut gives up on keeping it whole.
/// Real ones are short; text built of combining marks alone would otherwise be
/// walked from end to end.
const LONGEST_GRAPHEME_BYTES: usize = 256;

/// The byte where the first `chars` characters end, moved back to the start of
/// the grapheme that the cut would split.
pub(crate) fn head_end(text: &str, chars: usize) -> usize {
    let Some(at) = byte_of_char(text, chars) else { return text.len() };
    grapheme_start(text, at)
}

/// The byte where the last `chars` characters start, moved on to the end of the
/// grapheme that the cut would split. `total` is the text's characters.
pub(crate) fn tail_start(text: &str, chars: usize, total: usize) -> usize {
    if chars >= total {
        return 0;
    }
    let Some(at) = byte_of_char(text, total - chars) else { return text.len() };
    grapheme_end(text, at)
}

fn byte_of_char(text: &str, chars: usize) -> Option<usize> {
    if text.is_ascii() {
        return (chars < text.len()).then_some(chars);
    }
    text.char_indices().nth(chars).map(|(at, _)| at)
}

fn is_boundary(text: &str, at: usize) -> bool {
    let from = floor_char(text, at.saturating_sub(LONGEST_GRAPHEME_BYTES));
    let to = ceil_char(text, (at + LONGEST_GRAPHEME_BYTES).min(text.len()));
    let near = &text[from..to];
    GraphemeCursor::new(at - from, near.len(), true).is_boundary(near, 0).unwrap_or(true)
}

fn grapheme_start(text: &str, at: usize) -> usize {
    if is_boundary(text, at) {
        return at;
    }
    let from = floor_char(text, at.saturating_sub(LONGEST_GRAPHEME_BYTES));
    let near = &text[from..at];
    let last = near.grapheme_indices(true).next_back().map(|(start, _)| from + start);
    last.filter(|start| *start > from || from == 0).unwrap_or(at)
}

fn grapheme_end(text: &str, at: usize) -> usize {
    if is_boundary(text, at) {
        return at;
    }
    let from = grapheme_start(text, at);
    let to = ceil_char(text, (at + LONGEST_GRAPHEME_BYTES).min(text.len()));
    let end = text[from..to].graphemes(true).next().map_or(at, |first| from + first.len());
    if end > at { end } else { at }
}

/// The largest character boundary that is not after `at`.
pub(crate) fn floor_char(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil_char(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// `text` cut to about `keep` characters, `head_ratio` of them from its start,
/// the rest from its end, with what `marker` makes of the number of characters
/// removed between them. `None` where nothing would be removed.
pub(crate) fn cut(
    text: &str,
    keep: usize,
    head_ratio: f64,
    marker: impl Fn(usize) -> String,
) -> Option<String> {
    let total = text.chars().count();
    if total <= keep {
        return None;
    }
    let (head, tail) = split_keep(keep, head_ratio);
    let head_end = head_end(text, head);
    let tail_start = tail_start(text, tail, total).max(head_end);
    let removed = text[head_end..tail_start].chars().count();
    if removed == 0 {
        return None;
    }
    Some(format!("{}{}{}", &text[..head_end], marker(removed), &text[tail_start..]))
}

/// How many of `keep` characters come from the start, and how many from the end.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "character counts are far below 2^52, and the ratio is within 0..=1"
)]
pub(crate) fn split_keep(keep: usize, head_ratio: f64) -> (usize, usize) {
    let head = ((keep as f64) * head_ratio.clamp(0.0, 1.0)).round() as usize;
    (head.min(keep), keep - head.min(keep))
}

/// `template` with each `{name}` replaced by its value. Values are put in once:
/// braces within them mean nothing.
pub(crate) fn fill(template: &str, values: &[(&str, &dyn std::fmt::Display)]) -> String {
    let mut out = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        let named = rest.find('}').and_then(|close| {
            let (_, value) = values.iter().find(|(name, _)| *name == &rest[1..close])?;
            Some((close, value))
        });
        if let Some((close, value)) = named {
            out.push_str(&value.to_string());
            rest = &rest[close + 1..];
        } else {
            out.push('{');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dots(removed: usize) -> String {
        format!("[{removed}]")
    }

    #[test]
    fn a_cut_keeps_head_and_tail() {
        assert_eq!(cut("abcdefghij", 5, 0.6, dots).unwrap(), "abc[5]ij");
        assert_eq!(cut("abcdefghij", 5, 1.0, dots).unwrap(), "abcde[5]");
        assert_eq!(cut("abcde", 5, 0.6, dots), None);
        assert_eq!(cut("abcdef", 0, 0.6, dots).unwrap(), "[6]");
    }

    #[test]
    fn l3_a_cut_never_splits_a_character_or_what_combines_with_it() {
        for odd in ["─", "🦀", "e\u{301}", "👩\u{200d}👩\u{200d}👧", "🇩🇪", "\r\n"] {
            for lead in 0..12 {
                let text = format!("{}{odd}{}", "a".repeat(lead), "x".repeat(20));
                for keep in 0..lead + 12 {
                    let out = cut(&text, keep, 0.5, dots).unwrap();
                    let rest = out.replace(['a', 'x'], "");
                    let bare = rest.split('[').next().unwrap_or_default();
                    let after = rest.rsplit(']').next().unwrap_or_default();
                    assert!(bare.is_empty() || bare == odd, "{out:?}");
                    assert!(after.is_empty() || after == odd, "{out:?}");
                }
            }
        }
    }

    #[test]
    fn l3_a_text_of_combining_marks_alone_is_cut_all_the_same() {
        let text = "\u{301}".repeat(5000);
        let out = cut(&text, 1000, 0.5, dots).unwrap();
        assert!(out.chars().count() < 1500, "{}", out.chars().count());
    }

    #[test]
    fn a_template_takes_its_values_once() {
        assert_eq!(fill("{a}{b}{c}", &[("a", &"{b}"), ("b", &2)]), "{b}2{c}");
        assert_eq!(fill("{ {a", &[("a", &1)]), "{ {a");
    }
}
