//! OpenAI Responses: a flat list of items.

use bytes::Bytes;

use super::{
    alias,
    call::{Call, Form},
    chat,
    image::Picture,
    json::{self, Object},
    mend::{Item, Speech, Step, What},
    opaque::Native,
    piece::{Origin, Piece, Speaker},
    result::{self, Body, Outcome, ResultPart},
};
use crate::model::{Role, Seq, Thinking};

/// Fields of a part within a message; all others belong to the message's item.
const PART_FIELDS: &[&str] = &["annotations", "logprobs", "detail"];
/// Fields that items have from us, whichever kind they are.
const RESERVED: &[&str] = &[
    "type",
    "id",
    "role",
    "content",
    "call_id",
    "name",
    "arguments",
    "input",
    "output",
    "summary",
    "encrypted_content",
];

/// Writes each step as items.
pub(super) fn pieces(steps: &[Step<'_>]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for step in steps {
        match step {
            Step::Speech(speech) if speech.role == Role::Assistant => {
                AssistantWriter::new(speech).write(&mut pieces);
            }
            Step::Speech(speech) => other_speech(speech, &mut pieces),
            Step::Results(outcomes) => pieces.extend(outcomes.iter().map(output)),
        }
    }
    pieces
}

/// A user message of the server's own.
pub(super) fn server_message(texts: &[&str], origin: Origin) -> Piece {
    let mut out = Vec::new();
    let mut object = Object::open(&mut out);
    object.string("type", "message");
    object.string("role", "user");
    json::list(object.key("content"), texts, |out, text| {
        json::text_part(out, "input_text", text, b"");
    });
    object.close();
    piece(Speaker::User, out, origin)
}

fn piece(speaker: Speaker, json: Vec<u8>, origin: Origin) -> Piece {
    Piece { speaker, json: Bytes::from(json), blocks: Vec::new(), origin, is_compaction: false }
}

fn is_beside_messages(item: &Item<'_>) -> bool {
    matches!(&item.what, What::Raw(native) if !native.is_responses_part())
}

/// A user's or a system message: its parts in one item, unless a provider's own
/// item stands between them.
fn other_speech(speech: &Speech<'_>, pieces: &mut Vec<Piece>) {
    let (speaker, role) = match speech.role {
        Role::System if chat::is_developer(speech) => (Speaker::System, "developer"),
        Role::System => (Speaker::System, "system"),
        Role::User | Role::Assistant => (Speaker::User, "user"),
    };
    let mut extra_json = speech.extra_json;
    for run in speech.items.chunk_by(|a, b| is_beside_messages(a) == is_beside_messages(b)) {
        if run.first().is_some_and(is_beside_messages) {
            pieces.extend(run.iter().map(|item| raw_item(item, speech.seq)));
            continue;
        }
        let mut out = Vec::new();
        let mut object = Object::open(&mut out);
        object.string("type", "message");
        object.string("role", role);
        json::list(object.key("content"), run, input_part);
        item_extras(&mut object, run, std::mem::take(&mut extra_json));
        object.close();
        pieces.push(piece(speaker, out, Origin::rows(vec![speech.seq])));
    }
}

/// Fields of the message, and those of its first text that belong to the item.
fn item_extras(object: &mut Object<'_>, parts: &[Item<'_>], extra_json: &[u8]) {
    let is_text = |item: &&Item<'_>| matches!(item.what, What::Text { .. });
    let of_part = parts.iter().find(is_text).map_or(b"".as_slice(), |item| item.extra_json);
    let is_of_item = |key: &str| !RESERVED.contains(&key) && !PART_FIELDS.contains(&key);
    object.extras_of_both(of_part, extra_json, is_of_item);
}

fn raw_item(item: &Item<'_>, seq: Seq) -> Piece {
    let What::Raw(native) = &item.what else {
        return piece(Speaker::Assistant, b"{}".to_vec(), Origin::default());
    };
    let json = native.json.trim_ascii().to_vec();
    let is_compaction = native.is_compaction();
    Piece { is_compaction, ..piece(Speaker::Assistant, json, Origin::rows(vec![seq])) }
}

fn input_part(out: &mut Vec<u8>, item: &Item<'_>) {
    match &item.what {
        What::Image(picture) => image(out, *picture, item.extra_json),
        What::Raw(native) => out.extend_from_slice(native.json.trim_ascii()),
        What::Text { text, .. } => text_part(out, "input_text", text, item.extra_json),
        What::Line(text) => text_part(out, "input_text", text, b""),
        // Only assistants have these.
        What::Thinking(_) | What::Redacted(_) | What::Call(_) => {
            text_part(out, "input_text", "", b"");
        }
    }
}

