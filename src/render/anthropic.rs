//! Anthropic Messages: every message's content is a list of blocks.

use std::borrow::Cow;

use bytes::Bytes;

use super::{
    call::Call,
    image::Picture,
    json::{self, Object},
    mend::{Item, Speech, Step, What},
    piece::{Origin, Piece, Span, SpanKind, Speaker},
    result::{Body, Outcome, ResultPart},
};
use crate::model::{Role, Thinking, shown::Notice};

/// Fields of a provider's answer that its requests do not take.
const RESERVED: &[&str] = &[
    "role",
    "content",
    "id",
    "type",
    "model",
    "usage",
    "stop_reason",
    "stop_sequence",
    "stop_details",
    "container",
    "context_management",
];

/// Writes each step as a message; `assemble` merges neighbours of one role.
pub(super) fn pieces(steps: &[Step<'_>]) -> Vec<Piece> {
    steps.iter().filter_map(step).collect()
}

fn step(step: &Step<'_>) -> Option<Piece> {
    match step {
        Step::Speech(speech) => spoken(speech),
        Step::Results(outcomes) => Some(results(outcomes)),
    }
}

/// A user message of the server's own.
pub(super) fn user_text<'t>(texts: impl IntoIterator<Item = &'t str>, origin: Origin) -> Piece {
    let mut message = MessageWriter::open(Speaker::User);
    for text in texts {
        message.block(SpanKind::Markable, |out| json::text_part(out, "text", text, b""));
    }
    message.close(b"", origin)
}

fn spoken(speech: &Speech<'_>) -> Option<Piece> {
    let speaker = match speech.role {
        Role::Assistant => Speaker::Assistant,
        Role::User | Role::System => Speaker::User,
    };
    let mut message = MessageWriter::open(speaker);
    for item in in_legal_order(&speech.items) {
        item_block(&mut message, item);
    }
    let is_compaction = matches!(
        speech.items.first(),
        Some(Item { what: What::Raw(native), .. }) if native.kind == "compaction"
    );
    let has_content = !message.blocks.is_empty();
    let piece = message.close(speech.extra_json, Origin::rows(vec![speech.seq]));
    has_content.then_some(Piece { is_compaction, ..piece })
}

/// The blocks of a message without the thinking that may not stand where it is:
/// it comes first or not at all, and never last. Decided by the message alone,
/// so that no later neighbour changes it.
fn in_legal_order<'i, 'a>(items: &'i [Item<'a>]) -> impl Iterator<Item = &'i Item<'a>> {
    let is_thinking = |item: &Item<'_>| matches!(item.what, What::Thinking(_) | What::Redacted(_));
    let keeps_thinking = items.first().is_some_and(is_thinking);
    let end = items.iter().rposition(|item| !is_thinking(item)).map_or(0, |last| last + 1);
    items.iter().take(end).filter(move |item| keeps_thinking || !is_thinking(item))
}

fn item_block(message: &mut MessageWriter, item: &Item<'_>) {
    let extra = item.extra_json;
    match &item.what {
        What::Text { text, .. } => {
            message.block(SpanKind::Markable, |out| json::text_part(out, "text", text, extra));
        }
        What::Line(text) => {
            message.block(SpanKind::Markable, |out| json::text_part(out, "text", text, b""));
        }
        What::Thinking(it) => message.block(SpanKind::Thinking, |out| thinking(out, it, extra)),
        What::Redacted(data) => {
            message.block(SpanKind::Thinking, |out| {
                let mut object = Object::open(out);
                object.string("type", "redacted_thinking");
                object.string("data", data);
                object.extras(extra, &["type", "data"]);
                object.close();
            });
        }
        What::Call(call) => message.block(SpanKind::Markable, |out| tool_use(out, call, extra)),
        What::Image(picture) => {
            message.block(SpanKind::Markable, |out| image(out, *picture, extra));
        }
        What::Raw(native) => {
            let takes_mark = matches!(native.kind.as_str(), "document" | "image" | "search_result");
            let kind = if takes_mark { SpanKind::Markable } else { SpanKind::Fixed };
            message.block(kind, |out| out.extend_from_slice(native.json.trim_ascii()));
        }
    }
}

fn thinking(out: &mut Vec<u8>, thinking: &Thinking, extra: &[u8]) {
    let text = match thinking.parts.as_slice() {
        [one] => Cow::Borrowed(one),
        parts => Cow::Owned(parts.concat()),
    };
    let mut object = Object::open(out);
    object.string("type", "thinking");
    object.string("thinking", &text);
    object.string("signature", &thinking.signature);
    object.extras(extra, &["type", "thinking", "signature"]);
    object.close();
}

