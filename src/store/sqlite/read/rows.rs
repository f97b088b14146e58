//! Rows.

use std::sync::Arc;

use bytes::Bytes;
use sqlx::{FromRow, SqliteConnection};

use super::{
    super::{content, error::Failure, statements, values},
    corrupt, find_session,
};
use crate::{
    codec,
    model::{MessageTokens, Revision, Row, Seq, Timestamp},
    store::{Error, RowsQuery, SessionRef},
};

/// Content above it is decoded off the async threads.
const INLINE_BYTES: usize = 256 * 1024;

#[derive(Debug, FromRow)]
struct MessageRow {
    seq: i64,
    turn: i64,
    round: i64,
    revision: i64,
    recorded_at: i64,
    tokens: i64,
    block_tokens: Vec<u8>,
    digest: Vec<u8>,
    id: i64,
    codec: i64,
    bytes: Vec<u8>,
}

impl TryFrom<MessageRow> for Row {
    type Error = Error;

    fn try_from(row: MessageRow) -> Result<Self, Error> {
        let blocks = values::block_tokens_from(&row.block_tokens)
            .ok_or_else(|| corrupt("messages", "block_tokens", row.seq))?;
        let digest = row.digest.try_into().map_err(|_| corrupt("messages", "digest", row.seq))?;
        let plain: Bytes = content::unpack(row.id, row.codec, row.bytes)?;
        let message = codec::decode(plain).map_err(|_| corrupt("contents", "bytes", row.id))?;
        Ok(Self {
            seq: Seq(row.seq),
            turn: row.turn,
            round: Seq(row.round),
            revision: Revision(row.revision),
            record_time: Timestamp::from_micros(row.recorded_at),
            message: Arc::new(message),
            tokens: MessageTokens { total: row.tokens, blocks },
            digest,
        })
    }
}

pub(in super::super) async fn read_rows(
    conn: &mut SqliteConnection,
    session: &SessionRef,
    query: RowsQuery,
) -> Result<Vec<Row>, Failure> {
    let (own, shared) = if query.newest_first {
        (statements::READ_ROWS_REVERSED, statements::READ_SHARED_ROWS_REVERSED)
    } else {
        (statements::READ_ROWS, statements::READ_SHARED_ROWS)
    };
    let mut rows = fetch(conn, session, query, own).await?;
    if rows.is_empty() && find_session(conn, session).await?.shared >= Some(query.first) {
        rows = fetch(conn, session, query, shared).await?;
        if rows.is_empty() {
            // Where the session was deleted meanwhile, it is told.
            find_session(conn, session).await?;
        }
    }
    // The join leaves them in this order; the statement does not promise it.
    rows.sort_by_key(|it| if query.newest_first { -it.seq } else { it.seq });
    decode(rows).await
}

async fn fetch(
    conn: &mut SqliteConnection,
    session: &SessionRef,
    query: RowsQuery,
    statement: &'static str,
) -> Result<Vec<MessageRow>, Failure> {
    let bound = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let rows = sqlx::query_as(statement)
        .bind(session.namespace.as_str())
        .bind(session.id.as_str())
        .bind(query.first.0)
        .bind(query.last.0)
        .bind(bound(query.limit))
        .bind(bound(query.limit_bytes))
        .fetch_all(conn)
        .await?;
    Ok(rows)
}

async fn decode(rows: Vec<MessageRow>) -> Result<Vec<Row>, Failure> {
    let convert = |rows: Vec<MessageRow>| rows.into_iter().map(Row::try_from).collect();
    let size: usize = rows.iter().map(|it| it.bytes.len()).sum();
    let decoded: Result<Vec<Row>, Error> = if size <= INLINE_BYTES {
        convert(rows)
    } else {
        let decoding = tokio::task::spawn_blocking(move || convert(rows));
        decoding.await.map_err(|err| Error::Backend(Box::new(err)))?
    };
    Ok(decoded?)
}
