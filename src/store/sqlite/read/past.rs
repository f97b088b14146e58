//! How things stood at a revision.

use sqlx::{FromRow, SqliteConnection};

use super::{
    super::{error::Failure, statements},
    find_session,
    overlays::{OverlayRow, convert},
    sessions::{Found, ViewRow},
};
use crate::{
    model::{Revision, Seq, ViewName},
    store::{Entity, Error, SessionRef, StateAt},
};

/// A view as it was, and the row that would have come next.
#[derive(Debug, FromRow)]
struct ViewAtRow {
    next_seq: i64,
    #[sqlx(flatten)]
    view: ViewRow,
}

/// To be called in a transaction: it asks more than once.
pub(in super::super) async fn state_at(
    conn: &mut SqliteConnection,
    session: &SessionRef,
    view: &ViewName,
    at: Revision,
) -> Result<StateAt, Failure> {
    let Found { key, newest, shared } = find_session(conn, session).await?;
    if at < Revision(1) || at > newest {
        return Err(Error::RevisionNotFound { revision: at, newest }.into());
    }
    let statement =
        if shared.is_some() { statements::VIEW_AT_OF_FORK } else { statements::VIEW_AT };
    let found: Option<ViewAtRow> = sqlx::query_as(statement)
        .bind(key)
        .bind(view.as_str())
        .bind(at.0)
        .fetch_optional(&mut *conn)
        .await?;
    let found = found.ok_or_else(|| Error::NotFound(Entity::View(view.to_string())))?;
    let overlays: Vec<OverlayRow> = sqlx::query_as(statements::OVERLAYS_AT)
        .bind(key)
        .bind(view.as_str())
        .bind(at.0)
        .fetch_all(conn)
        .await?;
    Ok(StateAt {
        view: found.view.into(),
        overlays: convert(overlays)?,
        next_seq: Seq(found.next_seq),
    })
}
