//! What a client is told: the one table from errors to statuses.
//!
//! Every status has exactly one `ErrorInfo`, with the metadata that the
//! contract's `errors.proto` names for its reason.

use std::{collections::HashMap, time::Duration};

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt as _};

use crate::{
    id::IdSource,
    model::Timestamp,
    proto::v1::ErrorReason as Reason,
    service::{Error, Violation},
};

const DOMAIN: &str = "concertina";
const REASON_PREFIX: &str = "ERROR_REASON_";

/// When to try again where the server is busy.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// Tells an error. One that is our fault is logged under a new id, and only the
/// id is told.
pub(super) fn of(err: &Error, ids: &dyn IdSource) -> Status {
    let Some((code, reason)) = verdict(err) else {
        return unimplemented();
    };
    let mut message = err.to_string();
    let mut metadata: HashMap<_, _> =
        metadata(err).into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    if reason == Reason::Internal {
        let id = ids.next();
        tracing::error!(error.id = %id, error.chain = %chain(err), "request failed");
        message = format!("internal error; the server's log has more under `{id}`");
        metadata.insert("error_id".to_owned(), id);
    }
    let mut details = ErrorDetails::new();
    details.set_error_info(reason_name(reason), DOMAIN, metadata);
    if let Error::InvalidField(violations) = err {
        details.set_bad_request(violations.iter().map(violation).collect::<Vec<_>>());
    }
    match err {
        Error::Overloaded => details.set_retry_info(Some(RETRY_AFTER)),
        Error::RangeLeased { retry_after, .. } => details.set_retry_info(Some(*retry_after)),
        _ => &mut details,
    };
    Status::with_error_details(code, message, details)
}

/// A method that is not built yet. The contract has no reason for it.
pub(super) fn unimplemented() -> Status {
    Status::unimplemented("this server does not have this method yet")
}

/// A reason, as `ErrorInfo` spells it.
fn reason_name(reason: Reason) -> &'static str {
    let name = reason.as_str_name();
    name.strip_prefix(REASON_PREFIX).unwrap_or(name)
}

fn violation(violation: &Violation) -> FieldViolation {
    FieldViolation::new(&violation.field, &violation.description)
}

/// No arm for the rest: a new variant must be decided here.
fn verdict(err: &Error) -> Option<(Code, Reason)> {
    use Error as E;
    Some(match err {
        E::SessionNotFound(_) => (Code::NotFound, Reason::SessionNotFound),
        E::ViewNotFound(_) => (Code::NotFound, Reason::ViewNotFound),
        E::RevisionNotFound { .. } => (Code::NotFound, Reason::RevisionNotFound),
        E::RangeNotFound { .. } => (Code::NotFound, Reason::RangeNotFound),
        E::OverlayNotFound(_) => (Code::NotFound, Reason::OverlayNotFound),
        E::PinNotFound(_) => (Code::NotFound, Reason::PinNotFound),
        E::PlanNotFound(_) => (Code::NotFound, Reason::PlanNotFound),
        E::ContentNotFound { .. } => (Code::NotFound, Reason::ContentNotFound),
        E::InvalidField(_) => (Code::InvalidArgument, Reason::InvalidField),
        E::InvalidPageToken => (Code::InvalidArgument, Reason::InvalidPageToken),
        E::InvalidPolicy { .. } => (Code::InvalidArgument, Reason::InvalidPolicy),
        E::InvalidPayload { .. } => (Code::InvalidArgument, Reason::InvalidPayload),
        E::UnknownModel(_) => (Code::InvalidArgument, Reason::UnknownModel),
        E::SummaryRejected(_) => (Code::InvalidArgument, Reason::SummaryRejected),
        E::SummaryNotSmaller { .. } => (Code::InvalidArgument, Reason::SummaryNotSmaller),
        E::SummaryTooLong { .. } => (Code::InvalidArgument, Reason::SummaryTooLong),
        E::SessionExists(_) => (Code::AlreadyExists, Reason::SessionExists),
        E::IdempotencyKeyReused => (Code::AlreadyExists, Reason::IdempotencyKeyReused),
        E::SeqConflict { .. } => (Code::Aborted, Reason::SeqConflict),
        E::OverlayConflict(_) | E::PinConflict(_) | E::PlanCommitted(_) => {
            (Code::Aborted, Reason::OverlayConflict)
        }
        E::RangeLeased { .. } => (Code::Aborted, Reason::RangeLeased),
        E::RangePinned(_) => (Code::FailedPrecondition, Reason::RangePinned),
        E::RangeHoldsNewestRequest(_) => {
            (Code::FailedPrecondition, Reason::RangeHoldsNewestRequest)
        }
        E::PlanExpired { .. } => (Code::FailedPrecondition, Reason::PlanExpired),
        E::SessionHasForks(_) => (Code::FailedPrecondition, Reason::SessionHasForks),
        E::PinTooLarge { .. } => (Code::FailedPrecondition, Reason::PinTooLarge),
        E::SummarizerUnavailable(_) => (Code::Unavailable, Reason::SummarizerUnavailable),
        E::SessionEmpty => (Code::FailedPrecondition, Reason::SessionEmpty),
        E::ContextIrreducible { .. } => (Code::FailedPrecondition, Reason::ContextIrreducible),
        E::NothingToCollapse | E::RangeCovered(_) => {
            (Code::FailedPrecondition, Reason::NothingToCollapse)
        }
        E::AlreadyRolledBack(_) => (Code::FailedPrecondition, Reason::AlreadyRolledBack),
        E::MessageTooLarge { .. } => (Code::ResourceExhausted, Reason::MessageTooLarge),
        E::ResponseTooLarge { .. } => (Code::ResourceExhausted, Reason::ResponseTooLarge),
        E::StoreFull(_) => (Code::ResourceExhausted, Reason::StoreFull),
        E::Overloaded => (Code::Unavailable, Reason::Overloaded),
        E::ShuttingDown => (Code::Unavailable, Reason::ShuttingDown),
        E::Deadline => (Code::DeadlineExceeded, Reason::Deadline),
        E::Internal(_) => (Code::Internal, Reason::Internal),
        E::Unimplemented => return None,
    })
}

