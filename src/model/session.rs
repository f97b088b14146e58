//! Sessions, their views and their context items.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Namespace, Revision, Seq, SessionId, Timestamp, ViewName, WireFormat};

/// A conversation: its names and its two counters.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Whose it is.
    pub namespace: Namespace,
    /// Its id there.
    pub id: SessionId,
    /// Free text.
    pub display_name: String,
    /// Free pairs.
    pub labels: BTreeMap<String, String>,
    /// When it was made.
    pub create_time: Timestamp,
    /// When it last changed.
    pub update_time: Timestamp,
    /// Where the next message goes; grows with appends only.
    pub next_seq: Seq,
    /// Grows with every change.
    pub revision: Revision,
    /// The session whose agent started this one; empty where none did.
    pub parent_session_id: String,
    /// Where it was forked from, if it was.
    pub fork_origin: Option<ForkOrigin>,
    /// Tokens of all base rows, uncalibrated.
    pub tokens: i64,
    /// Its views; `main` is always there.
    pub views: Vec<View>,
}

/// Where a session was forked from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkOrigin {
    /// The session whose rows it shares, in the same namespace.
    pub session_id: SessionId,
    /// The last row that is shared.
    pub seq: Seq,
    /// The revision in whose state it started; its own go on from there.
    pub revision: Revision,
}

/// One way of looking at a session, as it was resolved when it was set.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// Its name.
    pub name: ViewName,
    /// The preset's name that the caller gave.
    pub preset: String,
    /// The caller's merge patch, as given; empty where there was none.
    pub overrides_json: Bytes,
    /// The whole policy, as JSON, as it was resolved.
    pub policy_json: Bytes,
    /// The model; `None` until one is named.
    pub model: Option<Model>,
    /// The last revision that set the view or changed its overlays or pins: a
    /// plan that was made at it still holds while it is the same.
    pub reductions_revision: Revision,
}

/// A model, resolved: nothing is left to look up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// As the provider names it; may be empty where a window was given.
    pub name: String,
    /// Tokens.
    pub context_window: i64,
    /// Tokens kept free for the answer, where the caller named them.
    pub output_reserve: Option<i64>,
    /// Bytes of the rendered request.
    pub request_bytes_limit: i64,
    /// Tokens of what the caller adds to every request.
    pub caller_fixed_tokens: i64,
}

/// Text that is put around the messages on every read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextItem {
    /// Its name; unique within its view.
    pub name: String,
    /// Where it stands.
    pub placement: Placement,
    /// Text, or a JSON array of tool definitions.
    pub content: Bytes,
    /// The shape of tool definitions.
    pub format: Option<WireFormat>,
    /// The view that shows it; `None`: all.
    pub view: Option<ViewName>,
    /// What it counts as, uncalibrated.
    pub tokens: i64,
}

/// Where a context item stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Placement {
    /// In the system prompt, in the order of names.
    System,
    /// Tool definitions.
    Tools,
    /// Before the first user message.
    UserContext,
    /// The last block of the last user message.
    Reminder,
}
