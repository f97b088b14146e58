//! The one writer: a thread that owns the one writing connection.
//!
//! It has a thread of its own, so that neither a busy server nor a runtime that
//! goes down delays it, and a command that was accepted runs to its end whoever
//! waits for it. Preconditions are checked on what is in memory before anything
//! is written. Start reading at [`Writer::run`], then [`Writer::commit_group`].

mod append;
mod batch;
mod create;
mod erase;
mod fork;
mod heads;
mod items;
mod overlay_rows;
mod overlays;
mod pairing;
mod pins;
mod plans;
mod requests;
mod sessions;
mod views;

use std::{collections::VecDeque, fs::File, thread::JoinHandle};

use sqlx::{Connection, Sqlite, SqliteConnection, query::Query, sqlite::SqliteArguments};

use self::{append::Placed, erase::Erasures, heads::Heads};
use super::{
    OpenError, Options,
    command::Command,
    error::{Failure, Shared},
    open::Opened,
    queue::{Next, Receiver, Reply},
    statements,
};
use crate::store::Appended;

/// A statement with its values.
type Bound<'q> = Query<'q, Sqlite, SqliteArguments>;

/// Tells a caller, once it is known whether the group failed.
type Answer = Box<dyn FnOnce(Option<&Shared>) + Send>;

struct Writer {
    conn: SqliteConnection,
    heads: Heads,
    erasures: Erasures,
    /// Appends of the group that runs, in their places and not written yet.
    placed: Vec<(Placed, Reply<Appended>)>,
    /// Answers of the group that runs.
    answers: Vec<Answer>,
    /// Session keys and content ids are counted on from here.
    last_session: i64,
    last_content: i64,
    /// Who waits for the end.
    closing: Option<Reply<()>>,
}

/// Starts the writer's thread on an opened folder.
pub(super) async fn start(
    opened: Opened,
    commands: Receiver,
    options: &Options,
) -> Result<JoinHandle<()>, OpenError> {
    let told = |err: sqlx::Error| OpenError::Backend(Box::new(err));
    let mut conn = opened.writer;
    let (last_session, last_content) =
        sqlx::query_as(statements::COUNTERS).fetch_one(&mut conn).await.map_err(told)?;
    // Where it cannot be written now, they expire.
    if let Err(err) = sqlx::query(statements::ABANDON_OWN_PLANS).execute(&mut conn).await {
        tracing::warn!(error = &err as &dyn std::error::Error, "own plans were not given back");
    }
    let writer = Writer {
        erasures: Erasures::load(&mut conn).await.map_err(told)?,
        conn,
        heads: Heads::new(options),
        placed: Vec::new(),
        answers: Vec::new(),
        last_session,
        last_content,
        closing: None,
    };
    let lock = opened.lock;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(|err| OpenError::Backend(Box::new(err)))?;
    std::thread::Builder::new()
        .name("concertina-writer".into())
        .spawn(move || runtime.block_on(writer.run(commands, lock)))
        .map_err(|err| OpenError::Backend(Box::new(err)))
}

impl Writer {
    /// Runs group after group; a piece of an erasure between two of them.
    async fn run(mut self, mut commands: Receiver, lock: File) {
        loop {
            match commands.next(!self.erasures.are_pending()).await {
                Next::Group(group) => self.commit_group(group).await,
                Next::Nothing => {}
                // A close finishes what was accepted; otherwise the next start
                // goes on with the erasures.
                Next::End if self.closing.is_some() && self.erasures.are_pending() => {}
                Next::End => break,
            }
            if self.closing.is_some() {
                commands.close();
            }
            self.erase_piece().await;
        }
        self.end(lock).await;
    }

    /// Runs commands in one transaction, makes it durable, then answers all.
    async fn commit_group(&mut self, group: Vec<Command>) {
        let failure = self.run_group(group.into()).await.err();
        if let Some(failure) = &failure {
            // Where the database has undone the transaction itself this fails,
            // and nothing is left to undo.
            let _ = sqlx::query(statements::ROLLBACK).execute(&mut self.conn).await;
            self.heads.clear();
            self.fail_placed(failure);
        }
        self.erasures.settle(failure.as_ref());
        for answer in self.answers.drain(..) {
            answer(failure.as_ref());
        }
    }

    async fn run_group(&mut self, mut group: VecDeque<Command>) -> Result<(), Shared> {
        self.place_leading(&mut group);
        // Few appends and nothing else are one statement: a transaction already.
        if group.is_empty() && self.insert_placed().await?.is_ok() {
            return Ok(());
        }
        let mut lost = self.execute(statements::BEGIN).await.err();
        for command in group {
            if lost.is_none() && !matches!(command, Command::Append(..)) {
                lost = self.write_placed().await.err();
            }
            match &lost {
                None => lost = self.run_command(command).await.err(),
                Some(failure) => command.fail(failure),
            }
        }
        if lost.is_none() {
            lost = self.write_placed().await.err();
        }
        match lost {
            None => self.execute(statements::COMMIT).await,
            Some(failure) => Err(failure),
        }
    }