/// What the contract names beside the reason.
fn metadata(err: &Error) -> Vec<(&'static str, String)> {
    use Error as E;
    match err {
        E::SessionNotFound(id) | E::SessionExists(id) => vec![("session_id", id.clone())],
        E::ViewNotFound(name) => vec![("view", name.clone())],
        E::OverlayNotFound(id) => vec![("overlay_id", id.clone())],
        E::PlanCommitted(id) | E::RangeCovered(id) => vec![("overlay_id", id.to_string())],
        E::PinConflict(id) => vec![("pin_id", id.to_string())],
        E::PinNotFound(id) | E::RangePinned(id) => vec![("pin_id", id.clone())],
        E::PlanNotFound(id) | E::RangeLeased { plan: id, .. } => vec![("plan_id", id.clone())],
        E::PlanExpired { plan, expire_time } => {
            vec![("plan_id", plan.clone()), ("expire_time", moment(*expire_time))]
        }
        E::SummaryRejected(detail) | E::SummarizerUnavailable(detail) => {
            vec![("detail", detail.clone())]
        }
        E::SummaryNotSmaller { tokens, tokens_before } => {
            vec![("tokens", tokens.to_string()), ("tokens_before", tokens_before.to_string())]
        }
        E::SummaryTooLong { tokens, max_tokens } | E::PinTooLarge { tokens, max_tokens } => {
            vec![("tokens", tokens.to_string()), ("max_tokens", max_tokens.to_string())]
        }
        E::RangeHoldsNewestRequest(seq) => vec![("newest_request_seq", seq.to_string())],
        E::SessionHasForks(ids) => {
            let ids: Vec<&str> = ids.iter().take(10).map(String::as_str).collect();
            vec![("fork_ids", ids.join(","))]
        }
        E::UnknownModel(name) => vec![("model", name.clone())],
        E::RevisionNotFound { revision, newest } => {
            vec![("revision", revision.to_string()), ("newest_revision", newest.to_string())]
        }
        E::RangeNotFound { first, last, newest } => vec![
            ("first_seq", first.to_string()),
            ("last_seq", last.to_string()),
            ("newest_seq", newest.to_string()),
        ],
        E::ContentNotFound { seq, block, output } => vec![
            ("seq", seq.to_string()),
            ("block", block.to_string()),
            ("output", output.map(|it| it.to_string()).unwrap_or_default()),
        ],
        E::InvalidPolicy { key, expected, found } => {
            vec![("key", key.clone()), ("expected", expected.clone()), ("found", found.clone())]
        }
        E::InvalidPayload { format, position, detail } => vec![
            ("format", format.clone()),
            ("position", position.clone()),
            ("detail", detail.clone()),
        ],
        E::SeqConflict { expected, found } => {
            vec![("expected", expected.to_string()), ("found", found.to_string())]
        }
        E::OverlayConflict(overlay) => {
            vec![("overlay_id", overlay.as_ref().map(ToString::to_string).unwrap_or_default())]
        }
        E::ContextIrreducible { .. } => irreducible(err),
        E::AlreadyRolledBack(revision) => vec![("rollback_revision", revision.to_string())],
        E::MessageTooLarge { size, limit } | E::ResponseTooLarge { size, limit } => {
            vec![("size", size.to_string()), ("limit", limit.to_string())]
        }
        E::InvalidField(_)
        | E::InvalidPageToken
        | E::IdempotencyKeyReused
        | E::SessionEmpty
        | E::NothingToCollapse
        | E::StoreFull(_)
        | E::Overloaded
        | E::ShuttingDown
        | E::Deadline
        | E::Internal(_)
        | E::Unimplemented => Vec::new(),
    }
}

