//! Forking sessions. Nothing is copied that grows with the messages.

use super::{
    super::{error::Failure, read, statements},
    Writer,
    heads::{Head, micros},
    requests::Scope,
};
use crate::{
    model::{Revision, Seq, Session, SessionId},
    store::{Entity, Error, ForkSession, SessionRef},
};

/// Where a session is forked, and what is known of it.
struct Point {
    /// The last row that is shared; zero: none.
    last: Seq,
    /// In whose state the fork starts.
    revision: Revision,
    /// The session that knows which rounds were in flight after that row.
    holder: i64,
    turn: i64,
    /// Of all rows that are shared.
    tokens: i64,
}

impl Point {
    fn newest(head: &Head) -> Self {
        Self {
            last: Seq(head.next_seq().0 - 1),
            revision: head.revision,
            holder: head.key,
            turn: head.ledger.turn(),
            tokens: head.tokens,
        }
    }
}

impl Writer {
    pub(super) async fn fork(&mut self, fork: ForkSession) -> Result<(Session, bool), Failure> {
        let namespace = fork.origin.namespace.clone();
        let scope = Scope::Namespace(namespace.as_str());
        let new = |id: SessionId| SessionRef { namespace: namespace.clone(), id };
        if let Some(id) = self.known::<String>(scope, fork.request.as_ref()).await? {
            let made = new(SessionId::new(&id));
            let (_, session) = read::get_session(&mut self.conn, &made).await?;
            return Ok((session, true));
        }
        let origin = self.head(&fork.origin).await?;
        let point = self.check_fork(&fork, &origin).await;
        let key = origin.key;
        self.heads.put(&fork.origin, origin);
        self.insert_fork(&fork, key, point?).await?;
        let (_, session) = read::get_session(&mut self.conn, &new(fork.id)).await?;
        Ok((session, false))
    }

    async fn check_fork(&mut self, fork: &ForkSession, origin: &Head) -> Result<Point, Failure> {
        let point = self.point(origin, fork.seq).await?;
        let is_taken: bool = sqlx::query_scalar(statements::IS_TAKEN)
            .bind(fork.origin.namespace.as_str())
            .bind(fork.id.as_str())
            .fetch_one(&mut self.conn)
            .await?;
        if is_taken {
            return Err(Error::AlreadyExists(fork.id.to_string()).into());
        }
        Ok(point)
    }

    async fn point(&mut self, origin: &Head, seq: Option<Seq>) -> Result<Point, Failure> {
        let newest = Point::newest(origin);
        let last = match seq {
            None => return Ok(newest),
            Some(seq) if seq == newest.last && seq >= Seq(1) => return Ok(newest),
            Some(seq) if seq < Seq(1) || seq > newest.last => {
                return Err(Error::NotFound(Entity::Row(seq)).into());
            }
            Some(seq) => seq,
        };
        let statement =
            if origin.is_fork { statements::FORK_POINT_OF_FORK } else { statements::FORK_POINT };
        let rows: Vec<(i64, i64, i64, i64, i64)> = sqlx::query_as(statement)
            .bind(origin.key)
            .bind(last.0)
            .fetch_all(&mut self.conn)
            .await?;
        let [(_, holder, turn, tokens, _), (.., revision)] = rows.as_slice() else {
            return Err(Error::Corrupt { table: "messages", column: "seq", row: last.0 }.into());
        };
        Ok(Point {
            last,
            revision: Revision(revision - 1),
            holder: *holder,
            turn: *turn,
            tokens: *tokens,
        })
    }

    async fn insert_fork(
        &mut self,
        fork: &ForkSession,
        origin: i64,
        point: Point,
    ) -> Result<(), Failure> {
        self.last_session += 1;
        let statement = sqlx::query(statements::FORK_SESSION)
            .bind(self.last_session)
            .bind(origin)
            .bind(point.last.0)
            .bind(point.revision.0)
            .bind(fork.id.as_str())
            .bind(fork.display_name.as_str())
            .bind(micros(fork.at))
            .bind(point.turn)
            .bind(point.tokens)
            .bind(fork.request.as_ref().map(|it| it.id.as_str()))
            .bind(fork.request.as_ref().map(|it| it.digest.as_slice()))
            .bind(point.holder);
        self.write(statement).await
    }
}
