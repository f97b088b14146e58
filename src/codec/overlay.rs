//! Overlays.

use bytes::Bytes;
use prost::Message as _;

use super::{
    Error,
    error::each,
    range::{content_from_pb, content_to_pb, set_from_pb, set_to_pb},
    time,
};
use crate::{
    model::{
        Cause, Cleared, Overlay, OverlayId, OverlayKind, Revision, SessionId, Timestamp, ViewName,
        overlay::Rollback,
    },
    proto::v1 as pb,
};

/// To the contract's form.
#[must_use]
pub fn to_pb(overlay: &Overlay, session: &SessionId) -> pb::Overlay {
    let end = overlay.rollback.as_ref();
    pb::Overlay {
        id: overlay.id.to_string(),
        session_id: session.to_string(),
        view: overlay.view.to_string(),
        kind: kind_to_pb(overlay.kind).into(),
        covered: set_to_pb(&overlay.covered),
        kept: set_to_pb(&overlay.kept),
        covered_messages: overlay.covered.len(),
        summary: overlay.summary.clone(),
        cleared: overlay.cleared.iter().map(cleared_to_pb).collect(),
        tokens_before: overlay.tokens_before,
        tokens_after: overlay.tokens_after,
        summarizer: overlay.summarizer.clone(),
        cause: cause_to_pb(overlay.cause).into(),
        stage: overlay.stage.clone(),
        author: overlay.author.clone(),
        rollback_author: end.map_or_else(String::new, |it| it.author.clone()),
        rollback_reason: end.map_or_else(String::new, |it| it.reason.clone()),
        commit_revision: overlay.commit_revision.0,
        rollback_revision: end.map_or(0, |it| it.revision.0),
        commit_time: Some(time::to_pb(overlay.commit_time)),
        rollback_time: end.map(|it| time::to_pb(it.time)),
        transcript_id: overlay.transcript_id.clone(),
        covered_overlay_ids: overlay.covered_overlays.iter().map(ToString::to_string).collect(),
        source_digest: Bytes::copy_from_slice(&overlay.source_digest),
    }
}

/// Bytes of the contract's form.
#[must_use]
pub fn size(overlay: &Overlay, session: &SessionId) -> usize {
    to_pb(overlay, session).encoded_len()
}

/// From the contract's form.
///
/// # Errors
///
/// Names the field that is not as expected.
pub fn from_pb(overlay: pb::Overlay) -> Result<Overlay, Error> {
    let kind = kind_from_pb(overlay.kind)?;
    let cause = cause_from_pb(overlay.cause)?;
    let rollback = rollback_from_pb(&overlay)?;
    Ok(Overlay {
        id: OverlayId::new(&overlay.id),
        view: ViewName::new(&overlay.view),
        kind,
        covered: set_from_pb("covered", overlay.covered)?,
        kept: set_from_pb("kept", overlay.kept)?,
        summary: overlay.summary,
        cleared: each("cleared", overlay.cleared, cleared_from_pb)?,
        tokens_before: overlay.tokens_before,
        tokens_after: overlay.tokens_after,
        summarizer: overlay.summarizer,
        cause,
        stage: overlay.stage,
        author: overlay.author,
        commit_revision: Revision(overlay.commit_revision),
        commit_time: moment("commit_time", overlay.commit_time)?,
        rollback,
        transcript_id: overlay.transcript_id,
        covered_overlays: overlay.covered_overlay_ids.iter().map(|id| OverlayId::new(id)).collect(),
        source_digest: digest_from_pb(&overlay.source_digest)?,
    })
}

/// What a clear shows instead, to the contract's form.
#[must_use]
pub fn cleared_to_pb(cleared: &Cleared) -> pb::overlay::ClearedContent {
    pb::overlay::ClearedContent {
        content: Some(content_to_pb(cleared.content)),
        shown_as: cleared.shown_as.clone(),
    }
}

