//! Tokens of a message and its blocks.

use super::{count_bytes, count_text, image, opaque};
use crate::model::{
    Block, BlockKind, Message, MessageTokens, Text, Thinking, ToolOutput, ToolResult, ToolUse,
};

/// What a message costs besides its blocks: its role and the marks around it.
pub const MESSAGE_TOKENS: i64 = 4;
/// What the result costs that is shown for a call that nobody answered.
pub const SYNTHETIC_RESULT_TOKENS: i64 = 32;
/// What a block of text costs besides its words.
const TEXT: u32 = 0;
/// What reasoning costs besides its words.
const THINKING: u32 = 4;
/// What a call costs besides name and arguments: its id and the marks.
const TOOL_USE: u32 = 16;
/// What a result costs besides its parts: the id it answers and the marks.
const TOOL_RESULT: u32 = 12;
/// Characters of a signature that hold no reasoning, whatever its length: seen
/// in signatures of short thoughts.
const SIGNATURE_ENVELOPE: usize = 240;

/// Tokens of a message, uncalibrated. Extras are never counted: they come back
/// in their own format only and hold marks, not words.
#[must_use]
pub fn message(message: &Message) -> MessageTokens {
    let blocks: Vec<u32> = message.blocks.iter().map(|part| block(part)).collect();
    let total = MESSAGE_TOKENS + blocks.iter().copied().map(i64::from).sum::<i64>();
    MessageTokens { total, blocks }
}

/// Tokens of one block, as rendered.
#[must_use]
pub fn block(block: &Block) -> u32 {
    match &block.kind {
        BlockKind::Text(text) => words(text).saturating_add(TEXT),
        BlockKind::Thinking(thinking) => reasoning(thinking).saturating_add(THINKING),
        BlockKind::RedactedThinking(data) => encrypted(data).saturating_add(THINKING),
        BlockKind::ToolUse(call) => tool_use(call),
        BlockKind::ToolResult(result) => tool_result(result),
        BlockKind::Image(picture) => image(picture),
        BlockKind::Opaque(other) => opaque(other),
    }
}

/// Tokens of one part of a tool result.
#[must_use]
pub fn output(output: &ToolOutput) -> u32 {
    match output {
        ToolOutput::Text(bytes) => count_bytes(bytes),
        ToolOutput::Image(picture) => image(picture),
        ToolOutput::Opaque(other) => opaque(other),
    }
}

fn words(text: &Text) -> u32 {
    if text.text.is_empty() { count_bytes(&text.raw) } else { count_text(&text.text) }
}

/// The words, or what the encrypted form holds where that is more: a provider
/// shows a summary of what it thought and charges for the whole.
fn reasoning(thinking: &Thinking) -> u32 {
    let shown = sum(thinking.parts.iter().map(|part| count_text(part)));
    shown.max(encrypted(&thinking.signature)).max(encrypted(&thinking.encrypted_content))
}

fn encrypted(data: &str) -> u32 {
    let tokens = super::opaque::encoded(data.len().saturating_sub(SIGNATURE_ENVELOPE));
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

fn tool_use(call: &ToolUse) -> u32 {
    sum([TOOL_USE, count_text(&call.name), count_bytes(&call.input_json)])
}

fn tool_result(result: &ToolResult) -> u32 {
    sum(result.output.iter().map(output)).saturating_add(TOOL_RESULT)
}

fn sum(parts: impl IntoIterator<Item = u32>) -> u32 {
    parts.into_iter().fold(0, u32::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_its_blocks_and_a_constant() {
        let call = ToolUse {
            name: "read".into(),
            input_json: "{\"path\":\"a\"}".into(),
            ..ToolUse::default()
        };
        let blocks = [Block::text("hello there"), Block::new(BlockKind::ToolUse(call))];
        let whole = message(&Message {
            blocks: blocks.map(std::sync::Arc::new).into(),
            ..Message::default()
        });
        assert_eq!(whole.blocks[0], count_text("hello there"));
        assert_eq!(whole.blocks[1], 16 + count_text("read") + count_text("{\"path\":\"a\"}"));
        assert_eq!(whole.total, 4 + i64::from(whole.blocks[0] + whole.blocks[1]));
    }

    #[test]
    fn extras_and_ids_are_not_counted() {
        let plain = Block::text("words");
        let mut with = plain.clone();
        with.extra_json = "{\"cache_control\":{\"type\":\"ephemeral\"}}".into();
        assert_eq!(block(&plain), block(&with));
    }

    #[test]
    fn a_signature_counts_where_it_holds_more_than_the_words() {
        let of = |words: &str, signature: usize| {
            let signature = "x".repeat(signature);
            let thinking = Thinking { parts: vec![words.into()], signature, ..Thinking::default() };
            block(&Block::new(BlockKind::Thinking(thinking)))
        };
        assert_eq!(of("a thought", 300), 4 + 60 * 3 / 16);
        assert_eq!(of("a thought", 200), 4 + count_text("a thought"));
        assert_eq!(of("a thought", 16_240), 4 + 3000);
        let redacted = BlockKind::RedactedThinking("y".repeat(16_240));
        assert_eq!(block(&Block::new(redacted)), 4 + 3000);
    }

    #[test]
    fn text_that_is_no_unicode_is_counted_by_its_bytes() {
        let text = Text { raw: b"a\xed\xa0\x80b".as_slice().into(), ..Text::default() };
        assert!(block(&Block::new(BlockKind::Text(text))) >= 2);
    }
}
