//! A store in which something is written between two reads of one answer.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use concertina::{
    model::{
        ContextItem, Overlay, OverlayId, Pin, PlanId, Revision, RevisionEntry, Row, Session,
        Timestamp, View, ViewName,
    },
    store::{
        Append, Appended, CommitOverlays, Committed, DeleteView, Error, ForkSession, ItemAt,
        NewPin, NewPlan, NewSession, Page, Plan, Prepared, Readiness, RollbackOverlay, RolledBack,
        RowsQuery, SessionFilter, SessionRef, SetItem, SetView, StateAt, Store, Unpin,
        UpdateSession, memory::MemoryStore,
    },
};

/// What comes between.
pub(super) type Write = Box<dyn FnOnce() -> futures_util::future::BoxFuture<'static, ()> + Send>;

/// Keeps everything in memory.
#[derive(Default)]
pub(super) struct Between {
    pub inner: Arc<MemoryStore>,
    /// Done once, after the next time that a session is read.
    next: Mutex<Option<Write>>,
}

impl Between {
    pub(super) fn then(&self, write: Write) {
        *self.next.lock().unwrap() = Some(write);
    }
}

/// A store that asks `inner` for everything but its first method.
macro_rules! store_over_inner {
    (
        $first:item
        $(fn $name:ident($($argument:ident: $of:ty),*) -> $answer:ty;)+
    ) => {
        #[async_trait]
        impl Store for Between {
            $first

            $(
                async fn $name(&self, $($argument: $of),*) -> $answer {
                    self.inner.$name($($argument),*).await
                }
            )+
        }
    };
}

store_over_inner! {
    async fn get_session(&self, session: &SessionRef) -> Result<Session, Error> {
        let found = self.inner.get_session(session).await;
        let next = self.next.lock().unwrap().take();
        if let Some(write) = next {
            write().await;
        }
        found
    }

    fn create_session(new: NewSession) -> Result<(Session, bool), Error>;
    fn list_sessions(filter: &SessionFilter, page: Page<(Timestamp, String)>)
        -> Result<Vec<Session>, Error>;
    fn update_session(update: UpdateSession) -> Result<Session, Error>;
    fn delete_session(session: &SessionRef) -> Result<(), Error>;
    fn set_item(set: SetItem) -> Result<Revision, Error>;
    fn list_items(session: &SessionRef, at: ItemAt) -> Result<Vec<ContextItem>, Error>;
    fn set_view(set: SetView) -> Result<(View, Revision), Error>;
    fn append(append: Append) -> Result<Appended, Error>;
    fn read_rows(session: &SessionRef, query: RowsQuery) -> Result<Vec<Row>, Error>;
    fn commit_overlays(commit: CommitOverlays) -> Result<Committed, Error>;
    fn rollback_overlay(rollback: RollbackOverlay) -> Result<RolledBack, Error>;
    fn get_overlay(session: &SessionRef, id: &OverlayId) -> Result<Overlay, Error>;
    fn list_overlays(session: &SessionRef, view: &ViewName, include_rolled_back: bool)
        -> Result<Vec<Overlay>, Error>;
    fn pin(pin: NewPin) -> Result<(Pin, Revision, bool), Error>;
    fn unpin(unpin: Unpin) -> Result<Revision, Error>;
    fn list_pins(session: &SessionRef, view: &ViewName) -> Result<Vec<Pin>, Error>;
    fn state_at(session: &SessionRef, view: &ViewName, at: Revision) -> Result<StateAt, Error>;
    fn delete_view(delete: DeleteView) -> Result<Revision, Error>;
    fn list_revisions(session: &SessionRef, page: Page<Revision>)
        -> Result<Vec<RevisionEntry>, Error>;
    fn fork_session(fork: ForkSession) -> Result<(Session, bool), Error>;
    fn prepare(prepare: NewPlan) -> Result<Prepared, Error>;
    fn get_plan(session: &SessionRef, plan: &PlanId) -> Result<Plan, Error>;
    fn list_plans(session: &SessionRef, view: &ViewName, now: Timestamp)
        -> Result<Vec<Plan>, Error>;
    fn renew_plans(session: &SessionRef, plans: &[PlanId], now: Timestamp, until: Timestamp)
        -> Result<(), Error>;
    fn abandon_plans(session: &SessionRef, plans: &[PlanId]) -> Result<(), Error>;
    fn calibrations(namespace: &str) -> Result<Vec<(String, f64)>, Error>;
    fn set_calibration(namespace: &str, model: &str, factor: f64) -> Result<(), Error>;
    fn expire(now: Timestamp) -> Result<(), Error>;
    fn readiness() -> Readiness;
    fn close() -> ();
}
