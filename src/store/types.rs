//! What goes into and comes out of a store.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;

use crate::{
    model::{
        ContextItem, Message, MessageTokens, Model, Namespace, Overlay, OverlayId, OverlayKind,
        Pin, PinId, PlanId, Revision, RowSet, Seq, SeqRange, SessionId, Timestamp, View, ViewName,
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
    /// Only forks of this session; empty: all.
    pub fork_origin_session_id: String,
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
    /// What they were planned on.
    pub planned_on: PlannedOn,
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

/// What overlays were planned on: they are committed only where it still holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlannedOn {
    /// `View::reductions_revision` as it was: any change of the view's overlays,
    /// pins or policy since then outdates them; appends do not count.
    View(Revision),
    /// Plans, one for each overlay in order, which end with the commit. What
    /// each one saw in its range must still be there and nothing else: only a
    /// change there outdates it.
    Plans(Vec<PlanId>),
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
    /// Pins these rows in the same transaction, a revision after the rollbacks.
    pub pin: Option<PinRows>,
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
    /// The pin that was asked for.
    pub pin: Option<Pin>,
}

/// Rows to pin beside a rollback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinRows {
    /// The pin's id.
    pub id: PinId,
    /// The rows.
    pub rows: SeqRange,
}

/// Rows to pin.
#[derive(Debug, Clone)]
pub struct NewPin {
    /// Where.
    pub session: SessionRef,
    /// In which view.
    pub view: ViewName,
    /// The pin's id.
    pub id: PinId,
    /// The rows.
    pub rows: SeqRange,
    /// Why.
    pub reason: String,
    /// Who asks.
    pub author: String,
    /// When.
    pub at: Timestamp,
    /// For retries.
    pub request: Option<RequestKey>,
}

/// A pin to take away.
#[derive(Debug, Clone)]
pub struct Unpin {
    /// Where.
    pub session: SessionRef,
    /// Which.
    pub pin: PinId,
    /// When.
    pub at: Timestamp,
}

/// A view to delete.
#[derive(Debug, Clone)]
pub struct DeleteView {
    /// Where.
    pub session: SessionRef,
    /// Which; `main` is refused before it comes here.
    pub view: ViewName,
    /// When.
    pub at: Timestamp,
}

/// A session to fork.
#[derive(Debug, Clone)]
pub struct ForkSession {
    /// Whose rows are shared.
    pub origin: SessionRef,
    /// The new session's id, in the same namespace.
    pub id: SessionId,
    /// The last row to share; `None`: the newest.
    pub seq: Option<Seq>,
    /// Free text.
    pub display_name: String,
    /// When.
    pub at: Timestamp,
    /// For retries; its scope is the namespace.
    pub request: Option<RequestKey>,
}

/// A session's state at an earlier revision.
#[derive(Debug, Clone, PartialEq)]
pub struct StateAt {
    /// The view as it was set then.
    pub view: View,
    /// The view's overlays that were in force then, by commit revision, as they
    /// are now.
    pub overlays: Vec<Overlay>,
    /// Where the next row would have gone.
    pub next_seq: Seq,
}

/// A lease on a range, and what was in force there when it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Unique within its session.
    pub id: PlanId,
    /// The view.
    pub view: ViewName,
    /// Collapse or compact.
    pub kind: OverlayKind,
    /// The rows that the overlay will cover.
    pub covered: RowSet,
    /// The rows between them that it will keep.
    pub kept: RowSet,
    /// Every overlay in force in the view that covers a row of `covered` or
    /// `kept` (clears too), by commit revision.
    pub overlays: Vec<OverlayId>,
    /// Every pin of the view that shares a row with `covered` or `kept`, by
    /// revision.
    pub pins: Vec<PinId>,
    /// BLAKE3 over the digests of the covered rows, in order.
    pub source_digest: [u8; 32],
    /// A summary above so many tokens is refused.
    pub max_summary_tokens: i64,
    /// The policy's stage that planned it; empty by hand.
    pub stage: String,
    /// The server works on it itself: it ends when the server starts anew.
    pub is_own: bool,
    /// Who asked for it.
    pub author: String,
    /// When it was made.
    pub create_time: Timestamp,
    /// From when on it does not hold any more.
    pub expire_time: Timestamp,
    /// How it ended, if it did.
    pub end: Option<PlanEnd>,
}

impl Plan {
    /// The rows that it holds: those that it covers and those that it keeps.
    #[must_use]
    pub fn rows(&self) -> RowSet {
        self.covered.union(&self.kept)
    }

    /// Says whether an overlay that covers `rows`, or a pin of them, belongs to
    /// what the plan saw: whether it shares a row with the plan's.
    #[must_use]
    pub fn sees(&self, rows: &RowSet) -> bool {
        self.covered.intersects(rows) || self.kept.intersects(rows)
    }

    /// Says whether it holds at a moment: it has neither ended nor expired.
    #[must_use]
    pub fn holds_at(&self, now: Timestamp) -> bool {
        self.end.is_none() && self.expire_time > now
    }
}

/// How a plan ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanEnd {
    /// It was given back.
    Abandoned,
    /// Its overlay was committed.
    Committed(OverlayId),
}

/// A plan to make.
#[derive(Debug, Clone)]
pub struct NewPlan {
    /// Where.
    pub session: SessionRef,
    /// `View::reductions_revision` as it was when the ranges were looked at.
    pub planned_at: Revision,
    /// The plans; `end` is ignored.
    pub plans: Vec<Plan>,
    /// For retries; the answer is the first plan.
    pub request: Option<RequestKey>,
}

/// What preparing came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// As they are on record.
    pub plans: Vec<Plan>,
    /// True where it answers a retry.
    pub replayed: bool,
}

/// Whether a backend can take traffic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readiness {
    /// It can.
    Ready,
    /// It cannot, and why.
    NotReady(String),
}
