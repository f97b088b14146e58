//! How much of what a client may send.

use std::time::Duration;

/// The sizes that requests are held to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one message, as it is stored.
    pub message_bytes: usize,
    /// Bytes of one request.
    pub request_bytes: usize,
    /// Messages of one append.
    pub messages_per_request: usize,
    /// Blocks of one message, and outputs of one tool result.
    pub blocks_per_message: usize,
    /// Context items of one session.
    pub context_items: usize,
    /// Bytes of one context item.
    pub context_item_bytes: usize,
    /// Labels of one session.
    pub labels: usize,
    /// Views of one session.
    pub views: usize,
    /// Pins of one view.
    pub pins: usize,
    /// Bytes of an answer, where the caller names no limit.
    pub response_bytes: usize,
    /// Bytes of a rendered request, where the model names no limit.
    pub rendered_bytes: i64,
    /// How long a summarizer may take for one summary.
    pub summarizer: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 32 * MIB,
            request_bytes: 64 * MIB,
            messages_per_request: 4096,
            blocks_per_message: 4096,
            context_items: 256,
            context_item_bytes: MIB,
            labels: 64,
            views: 64,
            // With the longest reasons they still fit into one answer.
            pins: 512,
            // What stock clients take, less what surrounds a message.
            response_bytes: 4 * MIB - 64 * 1024,
            rendered_bytes: 20 * 1024 * 1024,
            summarizer: Duration::from_mins(1),
        }
    }
}

/// A mebibyte.
pub const MIB: usize = 1024 * 1024;
/// Work on more bytes than this leaves the async threads.
pub const OFF_THREAD_BYTES: usize = 8 * 1024;
/// Content above this is named, not shown, in a history.
pub const INLINE_CONTENT_BYTES: usize = MIB;
/// A chunk of content.
pub const CHUNK_BYTES: usize = 256 * 1024;

/// Bytes of an author or a lane.
pub const NAME_BYTES: usize = 256;
/// Bytes of a display name or a label's value.
pub const TEXT_BYTES: usize = 1024;
/// Bytes of a reason.
pub const REASON_BYTES: usize = 4096;
/// Characters of a request id.
pub const REQUEST_ID_BYTES: usize = 128;
