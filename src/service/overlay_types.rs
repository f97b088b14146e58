//! What the use cases on overlays are asked and what they answer. Text from a
//! client is unchecked here; the use case checks it.

use crate::model::{Overlay, OverlayId, Pin, Revision};

/// Names a piece of content, as a client wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContentInput {
    /// The row.
    pub seq: i64,
    /// The block.
    pub block: i32,
    /// The output of a tool result; `None`: the whole block.
    pub output: Option<i32>,
}

/// Content to show shorter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClearInput {
    /// The session's id.
    pub session_id: String,
    /// The view's name; empty: `main`.
    pub view: String,
    /// What to clear.
    pub contents: Vec<ContentInput>,
    /// What is shown instead; empty: the policy's placeholder.
    pub shown_as: String,
    /// Who asks.
    pub author: String,
    /// For retries; empty: none.
    pub request_id: String,
}

/// Rounds to hide.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SnipInput {
    /// The session's id.
    pub session_id: String,
    /// The view's name; empty: `main`.
    pub view: String,
    /// First and last row; `None` where the caller named none.
    pub rows: Option<(i64, i64)>,
    /// Stands for them; empty: nothing.
    pub marker: String,
    /// Who asks.
    pub author: String,
    /// For retries; empty: none.
    pub request_id: String,
}

/// An overlay that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct OverlayOutput {
    /// As it is in force.
    pub overlay: Overlay,
    /// The session's revision afterwards.
    pub revision: Revision,
}

/// An overlay to take out of the view.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RollbackInput {
    /// The session's id.
    pub session_id: String,
    /// The overlay's id.
    pub overlay_id: String,
    /// Why.
    pub reason: String,
    /// Who asks.
    pub author: String,
    /// Pin its rows.
    pub pin: bool,
    /// Also the clears inside.
    pub clears_too: bool,
}

/// What a rollback came to.
#[derive(Debug, Clone, PartialEq)]
pub struct RollbackOutput {
    /// As it is now.
    pub overlay: Overlay,
    /// The session's revision afterwards.
    pub revision: Revision,
    /// The overlay in force that still hides its rows.
    pub hidden_by: Option<OverlayId>,
    /// The pin that was asked for.
    pub pin: Option<Pin>,
}

/// Which overlays to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListOverlaysInput {
    /// The session's id.
    pub session_id: String,
    /// The view's name; empty: `main`.
    pub view: String,
    /// Those that were rolled back too.
    pub include_rolled_back: bool,
    /// How many.
    pub page_size: i32,
    /// Where to go on; empty: at the start.
    pub page_token: String,
}

/// A page of overlays.
#[derive(Debug, Clone, PartialEq)]
pub struct ListOverlaysOutput {
    /// In the order of what they cover.
    pub overlays: Vec<Overlay>,
    /// Empty at the end.
    pub next_page_token: String,
}
