//! What is stored as it came although a projection will have to mend it.

use serde_json::value::RawValue;

use crate::{
    model::{BlockKind, Image, ImageSource, Message, Opaque, Seq, Text, ToolOutput, ToolUse},
    service::{Ctx, check_message::is_json_object, fields::excerpt},
    store::{Appended, NewRow, SessionRef},
};

/// An answer names at most so many.
const MOST: usize = 1000;

/// Something stored as it came that a projection will have to mend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppendWarning {
    /// The message.
    pub seq: Seq,
    /// What, as the contract spells it.
    pub reason: &'static str,
    /// Where in the message, or which id.
    pub detail: String,
}

/// What the message alone gives away.
pub(super) fn of_message(seq: Seq, message: &Message) -> Vec<AppendWarning> {
    let mut warnings = Vec::new();
    let mut warn = |reason, detail| warnings.push(AppendWarning { seq, reason, detail });
    for (index, block) in message.blocks.iter().enumerate() {
        match &block.kind {
            BlockKind::Text(text) if has_invalid_text(text) => {
                warn("INVALID_TEXT", format!("blocks[{index}].text"));
            }
            BlockKind::ToolUse(call) => {
                if let Some(reason) = wrong_input(call) {
                    warn(reason, format!("blocks[{index}].tool_use of {}", excerpt(&call.name)));
                }
            }
            BlockKind::ToolResult(result) => {
                for (at, output) in result.output.iter().enumerate() {
                    if matches!(output, ToolOutput::Text(it) if std::str::from_utf8(it).is_err()) {
                        warn("INVALID_TEXT", format!("blocks[{index}].tool_result.output[{at}]"));
                    }
                }
            }
            BlockKind::Text(_)
            | BlockKind::Thinking(_)
            | BlockKind::RedactedThinking(_)
            | BlockKind::Image(_)
            | BlockKind::Opaque(_) => {}
        }
    }
    warnings
}

/// What the messages gave away, and what their places did.
pub(super) fn of_append(
    appended: &Appended,
    of_messages: Vec<AppendWarning>,
) -> Vec<AppendWarning> {
    let first = appended.first_seq.0;
    let of_messages =
        of_messages.into_iter().map(|it| AppendWarning { seq: Seq(first + it.seq.0), ..it });
    let of_places = appended.placements.iter().flat_map(|placement| {
        placement.oddities.iter().map(|(oddity, id)| AppendWarning {
            seq: placement.seq,
            reason: oddity.name(),
            detail: excerpt(id),
        })
    });
    let mut warnings: Vec<_> = of_messages.chain(of_places).collect();
    warnings.sort_by_key(|it| it.seq);
    warnings.truncate(MOST);
    warnings
}

/// Fingerprints that no context of the session had.
pub(super) fn of_fingerprints(
    ctx: &Ctx,
    session: &SessionRef,
    rows: &[NewRow],
    first: Seq,
) -> Vec<AppendWarning> {
    let unknown = (first.0..).zip(rows).filter(|(_, row)| {
        let fingerprint = &row.message.context_fingerprint;
        !fingerprint.is_empty() && !crate::service::knows_fingerprint(ctx, session, fingerprint)
    });
    unknown
        .take(MOST)
        .map(|(seq, row)| AppendWarning {
            seq: Seq(seq),
            reason: "UNKNOWN_FINGERPRINT",
            detail: excerpt(&row.message.context_fingerprint),
        })
        .collect()
}

fn has_invalid_text(text: &Text) -> bool {
    !text.raw.is_empty() && std::str::from_utf8(&text.raw).is_err()
}

/// The arguments of a tool with a shape of its own are free text.
fn wrong_input(call: &ToolUse) -> Option<&'static str> {
    if !call.wire_type.is_empty() {
        return std::str::from_utf8(&call.input_json).is_err().then_some("INVALID_TEXT");
    }
    if !is_json_object(&call.input_json) {
        return Some("INVALID_TOOL_INPUT");
    }
    has_lone_surrogate(&call.input_json).then_some("INVALID_TEXT")
}

/// Says whether valid JSON escapes half a character: only a lax parser takes it.
fn has_lone_surrogate(json: &[u8]) -> bool {
    let may = json.windows(3).any(|it| it[0] == b'\\' && it[1] == b'u' && it[2] | 0x20 == b'd');
    may && serde_json::from_slice::<&RawValue>(json).is_ok()
        && serde_json::from_slice::<serde_json::Value>(json).is_err()
}

/// About how many bytes a message holds.
pub(super) fn content_bytes(message: &Message) -> usize {
    message.blocks.iter().map(|block| block_bytes(&block.kind) + block.extra_json.len()).sum()
}

fn block_bytes(kind: &BlockKind) -> usize {
    match kind {
        BlockKind::Text(text) => text.text.len() + text.raw.len(),
        BlockKind::Thinking(it) => {
            it.parts.iter().map(String::len).sum::<usize>() + it.encrypted_content.len()
        }
        BlockKind::RedactedThinking(data) => data.len(),
        BlockKind::ToolUse(call) => call.input_json.len(),
        BlockKind::ToolResult(result) => result.output.iter().map(output_bytes).sum(),
        BlockKind::Image(image) => image_bytes(image),
        BlockKind::Opaque(opaque) => opaque_bytes(opaque),
    }
}

fn output_bytes(output: &ToolOutput) -> usize {
    match output {
        ToolOutput::Text(text) => text.len(),
        ToolOutput::Image(image) => image_bytes(image),
        ToolOutput::Opaque(opaque) => opaque_bytes(opaque),
    }
}

fn image_bytes(image: &Image) -> usize {
    match &image.source {
        ImageSource::Data(data) => data.len(),
        ImageSource::Url(url) => url.len(),
    }
}

fn opaque_bytes(opaque: &Opaque) -> usize {
    opaque.json.len()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{Block, ToolResult};

    #[track_caller]
    fn check(kind: BlockKind, expected: &[&str]) {
        let message = Message { blocks: vec![Arc::new(Block::new(kind))], ..Message::default() };
        let found: Vec<_> = of_message(Seq(0), &message).iter().map(|it| it.reason).collect();
        assert_eq!(found, expected);
    }

    fn call(input: &'static str) -> BlockKind {
        BlockKind::ToolUse(ToolUse { input_json: input.into(), ..ToolUse::default() })
    }

    #[test]
    fn input_that_is_no_json_object_is_warned_of() {
        check(call(r#"{"a":1}"#), &[]);
        check(call("[1]"), &["INVALID_TOOL_INPUT"]);
        check(call("{\"a\":"), &["INVALID_TOOL_INPUT"]);
        check(call(""), &["INVALID_TOOL_INPUT"]);
    }

    #[test]
    fn l1_half_a_character_is_warned_of() {
        check(call(r#"{"q":"A\ud99c B"}"#), &["INVALID_TEXT"]);
        check(call(r#"{"q":"\ud83d\ude00"}"#), &[]);
        let raw = Text { raw: bytes::Bytes::from_static(b"a\xed\xa0\x80"), ..Text::default() };
        check(BlockKind::Text(raw), &["INVALID_TEXT"]);
    }

    #[test]
    fn l5_output_that_is_no_text_is_warned_of() {
        let output = vec![ToolOutput::Text(bytes::Bytes::from_static(b"\xff\xfe\x00\x0a\x80"))];
        let result = ToolResult { output, ..ToolResult::default() };
        check(BlockKind::ToolResult(result), &["INVALID_TEXT"]);
    }
}
