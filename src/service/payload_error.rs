//! How a payload that cannot be read is told.

use super::{Error, Limits};
use crate::{ingest, model::WireFormat};

/// Longest text that an error repeats, in characters.
const MOST_CHARS: usize = 200;

/// What `ingest` is held to.
pub(super) fn ingest_limits(limits: &Limits) -> ingest::Limits {
    ingest::Limits {
        messages: limits.messages_per_request,
        blocks: limits.blocks_per_message,
        ..ingest::Limits::default()
    }
}

impl From<ingest::PayloadError> for Error {
    fn from(err: ingest::PayloadError) -> Self {
        Self::InvalidPayload {
            format: format_name(err.format).to_owned(),
            position: short(&err.position),
            detail: short(&err.detail),
        }
    }
}

/// A format, as the contract spells it.
pub(super) fn format_name(format: WireFormat) -> &'static str {
    match format {
        WireFormat::AnthropicMessages => "ANTHROPIC_MESSAGES",
        WireFormat::OpenAiChat => "OPENAI_CHAT",
        WireFormat::OpenAiResponses => "OPENAI_RESPONSES",
        WireFormat::Typed => "TYPED",
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARS) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
