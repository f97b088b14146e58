//! The reference backend: everything in memory.
//!
//! Small and obviously right rather than fast: one lock, plain lists, every
//! read a filter. It survives nothing, so only the sentence about crashes does
//! not hold. The SQLite backend is compared with it.

mod session;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use async_trait::async_trait;

use self::session::SessionState;
use super::{
    Append, Appended, CommitOverlays, Committed, DeleteView, Entity, Error, ForkSession, ItemAt,
    NewPin, NewPlan, NewSession, Page, Plan, Prepared, Readiness, RequestKey, RollbackOverlay,
    RolledBack, RowsQuery, SessionFilter, SessionRef, SetItem, SetView, StateAt, Store, Unpin,
    UpdateSession, rules,
};
use crate::model::{
    ContextItem, Overlay, OverlayId, Pin, PinId, PlanId, Revision, RevisionEntry, Row, Seq,
    Session, SessionId, Timestamp, View, ViewName,
};

/// Keeps everything in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    sessions: BTreeMap<(String, String), SessionState>,
    requests: HashMap<RequestScope, Known>,
    calibrations: BTreeMap<(String, String), f64>,
    is_closed: bool,
}

/// Namespace, session (empty: the namespace's own) and the caller's id.
type RequestScope = (String, String, String);

#[derive(Debug)]
struct Known {
    digest: [u8; 32],
    answer: Answer,
    at: Timestamp,
}

#[derive(Debug, Clone)]
enum Answer {
    Created(String),
    Appended { first_seq: Seq, last_seq: Seq, revision: Revision },
    Committed { overlays: Vec<OverlayId>, revision: Revision },
    Pinned { pin: PinId, revision: Revision },
    Prepared { plans: Vec<PlanId> },
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn read(&self) -> Result<RwLockReadGuard<'_, State>, Error> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        if state.is_closed { Err(Error::Closed) } else { Ok(state) }
    }

    fn write(&self) -> Result<RwLockWriteGuard<'_, State>, Error> {
        let state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.is_closed { Err(Error::Closed) } else { Ok(state) }
    }
}

impl State {
    fn session(&self, session: &SessionRef) -> Result<&SessionState, Error> {
        self.sessions.get(&key(session)).ok_or_else(|| not_found(session))
    }

    fn session_mut(&mut self, session: &SessionRef) -> Result<&mut SessionState, Error> {
        self.sessions.get_mut(&key(session)).ok_or_else(|| not_found(session))
    }

    /// Some of the sessions that share its rows, by id.
    fn forks_of(&self, session: &SessionRef) -> Vec<String> {
        let is_fork = |it: &&Session| {
            it.namespace == session.namespace
                && it.fork_origin.as_ref().is_some_and(|origin| origin.session_id == session.id)
        };
        let forks = self.sessions.values().map(SessionState::session).filter(is_fork);
        forks.take(rules::FORKS_TOLD).map(|it| it.id.to_string()).collect()
    }

    fn known(&self, scope: &RequestScope, request: &RequestKey) -> Result<Option<Answer>, Error> {
        match self.requests.get(scope) {
            None => Ok(None),
            Some(known) if known.digest == request.digest => Ok(Some(known.answer.clone())),
            Some(_) => Err(Error::RequestIdReused),
        }
    }

    fn remember(
        &mut self,
        scope: RequestScope,
        request: &RequestKey,
        answer: Answer,
        at: Timestamp,
    ) {
        self.requests.insert(scope, Known { digest: request.digest, answer, at });
    }
}

fn key(session: &SessionRef) -> (String, String) {
    (session.namespace.to_string(), session.id.to_string())
}

fn not_found(session: &SessionRef) -> Error {
    Error::NotFound(Entity::Session(session.id.to_string()))
}

fn session_scope(session: &SessionRef, request: &RequestKey) -> RequestScope {
    (session.namespace.to_string(), session.id.to_string(), request.id.clone())
}

fn namespace_scope(session: &SessionRef, request: &RequestKey) -> RequestScope {
    (session.namespace.to_string(), String::new(), request.id.clone())
}

