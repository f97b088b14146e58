//! Results whose call is not shown: labelled user text.

use std::sync::Arc;

use super::{Draft, Item, Mender, Step, What, server_speech};
use crate::{
    model::{
        Block, BlockKind, Role, Seq, ToolOutput, ToolResult, ToolUse, WireFormat,
        shown::{Answer, ShownBlock, ShownMessage, ShownRound},
    },
    render::{
        opaque,
        piece::RepairReason,
        result::{self, ResultPart},
        text,
    },
};

impl Mender {
    /// A result block of a message: in its place among a user's words, after
    /// everything that anybody else says.
    pub(super) fn loose_block<'a>(
        &mut self,
        message: &ShownMessage,
        shown: &'a ShownBlock,
        draft: &mut Draft<'a>,
    ) {
        let items = self.loose(message.seq, shown.index, &shown.block);
        if message.role == Role::User {
            draft.items.extend(items);
        } else {
            draft.loose.extend(server_speech(message.seq, items));
        }
    }

    /// A result without its call: labelled user text, pictures kept.
    pub(super) fn loose<'a>(&mut self, seq: Seq, index: u32, block: &'a Block) -> Vec<Item<'a>> {
        self.note(seq, RepairReason::OrphanResultToText);
        let mut shown = Vec::new();
        match &block.kind {
            BlockKind::ToolResult(result) => {
                let parts = result::parts(self, seq, result);
                shown.push(What::Line(loose_text(result, &parts)));
                shown.extend(parts.into_iter().filter_map(|part| match part {
                    ResultPart::Image(picture) => Some(What::Image(picture)),
                    ResultPart::Text(_) | ResultPart::Raw(_) => None,
                }));
            }
            BlockKind::Opaque(opaque) => {
                let label = label_of_result(&opaque.call_id, false);
                shown.push(What::Line(format!("{label}\n{}", opaque::line(opaque))));
            }
            _ => {}
        }
        shown.into_iter().map(|what| Item { index, extra_json: b"", what }).collect()
    }

    /// Answers whose call is not among the shown blocks.
    pub(super) fn strays<'a>(&mut self, round: &'a ShownRound, steps: &mut Vec<Step<'a>>) {
        for call in &round.calls {
            let Answer::Result { seq, index, block, .. } = &call.answer else { continue };
            let is_shown = round.messages.iter().any(|message| {
                message.seq == call.seq && message.blocks.iter().any(|it| it.index == call.block)
            });
            if !is_shown {
                let items = self.loose(*seq, *index, block);
                steps.extend(server_speech(*seq, items));
            }
        }
    }
}

/// A result without its call as blocks of the contract: labelled text, and the
/// pictures as they are.
pub(in crate::render) fn loose_items(block: &Block) -> Vec<Arc<Block>> {
    let mut mender = Mender { format: WireFormat::Typed, repairs: Vec::new() };
    let mut blocks = Vec::new();
    let BlockKind::ToolResult(result) = &block.kind else { return blocks };
    let parts = result::parts(&mut mender, Seq(0), result);
    blocks.push(Arc::new(Block::text(loose_text(result, &parts))));
    for output in &result.output {
        if let ToolOutput::Image(image) = output {
            blocks.push(Arc::new(Block::new(BlockKind::Image(image.clone()))));
        }
    }
    blocks
}

fn loose_text(result: &ToolResult, parts: &[ResultPart<'_>]) -> String {
    let mut text = label_of_result(&result.tool_use_id, result.is_error);
    let texts = parts.iter().filter_map(|part| match part {
        ResultPart::Text(text) => Some(text.as_ref()),
        ResultPart::Image(_) => None,
        // A raw part may not stand outside a result.
        ResultPart::Raw(_) => Some("[provider block]"),
    });
    for part in texts {
        text.push('\n');
        text.push_str(part);
    }
    text
}

fn label_of_result(id: &str, is_error: bool) -> String {
    let kind = if is_error { "error result" } else { "result" };
    if id.is_empty() {
        return format!("[{kind} of a tool call without id]");
    }
    format!("[{kind} of tool call {id}]")
}

/// A call that somebody but the assistant claims to have made.
pub(super) fn call_line(tool_use: &ToolUse) -> String {
    let input = text::lossy(&tool_use.input_json).text;
    format!("[tool call {}] {input}", tool_use.name)
}
