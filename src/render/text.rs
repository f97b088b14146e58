//! Text that may not be valid Unicode.

use std::borrow::Cow;

/// Text, and whether something in it had to be replaced.
pub(super) struct Mended<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) is_mended: bool,
}

/// Bytes as text: each lone surrogate (in WTF-8) and each run of bytes that is
/// not UTF-8 becomes one U+FFFD.
pub(super) fn lossy(bytes: &[u8]) -> Mended<'_> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Mended { text: Cow::Borrowed(text), is_mended: false };
    }
    let mut out = String::with_capacity(bytes.len());
    let mut surrogate_rest = 0;
    for chunk in bytes.utf8_chunks() {
        if !chunk.valid().is_empty() {
            surrogate_rest = 0;
            out.push_str(chunk.valid());
        }
        match chunk.invalid() {
            [] => {}
            // The two bytes after the first of a surrogate are reported one by
            // one; they belong to the replacement that is there already.
            [0x80..=0xBF] if surrogate_rest > 0 => surrogate_rest -= 1,
            invalid => {
                surrogate_rest = if invalid == [0xED] { 2 } else { 0 };
                out.push(char::REPLACEMENT_CHARACTER);
            }
        }
    }
    Mended { text: Cow::Owned(out), is_mended: true }
}

/// Says whether text has nothing to read in it. Counts the separators that some
/// providers' languages strip as well.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l1_a_surrogate_is_replaced_once() {
        for (bytes, expected) in [
            (b"a\xed\xa0\x80b".as_slice(), "a\u{fffd}b"),
            (b"\xed\xb0\x80\xed\xa0\x80", "\u{fffd}\u{fffd}"),
            (b"\xff\xfe\x00\n\x80", "\u{fffd}\u{fffd}\0\n\u{fffd}"),
            ("z─😀".as_bytes(), "z─😀"),
        ] {
            let mended = lossy(bytes);
            assert_eq!(mended.text, expected);
            assert_eq!(mended.is_mended, expected.contains('\u{fffd}'));
        }
    }

    #[test]
    fn blank_is_what_strips_to_nothing() {
        assert!(is_blank(" \n\u{a0}\u{85}\u{1c}\u{3000}"));
        assert!(!is_blank(" \u{200b}"));
    }
}
