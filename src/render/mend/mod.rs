//! A round into steps that are fit for a format.
//!
//! Everything that a provider would refuse in the content of a round is settled
//! here, once for all formats: pairing, ids, names, arguments, empty blocks,
//! text that is not Unicode, blocks of other providers. What is left to the
//! formats is to write it down.

mod calls;
mod loose;

use std::borrow::Cow;

pub(super) use self::{calls::find_call, loose::loose_items};
use super::{
    RoundStyle,
    call::Call,
    image::{self, Picture},
    opaque::Native,
    piece::{Repair, RepairReason},
    result::Outcome,
    text,
};
use crate::model::{
    BlockKind, Image, Opaque, Role, Seq, Text, Thinking, WireFormat,
    shown::{ShownBlock, ShownMessage, ShownRound},
};

/// A round, mended.
pub(super) struct Mended<'a> {
    pub(super) steps: Vec<Step<'a>>,
    pub(super) repairs: Vec<Repair>,
}

/// One thing after the other.
#[derive(Debug)]
pub(super) enum Step<'a> {
    /// A message without its results. Never without content.
    Speech(Speech<'a>),
    /// All the answers to the calls of the speech before it, in call order.
    Results(Vec<Outcome<'a>>),
}

/// What one message says.
#[derive(Debug)]
pub(super) struct Speech<'a> {
    pub(super) role: Role,
    pub(super) seq: Seq,
    pub(super) provider_id: &'a str,
    /// Extras of the message, where they belong to this format.
    pub(super) extra_json: &'a [u8],
    pub(super) items: Vec<Item<'a>>,
}

/// A block, mended.
#[derive(Debug)]
pub(super) struct Item<'a> {
    /// Its index in the stored message.
    pub(super) index: u32,
    /// Extras of the block, where they belong to this format.
    pub(super) extra_json: &'a [u8],
    pub(super) what: What<'a>,
}

