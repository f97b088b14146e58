//! Stored messages, and sets of them.

use std::sync::Arc;

use super::{Message, Revision, Seq, Timestamp};

/// A message as the store holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its position.
    pub seq: Seq,
    /// The session's turn when it came.
    pub turn: i64,
    /// The round it belongs to, named by that round's first message.
    pub round: Seq,
    /// The revision that appended it.
    pub revision: Revision,
    /// When the store took it.
    pub record_time: Timestamp,
    /// The message.
    pub message: Arc<Message>,
    /// What it counts as.
    pub tokens: MessageTokens,
    /// BLAKE3 of the stored content.
    pub digest: [u8; 32],
}

/// Estimated tokens of one message, uncalibrated.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessageTokens {
    /// The whole: its blocks and what a message itself costs.
    pub total: i64,
    /// One per block, in order.
    pub blocks: Vec<u32>,
}

/// Names a piece of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentRef {
    /// The message.
    pub seq: Seq,
    /// Index of the block in it.
    pub block: u32,
    /// Index of the output in a tool result; `None`: the whole block.
    pub output: Option<u32>,
}

/// Rows, both ends inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeqRange {
    /// The first.
    pub first: Seq,
    /// The last.
    pub last: Seq,
}

/// A set of rows, kept as sorted, disjoint, non-adjacent ranges.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowSet(Vec<SeqRange>);

impl RowSet {
    /// The set of these rows, in any order, repeats allowed.
    #[must_use]
    pub fn of(mut seqs: Vec<Seq>) -> Self {
        seqs.sort_unstable();
        seqs.dedup();
        let mut ranges: Vec<SeqRange> = Vec::new();
        for seq in seqs {
            match ranges.last_mut() {
                Some(range) if range.last.next() == seq => range.last = seq,
                _ => ranges.push(SeqRange { first: seq, last: seq }),
            }
        }
        Self(ranges)
    }

    /// The set of these ranges, in any order, overlaps allowed; ranges that end
    /// before they start are left out.
    #[must_use]
    pub fn of_ranges(mut ranges: Vec<SeqRange>) -> Self {
        ranges.retain(|range| range.first <= range.last);
        ranges.sort_unstable();
        let mut out: Vec<SeqRange> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match out.last_mut() {
                Some(last) if range.first.0 <= last.last.0.saturating_add(1) => {
                    last.last = last.last.max(range.last);
                }
                _ => out.push(range),
            }
        }
        Self(out)
    }

    /// The ranges, sorted.
    #[must_use]
    pub fn ranges(&self) -> &[SeqRange] {
        &self.0
    }

    /// True where it holds no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many rows it holds.
    #[must_use]
    pub fn len(&self) -> i64 {
        self.0.iter().map(|range| range.last.0 - range.first.0 + 1).sum()
    }

    /// Says whether it holds `seq`.
    #[must_use]
    pub fn contains(&self, seq: Seq) -> bool {
        let after = self.0.partition_point(|range| range.first <= seq);
        after > 0 && self.0[after - 1].last >= seq
    }

    /// Says whether every row of `other` is in it.
    #[must_use]
    pub fn contains_all(&self, other: &Self) -> bool {
        other.0.iter().all(|range| {
            let after = self.0.partition_point(|mine| mine.first <= range.first);
            after > 0 && self.0[after - 1].last >= range.last
        })
    }

    /// Says whether the two share a row.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            if x.last < y.first {
                a.next();
            } else if y.last < x.first {
                b.next();
            } else {
                return true;
            }
        }
        false
    }

    /// Both sets' rows.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self::of_ranges(self.0.iter().chain(&other.0).copied().collect())
    }

    /// The rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = Seq> + '_ {
        self.0.iter().flat_map(|range| (range.first.0..=range.last.0).map(Seq))
    }
}
