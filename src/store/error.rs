//! What a store may answer instead. No variant names a driver.

use std::fmt;

use crate::model::{OverlayId, PinId, PlanId, Revision, Seq, Timestamp};

/// The cause beneath an error.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was named is not there (for this namespace).
    #[error("{0} not found")]
    NotFound(Entity),
    /// A revision newer than the newest.
    #[error("revision {revision} not found; the newest is {newest}")]
    RevisionNotFound {
        /// What was asked.
        revision: Revision,
        /// What there is.
        newest: Revision,
    },
    /// The session id is taken.
    #[error("session `{0}` exists already")]
    AlreadyExists(String),
    /// The request id is known with other content.
    #[error("the request id was used with other content")]
    RequestIdReused,
    /// `expected_next_seq` does not hold.
    #[error("the next message would get seq {found}, not {expected}")]
    SeqMoved {
        /// What the caller expected.
        expected: Seq,
        /// What it would be.
        found: Seq,
    },
    /// The view changed since the overlays were planned.
    #[error("the view's reductions changed since they were planned")]
    PlanOutdated {
        /// One that came into force meanwhile, where it is known.
        overlay: Option<OverlayId>,
    },
    /// A pin in what a plan leased came or went.
    #[error("pin `{0}` came or went since it was planned")]
    PinMoved(PinId),
    /// A range overlay would cross one that is in force.
    #[error("the range crosses overlay `{0}`")]
    Overlaps(OverlayId),
    /// A row of the range is under work already.
    #[error("plan `{plan}` holds a part of the range")]
    RangeLeased {
        /// Who holds it.
        plan: PlanId,
        /// Until when.
        until: Timestamp,
    },
    /// The plan was given back, or committed already.
    #[error("plan `{plan}` has ended")]
    PlanEnded {
        /// Which.
        plan: PlanId,
        /// How.
        end: super::PlanEnd,
    },
    /// The plan does not hold any more.
    #[error("plan `{plan}` has expired")]
    PlanExpired {
        /// Which.
        plan: PlanId,
        /// When it did.
        expire_time: Timestamp,
    },
    /// Forks share its rows.
    #[error("forks share the rows of the session")]
    HasForks(Vec<String>),
    /// The overlay is not in force any more.
    #[error("the overlay was rolled back at revision {0}")]
    AlreadyRolledBack(Revision),
    /// Too much is queued; nothing was written.
    #[error("the writer's queue is full")]
    Overloaded,
    /// The database could not be written just now; nothing was.
    #[error("the database is busy")]
    Busy(#[source] BoxError),
    /// No space is left; nothing was written.
    #[error("no space is left to write")]
    Full(#[source] BoxError),
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// What is stored cannot be read back.
    #[error("row {row} of `{table}.{column}` cannot be decoded")]
    Corrupt {
        /// Where.
        table: &'static str,
        /// Where there.
        column: &'static str,
        /// Which.
        row: i64,
    },
    /// Anything else.
    #[error("the database failed")]
    Backend(#[source] BoxError),
}

/// What was not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entity {
    /// A session, by id.
    Session(String),
    /// A view, by name.
    View(String),
    /// An overlay, by id.
    Overlay(String),
    /// A pin, by id.
    Pin(String),
    /// A plan, by id.
    Plan(String),
    /// A row.
    Row(Seq),
}

impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session(id) => write!(f, "session `{id}`"),
            Self::View(name) => write!(f, "view `{name}`"),
            Self::Overlay(id) => write!(f, "overlay `{id}`"),
            Self::Pin(id) => write!(f, "pin `{id}`"),
            Self::Plan(id) => write!(f, "plan `{id}`"),
            Self::Row(seq) => write!(f, "message {seq}"),
        }
    }
}