#[async_trait]
impl Store for MemoryStore {
    async fn create_session(&self, new: NewSession) -> Result<(Session, bool), Error> {
        let mut state = self.write()?;
        let (namespace, id) = key(&new.session);
        if let Some(request) = &new.request
            && let Some(Answer::Created(id)) =
                state.known(&namespace_scope(&new.session, request), request)?
        {
            let created =
                state.sessions.get(&(namespace, id)).ok_or_else(|| not_found(&new.session))?;
            return Ok((created.session().clone(), true));
        }
        if state.sessions.contains_key(&(namespace.clone(), id.clone())) {
            return Err(Error::AlreadyExists(id));
        }
        let parent = &new.parent_session_id;
        if !parent.is_empty() && !state.sessions.contains_key(&(namespace.clone(), parent.clone()))
        {
            return Err(Error::NotFound(Entity::Session(parent.clone())));
        }
        if let Some(request) = &new.request {
            let scope = namespace_scope(&new.session, request);
            state.remember(scope, request, Answer::Created(id.clone()), new.at);
        }
        let created = SessionState::new(new);
        let session = created.session().clone();
        state.sessions.insert((namespace, id), created);
        Ok((session, false))
    }

    async fn get_session(&self, session: &SessionRef) -> Result<Session, Error> {
        Ok(self.read()?.session(session)?.session().clone())
    }

    async fn list_sessions(
        &self,
        filter: &SessionFilter,
        page: Page<(Timestamp, String)>,
    ) -> Result<Vec<Session>, Error> {
        let state = self.read()?;
        let place = |it: &Session| (it.create_time, it.id.to_string());
        let mut found: Vec<&Session> = state
            .sessions
            .values()
            .map(SessionState::session)
            .filter(|it| is_asked_for(it, filter))
            .filter(|it| page.after.as_ref().is_none_or(|after| place(it) < *after))
            .collect();
        found.sort_by_key(|it| std::cmp::Reverse(place(it)));
        Ok(found.into_iter().take(page.limit).cloned().collect())
    }

    async fn update_session(&self, update: UpdateSession) -> Result<Session, Error> {
        let mut state = self.write()?;
        let session = state.session_mut(&update.session)?;
        session.rename(update);
        Ok(session.session().clone())
    }

    async fn delete_session(&self, session: &SessionRef) -> Result<(), Error> {
        let mut state = self.write()?;
        let (namespace, id) = key(session);
        let forks = state.forks_of(session);
        if !forks.is_empty() {
            return Err(Error::HasForks(forks));
        }
        state
            .sessions
            .remove(&(namespace.clone(), id.clone()))
            .ok_or_else(|| not_found(session))?;
        state.requests.retain(|scope, known| {
            let is_its_creation =
                scope.1.is_empty() && matches!(&known.answer, Answer::Created(it) if *it == id);
            scope.0 != namespace || (scope.1 != id && !is_its_creation)
        });
        Ok(())
    }

    async fn set_item(&self, set: SetItem) -> Result<Revision, Error> {
        self.write()?.session_mut(&set.session)?.set_item(set)
    }

    async fn list_items(
        &self,
        session: &SessionRef,
        at: ItemAt,
    ) -> Result<Vec<ContextItem>, Error> {
        self.read()?.session(session)?.items(at)
    }

    async fn set_view(&self, set: SetView) -> Result<(View, Revision), Error> {
        self.write()?.session_mut(&set.session)?.set_view(set)
    }

    async fn append(&self, append: Append) -> Result<Appended, Error> {
        let mut state = self.write()?;
        state.session(&append.session)?;
        let scope = append.request.as_ref().map(|it| session_scope(&append.session, it));
        if let (Some(request), Some(scope)) = (&append.request, &scope)
            && let Some(Answer::Appended { first_seq, last_seq, revision }) =
                state.known(scope, request)?
        {
            let placements = Vec::new();
            return Ok(Appended { first_seq, last_seq, revision, replayed: true, placements });
        }
        let appended = state.session_mut(&append.session)?.append(&append)?;
        if let (Some(request), Some(scope)) = (&append.request, scope) {
            let Appended { first_seq, last_seq, revision, .. } = appended;
            let answer = Answer::Appended { first_seq, last_seq, revision };
            state.remember(scope, request, answer, append.at);
        }
        Ok(appended)
    }

    async fn read_rows(&self, session: &SessionRef, query: RowsQuery) -> Result<Vec<Row>, Error> {
        Ok(self.read()?.session(session)?.rows(query))
    }

