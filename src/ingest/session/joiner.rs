//! One assistant message from several lines, and its results behind it.
//!
//! Programs write a line for each block as it streams in, and start a tool
//! while the message is still going on, so `call A, result A, call B, result B`
//! may be one message and one set of results. Words that a user typed while a
//! tool ran stand before its result in the file; the model saw them after it.

use super::entry::{Out, Place};
use crate::model::{BlockKind, Message, Role, Usage};

/// Above these, what is held goes out, joined or not: memory is bounded.
const MOST_BLOCKS: usize = 10_000;
const MOST_BYTES: usize = 64 << 20;

/// Holds the newest assistant message and what came after it.
#[derive(Debug, Default)]
pub(super) struct Joiner {
    open: Option<Open>,
    /// Results that answer the open message.
    results: Option<(u64, Message)>,
    /// Everything else that came after it.
    held: Vec<(u64, Message)>,
    bytes: usize,
    blocks: usize,
}

#[derive(Debug)]
struct Open {
    key: String,
    line: u64,
    message: Message,
}

impl Joiner {
    /// Takes a part of the assistant message `key`, or the first of another.
    /// Where `key` is empty it is whole.
    pub(super) fn assistant(&mut self, key: &str, at: Place, message: Message, out: &mut Out) {
        self.weigh(at, &message, out);
        match &mut self.open {
            Some(open) if open.key == key && !key.is_empty() => join(&mut open.message, message),
            _ => {
                self.flush(out);
                self.weigh(at, &message, out);
                self.open = Some(Open { key: key.to_owned(), line: at.line, message });
            }
        }
    }

    /// Takes any other message. Results that answer the open message stay
    /// directly behind it, as one message.
    pub(super) fn other(&mut self, at: Place, message: Message, out: &mut Out) {
        self.weigh(at, &message, out);
        let Some(open) = &self.open else { return out.message(at.line, message) };
        if !answers(&message, &open.message) {
            return self.held.push((at.line, message));
        }
        match &mut self.results {
            Some((_, results)) => results.blocks.extend(message.blocks),
            None => self.results = Some((at.line, message)),
        }
    }

    /// Sets what was reported for the open message; false where there is none.
    pub(super) fn set_usage(&mut self, usage: Usage) -> bool {
        let Some(open) = &mut self.open else { return false };
        open.message.usage = Some(usage);
        true
    }

    /// Lets everything go, in order.
    pub(super) fn flush(&mut self, out: &mut Out) {
        let open = self.open.take().map(|open| (open.line, open.message));
        for (line, message) in
            open.into_iter().chain(self.results.take()).chain(self.held.drain(..))
        {
            out.message(line, message);
        }
        (self.bytes, self.blocks) = (0, 0);
    }

    fn weigh(&mut self, at: Place, message: &Message, out: &mut Out) {
        self.bytes += at.size;
        self.blocks += message.blocks.len() + 1;
        if self.bytes > MOST_BYTES || self.blocks > MOST_BLOCKS {
            self.flush(out);
        }
    }
}

/// Usage is repeated and grows: the last report is the one that holds.
fn join(message: &mut Message, more: Message) {
    message.blocks.extend(more.blocks);
    message.usage = more.usage.or(message.usage);
    if message.extra_json.is_empty() {
        message.extra_json = more.extra_json;
    }
}

/// Says whether `message` is nothing but results of calls that `open` made.
fn answers(message: &Message, open: &Message) -> bool {
    message.role == Role::User
        && !message.blocks.is_empty()
        && message.blocks.iter().all(|block| match &block.kind {
            BlockKind::ToolResult(result) => makes_call(open, &result.tool_use_id),
            BlockKind::Opaque(it) => it.is_result && makes_call(open, &it.call_id),
            _ => false,
        })
}

fn makes_call(message: &Message, id: &str) -> bool {
    message.blocks.iter().any(|block| match &block.kind {
        BlockKind::ToolUse(call) => call.id == id,
        BlockKind::Opaque(it) => !it.is_result && it.call_id == id,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        ingest::session::{Imported, entry::user_text},
        model::{Block, ToolResult, ToolUse},
    };

    fn at(line: u64) -> Place {
        Place { line, size: 1 }
    }

    fn message(role: Role, kind: BlockKind) -> Message {
        Message { role, blocks: vec![Arc::new(Block::new(kind))], ..Message::default() }
    }

    fn call(id: &str) -> Message {
        let call = ToolUse { id: id.into(), ..ToolUse::default() };
        message(Role::Assistant, BlockKind::ToolUse(call))
    }

    fn result(id: &str) -> Message {
        let result = ToolResult { tool_use_id: id.into(), ..ToolResult::default() };
        message(Role::User, BlockKind::ToolResult(result))
    }

    fn lines(out: Out) -> Vec<(u64, usize)> {
        let each = out.0.into_iter().map(|it| match it {
            Imported::Message { line, message } => (line, message.blocks.len()),
            other => panic!("expected a message, found {other:?}"),
        });
        each.collect()
    }

    #[test]
    fn parts_and_results_that_alternate_are_two_messages() {
        let (mut joiner, mut out) = (Joiner::default(), Out::default());
        joiner.assistant("m", at(1), call("a"), &mut out);
        joiner.other(at(2), result("a"), &mut out);
        joiner.other(at(3), user_text("", "typed meanwhile"), &mut out);
        joiner.assistant("m", at(4), call("b"), &mut out);
        joiner.other(at(5), result("b"), &mut out);
        joiner.other(at(6), result("of another"), &mut out);
        joiner.assistant("n", at(7), call("c"), &mut out);
        joiner.flush(&mut out);
        assert_eq!(lines(out), [(1, 2), (2, 2), (3, 1), (6, 1), (7, 1)]);
    }

    #[test]
    fn without_a_key_each_message_is_whole() {
        let (mut joiner, mut out) = (Joiner::default(), Out::default());
        joiner.assistant("", at(1), call("a"), &mut out);
        joiner.assistant("", at(2), call("a"), &mut out);
        joiner.flush(&mut out);
        assert_eq!(lines(out), [(1, 1), (2, 1)]);
    }

    #[test]
    fn what_is_held_is_bounded() {
        let (mut joiner, mut out) = (Joiner::default(), Out::default());
        joiner.assistant("m", Place { line: 1, size: MOST_BYTES }, call("a"), &mut out);
        joiner.other(at(2), result("a"), &mut out);
        assert_eq!(lines(out), [(1, 1), (2, 1)]);
    }
}