/// What a clear shows instead, from the contract's form.
///
/// # Errors
///
/// Where no content is named.
pub fn cleared_from_pb(cleared: pb::overlay::ClearedContent) -> Result<Cleared, Error> {
    let content = cleared.content.ok_or_else(|| Error::new("content", "set"))?;
    Ok(Cleared {
        content: content_from_pb(content).map_err(|err| err.within("content"))?,
        shown_as: cleared.shown_as,
    })
}

/// A kind, to the contract's form.
#[must_use]
pub fn kind_to_pb(kind: OverlayKind) -> pb::overlay::Kind {
    match kind {
        OverlayKind::Clear => pb::overlay::Kind::Clear,
        OverlayKind::Snip => pb::overlay::Kind::Snip,
        OverlayKind::Collapse => pb::overlay::Kind::Collapse,
        OverlayKind::Compact => pb::overlay::Kind::Compact,
    }
}

/// A kind, from the contract's form.
///
/// # Errors
///
/// Where it is unspecified or unknown.
pub fn kind_from_pb(kind: i32) -> Result<OverlayKind, Error> {
    match pb::overlay::Kind::try_from(kind) {
        Ok(pb::overlay::Kind::Clear) => Ok(OverlayKind::Clear),
        Ok(pb::overlay::Kind::Snip) => Ok(OverlayKind::Snip),
        Ok(pb::overlay::Kind::Collapse) => Ok(OverlayKind::Collapse),
        Ok(pb::overlay::Kind::Compact) => Ok(OverlayKind::Compact),
        Ok(pb::overlay::Kind::Unspecified) | Err(_) => Err(Error::new("kind", "a known KIND")),
    }
}

/// A cause, to the contract's form.
#[must_use]
pub fn cause_to_pb(cause: Cause) -> pb::overlay::Cause {
    match cause {
        Cause::Pressure => pb::overlay::Cause::Pressure,
        Cause::Idle => pb::overlay::Cause::Idle,
        Cause::ToolCalls => pb::overlay::Cause::ToolCalls,
        Cause::Manual => pb::overlay::Cause::Manual,
        Cause::Refused => pb::overlay::Cause::Refused,
        Cause::Provider => pb::overlay::Cause::Provider,
    }
}

/// A cause, from the contract's form.
///
/// # Errors
///
/// Where it is unspecified or unknown.
pub fn cause_from_pb(cause: i32) -> Result<Cause, Error> {
    match pb::overlay::Cause::try_from(cause) {
        Ok(pb::overlay::Cause::Pressure) => Ok(Cause::Pressure),
        Ok(pb::overlay::Cause::Idle) => Ok(Cause::Idle),
        Ok(pb::overlay::Cause::ToolCalls) => Ok(Cause::ToolCalls),
        Ok(pb::overlay::Cause::Manual) => Ok(Cause::Manual),
        Ok(pb::overlay::Cause::Refused) => Ok(Cause::Refused),
        Ok(pb::overlay::Cause::Provider) => Ok(Cause::Provider),
        Ok(pb::overlay::Cause::Unspecified) | Err(_) => Err(Error::new("cause", "a known CAUSE")),
    }
}

fn rollback_from_pb(overlay: &pb::Overlay) -> Result<Option<Rollback>, Error> {
    if overlay.rollback_revision == 0 {
        return Ok(None);
    }
    Ok(Some(Rollback {
        revision: Revision(overlay.rollback_revision),
        time: moment("rollback_time", overlay.rollback_time)?,
        author: overlay.rollback_author.clone(),
        reason: overlay.rollback_reason.clone(),
    }))
}

fn moment(name: &str, time: Option<prost_types::Timestamp>) -> Result<Timestamp, Error> {
    let moment = time.map(time::from_pb).transpose().map_err(|err| err.within(name))?;
    Ok(moment.unwrap_or_default())
}

fn digest_from_pb(digest: &[u8]) -> Result<[u8; 32], Error> {
    if digest.is_empty() {
        return Ok([0; 32]);
    }
    digest.try_into().map_err(|_| Error::new("source_digest", "32 bytes"))
}
