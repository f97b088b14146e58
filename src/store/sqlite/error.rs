//! What the driver's errors mean. No driver type leaves this backend.

use std::sync::Arc;

use crate::store::Error;

const SQLITE_BUSY: i64 = 5;
const SQLITE_LOCKED: i64 = 6;
const SQLITE_IOERR: i64 = 10;
const SQLITE_FULL: i64 = 13;
const SQLITE_CONSTRAINT: i64 = 19;
const SQLITE_NOTADB: i64 = 26;

/// A driver's error that many callers are told of.
#[derive(Debug, Clone, thiserror::Error)]
#[error(transparent)]
pub(super) struct Shared(Arc<sqlx::Error>);

impl From<sqlx::Error> for Shared {
    fn from(err: sqlx::Error) -> Self {
        Self(Arc::new(err))
    }
}

impl Shared {
    /// Says what it means to a caller.
    pub(super) fn classify(self) -> Error {
        match (primary_code(&self.0), &*self.0) {
            (Some(SQLITE_FULL), _) => Error::Full(Box::new(self)),
            // The disk may answer again: nothing was written, a retry is safe.
            (Some(SQLITE_BUSY | SQLITE_LOCKED | SQLITE_IOERR), _)
            | (_, sqlx::Error::PoolTimedOut) => Error::Busy(Box::new(self)),
            (_, sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed) => Error::Closed,
            _ => Error::Backend(Box::new(self)),
        }
    }

    /// Says whether only the statement was undone. Other errors may undo the
    /// whole transaction.
    pub(super) fn undoes_the_statement(&self) -> bool {
        primary_code(&self.0) == Some(SQLITE_CONSTRAINT)
    }

    /// Says whether a row with such a key is there already.
    pub(super) fn is_conflict(&self) -> bool {
        self.0.as_database_error().is_some_and(sqlx::error::DatabaseError::is_unique_violation)
    }
}

/// Says what a driver's error means to a caller.
pub(super) fn classify(err: sqlx::Error) -> Error {
    Shared::from(err).classify()
}

/// Says whether the file is no database.
pub(super) fn is_not_a_database(err: &sqlx::Error) -> bool {
    primary_code(err) == Some(SQLITE_NOTADB)
}

/// SQLite's result code without what extends it.
fn primary_code(err: &sqlx::Error) -> Option<i64> {
    let code: i64 = err.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}

/// Why a command or a read came to nothing.
#[derive(Debug)]
pub(super) enum Failure {
    /// The contract refuses it; nothing was written.
    Refused(Error),
    /// The database refused it, and its savepoint was undone.
    Undone(Shared),
    /// The database failed where only the whole transaction can be undone.
    Lost(Shared),
}

impl From<sqlx::Error> for Failure {
    fn from(err: sqlx::Error) -> Self {
        Self::Lost(err.into())
    }
}

impl From<Error> for Failure {
    fn from(err: Error) -> Self {
        Self::Refused(err)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(err) => err,
            Failure::Undone(err) | Failure::Lost(err) => err.classify(),
        }
    }
}
