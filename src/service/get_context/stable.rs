//! What of a context a provider's prompt cache can reuse.

use bytes::Bytes;

use crate::{
    model::{
        RowSet, WireFormat,
        shown::{Answer, Entry, ShownRound},
    },
    render::Origin,
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

/// What the leading messages that stayed the same hold.
pub(super) struct Stable<'a> {
    origins: &'a [Origin],
    rows: RowSet,
    /// Neighbouring summaries are one message, which names the first of them.
    merges: bool,
}

impl<'a> Stable<'a> {
    /// Of the leading messages' origins.
    pub(super) fn of(origins: &'a [Origin], format: WireFormat) -> Self {
        let ranges = origins.iter().flat_map(|it| it.rows.ranges());
        Self {
            origins,
            rows: RowSet::of_ranges(ranges.copied().collect()),
            merges: format == WireFormat::AnthropicMessages,
        }
    }

    /// Tokens of the entries before the first that is not all in them.
    pub(super) fn tokens(&self, entries: &[Entry]) -> i64 {
        let mut follows_a_notice = false;
        let mut sum = 0;
        for entry in entries {
            let (tokens, is_in) = match entry {
                Entry::Round(round) => (round.tokens, self.holds(round)),
                Entry::Notice(notice) => {
                    let is_named =
                        self.origins.iter().any(|it| it.overlay.as_ref() == Some(&notice.overlay));
                    (notice.tokens, is_named || (self.merges && follows_a_notice))
                }
            };
            if !is_in {
                break;
            }
            sum += tokens;
            follows_a_notice = matches!(entry, Entry::Notice(_));
        }
        sum
    }

    fn holds(&self, round: &ShownRound) -> bool {
        let answers = round.calls.iter().filter_map(|call| match call.answer {
            Answer::Result { seq, .. } => Some(seq),
            Answer::Missing => None,
        });
        let messages = round.messages.iter().filter(|message| !message.blocks.is_empty());
        messages.map(|message| message.seq).chain(answers).all(|seq| self.rows.contains(seq))
    }
}
