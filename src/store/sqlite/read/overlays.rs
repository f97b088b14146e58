//! Overlays.

use prost::Message as _;
use sqlx::{FromRow, SqliteConnection};

use super::{
    super::{content, error::Failure, statements, values},
    corrupt, find_session, number,
};
use crate::{
    codec::overlay::{cause_from_pb, cleared_from_pb, kind_from_pb},
    model::{Cleared, Overlay, OverlayId, Revision, Timestamp, ViewName, overlay::Rollback},
    proto::v1 as pb,
    store::{Error, SessionRef},
};

/// An overlay joined with its summary.
#[derive(Debug, FromRow)]
pub(super) struct OverlayRow {
    commit_revision: i64,
    id: String,
    view: String,
    kind: i64,
    covered: String,
    kept: String,
    cleared: Option<Vec<u8>>,
    tokens_before: i64,
    tokens_after: i64,
    summarizer: String,
    cause: i64,
    stage: String,
    author: String,
    commit_time: i64,
    transcript: String,
    covered_overlays: String,
    source_digest: Vec<u8>,
    rollback_revision: Option<i64>,
    rollback_time: Option<i64>,
    rollback_author: Option<String>,
    rollback_reason: Option<String>,
    content: Option<i64>,
    codec: Option<i64>,
    bytes: Option<Vec<u8>>,
}

impl TryFrom<OverlayRow> for Overlay {
    type Error = Error;

    fn try_from(mut row: OverlayRow) -> Result<Self, Error> {
        let bad = |column| corrupt("overlays", column, row.commit_revision);
        let ids: Vec<String> =
            serde_json::from_str(&row.covered_overlays).map_err(|_| bad("covered_overlays"))?;
        let kind = kind_from_pb(number(row.kind)).map_err(|_| bad("kind"))?;
        let cause = cause_from_pb(number(row.cause)).map_err(|_| bad("cause"))?;
        let covered = values::ranges_from(&row.covered).ok_or_else(|| bad("covered"))?;
        let kept = values::ranges_from(&row.kept).ok_or_else(|| bad("kept"))?;
        let cleared = cleared(row.cleared.as_deref()).ok_or_else(|| bad("cleared"))?;
        let source_digest =
            row.source_digest.as_slice().try_into().map_err(|_| bad("source_digest"))?;
        Ok(Self {
            summary: summary(row.content, row.codec, row.bytes.take())?,
            rollback: rollback(&mut row),
            id: OverlayId::new(&row.id),
            view: ViewName::new(&row.view),
            kind,
            covered,
            kept,
            cleared,
            tokens_before: row.tokens_before,
            tokens_after: row.tokens_after,
            summarizer: row.summarizer,
            cause,
            stage: row.stage,
            author: row.author,
            commit_revision: Revision(row.commit_revision),
            commit_time: Timestamp::from_micros(row.commit_time),
            transcript_id: row.transcript,
            covered_overlays: ids.iter().map(|id| OverlayId::new(id)).collect(),
            source_digest,
        })
    }
}

fn summary(id: Option<i64>, codec: Option<i64>, bytes: Option<Vec<u8>>) -> Result<String, Error> {
    let (Some(id), Some(codec), Some(bytes)) = (id, codec, bytes) else {
        return Ok(String::new());
    };
    let plain = content::unpack(id, codec, bytes)?;
    String::from_utf8(plain.into()).map_err(|_| corrupt("contents", "bytes", id))
}

fn cleared(bytes: Option<&[u8]>) -> Option<Vec<Cleared>> {
    let Some(bytes) = bytes else { return Some(Vec::new()) };
    let overlay = pb::Overlay::decode(bytes).ok()?;
    overlay.cleared.into_iter().map(|it| cleared_from_pb(it).ok()).collect()
}

fn rollback(row: &mut OverlayRow) -> Option<Rollback> {
    Some(Rollback {
        revision: Revision(row.rollback_revision?),
        time: Timestamp::from_micros(row.rollback_time.unwrap_or_default()),
        author: row.rollback_author.take().unwrap_or_default(),
        reason: row.rollback_reason.take().unwrap_or_default(),
    })
}

/// The overlays of these ids that are there, by commit revision.
pub(in super::super) async fn get_overlays(
    conn: &mut SqliteConnection,
    session: &SessionRef,
    ids: &[&str],
) -> Result<Vec<Overlay>, Failure> {
    let rows: Vec<OverlayRow> = sqlx::query_as(statements::GET_OVERLAYS)
        .bind(session.namespace.as_str())
        .bind(session.id.as_str())
        .bind(values::json(&ids))
        .fetch_all(&mut *conn)
        .await?;
    if rows.is_empty() {
        find_session(conn, session).await?;
    }
    convert(rows)
}

pub(in super::super) async fn list_overlays(
    conn: &mut SqliteConnection,
    session: &SessionRef,
    view: &ViewName,
    include_rolled_back: bool,
) -> Result<Vec<Overlay>, Failure> {
    let statement =
        if include_rolled_back { statements::LIST_ALL_OVERLAYS } else { statements::LIST_OVERLAYS };
    let rows: Vec<OverlayRow> = sqlx::query_as(statement)
        .bind(session.namespace.as_str())
        .bind(session.id.as_str())
        .bind(view.as_str())
        .fetch_all(&mut *conn)
        .await?;
    if rows.is_empty() {
        find_session(conn, session).await?;
    }
    convert(rows)
}

pub(super) fn convert(rows: Vec<OverlayRow>) -> Result<Vec<Overlay>, Failure> {
    Ok(rows.into_iter().map(Overlay::try_from).collect::<Result<_, _>>()?)
}
