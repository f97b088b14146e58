//! Ranges of rows, and names of content.

use super::{Error, error::each};
use crate::{
    model::{ContentRef, RowSet, Seq, SeqRange},
    proto::v1 as pb,
};

/// To the contract's form.
#[must_use]
pub fn to_pb(range: SeqRange) -> pb::SeqRange {
    pb::SeqRange { first_seq: range.first.0, last_seq: range.last.0 }
}

/// From the contract's form.
///
/// # Errors
///
/// Where it starts before the first message or ends before it starts.
pub fn from_pb(range: pb::SeqRange) -> Result<SeqRange, Error> {
    if range.first_seq < 1 {
        return Err(Error::new("first_seq", "at least 1"));
    }
    if range.last_seq < range.first_seq {
        return Err(Error::new("last_seq", "at least first_seq"));
    }
    Ok(SeqRange { first: Seq(range.first_seq), last: Seq(range.last_seq) })
}

/// A set of rows, to the contract's form.
#[must_use]
pub fn set_to_pb(rows: &RowSet) -> Vec<pb::SeqRange> {
    rows.ranges().iter().copied().map(to_pb).collect()
}

/// A set of rows, from the contract's form.
///
/// # Errors
///
/// Those of [`from_pb`], within `name`.
pub fn set_from_pb(name: &str, ranges: Vec<pb::SeqRange>) -> Result<RowSet, Error> {
    each(name, ranges, from_pb).map(RowSet::of_ranges)
}

/// The name of a piece of content, to the contract's form.
#[must_use]
pub fn content_to_pb(content: ContentRef) -> pb::ContentRef {
    let index = |it: u32| i32::try_from(it).unwrap_or(i32::MAX);
    pb::ContentRef {
        seq: content.seq.0,
        block: index(content.block),
        output: content.output.map(index),
    }
}

/// The name of a piece of content, from the contract's form.
///
/// # Errors
///
/// Where a number is below what it counts from.
pub fn content_from_pb(content: pb::ContentRef) -> Result<ContentRef, Error> {
    if content.seq < 1 {
        return Err(Error::new("seq", "at least 1"));
    }
    let index = |name, it| u32::try_from(it).map_err(|_| Error::new(name, "at least 0"));
    Ok(ContentRef {
        seq: Seq(content.seq),
        block: index("block", content.block)?,
        output: content.output.map(|it| index("output", it)).transpose()?,
    })
}
