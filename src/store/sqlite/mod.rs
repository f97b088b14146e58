//! The SQLite backend: one file, one writer, a few readers.
//!
//! Everything that can be computed beforehand is: a command reaches the
//! [`writer`](self) with its content encoded, hashed and compressed. The one
//! writer takes what waits as a group, runs each command in a savepoint of one
//! transaction, flushes once, and answers all. Readers never wait for it.
//!
//! Start reading at [`SqliteStore`], then `writer`.

mod command;
mod content;
mod error;
mod open;
mod queue;
mod read;
mod statements;
mod values;
mod writer;

use std::{path::Path, sync::Mutex, thread::JoinHandle};

use async_trait::async_trait;
use sqlx::{Sqlite, SqlitePool, Transaction, pool::PoolConnection};

pub use open::OpenError;

use self::{
    command::{Command, PackedAppend, PackedCommit, RenewPlans},
    content::Packed,
    error::classify,
    open::Opened,
    queue::Sender,
};
use super::{
    Append, Appended, CommitOverlays, Committed, DeleteView, Entity, Error, ForkSession, ItemAt,
    NewPin, NewPlan, NewSession, Page, Plan, Prepared, Readiness, RollbackOverlay, RolledBack,
    RowsQuery, SessionFilter, SessionRef, SetItem, SetView, StateAt, Store, Unpin, UpdateSession,
};
use crate::model::{
    ContextItem, Overlay, OverlayId, Pin, PlanId, Revision, RevisionEntry, Row, Session, Timestamp,
    View, ViewName,
};

/// Content above it is compressed off the async threads.
const INLINE_BYTES: usize = 64 * 1024;

/// What a store may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Connections that read.
    pub readers: u32,
    /// Sessions whose counters the writer remembers.
    pub sessions_in_memory: usize,
    /// Tool calls of one session that it remembers; others are looked up.
    pub calls_in_memory: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { readers: 4, sessions_in_memory: 1024, calls_in_memory: 10_000 }
    }
}