fn text_part(out: &mut Vec<u8>, kind: &str, text: &str, extra_json: &[u8]) {
    let mut object = Object::open(out);
    object.string("type", kind);
    object.string("text", text);
    object.extras_where(extra_json, |key| PART_FIELDS.contains(&key));
    object.close();
}

fn image(out: &mut Vec<u8>, picture: Picture<'_>, extra: &[u8]) {
    let mut object = Object::open(out);
    object.string("type", "input_image");
    picture.write_url(object.key("image_url"));
    object.extras(extra, &["type", "image_url", "file_id"]);
    object.close();
}

/// Writes the items of an assistant message.
struct AssistantWriter<'s, 'a> {
    speech: &'s Speech<'a>,
    /// Which blocks are written: reasoning goes with the item that follows it.
    is_shown: Vec<bool>,
    /// The block whose item bears the message's extras: its first words, or
    /// else its first item.
    bears_extras: usize,
}

impl<'s, 'a> AssistantWriter<'s, 'a> {
    fn new(speech: &'s Speech<'a>) -> Self {
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

    fn write(&self, pieces: &mut Vec<Piece>) {
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
            _ => self.message(&mut object, item, run, extra_json, keeps_id),
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

    fn message(
        &self,
        object: &mut Object<'_>,
        item: &Item<'_>,
        run: &[Item<'_>],
        extra_json: &[u8],
        keeps_id: bool,
    ) {
        object.string("type", "message");
        if keeps_id && let Some(id) = self.message_id(item) {
            object.string("id", id);
        }
        object.string("role", "assistant");
        json::list(object.key("content"), run, |out, item| match &item.what {
            What::Raw(native) => out.extend_from_slice(native.json.trim_ascii()),
            What::Text { text, .. } => text_part(out, "output_text", text, item.extra_json),
            What::Line(text) => text_part(out, "output_text", text, b""),
            _ => text_part(out, "output_text", "", b""),
        });
        item_extras(object, run, extra_json);
    }

    fn message_id<'i>(&'i self, item: &'i Item<'_>) -> Option<&'i str> {
        let own = match &item.what {
            What::Text { provider_id, .. } => *provider_id,
            _ => "",
        };
        // A response's id is not an item's.
        let of_message = self.speech.provider_id;
        let of_message = if of_message.starts_with("resp") { "" } else { of_message };
        let id = if own.is_empty() { of_message } else { own };
        alias::is_legal_item_id(id).then_some(id)
    }
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
    // Open reasoning text has the key that messages have theirs under.
    let is_further = |key: &str| key == "content" || !RESERVED.contains(&key);
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
    object.extras_of_both(own, of_message, |key| !RESERVED.contains(&key));
}

fn output(outcome: &Outcome<'_>) -> Piece {
    let mut out = Vec::new();
    match &outcome.body {
        Body::Raw(json) => out.extend_from_slice(json),
        Body::Parts { parts, .. } => {
            let mut object = Object::open(&mut out);
            object.string("type", &outcome.wire_type);
            object.string("call_id", &outcome.id);
            if !is_elsewhere(outcome, parts) {
                output_value(object.key("output"), parts);
            }
            object.extras(outcome.extra_json, RESERVED);
            object.close();
        }
    }
    let origin = outcome.seq.map_or_else(Origin::synthetic, |seq| Origin::rows(vec![seq]));
    piece(Speaker::Tool, out, origin)
}

/// Says whether a provider's own kind of result holds what it says in fields of
/// its own.
fn is_elsewhere(outcome: &Outcome<'_>, parts: &[ResultPart<'_>]) -> bool {
    let is_own_kind =
        !matches!(outcome.wire_type.as_ref(), "function_call_output" | "custom_tool_call_output");
    let says_nothing = matches!(parts, [ResultPart::Text(text)] if text == result::NO_OUTPUT);
    is_own_kind && says_nothing && !outcome.extra_json.is_empty()
}

/// A string where it is one text, a list of parts otherwise.
fn output_value(out: &mut Vec<u8>, parts: &[ResultPart<'_>]) {
    if let [ResultPart::Text(text)] = parts {
        return json::string(out, text);
    }
    json::list(out, parts, |out, part| match part {
        ResultPart::Text(text) => text_part(out, "input_text", text, b""),
        ResultPart::Image(picture) => image(out, *picture, b""),
        ResultPart::Raw(json) => out.extend_from_slice(json.trim_ascii()),
    });
}
