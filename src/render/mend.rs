//! A round into steps that are fit for a format.
//!
//! Everything that a provider would refuse in the content of a round is settled
//! here, once for all formats: pairing, ids, names, arguments, empty blocks,
//! text that is not Unicode, blocks of other providers. What is left to the
//! formats is to write it down.

use std::{borrow::Cow, sync::Arc};

use super::{
    RoundStyle, alias,
    call::{self, Call, Form, Mending},
    image::{self, Picture},
    opaque::{self, Native, Place},
    piece::{Repair, RepairReason},
    result::{self, Body, Outcome, ResultPart},
    text,
};
use crate::model::{
    Block, BlockKind, Opaque, Role, Seq, Text, Thinking, ToolOutput, ToolResult, ToolUse,
    WireFormat,
    shown::{Answer, ShownBlock, ShownCall, ShownMessage, ShownRound},
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
pub(super) fn round<'a>(round: &'a ShownRound, style: &RoundStyle) -> Mended<'a> {
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
    /// Results that answer no shown call: user text after everything else.
    loose: Vec<Item<'a>>,
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
            BlockKind::ToolUse(tool_use) => Some(What::Line(call_line(tool_use))),
            BlockKind::ToolResult(_) => {
                self.loose(message.seq, shown.index, &shown.block, &mut draft.loose);
                None
            }
            BlockKind::Image(image) => Some(self.image(message, image)),
            BlockKind::Opaque(opaque) if opaque.is_result && is_orphan(message, opaque) => {
                self.loose(message.seq, shown.index, &shown.block, &mut draft.loose);
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

    fn image<'a>(&self, message: &ShownMessage, image: &'a crate::model::Image) -> What<'a> {
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

    fn call<'a>(
        &mut self,
        round: &'a ShownRound,
        message: &'a ShownMessage,
        shown: &'a ShownBlock,
        tool_use: &'a ToolUse,
        outcomes: &mut Vec<Outcome<'a>>,
    ) -> What<'a> {
        let known = find_call(round, message.seq, shown.index);
        let id = self.call_id(known, &tool_use.id, message.seq, shown.index);
        let (input, mending) = call::input(tool_use, self.format);
        match mending {
            Mending::None => {}
            Mending::Wrapped => self.note(message.seq, RepairReason::InputWrapped),
            Mending::TextReplaced => self.note(message.seq, RepairReason::InvalidTextReplaced),
        }
        let form = Form::of(&tool_use.wire_type);
        let wire_type = match (form, known.and_then(|call| named_output(&call.answer))) {
            (Form::Wire(_), Some(named)) => Cow::Owned(named),
            _ => form.output_type(),
        };
        outcomes.push(self.outcome(round, message, known, id.clone(), wire_type));
        What::Call(Call {
            id,
            name: self.call_name(message.seq, tool_use, form),
            input,
            form,
            provider_id: &tool_use.provider_id,
        })
    }

    fn call_name<'a>(&mut self, seq: Seq, tool_use: &'a ToolUse, form: Form<'_>) -> Cow<'a, str> {
        // Such an item is known by its type and needs no name.
        let is_nameless = tool_use.name.is_empty()
            && self.format == WireFormat::OpenAiResponses
            && matches!(form, Form::Wire(_));
        if is_nameless {
            return Cow::Borrowed("");
        }
        let name = alias::name(&tool_use.name, self.format);
        self.note_if(name != tool_use.name, seq, RepairReason::NameAliased);
        name
    }

    /// The id under which a call is shown; one that is unknown to the pairing
    /// could repeat.
    fn call_id<'a>(
        &mut self,
        known: Option<&ShownCall>,
        id: &'a str,
        seq: Seq,
        block: u32,
    ) -> Cow<'a, str> {
        let repeats = known.is_none_or(|call| call.repeats);
        if !repeats && alias::is_legal_id(id, self.format) {
            return Cow::Borrowed(id);
        }
        self.note(seq, RepairReason::IdAliased);
        Cow::Owned(alias::of_id(id, seq, block))
    }

    fn outcome<'a>(
        &mut self,
        round: &'a ShownRound,
        message: &ShownMessage,
        known: Option<&'a ShownCall>,
        id: Cow<'a, str>,
        wire_type: Cow<'a, str>,
    ) -> Outcome<'a> {
        let Some(Answer::Result { seq, block, moved, .. }) = known.map(|call| &call.answer) else {
            self.note(message.seq, RepairReason::SyntheticResult);
            let body = result::not_recorded(self.format);
            return Outcome { id, wire_type, seq: None, extra_json: b"", body };
        };
        self.note_if(*moved, *seq, RepairReason::ResultMoved);
        let body = match native_result(self.format, block, &wire_type, &id) {
            Some(body) => body,
            None => result::body(self, *seq, block),
        };
        let format = round.messages.iter().find(|it| it.seq == *seq).and_then(|it| it.format);
        let extra_json = own_extras(format, self.format, &block.extra_json);
        Outcome { id, wire_type, seq: Some(*seq), extra_json, body }
    }

    fn opaque<'a>(
        &mut self,
        round: &'a ShownRound,
        message: &'a ShownMessage,
        shown: &'a ShownBlock,
        opaque: &'a Opaque,
        draft: &mut Draft<'a>,
    ) -> What<'a> {
        if let Some(known) = find_call(round, message.seq, shown.index) {
            return self.opaque_call(round, message, known, opaque, draft);
        }
        match Native::read_for(opaque, self.format, Place::Message(message.role)) {
            Some(native) => {
                self.note_if(native.is_mended, message.seq, RepairReason::InvalidTextReplaced);
                What::Raw(native)
            }
            None => What::Line(opaque::line(opaque)),
        }
    }

    /// A provider's own kind of call: raw with its answer, where the two fit
    /// together; a line, and the answer as user text, where they do not.
    fn opaque_call<'a>(
        &mut self,
        round: &'a ShownRound,
        message: &'a ShownMessage,
        known: &'a ShownCall,
        opaque: &'a Opaque,
        draft: &mut Draft<'a>,
    ) -> What<'a> {
        let native = Native::read(opaque, self.format).filter(|native| {
            self.format == WireFormat::OpenAiResponses && may_be_paired(native, &known.answer)
        });
        let Some(mut native) = native else {
            if let Answer::Result { seq, index, block, .. } = &known.answer {
                self.loose(*seq, *index, block, &mut draft.loose);
            }
            return What::Line(opaque::line(opaque));
        };
        let id = self.call_id(Some(known), &opaque.call_id, message.seq, known.block);
        self.note_if(native.is_mended, message.seq, RepairReason::InvalidTextReplaced);
        native.json = Cow::Owned(native.with_text("call_id", &id));
        let wire_type =
            named_output(&known.answer).map_or(Cow::Borrowed("function_call_output"), Cow::Owned);
        let outcome = self.outcome(round, message, Some(known), id, wire_type);
        draft.outcomes.push(outcome);
        What::Raw(native)
    }

    /// A result without its call: labelled user text, pictures kept.
    fn loose<'a>(&mut self, seq: Seq, index: u32, block: &'a Block, out: &mut Vec<Item<'a>>) {
        self.note(seq, RepairReason::OrphanResultToText);
        let mut push = |what| out.push(Item { index, extra_json: b"", what });
        match &block.kind {
            BlockKind::ToolResult(result) => {
                let parts = result::parts(self, seq, result);
                push(What::Line(loose_text(result, &parts)));
                for part in parts {
                    if let ResultPart::Image(picture) = part {
                        push(What::Image(picture));
                    }
                }
            }
            BlockKind::Opaque(opaque) => {
                let label = label_of_result(&opaque.call_id, false);
                push(What::Line(format!("{label}\n{}", opaque::line(opaque))));
            }
            _ => {}
        }
    }

    /// Answers whose call is not among the shown blocks.
    fn strays<'a>(&mut self, round: &'a ShownRound, steps: &mut Vec<Step<'a>>) {
        for call in &round.calls {
            let Answer::Result { seq, index, block, .. } = &call.answer else { continue };
            let is_shown = round.messages.iter().any(|message| {
                message.seq == call.seq && message.blocks.iter().any(|it| it.index == call.block)
            });
            if !is_shown {
                let mut items = Vec::new();
                self.loose(*seq, *index, block, &mut items);
                steps.extend(server_speech(*seq, items));
            }
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
        steps.extend(server_speech(message.seq, loose));
    }
}

