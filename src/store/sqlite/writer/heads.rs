//! What the writer remembers of sessions, so that an append reads nothing.

use std::collections::HashMap;

use super::{
    super::{Options, error::Failure, read, statements},
    Writer,
};
use crate::{
    model::{Revision, Seq, Timestamp},
    rounds::{Ledger, RoundState},
    store::SessionRef,
};

/// A session's counters and its pairing.
///
/// It is taken out while a command changes it and put back where the command
/// succeeded; one that is not put back is loaded anew.
#[derive(Debug)]
pub(super) struct Head {
    pub key: i64,
    pub is_fork: bool,
    pub revision: Revision,
    pub tokens: i64,
    pub ledger: Ledger,
    /// Call ids that the ledger took in since it last forgot them.
    pub ids_in_memory: usize,
}

impl Head {
    /// Where the next message goes.
    pub(super) fn next_seq(&self) -> Seq {
        self.ledger.next_seq()
    }

    pub(super) fn next_revision(&mut self) -> Revision {
        self.revision = self.revision.next();
        self.revision
    }
}

/// The heads of the sessions that were written to last.
#[derive(Debug)]
pub(super) struct Heads {
    by_session: HashMap<SessionRef, (u64, Head)>,
    uses: u64,
    most_sessions: usize,
    most_calls: usize,
}

impl Heads {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            by_session: HashMap::new(),
            uses: 0,
            most_sessions: options.sessions_in_memory.max(1),
            most_calls: options.calls_in_memory,
        }
    }

    pub(super) fn take(&mut self, session: &SessionRef) -> Option<Head> {
        self.by_session.remove(session).map(|(_, head)| head)
    }

    pub(super) fn put(&mut self, session: &SessionRef, mut head: Head) {
        if head.ids_in_memory > self.most_calls {
            head.ledger.forget_calls();
            head.ids_in_memory = 0;
        }
        if self.by_session.len() >= self.most_sessions {
            self.forget_a_quarter();
        }
        self.uses += 1;
        self.by_session.insert(session.clone(), (self.uses, head));
    }

    pub(super) fn clear(&mut self) {
        self.by_session.clear();
    }

    /// Forgets those that were used longest ago; several at once, so that the
    /// search for them is paid for rarely.
    fn forget_a_quarter(&mut self) {
        let mut uses: Vec<u64> = self.by_session.values().map(|(used, _)| *used).collect();
        uses.sort_unstable();
        if let Some(newest_to_go) = uses.get(uses.len() / 4).copied() {
            self.by_session.retain(|_, (used, _)| *used > newest_to_go);
        }
    }
}

impl Writer {
    /// Takes a session's head out of memory, or loads it.
    pub(super) async fn head(&mut self, session: &SessionRef) -> Result<Head, Failure> {
        match self.heads.take(session) {
            Some(head) => Ok(head),
            None => self.load_head(session).await,
        }
    }

    /// Puts a head back where what it was taken out for was written, or refused
    /// before the head moved on.
    pub(super) fn put_back<T>(
        &mut self,
        session: &SessionRef,
        head: Head,
        done: &Result<T, Failure>,
    ) {
        if matches!(done, Ok(_) | Err(Failure::Refused(_))) {
            self.heads.put(session, head);
        }
    }

    async fn load_head(&mut self, session: &SessionRef) -> Result<Head, Failure> {
        let found: Option<(i64, i64, i64, i64, i64, bool)> = sqlx::query_as(statements::HEAD)
            .bind(session.namespace.as_str())
            .bind(session.id.as_str())
            .fetch_optional(&mut self.conn)
            .await?;
        let (key, next_seq, revision, turn, tokens, is_fork) =
            found.ok_or_else(|| read::not_found(session))?;
        let ledger = if next_seq == 1 {
            Ledger::new()
        } else {
            let open: Vec<(i64, String, i64)> =
                sqlx::query_as(statements::OPEN_ROUNDS).bind(key).fetch_all(&mut self.conn).await?;
            let state = |(round, lane, unanswered)| RoundState {
                round: Seq(round),
                lane,
                unanswered: usize::try_from(unanswered).unwrap_or_default(),
            };
            Ledger::resume(Seq(next_seq), turn, open.into_iter().map(state).collect())
        };
        Ok(Head { key, is_fork, revision: Revision(revision), tokens, ledger, ids_in_memory: 0 })
    }
}

/// A moment as columns hold it.
pub(super) fn micros(at: Timestamp) -> i64 {
    at.as_micros()
}