fn tool_use(out: &mut Vec<u8>, call: &Call<'_>, extra: &[u8]) {
    let mut object = Object::open(out);
    object.string("type", "tool_use");
    object.string("id", &call.id);
    object.string("name", &call.name);
    object.raw("input", call.input.as_str().as_bytes());
    object.extras(extra, &["type", "id", "name", "input"]);
    object.close();
}

fn image(out: &mut Vec<u8>, picture: Picture<'_>, extra: &[u8]) {
    let mut object = Object::open(out);
    object.string("type", "image");
    let mut source = Object::open(object.key("source"));
    match picture {
        Picture::Url(url) => {
            source.string("type", "url");
            source.string("url", url);
        }
        Picture::Data { media_type, data } => {
            source.string("type", "base64");
            source.string("media_type", media_type);
            let out = source.key("data");
            out.push(b'"');
            json::base64_into(out, data);
            out.push(b'"');
        }
    }
    source.close();
    object.extras(extra, &["type", "source"]);
    object.close();
}

/// All results of a round in one message.
fn results(outcomes: &[Outcome<'_>]) -> Piece {
    let mut message = MessageWriter::open(Speaker::User);
    let mut seqs = Vec::new();
    for outcome in outcomes {
        seqs.extend(outcome.seq);
        message.block(SpanKind::Markable, |out| tool_result(out, outcome));
    }
    let synthetic = seqs.is_empty();
    message.close(b"", Origin { synthetic, ..Origin::rows(seqs) })
}

fn tool_result(out: &mut Vec<u8>, outcome: &Outcome<'_>) {
    let (is_error, parts) = match &outcome.body {
        Body::Parts { is_error, parts } => (*is_error, parts.as_slice()),
        Body::Raw(json) => return out.extend_from_slice(json),
    };
    let mut object = Object::open(out);
    object.string("type", "tool_result");
    object.string("tool_use_id", &outcome.id);
    json::list(object.key("content"), parts, |out, part| match part {
        ResultPart::Text(text) => json::text_part(out, "text", text, b""),
        ResultPart::Image(picture) => image(out, *picture, b""),
        ResultPart::Raw(json) => out.extend_from_slice(json.trim_ascii()),
    });
    if is_error {
        object.raw("is_error", b"true");
    }
    object.extras(outcome.extra_json, &["type", "tool_use_id", "content", "is_error"]);
    object.close();
}

/// A notice: a summary, or the marker of a snip.
pub(super) fn notice(notice: &Notice) -> Piece {
    let overlay = Some(notice.overlay.clone());
    user_text([notice.text.as_ref()], Origin { overlay, ..Origin::default() })
}

/// Writes one message and remembers where its blocks are.
pub(super) struct MessageWriter {
    speaker: Speaker,
    out: Vec<u8>,
    pub(super) blocks: Vec<Span>,
}

impl MessageWriter {
    pub(super) fn open(speaker: Speaker) -> Self {
        Self::with_capacity(speaker, 0)
    }

    pub(super) fn with_capacity(speaker: Speaker, bytes: usize) -> Self {
        let head: &[u8] = match speaker {
            Speaker::Assistant => br#"{"role":"assistant","content":["#,
            Speaker::User | Speaker::System | Speaker::Tool => br#"{"role":"user","content":["#,
        };
        let mut out = Vec::with_capacity(bytes + head.len());
        out.extend_from_slice(head);
        Self { speaker, out, blocks: Vec::new() }
    }

    pub(super) fn block(&mut self, kind: SpanKind, write: impl FnOnce(&mut Vec<u8>)) {
        if !self.blocks.is_empty() {
            self.out.push(b',');
        }
        let start = self.out.len();
        write(&mut self.out);
        self.blocks.push(Span { at: start..self.out.len(), kind });
    }

    /// Ends the list of blocks, puts the extras after it.
    pub(super) fn close(mut self, extra_json: &[u8], origin: Origin) -> Piece {
        self.out.push(b']');
        let mut rest = Vec::new();
        let mut object = Object::open(&mut rest);
        object.extras(extra_json, RESERVED);
        object.close();
        // What follows the list goes on in the same object.
        if let [b'{', members @ .., b'}'] = rest.as_slice()
            && !members.is_empty()
        {
            self.out.push(b',');
            self.out.extend_from_slice(members);
        }
        self.out.push(b'}');
        Piece {
            speaker: self.speaker,
            json: Bytes::from(self.out),
            blocks: self.blocks,
            origin,
            is_compaction: false,
        }
    }
}