    async fn commit_overlays(&self, commit: CommitOverlays) -> Result<Committed, Error> {
        let mut state = self.write()?;
        let session = state.session(&commit.session)?;
        let scope = commit.request.as_ref().map(|it| session_scope(&commit.session, it));
        if let (Some(request), Some(scope)) = (&commit.request, &scope)
            && let Some(Answer::Committed { overlays, revision }) = state.known(scope, request)?
        {
            let overlays =
                overlays.iter().map(|id| session.overlay(id).cloned()).collect::<Result<_, _>>()?;
            return Ok(Committed { overlays, revision, replayed: true });
        }
        let committed = state.session_mut(&commit.session)?.commit(&commit)?;
        if let (Some(request), Some(scope)) = (&commit.request, scope) {
            let overlays = committed.overlays.iter().map(|it| it.id.clone()).collect();
            let answer = Answer::Committed { overlays, revision: committed.revision };
            state.remember(scope, request, answer, commit.at);
        }
        Ok(committed)
    }

    async fn rollback_overlay(&self, rollback: RollbackOverlay) -> Result<RolledBack, Error> {
        let mut state = self.write()?;
        state.session_mut(&rollback.session)?.roll_back(&rollback)
    }

    async fn get_overlay(&self, session: &SessionRef, id: &OverlayId) -> Result<Overlay, Error> {
        self.read()?.session(session)?.overlay(id).cloned()
    }

    async fn list_overlays(
        &self,
        session: &SessionRef,
        view: &ViewName,
        include_rolled_back: bool,
    ) -> Result<Vec<Overlay>, Error> {
        let state = self.read()?;
        let all = state.session(session)?.overlays_of(view);
        Ok(all.filter(|it| include_rolled_back || it.rollback.is_none()).cloned().collect())
    }

    async fn pin(&self, new: NewPin) -> Result<(Pin, Revision, bool), Error> {
        let mut state = self.write()?;
        let session = state.session(&new.session)?;
        let request = new.request.clone().map(|it| (session_scope(&new.session, &it), it));
        if let Some((scope, request)) = &request
            && let Some(Answer::Pinned { pin, revision }) = state.known(scope, request)?
        {
            let missing = || Error::NotFound(Entity::Pin(pin.to_string()));
            let pin = session.get_pin(&pin).cloned().ok_or_else(missing)?;
            return Ok((pin, revision, true));
        }
        let at = new.at;
        let pin = state.session_mut(&new.session.clone())?.pin(new)?;
        if let Some((scope, request)) = request {
            let answer = Answer::Pinned { pin: pin.id.clone(), revision: pin.since };
            state.remember(scope, &request, answer, at);
        }
        let revision = pin.since;
        Ok((pin, revision, false))
    }

    async fn unpin(&self, unpin: Unpin) -> Result<Revision, Error> {
        self.write()?.session_mut(&unpin.session)?.unpin(&unpin)
    }

    async fn list_pins(&self, session: &SessionRef, view: &ViewName) -> Result<Vec<Pin>, Error> {
        Ok(self.read()?.session(session)?.pins_of(view).cloned().collect())
    }

    async fn delete_view(&self, delete: DeleteView) -> Result<Revision, Error> {
        self.write()?.session_mut(&delete.session)?.delete_view(&delete)
    }

    async fn state_at(
        &self,
        session: &SessionRef,
        view: &ViewName,
        at: Revision,
    ) -> Result<StateAt, Error> {
        self.read()?.session(session)?.state_at(view, at)
    }

    async fn list_revisions(
        &self,
        session: &SessionRef,
        page: Page<Revision>,
    ) -> Result<Vec<RevisionEntry>, Error> {
        self.read()?.session(session)?.list_revisions(&page)
    }

    async fn prepare(&self, prepare: NewPlan) -> Result<Prepared, Error> {
        let mut state = self.write()?;
        let session = state.session(&prepare.session)?;
        let scope = prepare.request.as_ref().map(|it| session_scope(&prepare.session, it));
        if let (Some(request), Some(scope)) = (&prepare.request, &scope)
            && let Some(Answer::Prepared { plans }) = state.known(scope, request)?
        {
            let plans =
                plans.iter().map(|id| session.plan(id).cloned()).collect::<Result<_, _>>()?;
            return Ok(Prepared { plans, replayed: true });
        }
        let plans = state.session_mut(&prepare.session)?.prepare(&prepare)?;
        if let (Some(request), Some(scope), Some(first)) = (&prepare.request, scope, plans.first())
        {
            let answer = Answer::Prepared { plans: plans.iter().map(|it| it.id.clone()).collect() };
            state.remember(scope, request, answer, first.create_time);
        }
        Ok(Prepared { plans, replayed: false })
    }

