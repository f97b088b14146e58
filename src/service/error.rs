//! What a use case may answer instead: one variant per reason of the contract's
//! `errors.proto` that can be reached. No variant names a store or a transport.

use std::time::Duration;

use crate::{
    model::{OverlayId, PinId, PlanId, Revision, Seq, Timestamp},
    store::{self, Entity, error::BoxError},
};

/// The result of a use case.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, in the contract's terms.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not there, or of another namespace.
    #[error("session `{0}` not found")]
    SessionNotFound(String),
    /// The session has no view of that name.
    #[error("view `{0}` not found")]
    ViewNotFound(String),
    /// A revision newer than the newest.
    #[error("revision {revision} not found; the newest is {newest}")]
    RevisionNotFound {
        /// What was asked.
        revision: Revision,
        /// What there is.
        newest: Revision,
    },
    /// Rows that are not there.
    #[error("messages {first} to {last} not found; the newest is {newest}")]
    RangeNotFound {
        /// The first that was asked.
        first: Seq,
        /// The last that was asked.
        last: Seq,
        /// The newest there is; zero where there is none.
        newest: Seq,
    },
    /// The session has no overlay of that id.
    #[error("overlay `{0}` not found")]
    OverlayNotFound(String),
    /// The session has no pin of that id that holds.
    #[error("pin `{0}` not found")]
    PinNotFound(String),
    /// The session has no plan of that id, or it was given back.
    #[error("plan `{0}` not found")]
    PlanNotFound(String),
    /// No such row, or no such block or output in it.
    #[error("there is no content at message {seq}, block {block}{}", output_suffix(*.output))]
    ContentNotFound {
        /// The row.
        seq: Seq,
        /// The block.
        block: u32,
        /// The output of a tool result.
        output: Option<u32>,
    },
    /// Arguments that are wrong whatever the state.
    #[error("{}", describe(.0))]
    InvalidField(Vec<Violation>),
    /// A page token that is damaged or of another query.
    #[error("the page token is not one that this query gave")]
    InvalidPageToken,
    /// A policy that cannot be.
    #[error("policy key `{key}`: expected {expected}, found {found}")]
    InvalidPolicy {
        /// The key, dotted.
        key: String,
        /// What may stand there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A payload that is not of its format.
    #[error("the payload is not {format} at {position}: {detail}")]
    InvalidPayload {
        /// Whose shape was expected.
        format: String,
        /// Where it breaks.
        position: String,
        /// How.
        detail: String,
    },
    /// A model that is not known, without a window.
    #[error("model `{0}` is not known: name its context_window")]
    UnknownModel(String),
    /// A summary that says nothing, or not all.
    #[error("the summary cannot be used: {0}")]
    SummaryRejected(String),
    /// The view would not get smaller.
    #[error("with the summary the view has {tokens} tokens, without it {tokens_before}")]
    SummaryNotSmaller {
        /// Of the whole view with it.
        tokens: i64,
        /// … and without it.
        tokens_before: i64,
    },
    /// A summary above what one may be.
    #[error("the summary has {tokens} tokens; at most {max_tokens} are taken")]
    SummaryTooLong {
        /// What it has.
        tokens: i64,
        /// What it may have.
        max_tokens: i64,
    },
    /// The id is taken.
    #[error("session `{0}` exists already")]
    SessionExists(String),
    /// The request id is known with other content.
    #[error("the request_id was used with other content")]
    IdempotencyKeyReused,
    /// `expected_next_seq` does not hold.
    #[error("the next message would get seq {found}, not {expected}")]
    SeqConflict {
        /// What the caller expected.
        expected: Seq,
        /// What it would be.
        found: Seq,
    },
    /// Something else changed the view meanwhile.
    #[error("the view's reductions changed meanwhile")]
    OverlayConflict(Option<OverlayId>),
    /// A pin of the leased rows was set or taken away meanwhile.
    #[error("pin `{0}` was set or taken away meanwhile")]
    PinConflict(PinId),
    /// The plan's summary is another one already.
    #[error("the plan was committed with another summary, as overlay `{0}`")]
    PlanCommitted(OverlayId),
    /// A part of the range is being summarized already.
    #[error("plan `{plan}` holds a part of the range")]
    RangeLeased {
        /// Who holds it.
        plan: String,
        /// When to ask again.
        retry_after: std::time::Duration,
    },
    /// A named range that holds a pinned row.
    #[error("pin `{0}` holds a part of the range")]
    RangePinned(String),
    /// A named range that holds the newest request of a lane.
    #[error("the range holds the newest request, message {0}")]
    RangeHoldsNewestRequest(Seq),
    /// The plan does not hold any more.
    #[error("plan `{plan}` has expired")]
    PlanExpired {
        /// Which.
        plan: String,
        /// When.
        expire_time: Timestamp,
    },
    /// Forks share the session's rows.
    #[error("forks share the session's messages: {}", .0.join(", "))]
    SessionHasForks(Vec<String>),
    /// What a view's pins may hold together.
    #[error("the pins would hold {tokens} tokens; at most {max_tokens} may be pinned")]
    PinTooLarge {
        /// What they would hold.
        tokens: i64,
        /// What they may.
        max_tokens: i64,
    },
    /// No summary could be made.
    #[error("the summarizer failed: {0}")]
    SummarizerUnavailable(String),
    /// There is no message to show.
    #[error("the session has no message to show")]
    SessionEmpty,
    /// What must be shown is larger than the limit.
    #[error("the context cannot be made to fit: {}", excess(*.over, *.bytes_over, *.window, *.output_reserve))]
    ContextIrreducible {
        /// The window.
        window: i64,
        /// Kept free for the answer.
        output_reserve: i64,
        /// What stands around the messages.
        fixed: i64,
        /// The messages, reduced as far as possible.
        messages: i64,
        /// Bytes above what a rendered request may have; zero where tokens are
        /// what is too much.
        bytes_over: i64,
        /// Tokens that are too many.
        over: i64,
        /// The largest row that is left.
        largest_seq: Seq,
        /// What it counts as.
        largest_tokens: i64,
    },
    /// Everything there is covered already, or too new.
    #[error("there is nothing left to reduce there")]
    NothingToCollapse,
    /// The whole range lies under an overlay.
    #[error("that range lies under overlay `{0}`; roll that back first")]
    RangeCovered(OverlayId),
    /// The overlay is not in force any more.
    #[error("the overlay was rolled back at revision {0}")]
    AlreadyRolledBack(Revision),
    /// Above what one message or one request may be.
    #[error("{size} bytes are above the limit of {limit}")]
    MessageTooLarge {
        /// What came.
        size: u64,
        /// What may come.
        limit: u64,
    },
    /// Above what the caller takes in one answer.
    #[error("the answer of {size} bytes is above the limit of {limit}: use StreamContext")]
    ResponseTooLarge {
        /// What it would be.
        size: u64,
        /// What the caller takes.
        limit: u64,
    },
    /// No space is left; nothing was written.
    #[error("no space is left to write")]
    StoreFull(#[source] BoxError),
    /// Too much is waiting; nothing was written.
    #[error("the server is busy")]
    Overloaded,
    /// The server is stopping.
    #[error("the server is stopping")]
    ShuttingDown,
    /// The caller's deadline passed.
    #[error("the deadline passed")]
    Deadline,
    /// Not built yet.
    #[error("not implemented yet")]
    Unimplemented,
    /// Our fault.
    #[error("internal error")]
    Internal(#[source] BoxError),
}

/// A field that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Its path in the request: `messages[2].blocks[0].tool_use`.
    pub field: String,
    /// What was expected, and what was found.
    pub description: String,
}

impl Violation {
    /// A violation of `field`.
    #[must_use]
    pub fn new(field: impl Into<String>, description: impl Into<String>) -> Self {
        Self { field: field.into(), description: description.into() }
    }
}

impl Error {
    /// One wrong field.
    #[must_use]
    pub fn field(field: impl Into<String>, description: impl Into<String>) -> Self {
        Self::InvalidField(vec![Violation::new(field, description)])
    }

    /// Somebody holds rows; summaries take seconds.
    #[must_use]
    pub fn range_leased(plan: &PlanId) -> Self {
        Self::RangeLeased { plan: plan.to_string(), retry_after: Duration::from_secs(1) }
    }

    /// Something that cannot happen, and did.
    #[must_use]
    pub fn internal(source: impl Into<BoxError>) -> Self {
        Self::Internal(source.into())
    }
}

impl From<store::Error> for Error {
    fn from(err: store::Error) -> Self {
        use store::Error as E;
        match err {
            E::NotFound(entity) => entity.into(),
            E::RevisionNotFound { revision, newest } => Self::RevisionNotFound { revision, newest },
            E::AlreadyExists(id) => Self::SessionExists(id),
            E::RequestIdReused => Self::IdempotencyKeyReused,
            E::SeqMoved { expected, found } => Self::SeqConflict { expected, found },
            E::PlanOutdated { overlay } => Self::OverlayConflict(overlay),
            E::PinMoved(pin) => Self::PinConflict(pin),
            E::Overlaps(overlay) => Self::OverlayConflict(Some(overlay)),
            E::RangeLeased { plan, .. } => Self::range_leased(&plan),
            E::PlanEnded { plan, end: store::PlanEnd::Abandoned } => {
                Self::PlanNotFound(plan.to_string())
            }
            E::PlanEnded { end: store::PlanEnd::Committed(overlay), .. } => {
                Self::PlanCommitted(overlay)
            }
            E::PlanExpired { plan, expire_time } => {
                Self::PlanExpired { plan: plan.to_string(), expire_time }
            }
            E::HasForks(ids) => Self::SessionHasForks(ids),
            E::AlreadyRolledBack(revision) => Self::AlreadyRolledBack(revision),
            // Nothing was written in either: the same call may be made again.
            E::Overloaded | E::Busy(_) => Self::Overloaded,
            E::Full(source) => Self::StoreFull(source),
            E::Closed => Self::ShuttingDown,
            E::Corrupt { .. } | E::Backend(_) => Self::Internal(Box::new(err)),
        }
    }
}

impl From<Entity> for Error {
    fn from(entity: Entity) -> Self {
        match entity {
            Entity::Session(id) => Self::SessionNotFound(id),
            Entity::View(name) => Self::ViewNotFound(name),
            Entity::Overlay(id) => Self::OverlayNotFound(id),
            Entity::Pin(id) => Self::PinNotFound(id),
            Entity::Plan(id) => Self::PlanNotFound(id),
            Entity::Row(seq) => Self::ContentNotFound { seq, block: 0, output: None },
        }
    }
}

fn excess(over: i64, bytes_over: i64, window: i64, output_reserve: i64) -> String {
    if bytes_over > 0 {
        return format!("{bytes_over} bytes too many for the rendered request");
    }
    format!("{over} tokens too many for a window of {window} less a reserve of {output_reserve}")
}

fn describe(violations: &[Violation]) -> String {
    match violations {
        [] => "invalid request".to_owned(),
        [one] => format!("{}: {}", one.field, one.description),
        [first, rest @ ..] => {
            format!("{}: {} (and {} more)", first.field, first.description, rest.len())
        }
    }
}

fn output_suffix(output: Option<u32>) -> String {
    output.map(|it| format!(", output {it}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_store_may_be_asked_again() {
        let busy = store::Error::Busy("locked".into());
        assert!(matches!(Error::from(busy), Error::Overloaded));
    }

    #[test]
    fn several_violations_are_told_as_one_sentence() {
        let err = Error::InvalidField(vec![
            Violation::new("session_id", "empty"),
            Violation::new("author", "too long"),
        ]);
        assert_eq!(err.to_string(), "session_id: empty (and 1 more)");
    }

    #[test]
    fn damage_is_internal_and_keeps_its_cause() {
        let err = Error::from(store::Error::Corrupt { table: "messages", column: "x", row: 3 });
        assert_eq!(err.to_string(), "internal error");
        assert!(std::error::Error::source(&err).is_some());
    }
}
