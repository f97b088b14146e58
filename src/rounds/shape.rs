//! What pairing needs to know of a message: its calls, its results, and
//! whether it says anything else.

use crate::model::{BlockKind, Message, Opaque, Role, WireFormat};

/// The skeleton of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageShape {
    /// Who speaks.
    pub role: Role,
    /// The writer's lane.
    pub lane: String,
    /// Its calls, in order.
    pub calls: Vec<CallShape>,
    /// Its results, in order.
    pub results: Vec<ResultShape>,
    /// True where it holds anything besides results.
    pub holds_more_than_results: bool,
}

/// One call of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallShape {
    /// The block that holds it.
    pub block: u32,
    /// The caller's id; may be empty.
    pub id: String,
}

/// One result of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultShape {
    /// The block that holds it.
    pub block: u32,
    /// The id of the call it answers.
    pub id: String,
}

impl MessageShape {
    /// The skeleton of `message`.
    #[must_use]
    pub fn of(message: &Message) -> Self {
        let mut shape = Self {
            role: message.role,
            lane: message.lane.clone(),
            calls: Vec::new(),
            results: Vec::new(),
            holds_more_than_results: false,
        };
        for (index, block) in message.blocks.iter().enumerate() {
            let block_index = u32::try_from(index).unwrap_or(u32::MAX);
            match &block.kind {
                BlockKind::ToolUse(call) if message.role == Role::Assistant => {
                    shape.calls.push(CallShape { block: block_index, id: call.id.clone() });
                    shape.holds_more_than_results = true;
                }
                BlockKind::ToolResult(result) => {
                    shape
                        .results
                        .push(ResultShape { block: block_index, id: result.tool_use_id.clone() });
                }
                BlockKind::Opaque(opaque)
                    if !opaque.call_id.is_empty()
                        && opaque.is_result
                        && message.role != Role::Assistant =>
                {
                    shape
                        .results
                        .push(ResultShape { block: block_index, id: opaque.call_id.clone() });
                }
                BlockKind::Opaque(opaque)
                    if is_client_run(opaque) && message.role == Role::Assistant =>
                {
                    shape.calls.push(CallShape { block: block_index, id: opaque.call_id.clone() });
                    shape.holds_more_than_results = true;
                }
                _ => shape.holds_more_than_results = true,
            }
        }
        // A message without a single block says nothing, but it is not a result.
        if message.blocks.is_empty() {
            shape.holds_more_than_results = true;
        }
        shape
    }

    /// Says whether it starts a turn: a user's words.
    #[must_use]
    pub fn starts_turn(&self) -> bool {
        self.role == Role::User && self.holds_more_than_results
    }
}

/// Says whether the client runs this provider-specific call and appends what it
/// came to. Anthropic runs its own server tools: their results come in
/// assistant messages, and nobody waits for them.
fn is_client_run(opaque: &Opaque) -> bool {
    !opaque.call_id.is_empty()
        && !opaque.is_result
        && opaque.format != WireFormat::AnthropicMessages
}
