//! Words made fit to stand in a summary.

use crate::tokens::count_text;

/// Longest token that the vocabulary has, in bytes; real text has about four.
const LONGEST_TOKEN_BYTES: usize = 512;

/// `text` on one line: runs of white space are one space, what a terminal or an
/// ear would obey is gone. Stops after `most` bytes of it.
pub(super) fn flat(text: &str, most: usize) -> String {
    let mut out = String::with_capacity(text.len().min(most));
    let mut letters = text.chars().peekable();
    let mut is_gap = false;
    while let Some(letter) = letters.next() {
        if out.len() >= most {
            break;
        }
        match letter {
            '\u{1b}' => skip_escape(&mut letters),
            letter if letter.is_whitespace() => is_gap = true,
            letter if letter.is_control() => {}
            letter => {
                if is_gap && !out.is_empty() {
                    out.push(' ');
                }
                is_gap = false;
                out.push(letter);
            }
        }
    }
    out
}

/// A terminal's colours and movements: `ESC [ … letter`.
fn skip_escape(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    if letters.next_if_eq(&'[').is_some() {
        while letters.next_if(|it| it.is_ascii_digit() || matches!(it, ';' | '?')).is_some() {}
        letters.next_if(char::is_ascii_alphabetic);
    }
}

/// `text` in at most `most` characters: where it is longer, its head and its
/// tail with an ellipsis between, cut between words where one ends nearby.
pub(super) fn shorten(text: &str, most: usize) -> String {
    let total = text.chars().count();
    if total <= most {
        return text.to_owned();
    }
    let keep = most.saturating_sub(3);
    let tail = keep / 4;
    let head_end = word_end(text, byte_of(text, keep - tail));
    let tail_start = word_start(text, byte_of(text, total - tail)).max(head_end);
    let (head, tail) = (text[..head_end].trim_end(), text[tail_start..].trim_start());
    if tail.is_empty() { format!("{head} …") } else { format!("{head} … {tail}") }
}

/// `text` in at most `most` characters: where it is longer, its head and an
/// ellipsis.
pub(super) fn head(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let end = word_end(text, byte_of(text, most.saturating_sub(1)));
    format!("{}…", text[..end].trim_end())
}

fn byte_of(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at)
}

/// The end of the last word before `at`, if that is near.
fn word_end(text: &str, at: usize) -> usize {
    let near = text[..at].rfind(' ').filter(|space| at - space <= 16 && *space > at / 2);
    near.unwrap_or(at)
}

/// The start of the next word after `at`, if that is near.
fn word_start(text: &str, at: usize) -> usize {
    let near = text[at..].find(' ').filter(|space| *space <= 16 && at + space + 1 < text.len());
    near.map_or(at, |space| at + space + 1)
}

/// The longest head of `text` of at most `most` tokens.
pub(super) fn cut_to_tokens(text: &str, most: i64) -> String {
    let Ok(most_bytes) = usize::try_from(most) else { return String::new() };
    let mut end = floor(text, most_bytes.saturating_mul(LONGEST_TOKEN_BYTES));
    loop {
        let tokens = i64::from(count_text(&text[..end]));
        if tokens <= most || end == 0 {
            return text[..end].trim_end().to_owned();
        }
        // By the share that fits, and always by one character at least.
        let fits = usize::try_from(most.max(0)).unwrap_or(0).saturating_mul(end)
            / usize::try_from(tokens).unwrap_or(usize::MAX).max(1);
        end = floor(text, fits.min(end - 1));
    }
}

/// The largest character boundary that is not after `at`.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The smallest character boundary that is not before `at`.
pub(super) fn ceil(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// The first and the last bytes of `text`, each `most` at most; the whole as
/// head where it is not longer than both.
pub(super) fn ends(text: &str, most: usize) -> (&str, &str) {
    if text.len() <= most * 2 {
        return (text, "");
    }
    (&text[..floor(text, most)], &text[ceil(text, text.len() - most)..])
}

/// Where `needle`, in lower case, occurs in `text` in any case of ASCII.
pub(super) fn find_ignoring_case(text: &str, needle: &str) -> Option<usize> {
    let (text, needle) = (text.as_bytes(), needle.as_bytes());
    let first = *needle.first()?;
    (0..(text.len() + 1).saturating_sub(needle.len())).find(|at| {
        text[*at].to_ascii_lowercase() == first
            && text[*at..*at + needle.len()].eq_ignore_ascii_case(needle)
    })
}

/// Says whether `text` has `needle`, in lower case, in any case of ASCII.
pub(super) fn has(text: &str, needle: &str) -> bool {
    find_ignoring_case(text, needle).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_escapes_are_flattened() {
        assert_eq!(flat(" a\n\n b\tc ", 100), "a b c");
        assert_eq!(flat("\u{1b}[1;31mred\u{1b}[0m\u{7}!", 100), "red!");
        assert_eq!(flat("abcdef", 3), "abc");
    }

    #[test]
    fn what_is_too_long_loses_its_middle() {
        assert_eq!(shorten("one two", 7), "one two");
        let text = "please look at the parser first and then repair the table of tides";
        let short = shorten(text, 40);
        assert!(short.chars().count() <= 40, "{short}");
        assert!(short.starts_with("please look") && short.ends_with("tides"), "{short}");
        assert!(short.contains(" … "), "{short}");
        assert_eq!(shorten("─────────", 5).chars().count(), 4);
    }

    #[test]
    fn a_cut_to_tokens_never_has_more() {
        for text in
            ["plain words and more words", "統計は正しい。統計は正しい。", "", "aaaaaaaaaaaaaa"]
        {
            for most in -1..12 {
                let cut = cut_to_tokens(text, most);
                assert!(i64::from(count_text(&cut)) <= most.max(0), "{text} {most} {cut}");
                assert!(text.starts_with(&cut));
            }
        }
    }

    #[test]
    fn a_search_ignores_case() {
        assert_eq!(find_ignoring_case("An Exit Code 1", "exit code"), Some(3));
        assert_eq!(find_ignoring_case("ab", "abc"), None);
        assert_eq!(find_ignoring_case("", "a"), None);
    }
}
