//! Erasing deleted sessions, piece by piece.
//!
//! A deleted session leaves every reader's sight at once. Its rows go in pieces
//! that hold the writer for a few milliseconds each, between the groups of
//! others; a start goes on where the last run stopped.

use std::collections::VecDeque;

use sqlx::SqliteConnection;

use super::{
    super::{
        error::{Failure, Shared},
        queue::Reply,
        statements,
    },
    Writer,
};
use crate::store::{Error, SessionRef, rules};

/// Sessions that are being erased.
#[derive(Debug)]
pub(super) struct Erasures {
    pending: VecDeque<Erasure>,
    /// Deleted by the group that runs.
    staged: Vec<Erasure>,
}

#[derive(Debug)]
struct Erasure {
    session: i64,
    /// The next of `statements::ERASE`.
    step: usize,
    /// Who waits, where the deletion is of this run.
    reply: Option<Reply<()>>,
}

impl Erasures {
    /// Those that the last run left behind.
    pub(super) async fn load(conn: &mut SqliteConnection) -> Result<Self, sqlx::Error> {
        let sessions: Vec<i64> = sqlx::query_scalar(statements::ERASURES).fetch_all(conn).await?;
        let pending = sessions.into_iter().map(|session| Erasure { session, step: 0, reply: None });
        Ok(Self { pending: pending.collect(), staged: Vec::new() })
    }

    pub(super) fn are_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    pub(super) fn stage(&mut self, session: i64, reply: Reply<()>) {
        self.staged.push(Erasure { session, step: 0, reply: Some(reply) });
    }

    /// Takes up what the group deleted, once it is durable.
    pub(super) fn settle(&mut self, failure: Option<&Shared>) {
        for erasure in self.staged.drain(..) {
            match failure {
                None => self.pending.push_back(erasure),
                Some(failure) => erasure.end(Err(failure.clone())),
            }
        }
    }
}

impl Erasure {
    fn end(self, result: Result<(), Shared>) {
        if let Some(reply) = self.reply {
            let _ = reply.send(result.map_err(Shared::classify));
        }
    }
}

impl Writer {
    /// Takes a session out of sight; returns its key.
    pub(super) async fn begin_erasure(&mut self, session: &SessionRef) -> Result<i64, Failure> {
        let head = self.head(session).await?;
        let forks: Vec<String> = sqlx::query_scalar(statements::FORKS)
            .bind(head.key)
            .bind(i64::try_from(rules::FORKS_TOLD).unwrap_or(i64::MAX))
            .fetch_all(&mut self.conn)
            .await?;
        if !forks.is_empty() {
            self.heads.put(session, head);
            return Err(Error::HasForks(forks).into());
        }
        self.write(sqlx::query(statements::BEGIN_ERASURE).bind(head.key)).await?;
        Ok(head.key)
    }

    /// Erases one piece of the oldest erasure, where there is one.
    pub(super) async fn erase_piece(&mut self) {
        let Some(mut erasure) = self.erasures.pending.pop_front() else { return };
        let step = statements::ERASE.get(erasure.step).copied();
        match self.erase(erasure.session, step.unwrap_or(statements::END_ERASURE)).await {
            Ok(_) if step.is_none() => erasure.end(Ok(())),
            Ok(rows) => {
                if rows == 0 {
                    erasure.step += 1;
                }
                self.erasures.pending.push_front(erasure);
            }
            Err(failure) => {
                let _ = self.execute(statements::ROLLBACK).await;
                // The next start tries again.
                erasure.end(Err(failure));
            }
        }
    }

    /// Runs one piece in a transaction of its own; tells how many rows went.
    async fn erase(&mut self, session: i64, piece: &'static str) -> Result<u64, Shared> {
        self.execute(statements::BEGIN).await?;
        let done = sqlx::query(piece).bind(session).execute(&mut self.conn).await?;
        self.execute(statements::COMMIT).await?;
        Ok(done.rows_affected())
    }
}