/// Stands before a system message where the format has no place for one.
const SYSTEM: &str = "[system message]";

fn server_speech<'a>(seq: Seq, items: Vec<Item<'a>>) -> Option<Step<'a>> {
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

pub(super) fn find_call(round: &ShownRound, seq: Seq, block: u32) -> Option<&ShownCall> {
    round.calls.iter().find(|call| call.seq == seq && call.block == block)
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

/// What such a call must be answered with is not for a server to make up: it
/// needs a recorded answer.
fn may_be_paired(call: &Native<'_>, answer: &Answer) -> bool {
    let is_call = call.kind.ends_with("_call") && call.kind != "function_call";
    is_call && matches!(answer, Answer::Result { .. })
}

/// The item type under which an answer was recorded, where it is not the usual
/// one.
fn named_output(answer: &Answer) -> Option<String> {
    let Answer::Result { block, .. } = answer else { return None };
    let kind = match &block.kind {
        BlockKind::ToolResult(result) => result.wire_type.clone(),
        BlockKind::Opaque(opaque) => Native::read(opaque, WireFormat::OpenAiResponses)?.kind,
        _ => return None,
    };
    (kind.ends_with("_output") && kind.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
        .then_some(kind)
}

/// A provider's own result block under the id of the call, where it is of the
/// type that answers it.
fn native_result<'a>(
    format: WireFormat,
    block: &Block,
    wire_type: &str,
    id: &str,
) -> Option<Body<'a>> {
    let BlockKind::Opaque(opaque) = &block.kind else { return None };
    let native = Native::read(opaque, format)?;
    if format != WireFormat::OpenAiResponses || native.kind != wire_type {
        return None;
    }
    // A plain output has to have something in it.
    let is_complete = wire_type != "function_call_output" || native.has_value("output");
    is_complete.then(|| Body::Raw(native.with_text("call_id", id)))
}

