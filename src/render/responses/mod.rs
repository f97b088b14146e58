//! OpenAI Responses: a flat list of items.

mod assistant;

use bytes::Bytes;

use self::assistant::AssistantWriter;
use super::{
    chat,
    image::Picture,
    json::{self, Object},
    mend::{Item, Speech, Step, What},
    piece::{Origin, Piece, Speaker},
    result::{self, Body, Outcome, ResultPart},
};
use crate::model::{Role, Seq};

/// Fields of a part within a message; all others belong to the message's item.
const PART_FIELDS: &[&str] = &["annotations", "logprobs", "detail"];
/// Fields that a message item has from us.
const OF_MESSAGES: &[&str] = &["type", "id", "role", "content"];
/// Fields that a call has from us, and those of the message that it came in.
const OF_CALLS: &[&str] =
    &["type", "id", "role", "content", "call_id", "name", "arguments", "input"];
/// Fields that an output has from us. An id would tell of stored items.
const OF_OUTPUTS: &[&str] = &["type", "id", "role", "content", "call_id", "output"];
/// Fields that reasoning has from us. What it says in the open has the key that
/// messages have their parts under, and stays.
const OF_REASONING: &[&str] = &["type", "id", "role", "summary", "encrypted_content"];

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
    let is_of_item = |key: &str| !OF_MESSAGES.contains(&key) && !PART_FIELDS.contains(&key);
    object.extras_of_both(of_part, extra_json, is_of_item);
}

fn raw_item(item: &Item<'_>, seq: Seq) -> Piece {
    let What::Raw(native) = &item.what else {
        return piece(Speaker::Assistant, b"{}".to_vec(), Origin::default());
    };
    let json = native.json.trim_ascii().to_vec();
    let is_compaction = native.kind.starts_with("compaction");
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
            object.extras(outcome.extra_json, OF_OUTPUTS);
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
