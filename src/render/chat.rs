//! OpenAI Chat Completions: one message a speech, one `tool` message a call.

use bytes::Bytes;

use super::{
    image::Picture,
    json::{self, Object},
    mend::{Item, Speech, Step, What},
    piece::{Origin, Piece, Speaker},
    result::{Body, Outcome, ResultPart},
    scan,
};
use crate::model::{Role, Seq};

/// Fields that this format's messages have from us, or that belong to an answer
/// only.
const RESERVED: &[&str] = &[
    "role",
    "content",
    "tool_calls",
    "tool_call_id",
    "function_call",
    "finish_reason",
    "index",
    "logprobs",
];
/// Stands in a `tool` message, which takes text only, for pictures.
const IMAGE_FOLLOWS: &str = "(image, in the next user message)";

/// Writes each step as messages.
pub(super) fn pieces(steps: &[Step<'_>]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for step in steps {
        match step {
            Step::Speech(speech) => pieces.extend(spoken(speech)),
            Step::Results(outcomes) => results(outcomes, &mut pieces),
        }
    }
    pieces
}

/// A message of the server's own: a string where it is one text.
pub(super) fn server_message(
    role: &str,
    speaker: Speaker,
    texts: &[&str],
    origin: Origin,
) -> Piece {
    let mut out = Vec::new();
    let mut object = Object::open(&mut out);
    object.string("role", role);
    match texts {
        [one] => object.string("content", one),
        _ => json::list(object.key("content"), texts, |out, text| {
            json::text_part(out, "text", text, b"");
        }),
    }
    object.close();
    piece(speaker, out, origin)
}

fn piece(speaker: Speaker, json: Vec<u8>, origin: Origin) -> Piece {
    Piece { speaker, json: Bytes::from(json), blocks: Vec::new(), origin, is_compaction: false }
}

fn spoken(speech: &Speech<'_>) -> Option<Piece> {
    let (speaker, role) = match speech.role {
        Role::User => (Speaker::User, "user"),
        Role::Assistant => (Speaker::Assistant, "assistant"),
        Role::System if is_developer(speech) => (Speaker::System, "developer"),
        Role::System => (Speaker::System, "system"),
    };
    let (calls, content): (Vec<_>, Vec<_>) = speech
        .items
        .iter()
        .filter(|item| !matches!(item.what, What::Thinking(_) | What::Redacted(_)))
        .partition(|item| matches!(item.what, What::Call(_)));
    if calls.is_empty() && content.is_empty() {
        return None;
    }
    let mut out = Vec::new();
    let mut object = Object::open(&mut out);
    object.string("role", role);
    write_content(object.key("content"), &content);
    if !calls.is_empty() {
        json::list(object.key("tool_calls"), calls, tool_call);
    }
    object.extras(speech.extra_json, RESERVED);
    object.close();
    Some(piece(speaker, out, Origin::rows(vec![speech.seq])))
}

/// The contract has one role for instructions; which of the two it was is in
/// the extras.
pub(super) fn is_developer(speech: &Speech<'_>) -> bool {
    !speech.extra_json.is_empty()
        && scan::strict_object(speech.extra_json).is_some_and(|strict| {
            let members = scan::members(&strict.json);
            scan::find_text(&members, "role").as_deref() == Some("developer")
        })
}