/// A result without its call as blocks of the contract: labelled text, and the
/// pictures as they are.
pub(super) fn loose_items(block: &Block) -> Vec<Arc<Block>> {
    let mut mender = Mender { format: WireFormat::Typed, repairs: Vec::new() };
    let mut blocks = Vec::new();
    let BlockKind::ToolResult(result) = &block.kind else { return blocks };
    let parts = result::parts(&mut mender, Seq(0), result);
    blocks.push(Arc::new(Block::text(loose_text(result, &parts))));
    for output in &result.output {
        if let ToolOutput::Image(image) = output {
            blocks.push(Arc::new(Block::new(BlockKind::Image(image.clone()))));
        }
    }
    blocks
}

fn loose_text(result: &ToolResult, parts: &[ResultPart<'_>]) -> String {
    let mut text = label_of_result(&result.tool_use_id, result.is_error);
    let texts = parts.iter().filter_map(|part| match part {
        ResultPart::Text(text) => Some(text.as_ref()),
        ResultPart::Image(_) => None,
        // A raw part may not stand outside a result.
        ResultPart::Raw(_) => Some("[provider block]"),
    });
    for part in texts {
        text.push('\n');
        text.push_str(part);
    }
    text
}

fn label_of_result(id: &str, is_error: bool) -> String {
    let kind = if is_error { "error result" } else { "result" };
    if id.is_empty() {
        return format!("[{kind} of a tool call without id]");
    }
    format!("[{kind} of tool call {id}]")
}

/// A call that somebody but the assistant claims to have made.
fn call_line(tool_use: &ToolUse) -> String {
    let input = text::lossy(&tool_use.input_json).text;
    format!("[tool call {}] {input}", tool_use.name)
}
