//! Base rows, unreduced, page by page: nothing is held between two pages.

mod elide;

use std::collections::VecDeque;

use super::{Ctx, Error, Result, fields::Fields};
use crate::{
    model::{ContentRef, Row, Seq, SeqRange},
    store::{RowsQuery, SessionRef},
};

/// Rows of one page at most …
const PAGE_ROWS: usize = 256;
/// … and bytes of them.
const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// Which rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadHistory {
    /// The session's id.
    pub session_id: String,
    /// The first row; `None`: from the start.
    pub first_seq: Option<i64>,
    /// The last row; `None`: to the newest.
    pub last_seq: Option<i64>,
    /// The rows under this overlay instead; empty: not.
    pub overlay_id: String,
    /// From the end.
    pub newest_first: bool,
    /// At most so many; zero: all.
    pub limit: i64,
}

/// A row, and what was left out of it for its size.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryRow {
    /// The row, with large content left empty.
    pub row: Row,
    /// The content that was left out.
    pub elided: Vec<ContentRef>,
}

/// A history that is being read.
#[derive(Debug)]
pub struct HistoryReader {
    session: SessionRef,
    ranges: VecDeque<SeqRange>,
    newest_first: bool,
    left: usize,
}

/// Starts to read a history. It ends with the row that is newest now.
///
/// # Errors
///
/// [`Error::InvalidField`], [`Error::SessionNotFound`],
/// [`Error::RangeNotFound`], [`Error::OverlayNotFound`].
pub async fn read_history(ctx: &Ctx, input: ReadHistory) -> Result<HistoryReader> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", &input.session_id);
    check(&mut fields, &input);
    let overlay =
        (!input.overlay_id.is_empty()).then(|| fields.overlay("overlay_id", &input.overlay_id));
    fields.finish()?;
    let mut ranges = match overlay {
        Some(id) => {
            let overlay = ctx.store.get_overlay(&session, &id).await?;
            if overlay.covered.is_empty() {
                // A clear covers no rows: its contents name them.
                crate::model::RowSet::of(overlay.cleared.iter().map(|it| it.content.seq).collect())
                    .ranges()
                    .to_vec()
            } else {
                overlay.covered.ranges().to_vec()
            }
        }
        None => range(ctx, &session, &input).await?.into_iter().collect(),
    };
    if input.newest_first {
        ranges.reverse();
    }
    let left = match usize::try_from(input.limit) {
        Ok(0) | Err(_) => usize::MAX,
        Ok(limit) => limit,
    };
    Ok(HistoryReader { session, ranges: ranges.into(), newest_first: input.newest_first, left })
}

impl HistoryReader {
    /// The next rows; none at the end.
    ///
    /// # Errors
    ///
    /// [`Error::SessionNotFound`] where it was deleted meanwhile.
    pub async fn next_page(&mut self, ctx: &Ctx) -> Result<Vec<HistoryRow>> {
        while let Some(range) = self.ranges.front().copied() {
            if self.left == 0 {
                break;
            }
            let query = RowsQuery {
                first: range.first,
                last: range.last,
                newest_first: self.newest_first,
                limit: PAGE_ROWS.min(self.left),
                limit_bytes: PAGE_BYTES,
            };
            let rows = ctx.store.read_rows(&self.session, query).await?;
            self.advance(range, rows.last().map(|row| row.seq));
            if !rows.is_empty() {
                self.left = self.left.saturating_sub(rows.len());
                return Ok(rows.into_iter().map(elide::elide).collect());
            }
        }
        Ok(Vec::new())
    }

    /// Goes on after `last`, or with the next range.
    fn advance(&mut self, range: SeqRange, last: Option<Seq>) {
        let rest = last.map(|last| {
            if self.newest_first {
                SeqRange { first: range.first, last: Seq(last.0 - 1) }
            } else {
                SeqRange { first: last.next(), last: range.last }
            }
        });
        match (rest, self.ranges.front_mut()) {
            (Some(rest), Some(front)) if rest.first <= rest.last => *front = rest,
            _ => {
                self.ranges.pop_front();
            }
        }
    }
}

fn check(fields: &mut Fields, input: &ReadHistory) {
    fields.not_negative("limit", input.limit);
    for (field, seq) in [("first_seq", input.first_seq), ("last_seq", input.last_seq)] {
        let Some(seq) = seq else { continue };
        fields.seq(field, seq);
        if !input.overlay_id.is_empty() {
            fields.wrong(field, "expected no seq beside overlay_id");
        }
    }
    if let (Some(first), Some(last)) = (input.first_seq, input.last_seq)
        && first > last
    {
        fields.wrong("last_seq", format!("expected {first} or more, found {last}"));
    }
}

async fn range(ctx: &Ctx, session: &SessionRef, input: &ReadHistory) -> Result<Option<SeqRange>> {
    let newest = Seq(ctx.store.get_session(session).await?.next_seq.0 - 1);
    let first = input.first_seq.map_or(Seq(1), Seq);
    let last = input.last_seq.map_or(newest, Seq);
    let named = input.first_seq.is_some_and(|it| it > newest.0) || last > newest;
    if named {
        return Err(Error::RangeNotFound { first, last: last.max(first), newest });
    }
    Ok((first <= last).then_some(SeqRange { first, last }))
}
