//! Pins.

use sqlx::{FromRow, SqliteConnection};

use super::{
    super::{error::Failure, statements, values},
    find_session,
};
use crate::{
    model::{Pin, PinId, Revision, Seq, SeqRange, Timestamp, ViewName},
    store::SessionRef,
};

#[derive(Debug, FromRow)]
struct PinRow {
    id: String,
    view: String,
    first_seq: i64,
    last_seq: i64,
    reason: String,
    author: String,
    created_at: i64,
    since_revision: i64,
    until_revision: Option<i64>,
}

impl From<PinRow> for Pin {
    fn from(row: PinRow) -> Self {
        Self {
            id: PinId::new(&row.id),
            view: ViewName::new(&row.view),
            rows: SeqRange { first: Seq(row.first_seq), last: Seq(row.last_seq) },
            reason: row.reason,
            author: row.author,
            create_time: Timestamp::from_micros(row.created_at),
            since: Revision(row.since_revision),
            until: row.until_revision.map(Revision),
        }
    }
}

/// The pins of these ids that are there, whether they hold or not, by revision.
pub(in super::super) async fn get_pins(
    conn: &mut SqliteConnection,
    session: &SessionRef,
    ids: &[&str],
) -> Result<Vec<Pin>, Failure> {
    let rows: Vec<PinRow> = sqlx::query_as(statements::GET_PINS)
        .bind(session.namespace.as_str())
        .bind(session.id.as_str())
        .bind(values::json(&ids))
        .fetch_all(conn)
        .await?;
    Ok(rows.into_iter().map(Pin::from).collect())
}

pub(in super::super) async fn list_pins(
    conn: &mut SqliteConnection,
    session: &SessionRef,
    view: &ViewName,
) -> Result<Vec<Pin>, Failure> {
    let rows: Vec<PinRow> = sqlx::query_as(statements::LIST_PINS)
        .bind(session.namespace.as_str())
        .bind(session.id.as_str())
        .bind(view.as_str())
        .fetch_all(&mut *conn)
        .await?;
    if rows.is_empty() {
        find_session(conn, session).await?;
    }
    Ok(rows.into_iter().map(Pin::from).collect())
}
