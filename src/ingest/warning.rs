//! What came in, is kept, and will have to be mended when it is shown.

use serde::de::IgnoredAny;

use crate::model::{BlockKind, Message, ToolOutput, ToolUse};

/// Something in a message that no provider would take as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The message, by its index in the payload.
    pub message: usize,
    /// Which sort.
    pub reason: WarningReason,
    /// Where and what.
    pub detail: String,
}

/// Sorts of [`Warning`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WarningReason {
    /// Arguments that are not a JSON object.
    InvalidToolInput,
    /// Text that is not valid Unicode.
    InvalidText,
}

impl WarningReason {
    /// Its name, as `AppendWarning.reason` spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::InvalidToolInput => "INVALID_TOOL_INPUT",
            Self::InvalidText => "INVALID_TEXT",
        }
    }
}

pub(super) fn of_all(messages: &[Message]) -> Vec<Warning> {
    messages.iter().enumerate().flat_map(|(index, it)| warnings_of(index, it)).collect()
}

/// The warnings of one message, typed ones included.
#[must_use]
pub fn warnings_of(index: usize, message: &Message) -> Vec<Warning> {
    let warn = |reason, detail| Warning { message: index, reason, detail };
    let mut warnings = Vec::new();
    for (place, block) in message.blocks.iter().enumerate() {
        match &block.kind {
            BlockKind::Text(text) if !text.raw.is_empty() => {
                let detail = format!("block {place}: a lone surrogate");
                warnings.push(warn(WarningReason::InvalidText, detail));
            }
            BlockKind::ToolUse(call) if !takes_free_text(call) && !is_object(&call.input_json) => {
                let detail = format!("block {place}: the arguments of `{}`", call.name);
                warnings.push(warn(WarningReason::InvalidToolInput, detail));
            }
            BlockKind::ToolResult(result) if result.output.iter().any(is_not_unicode) => {
                let detail = format!("block {place}: the result of `{}`", result.tool_use_id);
                warnings.push(warn(WarningReason::InvalidText, detail));
            }
            _ => {}
        }
    }
    warnings
}

fn takes_free_text(call: &ToolUse) -> bool {
    matches!(call.wire_type.as_str(), "custom" | "custom_tool_call")
}

fn is_object(json: &[u8]) -> bool {
    json.trim_ascii_start().starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(json).is_ok()
}

fn is_not_unicode(output: &ToolOutput) -> bool {
    matches!(output, ToolOutput::Text(text) if std::str::from_utf8(text).is_err())
}