    /// Runs one command; an error means that the whole group is lost.
    async fn run_command(&mut self, command: Command) -> Result<(), Shared> {
        match command {
            Command::Append(append, reply) => self.take_append(append, reply).await,
            Command::Create(new, reply) => {
                let result = self.create(*new).await;
                self.answer(reply, result)
            }
            Command::Fork(fork, reply) => {
                let result = self.fork(fork).await;
                self.answer(reply, result)
            }
            Command::Update(update, reply) => {
                let result = self.update(update).await;
                self.answer(reply, result)
            }
            Command::Delete(session, reply) => match self.begin_erasure(&session).await {
                Ok(key) => {
                    self.erasures.stage(key, reply);
                    Ok(())
                }
                Err(failure) => self.answer(reply, Err(failure)),
            },
            Command::SetItem(set, content, reply) => {
                let result = self.set_item(set, content).await;
                self.answer(reply, result)
            }
            Command::SetView(set, reply) => {
                let result = self.set_view(set).await;
                self.answer(reply, result)
            }
            Command::Commit(commit, reply) => {
                let result = self.commit_overlays(commit).await;
                self.answer(reply, result)
            }
            Command::RollBack(rollback, reply) => {
                let result = self.roll_back(rollback).await;
                self.answer(reply, result)
            }
            Command::Pin(pin, reply) => {
                let result = self.pin(pin).await;
                self.answer(reply, result)
            }
            Command::Unpin(unpin, reply) => {
                let result = self.unpin(unpin).await;
                self.answer(reply, result)
            }
            Command::DeleteView(delete, reply) => {
                let result = self.delete_view(delete).await;
                self.answer(reply, result)
            }
            Command::Prepare(prepare, reply) => {
                let result = self.prepare(prepare).await;
                self.answer(reply, result)
            }
            Command::Renew(renew, reply) => {
                let result = self.renew_plans(renew).await;
                self.answer(reply, result)
            }
            Command::Abandon(session, plans, reply) => {
                let result = self.abandon_plans(&session, &plans).await;
                self.answer(reply, result)
            }
            Command::Calibrate { namespace, model, factor, reply } => {
                let result = self.calibrate(namespace, model, factor).await;
                self.answer(reply, result)
            }
            Command::Expire(now, reply) => {
                let result = self.expire(now).await;
                self.answer(reply, result)
            }
            Command::Close(reply) => {
                self.closing = Some(reply);
                Ok(())
            }
        }
    }

    /// Keeps an answer until the group is durable.
    fn answer<T: Send + 'static>(
        &mut self,
        reply: Reply<T>,
        result: Result<T, Failure>,
    ) -> Result<(), Shared> {
        let lost = match &result {
            Err(Failure::Lost(failure)) => Some(failure.clone()),
            _ => None,
        };
        self.answers.push(Box::new(move |failure| {
            let told = match failure {
                // What the command came to was judged by what others of the
                // group had written.
                Some(failure) => Err(failure.clone().classify()),
                None => result.map_err(Into::into),
            };
            // Who asked may have gone away.
            let _ = reply.send(told);
        }));
        lost.map_or(Ok(()), Err)
    }

    async fn execute(&mut self, statement: &'static str) -> Result<(), Shared> {
        sqlx::query(statement).execute(&mut self.conn).await?;
        Ok(())
    }

    /// Runs the query string of a command, which is a savepoint of its own.
    async fn write(&mut self, statement: Bound<'_>) -> Result<(), Failure> {
        let Err(err) = statement.execute(&mut self.conn).await else { return Ok(()) };
        match self.execute(statements::ROLLBACK_COMMAND).await {
            Ok(()) => Err(Failure::Undone(err.into())),
            // Some errors undo the whole transaction, savepoints and all.
            Err(_) => Err(Failure::Lost(err.into())),
        }
    }

    /// Runs a command that is one statement.
    async fn write_one(&mut self, statement: Bound<'_>) -> Result<(), Failure> {
        let Err(err) = statement.execute(&mut self.conn).await else { return Ok(()) };
        let err = Shared::from(err);
        Err(if err.undoes_the_statement() { Failure::Undone(err) } else { Failure::Lost(err) })
    }

    /// Empties the log, closes, lets the next server in, and says so.
    async fn end(mut self, lock: File) {
        let mut result = Ok(());
        if self.closing.is_some() {
            result = self.execute(statements::CHECKPOINT).await;
        }
        let closed = self.conn.close().await.map_err(Shared::from);
        drop(lock);
        if let Some(reply) = self.closing {
            let _ = reply.send(result.and(closed).map_err(Shared::classify));
        }
    }
}
