//! Tokens of a text.

use bpe_openai::o200k_base;

/// Longest text that is counted whole, in bytes.
pub(super) const EXACT_BYTES: usize = 1 << 20;
/// Samples that stand for a longer one.
const SAMPLES: usize = 64;
/// Together they are what is counted whole at most, so that the estimate goes
/// on where the count ends.
const SAMPLE_BYTES: usize = EXACT_BYTES / SAMPLES;

/// Loads the vocabulary. Without it the first count does, which takes a while.
pub fn warm() {
    let _ = count_text("");
}

/// Tokens of a text.
///
/// Exact up to a mebibyte; above, 64 evenly spread samples are counted and
/// stand for the whole.
#[must_use]
pub fn count_text(text: &str) -> u32 {
    if text.len() <= EXACT_BYTES { narrow(exact(text)) } else { estimate(text.as_bytes()) }
}

/// Tokens of bytes that need not be text: what is not counts as U+FFFD.
#[must_use]
pub fn count_bytes(bytes: &[u8]) -> u32 {
    if bytes.len() <= EXACT_BYTES { narrow(lossy(bytes)) } else { estimate(bytes) }
}

fn exact(text: &str) -> u64 {
    o200k_base().count(text) as u64
}

fn lossy(bytes: &[u8]) -> u64 {
    exact(&String::from_utf8_lossy(bytes))
}

fn estimate(bytes: &[u8]) -> u32 {
    let (mut counted, mut tokens) = (0_u64, 0_u64);
    for sample in samples(bytes) {
        counted += sample.len() as u64;
        tokens += lossy(sample);
    }
    // In 128 bits, where no length there is overflows.
    let whole = u128::from(tokens) * bytes.len() as u128;
    narrow(u64::try_from(whole.div_ceil(u128::from(counted.max(1)))).unwrap_or(u64::MAX))
}

/// Pieces at even distances, the first at the start and the last at the end,
/// cut where no character is split.
fn samples(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let room = bytes.len().saturating_sub(SAMPLE_BYTES);
    (0..SAMPLES).filter_map(move |n| {
        let start = room / (SAMPLES - 1) * n + room % (SAMPLES - 1) * n / (SAMPLES - 1);
        bytes.get(boundary(bytes, start)..boundary(bytes, start + SAMPLE_BYTES))
    })
}

/// The start of the character that `at` lies in; in what is no text, `at` or
/// at most three bytes before it.
fn boundary(bytes: &[u8], at: usize) -> usize {
    let is_start = |at: &usize| bytes.get(*at).is_none_or(|byte| byte & 0b1100_0000 != 0b1000_0000);
    (at.saturating_sub(3)..=at).rev().find(is_start).unwrap_or(at)
}

fn narrow(tokens: u64) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n3_whatever_the_length_no_more_is_counted_than_a_mebibyte() {
        for len in [EXACT_BYTES + 1, 3 << 20, 32 << 20] {
            let bytes = vec![b'A'; len];
            let counted: usize = samples(&bytes).map(<[u8]>::len).sum();
            assert!(counted <= EXACT_BYTES, "{len}: {counted}");
            assert_eq!(samples(&bytes).count(), SAMPLES);
        }
    }

    #[test]
    fn samples_reach_from_end_to_end_and_split_no_character() {
        let text = "─é😀a".repeat(200_000);
        let pieces: Vec<_> = samples(text.as_bytes()).collect();
        assert!(pieces.iter().all(|piece| std::str::from_utf8(piece).is_ok()));
        assert!(text.as_bytes().starts_with(pieces[0]));
        assert!(text.as_bytes().ends_with(pieces[SAMPLES - 1]));
    }

    #[test]
    fn an_estimate_goes_on_where_the_count_ends() {
        for word in ["fn main() { body(); }\n", "統計は正しい。", "QUJDREVGR0hJSktM", " "] {
            let text = word.repeat((EXACT_BYTES + (1 << 16)) / word.len());
            let (whole, estimated) = (exact(&text), u64::from(count_text(&text)));
            let apart = whole.abs_diff(estimated);
            assert!(apart * 100 <= whole + 20_000, "{word:?}: {whole} {estimated}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_counted() {
        assert_eq!(count_bytes(b"plain"), count_text("plain"));
        assert!(count_bytes(b"\xff\xfe\x00\x0a\x80") > 0);
        assert!(count_bytes(&vec![0x80; EXACT_BYTES * 3]) > 0);
    }
}
