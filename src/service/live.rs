//! What is kept of sessions in memory: a cache that may be dropped at any time.
//!
//! Per session one state behind one lock, so that 100 agents asking for one
//! cold session load it once. Bounded in bytes; the least recently used go
//! first. Every write tells it the revision that it made, from a task that runs
//! to its end whatever becomes of the caller: a state that is older than the
//! newest revision it was told reads what it lacks before it answers.

mod state;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};

pub(super) use state::{Pieces, Rendering, Served, State, ViewState, as_of, sizes};

use tokio::sync::OwnedMutexGuard;

use super::{Ctx, Error, Result};
use crate::{
    model::{Revision, Session},
    store::SessionRef,
};

/// Bytes that states hold together, by default.
const DEFAULT_BYTES: usize = 256 * 1024 * 1024;

/// The sessions in memory.
pub struct Live {
    entries: Mutex<Entries>,
    limit_bytes: usize,
}

#[derive(Default)]
struct Entries {
    by_session: HashMap<SessionRef, Entry>,
    by_use: BTreeMap<u64, SessionRef>,
    bytes: usize,
    clock: u64,
}

struct Entry {
    session: Arc<LiveSession>,
    last_use: u64,
    bytes: usize,
}

/// One session in memory.
pub(super) struct LiveSession {
    /// The newest revision that a write made, as far as it was told.
    newest: AtomicI64,
    /// What was loaded and made of it.
    pub(super) state: Arc<tokio::sync::Mutex<State>>,
}

impl LiveSession {
    /// The newest revision that a write made, as far as it was told.
    pub(super) fn newest(&self) -> Revision {
        Revision(self.newest.load(Ordering::Acquire))
    }
}

/// The session's state, up to the newest revision that was told, for as long as
/// the caller holds it.
///
/// # Errors
///
/// [`Error::SessionNotFound`]; nothing of it is kept then.
pub(super) async fn loaded(ctx: &Ctx, session: &SessionRef) -> Result<OwnedMutexGuard<State>> {
    let live = ctx.live.get(session);
    let mut state = Arc::clone(&live.state).lock_owned().await;
    let is_new = state.session.as_ref().is_some_and(|known| known.revision >= live.newest());
    if !is_new {
        let came = state.refresh(ctx, session).await;
        if matches!(came, Err(Error::SessionNotFound(_))) {
            ctx.live.forget(session);
        }
        came?;
        ctx.live.weigh(session, state.bytes());
    }
    state.catch_up();
    Ok(state)
}

/// The session, and its state in memory as it happens to be: nobody else looks
/// at that or changes it for as long as the caller holds it.
///
/// # Errors
///
/// [`Error::SessionNotFound`]; nothing of it is kept then.
pub(super) async fn locked(
    ctx: &Ctx,
    session: &SessionRef,
) -> Result<(OwnedMutexGuard<State>, Session)> {
    let live = ctx.live.get(session);
    let state = Arc::clone(&live.state).lock_owned().await;
    match ctx.store.get_session(session).await {
        Ok(known) => {
            if state.session.is_none() {
                ctx.live.weigh(session, state.bytes());
            }
            Ok((state, known))
        }
        Err(err) => {
            let err = Error::from(err);
            if matches!(err, Error::SessionNotFound(_)) {
                ctx.live.forget(session);
            }
            Err(err)
        }
    }
}

impl Default for Live {
    fn default() -> Self {
        Self::of_bytes(DEFAULT_BYTES)
    }
}

impl Live {
    /// Holds at most about `limit_bytes`.
    #[must_use]
    pub fn of_bytes(limit_bytes: usize) -> Self {
        Self { entries: Mutex::default(), limit_bytes }
    }

    /// The session's state, empty where it is not in memory yet.
    pub(super) fn get(&self, session: &SessionRef) -> Arc<LiveSession> {
        let mut entries = self.lock();
        let now = entries.tick();
        entries.by_use.insert(now, session.clone());
        if let Some(entry) = entries.by_session.get_mut(session) {
            let previous = std::mem::replace(&mut entry.last_use, now);
            let found = Arc::clone(&entry.session);
            entries.by_use.remove(&previous);
            return found;
        }
        let fresh = Arc::new(LiveSession { newest: AtomicI64::new(0), state: Arc::default() });
        let entry = Entry { session: Arc::clone(&fresh), last_use: now, bytes: 0 };
        entries.by_session.insert(session.clone(), entry);
        fresh
    }

    /// The session's state, where it is in memory.
    pub(super) fn find(&self, session: &SessionRef) -> Option<Arc<LiveSession>> {
        self.lock().by_session.get(session).map(|entry| Arc::clone(&entry.session))
    }

    /// A write made `revision`.
    pub(super) fn note(&self, session: &SessionRef, revision: Revision) {
        if let Some(entry) = self.lock().by_session.get(session) {
            entry.session.newest.fetch_max(revision.0, Ordering::AcqRel);
        }
    }

    /// The session is gone.
    pub(super) fn forget(&self, session: &SessionRef) {
        self.lock().remove(session);
    }

    /// A state has grown to `bytes`: others may have to go for it.
    pub(super) fn weigh(&self, session: &SessionRef, bytes: usize) {
        self.reweigh(session, |_| bytes);
    }

    /// A state has grown by `bytes`: others may have to go for it.
    pub(super) fn grow(&self, session: &SessionRef, bytes: usize) {
        self.reweigh(session, |before| before + bytes);
    }

    fn reweigh(&self, session: &SessionRef, now: impl FnOnce(usize) -> usize) {
        let mut entries = self.lock();
        let Some(entry) = entries.by_session.get_mut(session) else { return };
        let bytes = now(entry.bytes);
        let before = std::mem::replace(&mut entry.bytes, bytes);
        entries.bytes = entries.bytes - before + bytes;
        while entries.bytes > self.limit_bytes {
            let Some((_, oldest)) = entries.by_use.first_key_value() else { return };
            let oldest = oldest.clone();
            entries.remove(&oldest);
        }
    }

    /// Bytes held, as far as they were weighed.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Entries> {
        // Nothing under the lock can be left half done by a panic.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn remove(&mut self, session: &SessionRef) {
        if let Some(entry) = self.by_session.remove(session) {
            self.by_use.remove(&entry.last_use);
            self.bytes -= entry.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Namespace, SessionId};

    fn session(id: &str) -> SessionRef {
        SessionRef { namespace: Namespace::new(Namespace::DEFAULT), id: SessionId::new(id) }
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        let live = Live::of_bytes(100);
        for id in ["a", "b"] {
            live.get(&session(id));
            live.weigh(&session(id), 40);
        }
        live.get(&session("a"));
        live.get(&session("c"));
        live.weigh(&session("c"), 40);
        assert!(live.find(&session("a")).is_some());
        assert!(live.find(&session("b")).is_none());
        assert_eq!(live.bytes(), 80);
    }

    #[test]
    fn a_state_above_the_limit_alone_is_not_kept() {
        let live = Live::of_bytes(100);
        live.get(&session("a"));
        live.weigh(&session("a"), 101);
        assert!(live.find(&session("a")).is_none());
        assert_eq!(live.bytes(), 0);
    }

    #[test]
    fn the_newest_revision_only_grows() {
        let live = Live::default();
        let a = live.get(&session("a"));
        live.note(&session("a"), Revision(7));
        live.note(&session("a"), Revision(5));
        assert_eq!(a.newest(), Revision(7));
    }
}
