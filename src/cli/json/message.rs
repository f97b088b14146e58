//! Rows of the history.

use std::borrow::Cow;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::Serialize;

use super::{Json, hex};
use crate::{
    cli::names,
    proto::v1::{self, block, image, tool_output},
};

/// One row: a normalized record and what the store knows of it.
#[derive(Serialize)]
pub(in crate::cli) struct RowJson<'a> {
    seq: i64,
    turn: i64,
    round: i64,
    revision: i64,
    tokens: i64,
    record_time: String,
    digest: String,
    role: &'static str,
    content: Vec<BlockJson<'a>>,
    #[serde(skip_serializing_if = "String::is_empty")]
    ts: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    author: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    lane: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<UsageJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<Json<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    elided: Vec<ElidedJson>,
}

impl<'a> RowJson<'a> {
    pub(in crate::cli) fn new(row: &'a v1::ReadHistoryResponse) -> Option<Self> {
        let stored = row.message.as_ref()?;
        let message = stored.message.as_ref()?;
        Some(Self {
            seq: stored.seq,
            turn: stored.turn,
            round: stored.round,
            revision: stored.revision,
            tokens: stored.tokens,
            record_time: names::time(stored.record_time.as_ref()),
            digest: hex(&stored.digest),
            role: names::role(message.role),
            content: message.blocks.iter().filter_map(BlockJson::new).collect(),
            ts: names::time(message.client_time.as_ref()),
            author: &message.author,
            lane: &message.lane,
            model: &message.model,
            usage: message.usage.as_ref().map(UsageJson::new),
            extra: Json::of(&message.extra_json),
            elided: row.elided.iter().map(ElidedJson::new).collect(),
        })
    }
}

#[expect(clippy::struct_field_names, reason = "the contract's names")]
#[derive(Serialize)]
struct UsageJson {
    input_tokens: i64,
    output_tokens: i64,
    cache_read_tokens: i64,
    cache_write_tokens: i64,
}

impl UsageJson {
    fn new(usage: &v1::Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
        }
    }
}

/// Content too large for a row; `concertina content` prints it.
#[derive(Serialize)]
struct ElidedJson {
    block: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<i32>,
}

impl ElidedJson {
    fn new(content: &v1::ContentRef) -> Self {
        Self { block: content.block, part: content.output }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BlockJson<'a> {
    Text { text: Cow<'a, str> },
    Thinking { thinking: String, signature: &'a str },
    RedactedThinking { data: &'a str },
    ToolUse { id: &'a str, name: &'a str, input: Option<Json<'a>> },
    ToolResult { tool_use_id: &'a str, content: Vec<PartJson<'a>>, is_error: bool },
    Image { source: SourceJson<'a> },
    Opaque { format: String, json: Option<Json<'a>> },
}

impl<'a> BlockJson<'a> {
    fn new(block: &'a v1::Block) -> Option<Self> {
        use block::Kind as K;
        Some(match block.kind.as_ref()? {
            K::Text(text) => Self::Text { text: words(text) },
            K::Thinking(thinking) => Self::Thinking {
                thinking: thinking.parts.join("\n"),
                signature: &thinking.signature,
            },
            K::RedactedThinking(hidden) => Self::RedactedThinking { data: &hidden.data },
            K::ToolUse(call) => {
                Self::ToolUse { id: &call.id, name: &call.name, input: Json::of(&call.input_json) }
            }
            K::ToolResult(result) => Self::ToolResult {
                tool_use_id: &result.tool_use_id,
                content: result.output.iter().filter_map(PartJson::new).collect(),
                is_error: result.is_error,
            },
            K::Image(image) => Self::Image { source: SourceJson::new(image)? },
            K::Opaque(opaque) => {
                Self::Opaque { format: names::format(opaque.format), json: Json::of(&opaque.json) }
            }
        })
    }
}

fn words(text: &v1::Text) -> Cow<'_, str> {
    if text.raw.is_empty() { Cow::Borrowed(&text.text) } else { String::from_utf8_lossy(&text.raw) }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum PartJson<'a> {
    Text { text: Cow<'a, str> },
    Image { source: SourceJson<'a> },
    Opaque { format: String, json: Option<Json<'a>> },
}

impl<'a> PartJson<'a> {
    fn new(part: &'a v1::ToolOutput) -> Option<Self> {
        use tool_output::Kind as K;
        Some(match part.kind.as_ref()? {
            K::Text(text) => Self::Text { text: String::from_utf8_lossy(text) },
            K::Image(image) => Self::Image { source: SourceJson::new(image)? },
            K::Opaque(opaque) => {
                Self::Opaque { format: names::format(opaque.format), json: Json::of(&opaque.json) }
            }
        })
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum SourceJson<'a> {
    Base64 { media_type: &'a str, data: String },
    Url { url: &'a str },
}

impl<'a> SourceJson<'a> {
    fn new(image: &'a v1::Image) -> Option<Self> {
        Some(match image.source.as_ref()? {
            image::Source::Data(data) => {
                Self::Base64 { media_type: &image.media_type, data: BASE64_STANDARD.encode(data) }
            }
            image::Source::Url(url) => Self::Url { url },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_normalized_shape() {
        let call = v1::ToolUse {
            id: "c1".into(),
            name: "read_file".into(),
            input_json: bytes::Bytes::from_static(br#"{"path" : "a"}"#),
            ..v1::ToolUse::default()
        };
        let message = v1::Message {
            role: v1::Role::Assistant.into(),
            blocks: vec![v1::Block {
                kind: Some(block::Kind::ToolUse(call)),
                ..v1::Block::default()
            }],
            ..v1::Message::default()
        };
        let stored =
            v1::StoredMessage { seq: 7, message: Some(message), ..v1::StoredMessage::default() };
        let row = v1::ReadHistoryResponse { message: Some(stored), elided: vec![] };
        let printed = serde_json::to_string(&RowJson::new(&row)).expect("prints");
        assert!(printed.starts_with(r#"{"seq":7,"#), "{printed}");
        let block = r#"{"type":"tool_use","id":"c1","name":"read_file","input":{"path" : "a"}}"#;
        assert!(printed.contains(block), "{printed}");
    }
}
