//! What the assistant said: which items keep their ids, which reasoning stays.

use super::{OF_CALLS, OF_REASONING, item_extras, piece, raw_item, text_part};
use crate::{
    model::Thinking,
    render::{
        alias,
        call::{Call, Form},
        json::{self, Object},
        mend::{Item, Speech, What},
        opaque::Native,
        piece::{Origin, Piece, Speaker},
    },
};

/// Writes the items of an assistant message.
pub(super) struct AssistantWriter<'s, 'a> {
    speech: &'s Speech<'a>,
    /// Which blocks are written: reasoning goes with the item that follows it.
    is_shown: Vec<bool>,
    /// The block whose item bears the message's extras: its first words, or
    /// else its first item.
    bears_extras: usize,
}

impl<'s, 'a> AssistantWriter<'s, 'a> {
    pub(super) fn new(speech: &'s Speech<'a>) -> Self {
        let mut is_shown = vec![true; speech.items.len()];
        let mut follower: Option<&Item<'_>> = None;
        for (item, shown) in speech.items.iter().zip(&mut is_shown).rev() {
            if matches!(item.what, What::Thinking(_)) {
                *shown = follower.is_some_and(|it| may_follow_reasoning(item, it));
            }
            // Reasoning that went does not carry what stands before it.
            follower = shown.then_some(item);
        }
        let words = speech.items.iter().position(|item| part_id(item).is_some());
        let first = is_shown.iter().position(|is_shown| *is_shown);
        Self { speech, is_shown, bears_extras: words.or(first).unwrap_or_default() }
    }

    pub(super) fn write(&self, pieces: &mut Vec<Piece>) {
        let items = &self.speech.items;
        let mut at = 0;
        while let Some(item) = items.get(at) {
            let end = self.end_of_run(at);
            if self.is_shown.get(at) == Some(&true) {
                let run = items.get(at..end).unwrap_or_default();
                pieces.push(self.item(at, item, run));
            }
            at = end;
        }
    }

    /// Texts of one provider's item are written as one item again.
    fn end_of_run(&self, start: usize) -> usize {
        let items = self.speech.items.get(start..).unwrap_or_default();
        let id = items.first().and_then(part_id);
        let same = items.iter().skip(1).take_while(|item| id.is_some() && part_id(item) == id);
        start + 1 + same.count()
    }

    /// An id tells the provider that the reasoning which came with the item is
    /// there: it stays where reasoning is shown directly before, pair by pair.
    fn keeps_id(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return false };
        self.is_shown.get(before) == Some(&true)
            && matches!(self.speech.items.get(before), Some(Item { what: What::Thinking(_), .. }))
    }

    fn item(&self, at: usize, item: &Item<'_>, run: &[Item<'_>]) -> Piece {
        let extra_json = if at == self.bears_extras { self.speech.extra_json } else { b"" };
        let keeps_id = self.keeps_id(at);
        let mut out = Vec::new();
        let mut object = Object::open(&mut out);
        match &item.what {
            What::Raw(native) if !native.is_responses_part() => {
                return self.raw(at, item, native);
            }
            What::Thinking(it) => reasoning(&mut object, it, item.extra_json, extra_json),
            What::Call(it) => call(&mut object, it, item.extra_json, extra_json, keeps_id),
            _ => {
                let id = self.message_id(at, item).filter(|_| keeps_id);
                message(&mut object, id, run, extra_json);
            }
        }
        object.close();
        piece(Speaker::Assistant, out, Origin::rows(vec![self.speech.seq]))
    }

    /// A hosted tool's item: its id, too, tells of reasoning that came before
    /// it. Where that is gone, what needs its id to be one is told of in a line.
    fn raw(&self, at: usize, item: &Item<'_>, native: &Native<'_>) -> Piece {
        let before = at.checked_sub(1).and_then(|before| self.speech.items.get(before));
        let is_first = item.index == 0;
        let is_next = before.is_some_and(|it| it.index.saturating_add(1) == item.index);
        let hides_reasoning = at > 0 && self.is_shown.get(at - 1) == Some(&false);
        let lost_something = hides_reasoning || !(is_first || is_next);
        if !lost_something || !native.has_value("id") {
            return raw_item(item, self.speech.seq);
        }
        let mut out = Vec::new();
        if native.has_value("call_id") {
            out = native.without("id");
        } else {
            let mut object = Object::open(&mut out);
            object.string("type", "message");
            object.string("role", "assistant");
            json::list(object.key("content"), [native.line()], |out, text| {
                text_part(out, "output_text", &text, b"");
            });
            object.close();
        }
        piece(Speaker::Assistant, out, Origin::rows(vec![self.speech.seq]))
    }

    /// The provider's id of a message item: its words' own, or the stored
    /// message's where these are its first words.
    fn message_id<'i>(&'i self, at: usize, item: &'i Item<'_>) -> Option<&'i str> {
        let own = match &item.what {
            What::Text { provider_id, .. } => *provider_id,
            _ => "",
        };
        let of_message = self.speech.provider_id;
        // A response's id is not an item's.
        let is_of_item = at == self.bears_extras && !of_message.starts_with("resp");
        let id = if own.is_empty() && is_of_item { of_message } else { own };
        alias::is_legal_item_id(id).then_some(id)
    }
}

