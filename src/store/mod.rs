//! The store: what is kept, and what may be relied on.
//!
//! Start reading at [`Store`]. `memory` is the reference: small, obviously
//! right, and what the SQLite backend is compared with. A test suite holds both
//! to the contract.

pub mod error;
mod leases;
pub mod memory;
mod rules;
pub mod sqlite;
mod types;

use async_trait::async_trait;

pub use error::{Entity, Error};
pub use types::{
    Append, Appended, CommitOverlays, Committed, DeleteView, ForkSession, ItemAt, NewOverlay,
    NewPin, NewPlan, NewRow, NewSession, Page, PinRows, Plan, PlanEnd, PlannedOn, Prepared,
    Readiness, RequestKey, RollbackOverlay, RolledBack, RowsQuery, SessionFilter, SessionRef,
    SetItem, SetView, SetViewParts, StateAt, Unpin, UpdateSession,
};

use crate::model::{
    ContextItem, Overlay, OverlayId, Pin, PlanId, Revision, RevisionEntry, Row, Session, Timestamp,
    View, ViewName,
};

/// Sessions, their rows, overlays, views and context items.
///
/// # Contract
///
/// * Every method is atomic: it happens completely or leaves nothing behind,
///   also where its caller goes away.
/// * What is acknowledged survives a crash.
/// * Rows, contents and digests never change once written; only
///   [`Store::delete_session`] removes them.
/// * Seqs start at 1 and have no gaps. Appends of one session are whole: those
///   of two callers interleave only between requests.
/// * `next_seq` grows with appends only; `revision` by one with every change.
///   Setting what is there already changes nothing and makes no revision.
/// * Text is compared byte for byte.
/// * A known request id wins over every other check: with the same digest the
///   first answer is given again, with another it is
///   [`Error::RequestIdReused`]. Only successes are remembered, for at least 24
///   hours. An id's scope is its session; for `create_session`, the namespace.
/// * A session of another namespace answers as an absent one.
/// * Reads see every write that was acknowledged before they began.
#[async_trait]
pub trait Store: Send + Sync {
    /// Creates a session with its `main` view, at revision 1.
    ///
    /// Returns true beside it where this answers a retry.
    ///
    /// # Errors
    ///
    /// * [`Error::AlreadyExists`] where the id is taken.
    /// * [`Error::NotFound`] where a parent is named that is not there.
    async fn create_session(&self, new: NewSession) -> Result<(Session, bool), Error>;

    /// Gets a session and its views.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where it is not there.
    async fn get_session(&self, session: &SessionRef) -> Result<Session, Error>;

    /// Lists sessions, newest first (by creation, then id, descending).
    ///
    /// # Errors
    ///
    /// Only those of the backend.
    async fn list_sessions(
        &self,
        filter: &SessionFilter,
        page: Page<(Timestamp, String)>,
    ) -> Result<Vec<Session>, Error>;

    /// Sets display name and labels, as far as they are given.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where the session is not there.
    async fn update_session(&self, update: UpdateSession) -> Result<Session, Error>;

    /// Erases a session: rows, contents, overlays, everything that is its own.
    ///
    /// Other sessions' writes go on meanwhile. To readers it is gone at once.
    ///
    /// # Errors
    ///
    /// * [`Error::NotFound`] where the session is not there.
    /// * [`Error::HasForks`] while forks share its rows; it names up to ten.
    async fn delete_session(&self, session: &SessionRef) -> Result<(), Error>;

    /// Sets, replaces or (with empty content) removes a context item.
    ///
    /// Returns the session's revision afterwards.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where the session, or the view it names, is not there.
    async fn set_item(&self, set: SetItem) -> Result<Revision, Error>;

    /// Lists the context items in force (at a revision), by name.
    ///
    /// # Errors
    ///
    /// * [`Error::NotFound`] where the session is not there.
    /// * [`Error::RevisionNotFound`] where `at` is newer than the newest.
    async fn list_items(&self, session: &SessionRef, at: ItemAt)
    -> Result<Vec<ContextItem>, Error>;

