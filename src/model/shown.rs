//! What a projection shows: the hand-over from `projection` to `render`.
//!
//! A projection is a list of [`Entry`]s in shown order. A round comes whole,
//! with its calls already paired to their answers and every reduction applied:
//! the renderer decides nothing about *what* is shown, only how a provider
//! wants it written.

use std::sync::Arc;

use bytes::Bytes;

use super::{Block, OverlayId, Role, RowSet, Seq, WireFormat};

/// One thing that is shown.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A round.
    Round(Arc<ShownRound>),
    /// A summary, or the marker of a snip.
    Notice(Notice),
}

/// A summary or a marker: server-made words that stand for rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// The overlay that it shows.
    pub overlay: OverlayId,
    /// The words, as a user message says them (envelope included).
    pub text: Arc<str>,
    /// The rows it stands for.
    pub covered: RowSet,
    /// True for a summary, false for a marker.
    pub is_summary: bool,
    /// Uncalibrated tokens.
    pub tokens: i64,
}

/// A round, paired and reduced.
///
/// Rendered as: its messages in order; directly after the message that holds a
/// call, the answers to that message's calls, in call order; before the text of
/// any later message of the round.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownRound {
    /// The seq of its first message.
    pub id: Seq,
    /// Its lane; for `label_authors`.
    pub lane: Arc<str>,
    /// Its messages in seq order, without the results that answer its calls
    /// (those are in `calls`). A message may be left without blocks.
    pub messages: Vec<ShownMessage>,
    /// Its calls, in the order of their blocks.
    pub calls: Vec<ShownCall>,
    /// Uncalibrated tokens of all of it, answers included.
    pub tokens: i64,
}

/// One message of a round.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownMessage {
    /// The row it is.
    pub seq: Seq,
    /// Who speaks.
    pub role: Role,
    /// Free text; for `label_authors`.
    pub author: Arc<str>,
    /// The model that wrote it.
    pub model: Arc<str>,
    /// The provider's id of the message.
    pub provider_id: Arc<str>,
    /// The shape it came in: where its extras may be rendered again.
    pub format: Option<WireFormat>,
    /// Extras of the message; empty where there are none.
    pub extra_json: Bytes,
    /// What is shown of it, in order.
    pub blocks: Vec<ShownBlock>,
}

/// One block of a shown message.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownBlock {
    /// Its index in the stored message.
    pub index: u32,
    /// The block as it is to be shown. A tool result here answers no shown
    /// call (an orphan, or a late one whose round is covered): it is rendered
    /// as labelled user text.
    pub block: Arc<Block>,
    /// Uncalibrated tokens, as it is shown.
    pub tokens: u32,
}

/// A call of a round, and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownCall {
    /// The row that holds the call.
    pub seq: Seq,
    /// The call's block there.
    pub block: u32,
    /// The caller's id, as written.
    pub id: Arc<str>,
    /// True where an earlier row of the session, or an earlier block of this
    /// one, has a call of this id: it is shown under an alias, always.
    pub repeats: bool,
    /// What answers it.
    pub answer: Answer,
}

/// What answers a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A stored result (a `ToolResult` or an opaque result block).
    Result {
        /// The row that holds it.
        seq: Seq,
        /// The block there.
        index: u32,
        /// The result as it is to be shown.
        block: Arc<Block>,
        /// Uncalibrated tokens, as it is shown.
        tokens: u32,
        /// True where it came after the round had settled without it, or in a
        /// row that other things stood before.
        moved: bool,
    },
    /// None came: a synthetic error result is shown.
    Missing,
}