#[derive(Debug)]
pub(super) enum What<'a> {
    Text {
        text: Cow<'a, str>,
        provider_id: &'a str,
    },
    /// Words that stand for a block which has no place in this format.
    Line(String),
    Thinking(&'a Thinking),
    Redacted(&'a str),
    Call(Call<'a>),
    Image(Picture<'a>),
    Raw(Native<'a>),
}

impl What<'_> {
    fn is_thinking(&self) -> bool {
        matches!(self, Self::Thinking(_) | Self::Redacted(_))
    }
}

/// Mends one round.
pub(super) fn round(round: &ShownRound, style: RoundStyle) -> Mended<'_> {
    let mut mender = Mender { format: style.format, repairs: Vec::new() };
    let mut steps = Vec::new();
    for message in &round.messages {
        let mut draft = Draft::default();
        for shown in &message.blocks {
            mender.block(round, message, shown, &mut draft);
        }
        if style.label_authors && message.role == Role::User {
            label(&mut draft.items, round, message);
        }
        mender.finish(message, draft, &mut steps);
    }
    mender.strays(round, &mut steps);
    Mended { steps, repairs: mender.repairs }
}

/// What a message is made into, while its blocks are gone through.
#[derive(Default)]
struct Draft<'a> {
    items: Vec<Item<'a>>,
    outcomes: Vec<Outcome<'a>>,
    /// Results without a shown call, where the message is not the user's:
    /// steps after everything else.
    loose: Vec<Step<'a>>,
}

pub(super) struct Mender {
    pub(super) format: WireFormat,
    repairs: Vec<Repair>,
}

impl Mender {
    pub(super) fn note(&mut self, seq: Seq, reason: RepairReason) {
        self.repairs.push(Repair { seq, reason });
    }

    pub(super) fn note_if(&mut self, is_so: bool, seq: Seq, reason: RepairReason) {
        if is_so {
            self.note(seq, reason);
        }
    }

    /// Says whether this format takes no such text.
    pub(super) fn is_nothing(&self, text: &str) -> bool {
        text.is_empty() || (self.format == WireFormat::AnthropicMessages && text::is_blank(text))
    }

    /// The words of a text block.
    pub(super) fn text<'a>(&mut self, seq: Seq, text: &'a Text) -> Cow<'a, str> {
        if text.raw.is_empty() {
            return Cow::Borrowed(&text.text);
        }
        self.note(seq, RepairReason::InvalidTextReplaced);
        text::lossy(&text.raw).text
    }

    fn block<'a>(
        &mut self,
        round: &'a ShownRound,
        message: &'a ShownMessage,
        shown: &'a ShownBlock,
        draft: &mut Draft<'a>,
    ) {
        let what = match &shown.block.kind {
            BlockKind::Text(text) => self.words(message, text),
            BlockKind::Thinking(thinking) => self.thinking(message, thinking),
            BlockKind::RedactedThinking(data) => self.redacted(message, data),
            BlockKind::ToolUse(tool_use) if message.role == Role::Assistant => {
                Some(self.call(round, message, shown, tool_use, &mut draft.outcomes))
            }
            BlockKind::ToolUse(tool_use) => Some(What::Line(loose::call_line(tool_use))),
            BlockKind::ToolResult(_) => {
                self.loose_block(message, shown, draft);
                None
            }
            BlockKind::Image(image) => Some(self.image(message, image)),
            BlockKind::Opaque(opaque) if opaque.is_result && is_orphan(message, opaque) => {
                self.loose_block(message, shown, draft);
                None
            }
            BlockKind::Opaque(opaque) => Some(self.opaque(round, message, shown, opaque, draft)),
        };
        if let Some(what) = what {
            let extra_json = own_extras(message.format, self.format, &shown.block.extra_json);
            draft.items.push(Item { index: shown.index, extra_json, what });
        }
    }

    fn words<'a>(&mut self, message: &ShownMessage, text: &'a Text) -> Option<What<'a>> {
        let words = self.text(message.seq, text);
        if self.is_nothing(&words) {
            self.note(message.seq, RepairReason::EmptyBlockDropped);
            return None;
        }
        Some(What::Text { text: words, provider_id: &text.provider_id })
    }

    /// Only for the family that made it, and never unsigned.
    fn thinking<'a>(&self, message: &ShownMessage, thinking: &'a Thinking) -> Option<What<'a>> {
        let is_own = match self.format {
            WireFormat::AnthropicMessages => {
                !thinking.signature.is_empty() && thinking.encrypted_content.is_empty()
            }
            WireFormat::OpenAiResponses => !thinking.encrypted_content.is_empty(),
            WireFormat::OpenAiChat | WireFormat::Typed => false,
        };
        (is_own && message.role == Role::Assistant).then_some(What::Thinking(thinking))
    }

    fn redacted<'a>(&self, message: &ShownMessage, data: &'a str) -> Option<What<'a>> {
        let is_own = self.format == WireFormat::AnthropicMessages && !data.is_empty();
        (is_own && message.role == Role::Assistant).then_some(What::Redacted(data))
    }

    fn image<'a>(&self, message: &ShownMessage, image: &'a Image) -> What<'a> {
        let takes_images = match message.role {
            Role::User => true,
            Role::Assistant => false,
            Role::System => self.format != WireFormat::OpenAiChat,
        };
        match Picture::of(image, self.format) {
            Some(picture) if takes_images => What::Image(picture),
            _ => What::Line(image::line(image)),
        }
    }

    /// Turns a gone-through message into steps.
    fn finish<'a>(
        &mut self,
        message: &'a ShownMessage,
        draft: Draft<'a>,
        steps: &mut Vec<Step<'a>>,
    ) {
        let Draft { mut items, outcomes, loose } = draft;
        let mut role = message.role;
        if role == Role::System && self.format == WireFormat::AnthropicMessages && !items.is_empty()
        {
            self.note(message.seq, RepairReason::SystemAsUser);
            role = Role::User;
            items.insert(0, Item { index: 0, extra_json: b"", what: What::Line(SYSTEM.into()) });
        }
        if items.iter().any(|item| !item.what.is_thinking()) {
            let extra_json = own_extras(message.format, self.format, &message.extra_json);
            let provider_id = &message.provider_id;
            steps.push(Step::Speech(Speech {
                role,
                seq: message.seq,
                provider_id,
                extra_json,
                items,
            }));
        }
        if !outcomes.is_empty() {
            steps.push(Step::Results(outcomes));
        }
        steps.extend(loose);
    }
}

/// Stands before a system message where the format has no place for one.
const SYSTEM: &str = "[system message]";

fn server_speech(seq: Seq, items: Vec<Item<'_>>) -> Option<Step<'_>> {
    let speech = Speech { role: Role::User, seq, provider_id: "", extra_json: b"", items };
    (!speech.items.is_empty()).then_some(Step::Speech(speech))
}

/// Puts who speaks before the first words of a message.
fn label(items: &mut [Item<'_>], round: &ShownRound, message: &ShownMessage) {
    let name = if message.author.is_empty() { &round.lane } else { &message.author };
    if name.is_empty() {
        return;
    }
    let first = items.iter_mut().find_map(|item| match &mut item.what {
        What::Text { text, .. } => Some(text),
        _ => None,
    });
    if let Some(text) = first {
        *text = Cow::Owned(format!("[{name}] {text}"));
    }
}

/// Hosted tools' results stand in assistant messages, where nobody waits for
/// them; everywhere else a result block without its call is an orphan.
fn is_orphan(message: &ShownMessage, opaque: &Opaque) -> bool {
    message.role != Role::Assistant && !opaque.call_id.is_empty()
}

/// Extras go back into the format that they came in only.
fn own_extras(came_in: Option<WireFormat>, format: WireFormat, extra_json: &[u8]) -> &[u8] {
    if came_in == Some(format) { extra_json } else { b"" }
}
