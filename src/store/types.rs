//! What goes into and comes out of a store.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;

use crate::{
    model::{
        ContextItem, Message, MessageTokens, Model, Namespace, Overlay, OverlayId, Revision, Seq,
        SessionId, Timestamp, ViewName,
    },
    rounds::{MessageShape, Placement},
};

/// Names a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionRef {
    /// Whose it is.
    pub namespace: Namespace,
    /// Its id there.
    pub id: SessionId,
}

/// Makes a retry of a write safe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestKey {
    /// The caller's id.
    pub id: String,
    /// BLAKE3 of what was asked, the id aside.
    pub digest: [u8; 32],
}

/// A session to create.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Its name.
    pub session: SessionRef,
    /// Free text.
    pub display_name: String,
    /// Free pairs.
    pub labels: BTreeMap<String, String>,
    /// The session whose agent starts this one; empty: none.
    pub parent_session_id: String,
    /// The `main` view: preset, overrides, policy and model.
    pub main: SetViewParts,
    /// When.
    pub at: Timestamp,
    /// For retries.
    pub request: Option<RequestKey>,
}

/// What a view is set to.
#[derive(Debug, Clone, PartialEq)]
pub struct SetViewParts {
    /// The preset's name that the caller gave.
    pub preset: String,
    /// The caller's merge patch, as given.
    pub overrides_json: Bytes,
    /// The whole policy, resolved.
    pub policy_json: Bytes,
    /// The model, resolved.
    pub model: Option<Model>,
}

/// Which sessions to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// Whose.
    pub namespace: String,
    /// Only sessions that bear all of these.
    pub labels: BTreeMap<String, String>,
    /// Only children of this session; empty: all.
    pub parent_session_id: String,
}

/// A piece of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<K> {
    /// At most so many.
    pub limit: usize,
    /// Only what comes after this key in the list's order.
    pub after: Option<K>,
}

/// New names for a session.
#[derive(Debug, Clone)]
pub struct UpdateSession {
    /// Which.
    pub session: SessionRef,
    /// `None`: as it is.
    pub display_name: Option<String>,
    /// `None`: as they are.
    pub labels: Option<BTreeMap<String, String>>,
    /// When.
    pub at: Timestamp,
}

/// A context item to set.
#[derive(Debug, Clone)]
pub struct SetItem {
    /// Where.
    pub session: SessionRef,
    /// The item; empty content removes it.
    pub item: ContextItem,
    /// Who asks.
    pub author: String,
    /// When.
    pub at: Timestamp,
}

/// Which context items to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemAt {
    /// Those in force now.
    Now,
    /// Those that were in force at a revision.
    Revision(Revision),
}

/// A view to set.
#[derive(Debug, Clone)]
pub struct SetView {
    /// Where.
    pub session: SessionRef,
    /// Which.
    pub view: ViewName,
    /// To what.
    pub parts: SetViewParts,
    /// Only where the view has no model yet; otherwise nothing changes.
    pub only_without_model: bool,
    /// Who asks.
    pub author: String,
    /// When.
    pub at: Timestamp,
}

/// A message to append, with everything that does not depend on where it goes.
#[derive(Debug, Clone)]
pub struct NewRow {
    /// The message.
    pub message: Arc<Message>,
    /// Its stored form, plain.
    pub encoded: Bytes,
    /// BLAKE3 of `encoded`.
    pub digest: [u8; 32],
    /// What it counts as.
    pub tokens: MessageTokens,
    /// What pairing needs of it.
    pub shape: MessageShape,
}

/// Rows to append, all or none.
#[derive(Debug, Clone)]
pub struct Append {
    /// Where.
    pub session: SessionRef,
    /// At least one.
    pub rows: Vec<NewRow>,
    /// Refuse where the first would not get this seq.
    pub expected_next_seq: Option<Seq>,
    /// Who asks.
    pub author: String,
    /// When.
    pub at: Timestamp,
    /// For retries.
    pub request: Option<RequestKey>,
}

/// What an append came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Appended {
    /// The first row's seq.
    pub first_seq: Seq,
    /// The last row's.
    pub last_seq: Seq,
    /// The revision that it made.
    pub revision: Revision,
    /// True where it answers a retry; `placements` is then empty.
    pub replayed: bool,
    /// Where each row went.
    pub placements: Vec<Placement>,
}

/// Which rows to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowsQuery {
    /// From here on.
    pub first: Seq,
    /// Up to here.
    pub last: Seq,
    /// From the end.
    pub newest_first: bool,
    /// At most so many rows.
    pub limit: usize,
    /// Stops early once so many bytes were read; at least one row comes.
    pub limit_bytes: usize,
}

/// Overlays to commit.
#[derive(Debug, Clone)]
pub struct CommitOverlays {
    /// Where.
    pub session: SessionRef,
    /// In which view.
    pub view: ViewName,
    /// `View::reductions_revision` as it was when they were planned.
    pub planned_at: Revision,
    /// In order.
    pub overlays: Vec<NewOverlay>,
    /// Rolled back afterwards, with reason `superseded`.
    pub supersedes: Vec<OverlayId>,
    /// Who asks.
    pub author: String,
    /// When.
    pub at: Timestamp,
    /// For retries: the answer is the first overlay's.
    pub request: Option<RequestKey>,
}

/// An overlay without what the commit adds: `commit_revision`, `commit_time`
/// and `author` are ignored, `rollback` must be `None`.
pub type NewOverlay = Overlay;

/// What a commit came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Committed {
    /// As they are in force, in order.
    pub overlays: Vec<Overlay>,
    /// The session's revision afterwards.
    pub revision: Revision,
    /// True where it answers a retry.
    pub replayed: bool,
}

/// An overlay to roll back.
#[derive(Debug, Clone)]
pub struct RollbackOverlay {
    /// Where.
    pub session: SessionRef,
    /// Which.
    pub overlay: OverlayId,
    /// Also the clears in force of the same view that lie wholly inside it.
    pub clears_too: bool,
    /// Why.
    pub reason: String,
    /// Who asks.
    pub author: String,
    /// When.
    pub at: Timestamp,
}

/// What a rollback came to.
#[derive(Debug, Clone, PartialEq)]
pub struct RolledBack {
    /// The overlay as it is now.
    pub overlay: Overlay,
    /// The session's revision afterwards.
    pub revision: Revision,
    /// The overlay in force that still hides its rows.
    pub hidden_by: Option<OverlayId>,
}

/// Whether a backend can take traffic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readiness {
    /// It can.
    Ready,
    /// It cannot, and why.
    NotReady(String),
}