    /// Adds a view, or replaces its policy and model. Returns it as it is now.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where the session is not there, or the view, where
    /// only one without a model was to be set.
    async fn set_view(&self, set: SetView) -> Result<(View, Revision), Error>;

    /// Appends rows, all or none, with contiguous seqs.
    ///
    /// # Errors
    ///
    /// * [`Error::NotFound`] where the session is not there.
    /// * [`Error::SeqMoved`] where `expected_next_seq` does not hold.
    /// * [`Error::RequestIdReused`].
    async fn append(&self, append: Append) -> Result<Appended, Error>;

    /// Reads rows in seq order (or reversed), at most `query.limit` of them.
    ///
    /// No lock is held when it returns: page by seq.
    ///
    /// # Errors
    ///
    /// * [`Error::NotFound`] where the session is not there.
    async fn read_rows(&self, session: &SessionRef, query: RowsQuery) -> Result<Vec<Row>, Error>;

    /// Commits overlays in order, each a revision of its own, and then rolls
    /// back those that they supersede, a revision each.
    ///
    /// # Errors
    ///
    /// * [`Error::NotFound`] where the session or the view is not there, or an
    ///   overlay to supersede is not of that view.
    /// * [`Error::PlanOutdated`] where what they were planned on changed since
    ///   ([`PlannedOn`]); appends do not count.
    /// * [`Error::NotFound`] of a plan, [`Error::PlanEnded`],
    ///   [`Error::PlanExpired`].
    /// * [`Error::Overlaps`] where a range overlay would cross one in force.
    /// * [`Error::RequestIdReused`].
    async fn commit_overlays(&self, commit: CommitOverlays) -> Result<Committed, Error>;

    /// Takes one overlay out of force, at any depth, and then sets the pin that
    /// is asked for: a revision each.
    ///
    /// # Errors
    ///
    /// * [`Error::NotFound`] where the session or the overlay is not there, or
    ///   its view was deleted.
    /// * [`Error::AlreadyRolledBack`].
    async fn rollback_overlay(&self, rollback: RollbackOverlay) -> Result<RolledBack, Error>;

    /// Gets one overlay, whatever became of it or of its view.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where the session or the overlay is not there.
    async fn get_overlay(&self, session: &SessionRef, id: &OverlayId) -> Result<Overlay, Error>;

    /// Lists a view's overlays: those in force, or all, by commit revision.
    /// Those of an earlier view of that name are not among them.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where the session is not there.
    async fn list_overlays(
        &self,
        session: &SessionRef,
        view: &ViewName,
        include_rolled_back: bool,
    ) -> Result<Vec<Overlay>, Error>;

    /// Pins rows of a view.
    ///
    /// Returns true beside pin and revision where this answers a retry.
    ///
    /// # Errors
    ///
    /// * [`Error::NotFound`] where the session or the view is not there.
    /// * [`Error::RequestIdReused`].
    async fn pin(&self, pin: NewPin) -> Result<(Pin, Revision, bool), Error>;

    /// Takes a pin away. Returns the session's revision afterwards.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where the session is not there, or no such pin holds.
    async fn unpin(&self, unpin: Unpin) -> Result<Revision, Error>;

    /// Lists the pins of a view that hold, by revision.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where the session is not there.
    async fn list_pins(&self, session: &SessionRef, view: &ViewName) -> Result<Vec<Pin>, Error>;

    /// Deletes a view. Its overlays and pins stay on record as they are and are
    /// not in force any more; its context items and its plans end with it. A new
    /// view of that name starts without any. Returns the session's revision
    /// afterwards.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where the session or the view is not there.
    async fn delete_view(&self, delete: DeleteView) -> Result<Revision, Error>;

