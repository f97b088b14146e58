//! Request ids: the same answer to the same request.

use serde::de::DeserializeOwned;

use super::{
    super::{error::Failure, statements},
    Writer,
};
use crate::{
    model::Timestamp,
    store::{Error, RequestKey, rules},
};

/// Where a request id counts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scope<'a> {
    /// In a session, by its key.
    Session(i64),
    /// In a namespace.
    Namespace(&'a str),
}

impl Writer {
    /// What was answered to a request, where it is known.
    pub(super) async fn known<T: DeserializeOwned>(
        &mut self,
        scope: Scope<'_>,
        request: Option<&RequestKey>,
    ) -> Result<Option<T>, Failure> {
        let Some(request) = request else { return Ok(None) };
        let (session, namespace) = match scope {
            Scope::Session(key) => (key, ""),
            Scope::Namespace(namespace) => (0, namespace),
        };
        let known: Option<(i64, Vec<u8>, String)> = sqlx::query_as(statements::REQUEST)
            .bind(session)
            .bind(namespace)
            .bind(request.id.as_str())
            .fetch_optional(&mut self.conn)
            .await?;
        let Some((row, digest, answer)) = known else { return Ok(None) };
        if digest != request.digest {
            return Err(Error::RequestIdReused.into());
        }
        let corrupt = Error::Corrupt { table: "requests", column: "answer", row };
        Ok(Some(serde_json::from_str(&answer).map_err(|_| corrupt)?))
    }

    /// Forgets a piece of the request ids and plans that are old enough; tells
    /// how many.
    pub(super) async fn expire(&mut self, now: Timestamp) -> Result<u64, Failure> {
        let done = sqlx::query(statements::EXPIRE)
            .bind(rules::forgotten_before(now))
            .execute(&mut self.conn)
            .await?;
        Ok(done.rows_affected())
    }
}
