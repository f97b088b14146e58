//! What the writer is asked to do.

use super::{content::Packed, error::Shared, queue::Reply};
use crate::{
    model::{Pin, PlanId, Revision, Session, Timestamp, View},
    store::{
        Append, Appended, CommitOverlays, Committed, DeleteView, ForkSession, NewPin, NewPlan,
        NewSession, Prepared, RollbackOverlay, RolledBack, SessionRef, SetItem, SetView, Unpin,
        UpdateSession,
    },
};

/// One write, and where its answer goes.
#[derive(Debug)]
pub(super) enum Command {
    Create(Box<NewSession>, Reply<(Session, bool)>),
    Fork(ForkSession, Reply<(Session, bool)>),
    Update(UpdateSession, Reply<Session>),
    Delete(SessionRef, Reply<()>),
    SetItem(SetItem, Packed, Reply<Revision>),
    SetView(SetView, Reply<(View, Revision)>),
    Append(PackedAppend, Reply<Appended>),
    Commit(PackedCommit, Reply<Committed>),
    RollBack(RollbackOverlay, Reply<RolledBack>),
    Pin(NewPin, Reply<(Pin, Revision, bool)>),
    Unpin(Unpin, Reply<Revision>),
    DeleteView(DeleteView, Reply<Revision>),
    Prepare(NewPlan, Reply<Prepared>),
    Renew(RenewPlans, Reply<()>),
    Abandon(SessionRef, Vec<PlanId>, Reply<()>),
    Calibrate {
        namespace: String,
        model: String,
        factor: f64,
        reply: Reply<()>,
    },
    /// Answers how many request ids and plans it forgot.
    Expire(Timestamp, Reply<u64>),
    Close(Reply<()>),
}

/// Plans to let hold longer.
#[derive(Debug)]
pub(super) struct RenewPlans {
    pub session: SessionRef,
    pub plans: Vec<PlanId>,
    pub now: Timestamp,
    pub until: Timestamp,
}

/// An append whose content is compressed already.
#[derive(Debug)]
pub(super) struct PackedAppend {
    pub append: Append,
    pub contents: Packed,
}

impl PackedAppend {
    pub(super) fn new(append: Append) -> Self {
        let mut contents = Packed::default();
        for row in &append.rows {
            contents.add(&row.encoded);
        }
        Self { append, contents }
    }
}

/// A commit whose summaries are compressed already. Summaries that are empty
/// have no piece.
#[derive(Debug)]
pub(super) struct PackedCommit {
    pub commit: CommitOverlays,
    pub contents: Packed,
}

impl PackedCommit {
    pub(super) fn new(commit: CommitOverlays) -> Self {
        let mut contents = Packed::default();
        for overlay in commit.overlays.iter().filter(|it| !it.summary.is_empty()) {
            contents.add(overlay.summary.as_bytes());
        }
        Self { commit, contents }
    }
}

impl Command {
    /// Tells who waits that its group was lost before it ran.
    pub(super) fn fail(self, failure: &Shared) {
        fn tell<T>(reply: Reply<T>, failure: &Shared) {
            let _ = reply.send(Err(failure.clone().classify()));
        }
        match self {
            Self::Create(_, reply) | Self::Fork(_, reply) => tell(reply, failure),
            Self::Update(_, reply) => tell(reply, failure),
            Self::Delete(_, reply)
            | Self::Calibrate { reply, .. }
            | Self::Renew(_, reply)
            | Self::Abandon(_, _, reply)
            | Self::Close(reply) => {
                tell(reply, failure);
            }
            Self::SetItem(_, _, reply) | Self::Unpin(_, reply) | Self::DeleteView(_, reply) => {
                tell(reply, failure);
            }
            Self::SetView(_, reply) => tell(reply, failure),
            Self::Append(_, reply) => tell(reply, failure),
            Self::Commit(_, reply) => tell(reply, failure),
            Self::RollBack(_, reply) => tell(reply, failure),
            Self::Pin(_, reply) => tell(reply, failure),
            Self::Prepare(_, reply) => tell(reply, failure),
            Self::Expire(_, reply) => tell(reply, failure),
        }
    }
}
