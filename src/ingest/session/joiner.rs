//! One assistant message from several lines, and its results behind it.
//!
//! Programs write a line for each block as it streams in, and start a tool
//! while the message is still going on, so `call A, result A, call B, result B`
//! may be one message and one set of results.

use super::entry::{Out, Place};
use crate::model::{BlockKind, Message, Role, Usage};

/// Above these, what is held goes out, joined or not: memory is bounded.
const MOST_BLOCKS: usize = 10_000;
const MOST_BYTES: usize = 64 << 20;

/// Holds the newest assistant message and what came after it.
#[derive(Debug, Default)]
pub(super) struct Joiner {
    open: Option<Open>,
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

    /// Takes any other message. It stays behind the open one, and results that
    /// follow each other are one message.
    pub(super) fn other(&mut self, at: Place, message: Message, out: &mut Out) {
        self.weigh(at, &message, out);
        match self.held.last_mut() {
            Some((_, last)) if only_results(last) && only_results(&message) => {
                last.blocks.extend(message.blocks);
            }
            _ => self.held.push((at.line, message)),
        }
        // Results alone may get company; other words wait only for an open
        // message.
        if self.open.is_none() && self.held.last().is_some_and(|(_, last)| !only_results(last)) {
            self.flush(out);
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
        if let Some(open) = self.open.take() {
            out.message(open.line, open.message);
        }
        for (line, message) in self.held.drain(..) {
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

fn only_results(message: &Message) -> bool {
    message.role == Role::User
        && !message.blocks.is_empty()
        && message.blocks.iter().all(|it| match &it.kind {
            BlockKind::ToolResult(_) => true,
            BlockKind::Opaque(opaque) => opaque.is_result,
            _ => false,
        })
}
