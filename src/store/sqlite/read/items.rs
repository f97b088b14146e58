//! Context items.

use sqlx::{FromRow, SqliteConnection};

use super::{
    super::{content, error::Failure, statements},
    corrupt, find_session, number,
};
use crate::{
    codec::session::item_from_pb,
    model::ContextItem,
    proto::v1 as pb,
    store::{Error, ItemAt, SessionRef},
};

/// A context item joined with its content.
#[derive(Debug, FromRow)]
pub(in super::super) struct ItemRow {
    name: String,
    view: String,
    placement: i64,
    format: i64,
    tokens: i64,
    id: i64,
    codec: i64,
    bytes: Vec<u8>,
}

/// A context item out of its row.
pub(in super::super) fn item_from(row: ItemRow) -> Result<ContextItem, Error> {
    let item = pb::ContextItem {
        name: row.name,
        placement: number(row.placement),
        content: content::unpack(row.id, row.codec, row.bytes)?,
        format: number(row.format),
        view: row.view,
    };
    item_from_parts(item, row.tokens).ok_or_else(|| corrupt("context_items", "placement", row.id))
}

/// A context item and what it counts as.
pub(super) fn item_from_parts(item: pb::ContextItem, tokens: i64) -> Option<ContextItem> {
    Some(ContextItem { tokens, ..item_from_pb(item).ok()? })
}

pub(in super::super) async fn list_items(
    conn: &mut SqliteConnection,
    session: &SessionRef,
    at: ItemAt,
) -> Result<Vec<ContextItem>, Failure> {
    let newest = find_session(conn, session).await?.newest;
    let statement = match at {
        ItemAt::Now => statements::LIST_ITEMS,
        ItemAt::Revision(revision) if revision > newest => {
            return Err(Error::RevisionNotFound { revision, newest }.into());
        }
        ItemAt::Revision(_) => statements::LIST_ITEMS_AT,
    };
    let mut statement =
        sqlx::query_as(statement).bind(session.namespace.as_str()).bind(session.id.as_str());
    if let ItemAt::Revision(revision) = at {
        statement = statement.bind(revision.0);
    }
    let rows: Vec<ItemRow> = statement.fetch_all(conn).await?;
    Ok(rows.into_iter().map(item_from).collect::<Result<_, _>>()?)
}
