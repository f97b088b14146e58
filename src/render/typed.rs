//! The contract's own messages: the projected content, paired, not written as
//! any provider's JSON.
//!
//! Blocks are shared with the projection, not copied. Who turns them into a
//! request renders the rest; only the pairing is settled here, as it is in every
//! format. Authors and lanes have fields of their own and are not put into the
//! text.

use std::sync::Arc;

use bytes::Bytes;

use super::{
    alias,
    mend::{self, loose_items},
    piece::{Origin, RenderedRound, Repair, RepairReason, TypedPiece},
    result, scan,
};
use crate::model::{
    Block, BlockKind, Message, Opaque, Role, Seq, ToolOutput, ToolResult, ToolUse, WireFormat,
    shown::{Answer, ShownBlock, ShownCall, ShownMessage, ShownRound},
};

/// A round as messages: each of its own, the results after their calls.
pub(super) fn round(round: &ShownRound) -> RenderedRound {
    let mut out = RenderedRound::default();
    for message in &round.messages {
        let mut draft = Draft::default();
        for shown in &message.blocks {
            draft.block(round, message, shown, &mut out.repairs);
        }
        draft.finish(round, message, &mut out.typed);
    }
    out
}

/// A user message of the server's own.
pub(super) fn server_message(role: Role, texts: &[&str], origin: Origin) -> TypedPiece {
    let blocks = texts.iter().map(|text| Arc::new(Block::text(*text))).collect();
    TypedPiece { message: Message { role, blocks, ..Message::default() }, origin }
}

#[derive(Default)]
struct Draft {
    blocks: Vec<Arc<Block>>,
    results: Vec<Arc<Block>>,
    result_seqs: Vec<Seq>,
    loose: Vec<Arc<Block>>,
}

impl Draft {
    fn block(
        &mut self,
        round: &ShownRound,
        message: &ShownMessage,
        shown: &ShownBlock,
        repairs: &mut Vec<Repair>,
    ) {
        let seq = message.seq;
        match &shown.block.kind {
            BlockKind::ToolUse(tool_use) if message.role == Role::Assistant => {
                let known = mend::find_call(round, seq, shown.index);
                let id = shown_id(known, &tool_use.id, seq, shown.index, repairs);
                self.answer(known, seq, &id, repairs);
                self.blocks.push(with_call_id(&shown.block, &tool_use.id, id));
            }
            BlockKind::ToolResult(_) => {
                repairs.push(Repair { seq, reason: RepairReason::OrphanResultToText });
                let own =
                    if message.role == Role::User { &mut self.blocks } else { &mut self.loose };
                own.extend(loose_items(&shown.block));
            }
            BlockKind::Opaque(opaque) => {
                if let Some(known) = mend::find_call(round, seq, shown.index) {
                    let id = shown_id(Some(known), &opaque.call_id, seq, shown.index, repairs);
                    self.answer(Some(known), seq, &id, repairs);
                    self.blocks.push(with_call_id(&shown.block, &opaque.call_id, id));
                } else {
                    self.blocks.push(without_marks(&shown.block));
                }
            }
            _ => self.blocks.push(without_marks(&shown.block)),
        }
    }

    fn answer(&mut self, known: Option<&ShownCall>, seq: Seq, id: &str, repairs: &mut Vec<Repair>) {
        if let Some(Answer::Result { seq, block, moved, .. }) = known.map(|call| &call.answer) {
            if *moved {
                repairs.push(Repair { seq: *seq, reason: RepairReason::ResultMoved });
            }
            let own = match &block.kind {
                BlockKind::ToolResult(it) => it.tool_use_id.clone(),
                BlockKind::Opaque(it) => it.call_id.clone(),
                _ => String::new(),
            };
            self.results.push(with_call_id(block, &own, id.to_owned()));
            self.result_seqs.push(*seq);
            return;
        }
        repairs.push(Repair { seq, reason: RepairReason::SyntheticResult });
        let output = vec![ToolOutput::Text(Bytes::from_static(result::NOT_RECORDED.as_bytes()))];
        self.results.push(Arc::new(Block::new(BlockKind::ToolResult(ToolResult {
            tool_use_id: id.to_owned(),
            is_error: true,
            output,
            wire_type: String::new(),
        }))));
    }

    fn finish(self, round: &ShownRound, message: &ShownMessage, out: &mut Vec<TypedPiece>) {
        let user = |blocks: Vec<Arc<Block>>| Message {
            role: Role::User,
            blocks,
            lane: round.lane.to_string(),
            ..Message::default()
        };
        if !self.blocks.is_empty() {
            let origin = Origin::rows(vec![message.seq]);
            out.push(TypedPiece { message: whole(round, message, self.blocks), origin });
        }
        if !self.results.is_empty() {
            let synthetic = self.result_seqs.is_empty();
            let origin = Origin { synthetic, ..Origin::rows(self.result_seqs) };
            out.push(TypedPiece { message: user(self.results), origin });
        }
        if !self.loose.is_empty() {
            let origin = Origin::rows(vec![message.seq]);
            out.push(TypedPiece { message: user(self.loose), origin });
        }
    }
}

fn whole(round: &ShownRound, message: &ShownMessage, blocks: Vec<Arc<Block>>) -> Message {
    Message {
        role: message.role,
        blocks,
        author: message.author.to_string(),
        model: message.model.to_string(),
        provider_id: message.provider_id.to_string(),
        lane: round.lane.to_string(),
        format: message.format,
        extra_json: extras(&message.extra_json),
        ..Message::default()
    }
}

fn shown_id(
    known: Option<&ShownCall>,
    id: &str,
    seq: Seq,
    block: u32,
    repairs: &mut Vec<Repair>,
) -> String {
    let repeats = known.is_none_or(|call| call.repeats);
    if !repeats && alias::is_legal_id(id, WireFormat::Typed) {
        return id.to_owned();
    }
    repairs.push(Repair { seq, reason: RepairReason::IdAliased });
    alias::of_id(id, seq, block)
}

/// The block under another call id; the same block where the id is its own.
fn with_call_id(block: &Arc<Block>, own: &str, id: String) -> Arc<Block> {
    if own == id {
        return without_marks(block);
    }
    let kind = match &block.kind {
        BlockKind::ToolUse(it) => BlockKind::ToolUse(ToolUse { id, ..it.clone() }),
        BlockKind::ToolResult(it) => {
            BlockKind::ToolResult(ToolResult { tool_use_id: id, ..it.clone() })
        }
        BlockKind::Opaque(it) => BlockKind::Opaque(Opaque { call_id: id, ..it.clone() }),
        other => other.clone(),
    };
    Arc::new(Block { kind, extra_json: extras(&block.extra_json) })
}

fn without_marks(block: &Arc<Block>) -> Arc<Block> {
    let extra_json = extras(&block.extra_json);
    if extra_json == block.extra_json {
        return Arc::clone(block);
    }
    Arc::new(Block { kind: block.kind.clone(), extra_json })
}

fn extras(extra_json: &Bytes) -> Bytes {
    if scan::strict_object(extra_json).is_none() {
        return extra_json.clone();
    }
    match scan::without_marks(extra_json) {
        std::borrow::Cow::Borrowed(_) => extra_json.clone(),
        std::borrow::Cow::Owned(json) if json == b"{}" => Bytes::new(),
        std::borrow::Cow::Owned(json) => Bytes::from(json),
    }
}
