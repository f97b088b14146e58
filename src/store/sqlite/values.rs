//! Small values as columns hold them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::{MessageTokens, RowSet, Seq, SeqRange};

/// JSON of what a statement takes as a list.
pub(super) fn json(value: &impl Serialize) -> String {
    // Numbers, strings and lists of them always serialize.
    serde_json::to_string(value).unwrap_or_default()
}

/// A set of rows, as `[[first, last], …]`.
pub(super) fn ranges(rows: &RowSet) -> Vec<(i64, i64)> {
    rows.ranges().iter().map(|it| (it.first.0, it.last.0)).collect()
}

/// A set of rows out of `[[first, last], …]`.
pub(super) fn ranges_from(text: &str) -> Option<RowSet> {
    let ranges: Vec<(i64, i64)> = serde_json::from_str(text).ok()?;
    let range = |(first, last)| SeqRange { first: Seq(first), last: Seq(last) };
    Some(RowSet::of_ranges(ranges.into_iter().map(range).collect()))
}

/// Labels out of a JSON object.
pub(super) fn labels_from(text: &str) -> Option<BTreeMap<String, String>> {
    serde_json::from_str(text).ok()
}

/// The tokens of blocks, a LEB128 number each: two bytes where four would
/// mostly be zeros.
pub(super) fn block_tokens(tokens: &MessageTokens) -> Vec<u8> {
    let mut out = Vec::with_capacity(tokens.blocks.len() * 2);
    for mut rest in tokens.blocks.iter().copied() {
        while rest >= 0x80 {
            out.push(rest.to_le_bytes()[0] | 0x80);
            rest >>= 7;
        }
        out.push(rest.to_le_bytes()[0]);
    }
    out
}

/// The tokens of blocks out of LEB128 numbers.
pub(super) fn block_tokens_from(bytes: &[u8]) -> Option<Vec<u32>> {
    let mut out = Vec::new();
    let (mut number, mut shift) = (0_u32, 0);
    for byte in bytes {
        number |= u32::from(byte & 0x7f).checked_shl(shift)?;
        shift += 7;
        if byte & 0x80 == 0 {
            out.push(number);
            (number, shift) = (0, 0);
        }
    }
    (shift == 0).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_tokens_come_back() {
        let blocks = vec![0, 1, 127, 128, 300, 16_384, u32::MAX];
        let bytes = block_tokens(&MessageTokens { total: 0, blocks: blocks.clone() });
        assert_eq!(block_tokens_from(&bytes), Some(blocks));
        assert_eq!(block_tokens_from(&[]), Some(vec![]));
        assert_eq!(block_tokens_from(&[0x80]), None, "cut off");
        assert_eq!(block_tokens_from(&[0xff; 9]), None, "too long");
    }

    #[test]
    fn ranges_come_back() {
        let rows = RowSet::of([1, 2, 3, 7].map(Seq).to_vec());
        assert_eq!(json(&ranges(&rows)), "[[1,3],[7,7]]");
        assert_eq!(ranges_from("[[1,3],[7,7]]"), Some(rows));
        assert_eq!(ranges_from("[[1]]"), None);
    }
}