fn write_content(out: &mut Vec<u8>, content: &[&Item<'_>]) {
    match content {
        [] => out.extend_from_slice(b"null"),
        [Item { what: What::Text { text, .. }, extra_json: [], .. }] => json::string(out, text),
        [Item { what: What::Line(text), .. }] => json::string(out, text),
        parts => json::list(out, parts, |out, part| content_part(out, part)),
    }
}

fn content_part(out: &mut Vec<u8>, item: &Item<'_>) {
    match &item.what {
        What::Text { text, .. } => json::text_part(out, "text", text, item.extra_json),
        What::Line(text) => json::text_part(out, "text", text, b""),
        What::Image(picture) => image(out, *picture, item.extra_json),
        What::Raw(native) => out.extend_from_slice(native.json.trim_ascii()),
        // Written elsewhere, or left out.
        What::Thinking(_) | What::Redacted(_) | What::Call(_) => out.extend_from_slice(b"null"),
    }
}

fn image(out: &mut Vec<u8>, picture: Picture<'_>, extra: &[u8]) {
    let mut object = Object::open(out);
    object.string("type", "image_url");
    let mut address = Object::open(object.key("image_url"));
    picture.write_url(address.key("url"));
    address.extras_where(extra, |key| key == "detail");
    address.close();
    object.extras(extra, &["type", "image_url", "detail"]);
    object.close();
}

fn tool_call(out: &mut Vec<u8>, item: &Item<'_>) {
    let What::Call(call) = &item.what else { return };
    let mut object = Object::open(out);
    object.string("id", &call.id);
    object.string("type", "function");
    let mut function = Object::open(object.key("function"));
    function.string("name", &call.name);
    function.string("arguments", call.input.as_str());
    function.close();
    object.extras(item.extra_json, &["id", "type", "function", "custom", "index"]);
    object.close();
}

/// One `tool` message a call, then the pictures of all of them.
fn results(outcomes: &[Outcome<'_>], pieces: &mut Vec<Piece>) {
    pieces.extend(outcomes.iter().map(tool_message));
    let with_images: Vec<_> = outcomes.iter().filter(|it| images(it).next().is_some()).collect();
    if !with_images.is_empty() {
        pieces.push(image_message(&with_images));
    }
}

fn tool_message(outcome: &Outcome<'_>) -> Piece {
    let mut out = Vec::new();
    let mut object = Object::open(&mut out);
    object.string("role", "tool");
    object.string("tool_call_id", &outcome.id);
    let texts: Vec<&str> = parts(outcome)
        .iter()
        .filter_map(|part| match part {
            ResultPart::Text(text) => Some(text.as_ref()),
            ResultPart::Image(_) | ResultPart::Raw(_) => None,
        })
        .collect();
    match texts.as_slice() {
        [] => object.string("content", IMAGE_FOLLOWS),
        [one] => object.string("content", one),
        many => json::list(object.key("content"), many, |out, text| {
            json::text_part(out, "text", text, b"");
        }),
    }
    object.extras(outcome.extra_json, RESERVED);
    object.close();
    piece(Speaker::Tool, out, origin(outcome.seq))
}

fn origin(seq: Option<Seq>) -> Origin {
    seq.map_or_else(Origin::synthetic, |seq| Origin::rows(vec![seq]))
}

fn image_message(outcomes: &[&Outcome<'_>]) -> Piece {
    let mut out = Vec::new();
    let mut object = Object::open(&mut out);
    object.string("role", "user");
    let parts = outcomes.iter().flat_map(|outcome| {
        std::iter::once((*outcome, None)).chain(images(outcome).map(|it| (*outcome, Some(it))))
    });
    json::list(object.key("content"), parts, |out, (outcome, picture)| match picture {
        None => {
            let label = format!("[image of the result of tool call {}]", outcome.id);
            json::text_part(out, "text", &label, b"");
        }
        Some(picture) => image(out, picture, b""),
    });
    object.close();
    let seqs = outcomes.iter().filter_map(|it| it.seq).collect();
    piece(Speaker::User, out, Origin::rows(seqs))
}

fn images<'o>(outcome: &'o Outcome<'_>) -> impl Iterator<Item = Picture<'o>> {
    parts(outcome).iter().filter_map(|part| match part {
        ResultPart::Image(picture) => Some(*picture),
        ResultPart::Text(_) | ResultPart::Raw(_) => None,
    })
}

fn parts<'o, 'a>(outcome: &'o Outcome<'a>) -> &'o [ResultPart<'a>] {
    match &outcome.body {
        Body::Parts { parts, .. } => parts,
        Body::Raw(_) => &[],
    }
}