    /// What a view was, and what was in force in it, at a revision: what
    /// [`Store::get_session`] and [`Store::list_overlays`] told then.
    ///
    /// # Errors
    ///
    /// * [`Error::NotFound`] where the session is not there, or the view was not
    ///   then.
    /// * [`Error::RevisionNotFound`] where `at` is not one that it had.
    async fn state_at(
        &self,
        session: &SessionRef,
        view: &ViewName,
        at: Revision,
    ) -> Result<StateAt, Error>;

    /// Lists what changed, oldest first, through the lineage. An item that was
    /// removed is told as it was, with no tokens.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where the session is not there.
    async fn list_revisions(
        &self,
        session: &SessionRef,
        page: Page<Revision>,
    ) -> Result<Vec<RevisionEntry>, Error>;

    /// Makes a session that shares the rows of another up to a point, in the
    /// state of the revision before the next row came.
    ///
    /// Rows are shared, not copied: neither session changes what the other
    /// shows. Overlays, pins, views and items keep their ids and revisions; new
    /// revisions go on from there. Pairing goes on from the last shared row: a
    /// round that a later one settled is in flight, and an answer that a later
    /// one gave has not come. Labels and parent are the origin's as they are
    /// now, and so is the name where none is given. Returns true beside it where
    /// this answers a retry.
    ///
    /// # Errors
    ///
    /// * [`Error::NotFound`] where the origin, or the row, is not there.
    /// * [`Error::AlreadyExists`] where the id is taken.
    /// * [`Error::RequestIdReused`].
    async fn fork_session(&self, fork: ForkSession) -> Result<(Session, bool), Error> {
        let _ = fork;
        Err(Error::Closed)
    }

    /// Leases ranges, all or none. Makes no revision.
    ///
    /// # Errors
    ///
    /// * [`Error::NotFound`] where the session or the view is not there.
    /// * [`Error::PlanOutdated`] where the view's overlays or pins changed since
    ///   `prepare.planned_at`.
    /// * [`Error::RangeLeased`] where a plan of the same view that neither ended
    ///   nor expired shares a row with one of them.
    /// * [`Error::RequestIdReused`].
    async fn prepare(&self, prepare: NewPlan) -> Result<Prepared, Error>;

    /// Gets one plan, ended or not, as long as it is remembered: for 24 hours
    /// from when it expired, or would have.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where the session or the plan is not there.
    async fn get_plan(&self, session: &SessionRef, plan: &PlanId) -> Result<Plan, Error>;

    /// Lists a view's plans that hold at `now` (neither ended nor expired), in
    /// the order in which they were made.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where the session is not there.
    async fn list_plans(
        &self,
        session: &SessionRef,
        view: &ViewName,
        now: Timestamp,
    ) -> Result<Vec<Plan>, Error>;

    /// Lets plans hold until `until` at least; those that ended or expired stay
    /// so.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where the session or a plan is not there.
    async fn renew_plans(
        &self,
        session: &SessionRef,
        plans: &[PlanId],
        now: Timestamp,
        until: Timestamp,
    ) -> Result<(), Error>;

    /// Gives plans back. One that was committed stays committed; one that was
    /// given back or expired stays so.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where the session or a plan is not there.
    async fn abandon_plans(&self, session: &SessionRef, plans: &[PlanId]) -> Result<(), Error>;

    /// The learned calibration factors of a namespace, by model name.
    ///
    /// # Errors
    ///
    /// Only those of the backend.
    async fn calibrations(&self, namespace: &str) -> Result<Vec<(String, f64)>, Error>;

    /// Remembers a calibration factor.
    ///
    /// # Errors
    ///
    /// Only those of the backend.
    async fn set_calibration(&self, namespace: &str, model: &str, factor: f64)
    -> Result<(), Error>;

    /// Removes what has a limited life (request ids, plans), in small pieces.
    ///
    /// # Errors
    ///
    /// Only those of the backend.
    async fn expire(&self, now: Timestamp) -> Result<(), Error>;

    /// Says whether the backend can take traffic.
    async fn readiness(&self) -> Readiness;

    /// Finishes what was accepted and closes. Later calls are refused.
    async fn close(&self);
}
