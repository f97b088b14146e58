//! Calls and what they came to: pairing, ids, names.

use std::borrow::Cow;

use super::{Draft, Mender, What, own_extras, server_speech};
use crate::{
    model::{
        Block, BlockKind, Opaque, Seq, ToolUse, WireFormat,
        shown::{Answer, ShownBlock, ShownCall, ShownMessage, ShownRound},
    },
    render::{
        alias,
        call::{self, Call, Form, Mending},
        opaque::{self, Native, Place},
        piece::RepairReason,
        result::{self, Body, Outcome},
    },
};

impl Mender {
    pub(super) fn call<'a>(
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

    pub(super) fn opaque<'a>(
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
                let items = self.loose(*seq, *index, block);
                draft.loose.extend(server_speech(*seq, items));
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
}

pub(in crate::render) fn find_call(round: &ShownRound, seq: Seq, block: u32) -> Option<&ShownCall> {
    round.calls.iter().find(|call| call.seq == seq && call.block == block)
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