/// A message item of these parts.
fn message(object: &mut Object<'_>, id: Option<&str>, parts: &[Item<'_>], extra_json: &[u8]) {
    object.string("type", "message");
    if let Some(id) = id {
        object.string("id", id);
    }
    object.string("role", "assistant");
    json::list(object.key("content"), parts, |out, item| match &item.what {
        What::Raw(native) => out.extend_from_slice(native.json.trim_ascii()),
        What::Text { text, .. } => text_part(out, "output_text", text, item.extra_json),
        What::Line(text) => text_part(out, "output_text", text, b""),
        // Items of their own, or none in this format.
        _ => text_part(out, "output_text", "", b""),
    });
    item_extras(object, parts, extra_json);
}

/// The item that a part of a message belongs to; `None` for what is an item of
/// its own.
fn part_id<'i>(item: &'i Item<'_>) -> Option<&'i str> {
    match &item.what {
        What::Text { provider_id, .. } => Some(provider_id),
        What::Line(_) => Some(""),
        What::Raw(native) if native.is_responses_part() => Some(""),
        _ => None,
    }
}

/// Says whether reasoning may stand before this item: the one that it produced.
fn may_follow_reasoning(reasoning: &Item<'_>, follower: &Item<'_>) -> bool {
    let is_next = follower.index == reasoning.index.saturating_add(1);
    let is_product = match &follower.what {
        What::Text { .. } | What::Thinking(_) | What::Call(_) => true,
        What::Raw(native) => native.kind.ends_with("_call"),
        What::Line(_) | What::Redacted(_) | What::Image(_) => false,
    };
    is_next && is_product
}

fn reasoning(object: &mut Object<'_>, thinking: &Thinking, own: &[u8], of_message: &[u8]) {
    object.string("type", "reasoning");
    if alias::is_legal_item_id(&thinking.provider_id) {
        object.string("id", &thinking.provider_id);
    }
    json::list(object.key("summary"), &thinking.parts, |out, text| {
        text_part(out, "summary_text", text, b"");
    });
    object.string("encrypted_content", &thinking.encrypted_content);
    let is_further = |key: &str| !OF_REASONING.contains(&key);
    object.extras_of_both(own, of_message, is_further);
}

fn call(object: &mut Object<'_>, call: &Call<'_>, own: &[u8], of_message: &[u8], keeps_id: bool) {
    let kind = match call.form {
        Form::Function => "function_call",
        Form::Custom => "custom_tool_call",
        Form::Wire(kind) => kind,
    };
    object.string("type", kind);
    if keeps_id && alias::is_legal_item_id(call.provider_id) {
        object.string("id", call.provider_id);
    }
    object.string("call_id", &call.id);
    if !call.name.is_empty() {
        object.string("name", &call.name);
    }
    match call.form {
        Form::Function => object.string("arguments", call.input.as_str()),
        Form::Custom => object.string("input", call.input.as_str()),
        Form::Wire(_) => object.raw("arguments", call.input.as_str().as_bytes()),
    }
    object.extras_of_both(own, of_message, |key| !OF_CALLS.contains(&key));
}
