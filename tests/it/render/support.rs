//! Short ways to say what is shown.

use std::sync::Arc;

use bytes::Bytes;
use concertina::{
    model::{
        Block, BlockKind, Image, ImageSource, Opaque, OverlayId, Role, RowSet, Seq, SeqRange, Text,
        Thinking, ToolOutput, ToolResult, ToolUse, WireFormat,
        shown::{Answer, Notice, ShownBlock, ShownCall, ShownMessage, ShownRound},
    },
    render::{
        self, AssembleOptions, Part, Rendered, RenderedRound, RepairReason, RoundStyle, check,
    },
};
use serde_json::Value;

pub(crate) const FORMATS: [WireFormat; 3] =
    [WireFormat::AnthropicMessages, WireFormat::OpenAiChat, WireFormat::OpenAiResponses];

/// A 1 × 1 PNG, near enough: nobody here decodes it.
pub(crate) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\x00\x00";

pub(crate) fn text(words: &str) -> Block {
    Block::text(words)
}

pub(crate) fn text_with_id(words: &str, provider_id: &str) -> Block {
    let provider_id = provider_id.to_owned();
    Block::new(BlockKind::Text(Text { text: words.to_owned(), provider_id, raw: Bytes::new() }))
}

pub(crate) fn call(id: &str, name: &str, input: &str) -> Block {
    Block::new(BlockKind::ToolUse(tool_use(id, name, input)))
}

pub(crate) fn tool_use(id: &str, name: &str, input: &str) -> ToolUse {
    ToolUse {
        id: id.to_owned(),
        name: name.to_owned(),
        input_json: Bytes::copy_from_slice(input.as_bytes()),
        ..ToolUse::default()
    }
}

pub(crate) fn result(id: &str, output: &str) -> Block {
    result_of(id, vec![ToolOutput::Text(Bytes::copy_from_slice(output.as_bytes()))])
}

pub(crate) fn result_of(id: &str, output: Vec<ToolOutput>) -> Block {
    let tool_use_id = id.to_owned();
    Block::new(BlockKind::ToolResult(ToolResult { tool_use_id, output, ..ToolResult::default() }))
}

pub(crate) fn image() -> Image {
    let source = ImageSource::Data(Bytes::from_static(PNG));
    Image { media_type: "image/png".to_owned(), source }
}

pub(crate) fn signed(words: &str, signature: &str) -> Block {
    Block::new(BlockKind::Thinking(Thinking {
        parts: vec![words.to_owned()],
        signature: signature.to_owned(),
        ..Thinking::default()
    }))
}

pub(crate) fn encrypted(id: &str) -> Block {
    Block::new(BlockKind::Thinking(Thinking {
        encrypted_content: format!("secret of {id}"),
        provider_id: id.to_owned(),
        ..Thinking::default()
    }))
}

pub(crate) fn opaque(format: WireFormat, json: &str) -> Block {
    Block::new(BlockKind::Opaque(Opaque {
        format,
        json: Bytes::copy_from_slice(json.as_bytes()),
        call_id: String::new(),
        is_result: false,
    }))
}

/// A message of one round, blocks numbered from 0.
pub(crate) fn message(seq: i64, role: Role, blocks: Vec<Block>) -> ShownMessage {
    let blocks = blocks.into_iter().zip(0..);
    ShownMessage {
        seq: Seq(seq),
        role,
        author: Arc::from(""),
        model: Arc::from(""),
        provider_id: Arc::from(""),
        format: None,
        extra_json: Bytes::new(),
        blocks: blocks
            .map(|(block, index)| ShownBlock { index, block: Arc::new(block), tokens: 1 })
            .collect(),
    }
}

/// A round of this message, its calls not answered yet.
pub(crate) fn round(message: ShownMessage) -> ShownRound {
    let calls = message.blocks.iter().filter_map(|shown| {
        let BlockKind::ToolUse(it) = &shown.block.kind else { return None };
        (message.role == Role::Assistant).then(|| ShownCall {
            seq: message.seq,
            block: shown.index,
            id: Arc::from(it.id.as_str()),
            repeats: false,
            answer: Answer::Missing,
        })
    });
    ShownRound {
        id: message.seq,
        lane: Arc::from(""),
        calls: calls.collect(),
        messages: vec![message],
        tokens: 0,
    }
}

pub(crate) fn user(seq: i64, words: &str) -> ShownRound {
    round(message(seq, Role::User, vec![text(words)]))
}

pub(crate) fn assistant(seq: i64, blocks: Vec<Block>) -> ShownRound {
    round(message(seq, Role::Assistant, blocks))
}

/// The round with its calls answered in order, each result in a row of its own.
pub(crate) fn answered(mut round: ShownRound, results: Vec<Block>) -> ShownRound {
    for ((call, block), step) in round.calls.iter_mut().zip(results).zip(1..) {
        let seq = Seq(round.id.0 + step);
        call.answer =
            Answer::Result { seq, index: 0, block: Arc::new(block), tokens: 1, moved: false };
    }
    round
}

pub(crate) fn summary(id: &str, words: &str) -> Notice {
    Notice {
        overlay: OverlayId::new(id),
        text: Arc::from(words),
        covered: RowSet::of_ranges(vec![SeqRange { first: Seq(1), last: Seq(9) }]),
        is_summary: true,
        tokens: 0,
    }
}

pub(crate) fn style(format: WireFormat) -> RoundStyle {
    RoundStyle { format, label_authors: false }
}

pub(crate) fn options<'a>(format: WireFormat) -> AssembleOptions<'a> {
    AssembleOptions { format, cache_marks: &[], items: &[] }
}

/// The rounds as a request, which breaks no rule.
#[track_caller]
pub(crate) fn rendered(rounds: &[ShownRound], format: WireFormat) -> Rendered {
    rendered_with(rounds, &options(format))
}

#[track_caller]
pub(crate) fn rendered_with(rounds: &[ShownRound], options: &AssembleOptions<'_>) -> Rendered {
    let written: Vec<RenderedRound> =
        rounds.iter().map(|it| render::round(it, &style(options.format))).collect();
    let parts: Vec<Part<'_>> = written.iter().map(Part::Round).collect();
    let rendered = render::assemble(&parts, options);
    assert_eq!(check::violations(options.format, &rendered), vec![], "{}", joined(&rendered));
    rendered
}

/// The messages as one text, a line each.
pub(crate) fn joined(rendered: &Rendered) -> String {
    let lines = rendered
        .messages
        .iter()
        .map(|json| String::from_utf8(json.to_vec()).expect("JSON is UTF-8"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The messages, parsed.
pub(crate) fn values(rendered: &Rendered) -> Vec<Value> {
    rendered.messages.iter().map(|json| serde_json::from_slice(json).expect("valid JSON")).collect()
}

pub(crate) fn reasons(rendered: &Rendered) -> Vec<(i64, &'static str)> {
    let repairs = rendered.repairs.iter().filter(|it| it.reason != RepairReason::EndsWithAssistant);
    repairs.map(|it| (it.seq.0, it.reason.name())).collect()
}
