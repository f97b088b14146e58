//! One message of a conversation, as its writer meant it.
//!
//! The types mirror the contract's `message.proto`, which says what each field
//! means to a client; the comments here say what it means to the code.

use std::sync::Arc;

use bytes::Bytes;

use super::Timestamp;

/// One message. Immutable once stored; shared, never copied, by who shows it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The parts, in order.
    pub blocks: Vec<Arc<Block>>,
    /// Free text, informative only.
    pub author: String,
    /// The writer's own clock; never used for order or age.
    pub client_time: Option<Timestamp>,
    /// What the provider reported for the request that produced this message.
    pub usage: Option<Usage>,
    /// The model that wrote it.
    pub model: String,
    /// The provider's id of this message.
    pub provider_id: String,
    /// The writer's own line of work; empty: the session's.
    pub lane: String,
    /// The context it answers.
    pub context_fingerprint: String,
    /// The request shape it came in; `None` for typed messages. Extras are
    /// rendered again in this format only.
    pub format: Option<WireFormat>,
    /// A JSON object with fields of the provider's message that have no place
    /// above; empty where there are none.
    pub extra_json: Bytes,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Role {
    /// The person, or the program that answers a tool call.
    #[default]
    User,
    /// The model.
    Assistant,
    /// Instructions in the middle of a conversation.
    System,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// A JSON object with fields of the provider's block that have no place in
    /// `kind`; empty where there are none.
    pub extra_json: Bytes,
}

impl Block {
    /// A block without extras.
    #[must_use]
    pub fn new(kind: BlockKind) -> Self {
        Self { kind, extra_json: Bytes::new() }
    }

    /// A block of plain text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(BlockKind::Text(Text { text: text.into(), ..Text::default() }))
    }
}

/// What a block is.
#[derive(Debug, Clone, PartialEq)]
pub enum BlockKind {
    /// Words.
    Text(Text),
    /// Signed or encrypted reasoning.
    Thinking(Thinking),
    /// Reasoning that the provider does not show: its opaque data.
    RedactedThinking(String),
    /// A tool call.
    ToolUse(ToolUse),
    /// What a tool call came to.
    ToolResult(ToolResult),
    /// A picture.
    Image(Image),
    /// A provider's block that has no shape here.
    Opaque(Opaque),
}

/// Words.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Text {
    /// The words, where they are valid Unicode.
    pub text: String,
    /// The provider's id of this item.
    pub provider_id: String,
    /// The words as WTF-8 where they are not (`text` is then empty).
    pub raw: Bytes,
}

/// Reasoning. Replayed byte for byte or left out whole.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Thinking {
    /// Readable text.
    pub parts: Vec<String>,
    /// Anthropic's signature.
    pub signature: String,
    /// OpenAI's encrypted form.
    pub encrypted_content: String,
    /// The provider's id of this item.
    pub provider_id: String,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolUse {
    /// The caller's id; may repeat or be empty.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as the model wrote them; maybe not JSON.
    pub input_json: Bytes,
    /// The provider's id of this item, where it differs from `id`.
    pub provider_id: String,
    /// The provider's item type where it is not the usual one.
    pub wire_type: String,
}

/// What a tool call came to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolResult {
    /// The id of the call it answers.
    pub tool_use_id: String,
    /// True where the tool failed.
    pub is_error: bool,
    /// The parts, in order.
    pub output: Vec<ToolOutput>,
    /// The provider's item type where it is not the usual one.
    pub wire_type: String,
}

/// One part of a tool result.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolOutput {
    /// Text; bytes, for output need not be valid UTF-8.
    Text(Bytes),
    /// A picture.
    Image(Image),
    /// A provider's part that has no shape here.
    Opaque(Opaque),
}

/// A picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// For example `image/png`.
    pub media_type: String,
    /// Where its bytes are.
    pub source: ImageSource,
}

/// Where a picture's bytes are.
#[derive(Debug, Clone, PartialEq)]
pub enum ImageSource {
    /// Here, decoded.
    Data(Bytes),
    /// Behind an address; dimensions unknown.
    Url(String),
}

/// A provider's block kept byte for byte.
#[derive(Debug, Clone, PartialEq)]
pub struct Opaque {
    /// Whose block it is.
    pub format: WireFormat,
    /// One JSON value.
    pub json: Bytes,
    /// Set where it is a call or a result: it then takes part in a round.
    pub call_id: String,
    /// True where it is a result.
    pub is_result: bool,
}

/// Which provider's request shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WireFormat {
    /// Anthropic Messages.
    AnthropicMessages,
    /// OpenAI Chat Completions.
    OpenAiChat,
    /// OpenAI Responses items.
    OpenAiResponses,
    /// The contract's own messages.
    Typed,
}

/// Token counts of one model request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// All tokens of the prompt, cached ones included.
    pub input_tokens: i64,
    /// Tokens of the answer.
    pub output_tokens: i64,
    /// Part of `input_tokens`.
    pub cache_read_tokens: i64,
    /// Part of `input_tokens`.
    pub cache_write_tokens: i64,
}
