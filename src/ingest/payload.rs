//! The one door for providers' payloads.

use super::{anthropic, chat, fault::Fault, json::Value, responses, warning};
use crate::model::{Message, WireFormat};

/// How much a payload may hold. Its size in bytes is the caller's to bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Levels of nested JSON.
    pub depth: usize,
    /// Messages, or items, of one payload.
    pub messages: usize,
    /// Blocks of one message.
    pub blocks: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 128, messages: 10_000, blocks: 10_000 }
    }
}

/// What a payload came to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Payload {
    /// Its messages, in order; `format` is set in each.
    pub messages: Vec<Message>,
    /// What a projection will have to mend.
    pub warnings: Vec<warning::Warning>,
}

/// A payload that is not what it says it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the payload is not {}: {position}: {detail}", name(*.format))]
pub struct PayloadError {
    /// What it was said to be.
    pub format: WireFormat,
    /// A line and a column where it is not JSON, a path (`[2].content[0]`)
    /// where it has another shape, `the payload` where that is all of it.
    pub position: String,
    /// What was expected and what was found.
    pub detail: String,
}

fn name(format: WireFormat) -> &'static str {
    match format {
        WireFormat::AnthropicMessages => "of Anthropic Messages",
        WireFormat::OpenAiChat => "of OpenAI Chat Completions",
        WireFormat::OpenAiResponses => "of OpenAI Responses",
        WireFormat::Typed => "JSON",
    }
}

/// Reads a message or item, an array of them, or a provider's response object,
/// whose usage is then taken too.
///
/// # Errors
///
/// [`PayloadError`] where `json` is not UTF-8, not JSON, of another shape, or
/// holds more than `limits` allow. Nothing is taken then.
pub fn payload(format: WireFormat, json: &[u8], limits: &Limits) -> Result<Payload, PayloadError> {
    read(format, json, limits).map_err(|fault| {
        let whole = || "the payload".to_owned();
        let position = Some(fault.position).filter(|it| !it.is_empty()).unwrap_or_else(whole);
        PayloadError { format, position, detail: fault.detail }
    })
}

fn read(format: WireFormat, json: &[u8], limits: &Limits) -> Result<Payload, Fault> {
    let text = std::str::from_utf8(json).map_err(|err| {
        Fault::new("expected UTF-8, found other bytes")
            .within(format!("byte {}", err.valid_up_to()))
    })?;
    let value = Value::parse(text, limits.depth)?;
    let messages = match format {
        WireFormat::AnthropicMessages => anthropic::messages(value, limits)?,
        WireFormat::OpenAiChat => chat::messages(value, limits)?,
        WireFormat::OpenAiResponses => responses::messages(value, limits)?,
        WireFormat::Typed => {
            return Err(Fault::new("expected a provider's format, found the typed one"));
        }
    };
    // Items and results of many entries make one message.
    if let Some(index) = messages.iter().position(|it| it.blocks.len() > limits.blocks) {
        let detail = format!("expected at most {} blocks, found more", limits.blocks);
        return Err(Fault::new(detail).within(format!("message {index}")));
    }
    let warnings = warning::of_all(&messages);
    Ok(Payload { messages, warnings })
}