    async fn get_plan(&self, session: &SessionRef, plan: &PlanId) -> Result<Plan, Error> {
        self.read()?.session(session)?.plan(plan).cloned()
    }

    async fn list_plans(
        &self,
        session: &SessionRef,
        view: &ViewName,
        now: Timestamp,
    ) -> Result<Vec<Plan>, Error> {
        Ok(self.read()?.session(session)?.plans_of(view, now).cloned().collect())
    }

    async fn renew_plans(
        &self,
        session: &SessionRef,
        plans: &[PlanId],
        now: Timestamp,
        until: Timestamp,
    ) -> Result<(), Error> {
        self.write()?.session_mut(session)?.renew_plans(plans, now, until)
    }

    async fn abandon_plans(&self, session: &SessionRef, plans: &[PlanId]) -> Result<(), Error> {
        self.write()?.session_mut(session)?.abandon_plans(plans)
    }

    async fn fork_session(&self, fork: ForkSession) -> Result<(Session, bool), Error> {
        let mut state = self.write()?;
        let SessionRef { namespace, .. } = fork.origin.clone();
        let new = SessionRef { namespace, id: fork.id.clone() };
        let scope = fork.request.as_ref().map(|it| namespace_scope(&new, it));
        if let (Some(request), Some(scope)) = (&fork.request, &scope)
            && let Some(Answer::Created(id)) = state.known(scope, request)?
        {
            let made = SessionRef { id: SessionId::new(&id), ..new };
            return Ok((state.session(&made)?.session().clone(), true));
        }
        let forked = state.session(&fork.origin)?.fork(&fork)?;
        if state.sessions.contains_key(&key(&new)) {
            return Err(Error::AlreadyExists(new.id.to_string()));
        }
        if let (Some(request), Some(scope)) = (&fork.request, scope) {
            state.remember(scope, request, Answer::Created(new.id.to_string()), fork.at);
        }
        let session = forked.session().clone();
        state.sessions.insert(key(&new), forked);
        Ok((session, false))
    }

    async fn calibrations(&self, namespace: &str) -> Result<Vec<(String, f64)>, Error> {
        let state = self.read()?;
        let of_namespace = state.calibrations.iter().filter(|((it, _), _)| it == namespace);
        Ok(of_namespace.map(|((_, model), factor)| (model.clone(), *factor)).collect())
    }

    async fn set_calibration(
        &self,
        namespace: &str,
        model: &str,
        factor: f64,
    ) -> Result<(), Error> {
        let mut state = self.write()?;
        state.calibrations.insert((namespace.to_owned(), model.to_owned()), factor);
        Ok(())
    }

    async fn expire(&self, now: Timestamp) -> Result<(), Error> {
        let mut state = self.write()?;
        state.requests.retain(|_, known| !rules::may_be_forgotten(known.at, now));
        state.sessions.values_mut().for_each(|it| it.forget_plans(now));
        Ok(())
    }

    async fn readiness(&self) -> Readiness {
        match self.read() {
            Ok(_) => Readiness::Ready,
            Err(err) => Readiness::NotReady(err.to_string()),
        }
    }

    async fn close(&self) {
        self.state.write().unwrap_or_else(PoisonError::into_inner).is_closed = true;
    }
}

fn is_asked_for(session: &Session, filter: &SessionFilter) -> bool {
    let bears = |(key, value): (&String, &String)| session.labels.get(key) == Some(value);
    session.namespace.as_str() == filter.namespace
        && filter.labels.iter().all(bears)
        && (filter.parent_session_id.is_empty()
            || session.parent_session_id == filter.parent_session_id)
        && (filter.fork_origin_session_id.is_empty()
            || session
                .fork_origin
                .as_ref()
                .is_some_and(|it| it.session_id.as_str() == filter.fork_origin_session_id))
}