fn irreducible(err: &Error) -> Vec<(&'static str, String)> {
    let Error::ContextIrreducible {
        window,
        output_reserve,
        fixed,
        messages,
        over,
        largest_seq,
        largest_tokens,
        bytes_over: _,
    } = err
    else {
        return Vec::new();
    };
    [
        ("window", *window),
        ("output_reserve", *output_reserve),
        ("fixed", *fixed),
        ("messages", *messages),
        ("over", *over),
        ("largest_seq", largest_seq.0),
        ("largest_tokens", *largest_tokens),
    ]
    .map(|(key, value)| (key, value.to_string()))
    .to_vec()
}

/// A moment as RFC 3339 spells it.
fn moment(at: Timestamp) -> String {
    jiff::Timestamp::new(at.seconds, at.nanos).map(|it| it.to_string()).unwrap_or_default()
}

/// An error and its causes, in one line for the log.
fn chain(err: &dyn std::error::Error) -> String {
    let mut text = err.to_string();
    let mut source = err.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{
        id::CountingSource,
        model::{OverlayId, PinId, Revision, Seq},
    };

    /// Reasons of methods that come with their own work.
    const LATER: &[Reason] = &[
        Reason::TranscriptNotFound,
        Reason::UnknownFingerprint,
        Reason::CompactionInProgress,
        Reason::RecoveryExhausted,
        Reason::HookRefused,
        Reason::QuotaExceeded,
        Reason::WatchLagged,
        Reason::TokenRequired,
        Reason::ReadOnlyToken,
    ];

    fn one_of_each() -> Vec<Error> {
        let (seq, revision) = (Seq(1), Revision(1));
        let text = || "x".to_owned();
        vec![
            Error::SessionNotFound(text()),
            Error::ViewNotFound(text()),
            Error::RevisionNotFound { revision, newest: revision },
            Error::RangeNotFound { first: seq, last: seq, newest: seq },
            Error::OverlayNotFound(text()),
            Error::ContentNotFound { seq, block: 0, output: Some(1) },
            Error::field("a", "b"),
            Error::InvalidPageToken,
            Error::InvalidPolicy { key: text(), expected: text(), found: text() },
            Error::InvalidPayload { format: text(), position: text(), detail: text() },
            Error::UnknownModel(text()),
            Error::SessionExists(text()),
            Error::IdempotencyKeyReused,
            Error::SeqConflict { expected: seq, found: seq },
            Error::OverlayConflict(Some(OverlayId::new("o"))),
            Error::PinNotFound(text()),
            Error::PlanNotFound(text()),
            Error::SummaryRejected(text()),
            Error::SummaryNotSmaller { tokens: 2, tokens_before: 1 },
            Error::SummaryTooLong { tokens: 2, max_tokens: 1 },
            Error::RangeLeased { plan: text(), retry_after: RETRY_AFTER },
            Error::RangePinned(text()),
            Error::RangeHoldsNewestRequest(seq),
            Error::PlanExpired { plan: text(), expire_time: Timestamp::default() },
            Error::SessionHasForks(vec![text()]),
            Error::PinTooLarge { tokens: 2, max_tokens: 1 },
            Error::SummarizerUnavailable(text()),
            Error::SessionEmpty,
            Error::ContextIrreducible {
                window: 1,
                output_reserve: 1,
                fixed: 1,
                messages: 1,
                bytes_over: 0,
                over: 1,
                largest_seq: seq,
                largest_tokens: 1,
            },
            Error::NothingToCollapse,
            Error::AlreadyRolledBack(revision),
            Error::MessageTooLarge { size: 2, limit: 1 },
            Error::ResponseTooLarge { size: 2, limit: 1 },
            Error::StoreFull("disk".into()),
            Error::Overloaded,
            Error::ShuttingDown,
            Error::Deadline,
            Error::internal("secret"),
        ]
    }

    /// Those that share a reason with one of them.
    fn others() -> Vec<Error> {
        vec![
            Error::PinConflict(PinId::new("p")),
            Error::PlanCommitted(OverlayId::new("o")),
            Error::RangeCovered(OverlayId::new("o")),
        ]
    }

    fn all_reasons() -> BTreeSet<&'static str> {
        (1..1000).filter_map(|it| Reason::try_from(it).ok()).map(reason_name).collect()
    }

    #[test]
    fn every_reason_is_told_or_comes_later() {
        let ids = CountingSource::default();
        let told = one_of_each().into_iter().map(|err| {
            let status = of(&err, &ids);
            let info = status.get_details_error_info().expect("an ErrorInfo");
            assert_eq!(info.domain, "concertina");
            info.reason
        });
        let mut told: Vec<String> = told.collect();
        told.extend(LATER.iter().map(|it| reason_name(*it).to_owned()));
        let unique: BTreeSet<&str> = told.iter().map(String::as_str).collect();
        assert_eq!(unique.len(), told.len(), "a reason is told twice: {told:?}");
        assert_eq!(unique, all_reasons());
    }

    #[test]
    fn the_comments_of_the_contract_name_code_and_metadata() {
        let contract = include_str!("../../proto/concertina/v1/errors.proto");
        let ids = CountingSource::default();
        for err in one_of_each().into_iter().chain(others()) {
            let status = of(&err, &ids);
            let info = status.get_details_error_info().expect("an ErrorInfo");
            let comment = comment_of(contract, &info.reason);
            let code = format!("{:?}", status.code()).to_lowercase();
            let named = comment.split(['.', ' ']).next().unwrap_or_default();
            assert_eq!(code, named.replace('_', "").to_lowercase(), "{}", info.reason);
            for key in info.metadata.keys().filter(|it| *it != "error_id") {
                assert!(comment.contains(key.as_str()), "{}: `{key}` in {comment}", info.reason);
            }
        }
    }

    fn comment_of(contract: &str, reason: &str) -> String {
        let lines: Vec<&str> = contract.lines().map(str::trim).collect();
        let declared = format!("{REASON_PREFIX}{reason} =");
        let at = lines.iter().position(|it| it.starts_with(&declared)).expect("declared");
        let above = lines[..at].iter().rev().take_while(|it| it.starts_with("//"));
        let mut comment: Vec<_> = above.map(|it| it.trim_start_matches("// ")).collect();
        comment.reverse();
        comment.join(" ")
    }

    #[test]
    fn what_is_our_fault_is_told_as_an_id() {
        let status = of(&Error::internal("secret"), &CountingSource::default());
        assert!(!format!("{status:?}").contains("secret"));
        let info = status.get_details_error_info().expect("an ErrorInfo");
        assert_eq!(info.metadata["error_id"], "id-1");
        assert!(status.message().contains("id-1"));
    }

    #[test]
    fn only_what_passes_by_itself_says_when_to_try_again() {
        let ids = CountingSource::default();
        for err in one_of_each() {
            let retry = of(&err, &ids).get_details_retry_info().is_some();
            let is_later = matches!(err, Error::Overloaded | Error::RangeLeased { .. });
            assert_eq!(retry, is_later, "{err}");
        }
    }

    #[test]
    fn wrong_fields_are_named() {
        let err = Error::field("messages[2].blocks[0].tool_use", "expected something else");
        let status = of(&err, &CountingSource::default());
        let bad = status.get_details_bad_request().expect("a BadRequest");
        assert_eq!(bad.field_violations[0].field, "messages[2].blocks[0].tool_use");
    }
}