/// Keeps everything in one SQLite database.
///
/// Dropping it finishes what was accepted, like a close, but leaves the log as
/// it is.
#[derive(Debug)]
pub struct SqliteStore {
    /// `None` only while it is dropped.
    commands: Option<Sender>,
    readers: SqlitePool,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl SqliteStore {
    /// Opens (or makes) the database in a folder and brings it up to date.
    ///
    /// # Errors
    ///
    /// See [`OpenError`].
    pub async fn open(folder: &Path, options: Options) -> Result<Self, OpenError> {
        Self::start(open::open(folder, &options).await?, &options).await
    }

    async fn start(opened: Opened, options: &Options) -> Result<Self, OpenError> {
        let (commands, waiting) = queue::channel();
        let readers = opened.readers.clone();
        let writer = writer::start(opened, waiting, options).await?;
        Ok(Self { commands: Some(commands), readers, writer: Mutex::new(Some(writer)) })
    }

    fn commands(&self) -> Result<&Sender, Error> {
        self.commands.as_ref().ok_or(Error::Closed)
    }

    async fn reader(&self) -> Result<PoolConnection<Sqlite>, Error> {
        self.readers.acquire().await.map_err(classify)
    }

    /// A reader whose statements all see the same; it ends where it is dropped.
    async fn snapshot(&self) -> Result<Transaction<'static, Sqlite>, Error> {
        self.readers.begin().await.map_err(classify)
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        // The writer ends once no caller is left, and with it the lock.
        self.commands = None;
        let writer = self.writer.get_mut().ok().and_then(Option::take);
        if let Some(writer) = writer
            && writer.join().is_err()
        {
            tracing::error!("the writer panicked");
        }
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn create_session(&self, new: NewSession) -> Result<(Session, bool), Error> {
        self.commands()?.ask(0, |reply| Command::Create(Box::new(new), reply)).await
    }

    async fn get_session(&self, session: &SessionRef) -> Result<Session, Error> {
        let (_, session) = read::get_session(&mut *self.reader().await?, session).await?;
        Ok(session)
    }

    async fn list_sessions(
        &self,
        filter: &SessionFilter,
        page: Page<(Timestamp, String)>,
    ) -> Result<Vec<Session>, Error> {
        Ok(read::list_sessions(&mut *self.reader().await?, filter, page).await?)
    }

    async fn update_session(&self, update: UpdateSession) -> Result<Session, Error> {
        self.commands()?.ask(0, |reply| Command::Update(update, reply)).await
    }

    async fn delete_session(&self, session: &SessionRef) -> Result<(), Error> {
        let session = session.clone();
        self.commands()?.ask(0, |reply| Command::Delete(session, reply)).await
    }

    async fn set_item(&self, set: SetItem) -> Result<Revision, Error> {
        let plain = set.item.content.clone();
        let packed = pack(plain.len(), move || {
            let mut packed = Packed::default();
            packed.add(&plain);
            packed
        });
        let packed = packed.await?;
        self.commands()?.ask(packed.bytes.len(), |reply| Command::SetItem(set, packed, reply)).await
    }

    async fn list_items(
        &self,
        session: &SessionRef,
        at: ItemAt,
    ) -> Result<Vec<ContextItem>, Error> {
        Ok(read::list_items(&mut *self.reader().await?, session, at).await?)
    }

    async fn set_view(&self, set: SetView) -> Result<(View, Revision), Error> {
        self.commands()?.ask(0, |reply| Command::SetView(set, reply)).await
    }

    async fn append(&self, append: Append) -> Result<Appended, Error> {
        let size = append.rows.iter().map(|it| it.encoded.len()).sum();
        let packed = pack(size, move || PackedAppend::new(append)).await?;
        self.commands()?
            .ask(packed.contents.bytes.len(), |reply| Command::Append(packed, reply))
            .await
    }

    async fn read_rows(&self, session: &SessionRef, query: RowsQuery) -> Result<Vec<Row>, Error> {
        Ok(read::read_rows(&mut *self.reader().await?, session, query).await?)
    }

    async fn commit_overlays(&self, commit: CommitOverlays) -> Result<Committed, Error> {
        let size = commit.overlays.iter().map(|it| it.summary.len()).sum();
        let packed = pack(size, move || PackedCommit::new(commit)).await?;
        self.commands()?
            .ask(packed.contents.bytes.len(), |reply| Command::Commit(packed, reply))
            .await
    }

    async fn rollback_overlay(&self, rollback: RollbackOverlay) -> Result<RolledBack, Error> {
        self.commands()?.ask(0, |reply| Command::RollBack(rollback, reply)).await
    }

    async fn get_overlay(&self, session: &SessionRef, id: &OverlayId) -> Result<Overlay, Error> {
        let mut reader = self.reader().await?;
        let mut found = read::get_overlays(&mut reader, session, &[id.as_str()]).await?;
        found.pop().ok_or_else(|| Error::NotFound(Entity::Overlay(id.to_string())))
    }

    async fn list_overlays(
        &self,
        session: &SessionRef,
        view: &ViewName,
        include_rolled_back: bool,
    ) -> Result<Vec<Overlay>, Error> {
        let mut reader = self.reader().await?;
        Ok(read::list_overlays(&mut reader, session, view, include_rolled_back).await?)
    }

    async fn pin(&self, pin: NewPin) -> Result<(Pin, Revision, bool), Error> {
        self.commands()?.ask(0, |reply| Command::Pin(pin, reply)).await
    }

    async fn unpin(&self, unpin: Unpin) -> Result<Revision, Error> {
        self.commands()?.ask(0, |reply| Command::Unpin(unpin, reply)).await
    }

    async fn list_pins(&self, session: &SessionRef, view: &ViewName) -> Result<Vec<Pin>, Error> {
        Ok(read::list_pins(&mut *self.reader().await?, session, view).await?)
    }

    async fn delete_view(&self, delete: DeleteView) -> Result<Revision, Error> {
        self.commands()?.ask(0, |reply| Command::DeleteView(delete, reply)).await
    }

    async fn state_at(
        &self,
        session: &SessionRef,
        view: &ViewName,
        at: Revision,
    ) -> Result<StateAt, Error> {
        Ok(read::state_at(&mut *self.snapshot().await?, session, view, at).await?)
    }

    async fn list_revisions(
        &self,
        session: &SessionRef,
        page: Page<Revision>,
    ) -> Result<Vec<RevisionEntry>, Error> {
        Ok(read::list_revisions(&mut *self.snapshot().await?, session, page).await?)
    }

    async fn prepare(&self, prepare: NewPlan) -> Result<Prepared, Error> {
        self.commands()?.ask(0, |reply| Command::Prepare(prepare, reply)).await
    }

    async fn get_plan(&self, session: &SessionRef, plan: &PlanId) -> Result<Plan, Error> {
        let mut reader = self.reader().await?;
        let mut found = read::get_plans(&mut reader, session, std::slice::from_ref(plan)).await?;
        found.pop().ok_or_else(|| Error::NotFound(Entity::Plan(plan.to_string())))
    }

    async fn list_plans(
        &self,
        session: &SessionRef,
        view: &ViewName,
        now: Timestamp,
    ) -> Result<Vec<Plan>, Error> {
        Ok(read::list_plans(&mut *self.reader().await?, session, view, now).await?)
    }

    async fn renew_plans(
        &self,
        session: &SessionRef,
        plans: &[PlanId],
        now: Timestamp,
        until: Timestamp,
    ) -> Result<(), Error> {
        let renew = RenewPlans { session: session.clone(), plans: plans.to_vec(), now, until };
        self.commands()?.ask(0, |reply| Command::Renew(renew, reply)).await
    }

    async fn abandon_plans(&self, session: &SessionRef, plans: &[PlanId]) -> Result<(), Error> {
        let (session, plans) = (session.clone(), plans.to_vec());
        self.commands()?.ask(0, |reply| Command::Abandon(session, plans, reply)).await
    }

    async fn fork_session(&self, fork: ForkSession) -> Result<(Session, bool), Error> {
        self.commands()?.ask(0, |reply| Command::Fork(fork, reply)).await
    }

    async fn calibrations(&self, namespace: &str) -> Result<Vec<(String, f64)>, Error> {
        sqlx::query_as(statements::CALIBRATIONS)
            .bind(namespace)
            .fetch_all(&mut *self.reader().await?)
            .await
            .map_err(classify)
    }

    async fn set_calibration(
        &self,
        namespace: &str,
        model: &str,
        factor: f64,
    ) -> Result<(), Error> {
        let (namespace, model) = (namespace.to_owned(), model.to_owned());
        self.commands()?
            .ask(0, |reply| Command::Calibrate { namespace, model, factor, reply })
            .await
    }

    async fn expire(&self, now: Timestamp) -> Result<(), Error> {
        while self.commands()?.ask(0, |reply| Command::Expire(now, reply)).await? > 0 {}
        Ok(())
    }

    async fn readiness(&self) -> Readiness {
        if self.commands().map_or(true, Sender::is_closed) {
            return Readiness::NotReady(Error::Closed.to_string());
        }
        match self.reader().await {
            Ok(_) => Readiness::Ready,
            Err(err) => Readiness::NotReady(err.to_string()),
        }
    }

    async fn close(&self) {
        self.readers.close().await;
        if let Ok(commands) = self.commands()
            && let Err(err) = commands.close().await
            && !matches!(err, Error::Closed)
        {
            tracing::error!(error = &err as &dyn std::error::Error, "the log was not emptied");
        }
    }
}

/// Prepares a command's content, off the async threads where that takes long.
async fn pack<T: Send + 'static>(
    bytes: usize,
    prepare: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    if bytes <= INLINE_BYTES {
        return Ok(prepare());
    }
    tokio::task::spawn_blocking(prepare).await.map_err(|err| Error::Backend(Box::new(err)))
}

#[cfg(test)]
mod tests;
