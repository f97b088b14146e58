//! What a reader yields, and what a format has to provide.

use std::{borrow::Cow, collections::VecDeque, sync::Arc};

use bytes::Bytes;

use crate::{
    ingest::{Limits, fault::Fault, json::Value},
    model::{Block, BlockKind, ContextItem, Message, Placement, Role, WireFormat},
};

/// What a line or an entry of a document came to. `line` counts from 1; of a
/// message that is made from several it is the first.
#[derive(Debug, Clone, PartialEq)]
pub enum Imported {
    /// A message.
    Message {
        /// Where it stood.
        line: u64,
        /// What it says.
        message: Message,
    },
    /// A standing system prompt, or tools. Its tokens are not counted yet.
    Item {
        /// Where it stood.
        line: u64,
        /// What it says.
        item: ContextItem,
    },
    /// Something that is no part of the conversation.
    Skipped {
        /// Where it stood.
        line: u64,
        /// What it is, or why it is left out.
        reason: Cow<'static, str>,
    },
    /// Something that could not be read.
    Damaged {
        /// Where it stood.
        line: u64,
        /// What was expected and what was found.
        detail: String,
    },
}

/// Bounds of one entry.
pub(super) const LIMITS: Limits = Limits { depth: 128, messages: 1_000_000, blocks: 10_000 };

/// Where an entry stands and how large it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) line: u64,
    pub(super) size: usize,
}

/// What came of the entries so far and was not asked for yet.
#[derive(Debug, Default)]
pub(super) struct Out(pub(super) VecDeque<Imported>);

impl Out {
    pub(super) fn message(&mut self, line: u64, message: Message) {
        self.0.push_back(Imported::Message { line, message });
    }

    pub(super) fn item(&mut self, at: Place, item: ContextItem) {
        self.0.push_back(Imported::Item { line: at.line, item });
    }

    pub(super) fn skip(&mut self, at: Place, reason: impl Into<Cow<'static, str>>) {
        self.0.push_back(Imported::Skipped { line: at.line, reason: reason.into() });
    }

    pub(super) fn damaged(&mut self, line: u64, detail: impl Into<String>) {
        self.0.push_back(Imported::Damaged { line, detail: detail.into() });
    }
}

/// Understands the entries of one format.
pub(super) trait Understand {
    /// Takes the next line, or the next entry of a document.
    fn entry(&mut self, at: Place, value: Value<'_>, out: &mut Out) -> Result<(), Fault>;

    /// Takes a whole document; here, an array of entries.
    fn document(&mut self, value: Value<'_>, out: &mut Out) -> Result<(), Fault> {
        self.entries(value, out)
    }

    /// Takes each element of an array; damage to one is not the others'.
    fn entries(&mut self, value: Value<'_>, out: &mut Out) -> Result<(), Fault> {
        for (value, line) in value.array(LIMITS.messages)?.into_iter().zip(1..) {
            let at = Place { line, size: value.raw().len() };
            if let Err(fault) = self.entry(at, value, out) {
                out.damaged(line, fault.to_string());
            }
        }
        Ok(())
    }

    /// Lets go of what was held back.
    fn finish(&mut self, out: &mut Out);
}

/// The standing system prompt.
pub(super) fn system_item(text: impl Into<Bytes>) -> ContextItem {
    item("system", Placement::System, text.into(), None)
}

/// Tool definitions, a JSON array.
pub(super) fn tools_item(tools: Value<'_>, format: WireFormat) -> ContextItem {
    item("tools", Placement::Tools, tools.to_bytes(), Some(format))
}

fn item(
    name: &str,
    placement: Placement,
    content: Bytes,
    format: Option<WireFormat>,
) -> ContextItem {
    ContextItem { name: name.to_owned(), placement, content, format, view: None, tokens: 0 }
}

/// The words of a message that holds nothing but words; they become the
/// standing prompt where they come first.
pub(super) fn words_only(message: &Message) -> Option<String> {
    let words = message.blocks.iter().map(|block| match &block.kind {
        BlockKind::Text(text) if text.raw.is_empty() => Some(text.text.as_str()),
        _ => None,
    });
    let words: Option<Vec<&str>> = words.collect();
    (message.role == Role::System).then_some(words?).map(|it| it.join("\n\n"))
}

/// A user message of words that the recording program, or its user through it,
/// put in.
pub(super) fn user_text(author: &str, text: impl Into<String>) -> Message {
    Message {
        role: Role::User,
        blocks: vec![Arc::new(Block::text(text))],
        author: author.to_owned(),
        ..Message::default()
    }
}
