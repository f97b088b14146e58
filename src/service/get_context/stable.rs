//! What of a context a provider's prompt cache can reuse.

use bytes::Bytes;

use crate::model::{
    RowSet,
    shown::{Answer, Entry},
};

/// How many leading messages of `now` are byte for byte those of `before`.
pub(super) fn leading_equal(before: &[Bytes], now: &[Bytes]) -> usize {
    before.iter().zip(now).take_while(|(a, b)| is_same(a, b)).count()
}

/// What was rendered once mostly lies where it lay: then there is nothing to
/// compare.
fn is_same(a: &Bytes, b: &Bytes) -> bool {
    (a.as_ptr() == b.as_ptr() && a.len() == b.len()) || a == b
}

/// Tokens of the entries before the first whose rows are not all among `rows`.
pub(super) fn tokens_within(entries: &[Entry], rows: &RowSet) -> i64 {
    entries
        .iter()
        .take_while(|entry| match entry {
            Entry::Round(round) => {
                let answers = round.calls.iter().filter_map(|call| match call.answer {
                    Answer::Result { seq, .. } => Some(seq),
                    Answer::Missing => None,
                });
                let messages = round.messages.iter().filter(|message| !message.blocks.is_empty());
                messages.map(|message| message.seq).chain(answers).all(|seq| rows.contains(seq))
            }
            Entry::Notice(notice) => rows.contains_all(&notice.covered),
        })
        .map(|entry| match entry {
            Entry::Round(round) => round.tokens,
            Entry::Notice(notice) => notice.tokens,
        })
        .sum()
}
