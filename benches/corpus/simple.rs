//! What is done where nobody does anything clever: the oldest messages are
//! dropped until the rest fits, or the last 20 are kept.
//!
//! Both make requests that a provider takes: whole rounds go, so that no result
//! stands without its call, and a line stands first where the assistant would.

use std::sync::Arc;

use concertina::{
    model::WireFormat,
    render::check::{Request, violations_of},
    tokens::MESSAGE_TOKENS,
};

use super::wire::{Wire, WireBlock, tokens_of};

const KEPT_MESSAGES: usize = 20;
const START: &str = "[Earlier messages are left out.]";

/// A way to make a history fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Simple {
    /// The oldest rounds go, one after the other, until the rest fits.
    DropOldest,
    /// The newest 20 messages stay, and what completes their first round;
    /// fewer where they do not fit.
    KeepLast20,
    /// Everything stays, whether it fits or not.
    Everything,
}

impl Simple {
    pub(crate) const ALL: [Self; 3] = [Self::DropOldest, Self::KeepLast20, Self::Everything];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::DropOldest => "drop the oldest",
            Self::KeepLast20 => "keep the last 20",
            Self::Everything => "the whole history",
        }
    }

    /// What is sent of a history. Where the newest round alone is too large, it
    /// is sent all the same.
    pub(crate) fn context(self, history: &Wire, limit: i64) -> anyhow::Result<Wire> {
        let (blocks, most) = (&history.blocks, limit - history.fixed_tokens);
        let start = start()?;
        let first = match self {
            Self::Everything => 0,
            Self::DropOldest => fitting(blocks, 0, most, &start),
            Self::KeepLast20 => fitting(blocks, last_20(blocks), most, &start),
        };
        let mut kept = blocks[first..].to_vec();
        if first > 0 && kept.first().is_some_and(|it| it.is_assistant) {
            kept.insert(0, start);
        }
        Ok(Wire { fixed: history.fixed.clone(), fixed_tokens: history.fixed_tokens, blocks: kept })
    }
}

fn start() -> anyhow::Result<Arc<WireBlock>> {
    let line = serde_json::json!({"role": "user", "content": [{"type": "text", "text": START}]});
    let mut blocks = WireBlock::of_message(&line.to_string())?;
    blocks.pop().ok_or_else(|| anyhow::anyhow!("a line"))
}

/// Says whether a request may start with this block: it begins a round.
fn begins_round(blocks: &[Arc<WireBlock>], at: usize) -> bool {
    let Some(block) = blocks.get(at) else { return false };
    let follows = at.checked_sub(1).and_then(|before| blocks.get(before));
    let is_same_speaker = follows.is_some_and(|it| it.is_assistant == block.is_assistant);
    let after_result = follows.is_some_and(|it| it.is_result);
    !block.is_result && (!is_same_speaker || after_result)
}

/// The oldest start from `from` on that leaves at most `most` tokens; the
/// newest round's where none does.
fn fitting(blocks: &[Arc<WireBlock>], from: usize, most: i64, start: &Arc<WireBlock>) -> usize {
    let left = left_from(blocks);
    let mut best = from;
    for at in (from..blocks.len()).filter(|at| begins_round(blocks, *at)) {
        best = at;
        let line = if blocks[at].is_assistant { tokens_of(std::slice::from_ref(start)) } else { 0 };
        if left[at] + line <= most {
            break;
        }
    }
    best
}

/// Tokens of the blocks from each place on.
fn left_from(blocks: &[Arc<WireBlock>]) -> Vec<i64> {
    let mut left = vec![0; blocks.len() + 1];
    for at in (0..blocks.len()).rev() {
        let ends = blocks.get(at + 1).is_none_or(|it| it.is_assistant != blocks[at].is_assistant);
        let border = if ends { MESSAGE_TOKENS } else { 0 };
        left[at] = left[at + 1] + blocks[at].tokens + border;
    }
    left
}

fn last_20(blocks: &[Arc<WireBlock>]) -> usize {
    let is_first = |at: &usize| *at == 0 || blocks[*at].is_assistant != blocks[at - 1].is_assistant;
    let messages: Vec<usize> = (0..blocks.len()).filter(is_first).collect();
    let first = messages.len().checked_sub(KEPT_MESSAGES).map_or(0, |at| messages[at]);
    (0..=first).rev().find(|at| begins_round(blocks, *at)).unwrap_or(0)
}

/// Rules that a request breaks, as text.
pub(crate) fn faults(wire: &Wire) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for (at, block) in wire.blocks.iter().enumerate() {
        let is_new = at == 0 || wire.blocks[at - 1].is_assistant != block.is_assistant;
        if is_new {
            let role = if block.is_assistant { "assistant" } else { "user" };
            messages.push(format!(r#"{{"role":"{role}","content":[{}"#, block.json));
        } else if let Some(last) = messages.last_mut() {
            last.push(',');
            last.push_str(&block.json);
        }
    }
    let messages: Vec<_> = messages.into_iter().map(|it| (it + "]}").into()).collect();
    let request = Request {
        format: WireFormat::AnthropicMessages,
        system_json: wire.fixed[0].as_bytes(),
        tools_json: wire.fixed[1].as_bytes(),
        messages: &messages,
        may_end_with_assistant: true,
    };
    violations_of(&request).iter().map(|it| format!("{} {}", it.rule, it.detail)).collect()
}
