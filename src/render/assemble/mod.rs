//! Joins rounds, notices and context items into a request.
//!
//! Little more than counting references: what a round was written as is used
//! as it is, unless neighbours are merged or a mark goes into it.

mod list;
mod marks;
mod merge;
mod typed;

use bytes::Bytes;

use super::{
    items::Items,
    piece::{Origin, RenderedRound, Repair, RepairReason, Speaker},
};
use crate::model::{ContextItem, Message, Seq, WireFormat, policy::CacheMark, shown::Notice};

/// One thing that is shown, written.
#[derive(Debug, Clone, Copy)]
pub enum Part<'a> {
    /// A round, in the format that is assembled.
    Round(&'a RenderedRound),
    /// A summary or a marker: user text.
    Notice(&'a Notice),
}

/// How parts are joined.
#[derive(Debug, Clone, Copy)]
pub struct AssembleOptions<'a> {
    /// For which provider; the rounds are written in the same format.
    pub format: WireFormat,
    /// Where cache marks go; Anthropic only.
    pub cache_marks: &'a [CacheMark],
    /// What the view shows around the messages.
    pub items: &'a [ContextItem],
}

/// A request's system prompt, tools and messages.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rendered {
    /// Anthropic: a list of text blocks. Responses: the instructions, a string.
    /// Empty where there is none; Chat has its system messages in `messages`.
    pub system_json: Bytes,
    /// The tool definitions, a list; empty where there are none.
    pub tools_json: Bytes,
    /// One JSON value a message (Responses: an item); empty for typed ones.
    pub messages: Vec<Bytes>,
    /// The messages of the contract, where these were asked for.
    pub typed: Vec<Message>,
    /// Where each entry of `messages` or `typed` came from.
    pub origins: Vec<Origin>,
    /// What had to be mended, in the order of the parts.
    pub repairs: Vec<Repair>,
}

/// Stands first where the history starts with the assistant.
const START: &str = "[The conversation starts with the assistant's message.]";

/// Joins parts into a request.
#[must_use]
pub fn assemble(parts: &[Part<'_>], options: &AssembleOptions<'_>) -> Rendered {
    let items = Items::of(options.items, options.format);
    assemble_around(parts, &items, options.format, options.cache_marks)
}

/// Joins parts into a request, around items that were made ready before, for
/// the same format.
#[must_use]
pub fn assemble_around(
    parts: &[Part<'_>],
    items: &Items,
    format: WireFormat,
    cache_marks: &[CacheMark],
) -> Rendered {
    let mut rendered = match format {
        WireFormat::AnthropicMessages => merge::messages(parts, items, cache_marks),
        WireFormat::OpenAiChat | WireFormat::OpenAiResponses => {
            list::messages(parts, items, format)
        }
        WireFormat::Typed => typed::messages(parts, items),
    };
    let mut repairs = repairs_of(parts);
    repairs.append(&mut rendered.repairs);
    rendered.repairs = repairs;
    rendered
}

fn repairs_of(parts: &[Part<'_>]) -> Vec<Repair> {
    let of_part = |part: &Part<'_>| match part {
        Part::Round(round) => round.repairs.clone(),
        Part::Notice(_) => Vec::new(),
    };
    parts.iter().flat_map(of_part).collect()
}

/// Where a history that starts with the assistant is mended, and how.
fn starts_with_assistant(seq: Seq) -> Repair {
    Repair { seq, reason: RepairReason::StartsWithAssistant }
}

/// Tells where the last who speaks, instructions aside, is the assistant.
fn ends_with_assistant<'o>(
    mut speakers: impl DoubleEndedIterator<Item = (Speaker, &'o Origin)>,
) -> Option<Repair> {
    let (speaker, origin) = speakers.rfind(|(speaker, _)| *speaker != Speaker::System)?;
    (speaker == Speaker::Assistant)
        .then(|| Repair { seq: origin.last_seq(), reason: RepairReason::EndsWithAssistant })
}
