//! Providers' payloads and recorded sessions.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod anthropic;
mod chat;
mod corpus;
mod fuzz;
mod nothing_lost;
mod responses;
mod sessions;

use concertina::{
    ingest::{Limits, Payload, PayloadError, payload},
    model::{Block, BlockKind, Message, ToolOutput, ToolResult, ToolUse, WireFormat},
};

fn read(format: WireFormat, json: impl AsRef<[u8]>) -> Result<Payload, PayloadError> {
    payload(format, json.as_ref(), &Limits::default())
}

fn text_of(block: &Block) -> &str {
    match &block.kind {
        BlockKind::Text(text) => &text.text,
        other => panic!("expected text, found {other:?}"),
    }
}

fn call_of(block: &Block) -> &ToolUse {
    match &block.kind {
        BlockKind::ToolUse(call) => call,
        other => panic!("expected a call, found {other:?}"),
    }
}

fn result_of(block: &Block) -> &ToolResult {
    match &block.kind {
        BlockKind::ToolResult(result) => result,
        other => panic!("expected a result, found {other:?}"),
    }
}

fn output_text(output: &ToolOutput) -> &[u8] {
    match output {
        ToolOutput::Text(text) => text,
        other => panic!("expected text, found {other:?}"),
    }
}

/// One word a block: what a message is made of.
fn outline(message: &Message) -> String {
    let words: Vec<String> = message.blocks.iter().map(|it| word(it)).collect();
    format!("{:?} [{}]", message.role, words.join(" "))
}

fn word(block: &Block) -> String {
    match &block.kind {
        BlockKind::Text(_) => "text".to_owned(),
        BlockKind::Thinking(_) => "thinking".to_owned(),
        BlockKind::RedactedThinking(_) => "redacted".to_owned(),
        BlockKind::ToolUse(call) => format!("call:{}", call.id),
        BlockKind::ToolResult(result) => format!("result:{}", result.tool_use_id),
        BlockKind::Image(_) => "image".to_owned(),
        BlockKind::Opaque(opaque) if opaque.is_result => format!("opaque<{}", opaque.call_id),
        BlockKind::Opaque(opaque) if opaque.call_id.is_empty() => "opaque".to_owned(),
        BlockKind::Opaque(opaque) => format!("opaque>{}", opaque.call_id),
    }
}

fn outlines(messages: &[Message]) -> Vec<String> {
    messages.iter().map(outline).collect()
}

#[track_caller]
fn refused(format: WireFormat, json: &str, position: &str, detail: &str) {
    let err = read(format, json).unwrap_err();
    assert_eq!(err.format, format);
    assert_eq!((err.position.as_str(), err.detail.as_str()), (position, detail));
}
