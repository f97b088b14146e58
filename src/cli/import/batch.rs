//! Messages on their way to the server, some at a time.

use prost::Message as _;

use crate::{codec, model::Message, proto::v1};

/// One append is one transaction: large enough to be fast, small enough that
/// other writers need not wait.
const MAX_MESSAGES: usize = 64;
const MAX_BYTES: usize = 4 << 20;

/// Messages that go in one append.
#[derive(Default)]
pub(super) struct Batch {
    messages: Vec<v1::Message>,
    lines: Vec<u64>,
    bytes: usize,
    /// How many messages of the file went before these.
    before: u64,
}

impl Batch {
    pub(super) fn push(&mut self, line: u64, message: &Message) {
        let message = codec::to_pb(message);
        self.bytes += message.encoded_len();
        self.messages.push(message);
        self.lines.push(line);
    }

    pub(super) fn is_full(&self) -> bool {
        self.messages.len() >= MAX_MESSAGES || self.bytes >= MAX_BYTES
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    /// The line of its first message.
    pub(super) fn first_line(&self) -> u64 {
        self.lines.first().copied().unwrap_or_default()
    }

    /// Takes what is there and leaves an empty one that follows it.
    pub(super) fn take(&mut self) -> Self {
        let before = self.before + u64::try_from(self.len()).unwrap_or(u64::MAX);
        std::mem::replace(self, Self { before, ..Self::default() })
    }

    /// The same messages, each on its own.
    pub(super) fn singles(self) -> impl Iterator<Item = Self> {
        let numbered = (self.before..).zip(self.messages).zip(self.lines);
        numbered.map(|((before, message), line)| Self {
            messages: vec![message],
            lines: vec![line],
            bytes: 0,
            before,
        })
    }

    pub(super) fn request(&self, session_id: &str) -> v1::AppendTurnRequest {
        v1::AppendTurnRequest {
            session_id: session_id.to_owned(),
            messages: self.messages.clone(),
            request_id: self.request_id(),
            ..v1::AppendTurnRequest::default()
        }
    }

    /// The same messages at the same place of a file have the same id.
    fn request_id(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for message in &self.messages {
            hasher.update(&message.encode_length_delimited_to_vec());
        }
        format!("import:{}:{}", self.before, hasher.finalize().to_hex())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::Block;

    fn message(text: &str) -> Message {
        Message { blocks: vec![Arc::new(Block::text(text))], ..Message::default() }
    }

    #[test]
    fn the_same_words_at_another_place_have_another_request_id() {
        let mut batch = Batch::default();
        batch.push(1, &message("yes"));
        let first = batch.take();
        batch.push(7, &message("yes"));
        let second = batch.take();
        assert_ne!(first.request_id(), second.request_id());
        assert!(first.request_id().len() <= 128);
        assert_eq!((second.before, second.first_line()), (1, 7));
    }

    #[test]
    fn singles_keep_lines_and_places() {
        let mut batch = Batch::default();
        batch.push(1, &message("a"));
        batch.push(3, &message("b"));
        let singles: Vec<_> = batch.take().singles().collect();
        let places: Vec<_> = singles.iter().map(|it| (it.before, it.first_line())).collect();
        assert_eq!(places, [(0, 1), (1, 3)]);
    }

    #[test]
    fn a_batch_is_full_by_number_or_by_size() {
        let mut batch = Batch::default();
        batch.push(1, &message(&"x".repeat(MAX_BYTES)));
        assert!(batch.is_full());
        let mut batch = Batch::default();
        (1..=64).for_each(|line| batch.push(line, &message("x")));
        assert!(batch.is_full());
    }
}
