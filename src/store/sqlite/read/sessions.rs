//! Sessions and their views.

use sqlx::{FromRow, SqliteConnection};

use super::{
    super::{error::Failure, statements, values},
    corrupt,
};
use crate::{
    model::{
        ForkOrigin, Model, Namespace, Revision, Seq, Session, SessionId, Timestamp, View, ViewName,
    },
    store::{Entity, Error, Page, SessionFilter, SessionRef},
};

/// A session joined with one of its views.
#[derive(Debug, FromRow)]
struct SessionRow {
    key: i64,
    namespace: String,
    id: String,
    display_name: String,
    labels: String,
    parent: String,
    created_at: i64,
    updated_at: i64,
    next_seq: i64,
    revision: i64,
    tokens: i64,
    origin_id: Option<String>,
    origin_seq: Option<i64>,
    origin_revision: Option<i64>,
    #[sqlx(flatten)]
    view: ViewRow,
}

#[derive(Debug, FromRow)]
pub(super) struct ViewRow {
    name: String,
    reductions_revision: i64,
    preset: String,
    overrides_json: Vec<u8>,
    policy_json: Vec<u8>,
    model: Option<String>,
    context_window: Option<i64>,
    output_reserve: Option<i64>,
    request_bytes_limit: Option<i64>,
    caller_fixed_tokens: Option<i64>,
}

impl From<ViewRow> for View {
    fn from(row: ViewRow) -> Self {
        let model = row.model.map(|name| Model {
            name,
            context_window: row.context_window.unwrap_or_default(),
            output_reserve: row.output_reserve,
            request_bytes_limit: row.request_bytes_limit.unwrap_or_default(),
            caller_fixed_tokens: row.caller_fixed_tokens.unwrap_or_default(),
        });
        Self {
            name: ViewName::new(&row.name),
            preset: row.preset,
            overrides_json: row.overrides_json.into(),
            policy_json: row.policy_json.into(),
            model,
            reductions_revision: Revision(row.reductions_revision),
        }
    }
}

impl SessionRow {
    fn start(self) -> Result<(i64, Session), Error> {
        let labels = values::labels_from(&self.labels)
            .ok_or_else(|| corrupt("sessions", "labels", self.key))?;
        let session = Session {
            namespace: Namespace::new(&self.namespace),
            id: SessionId::new(&self.id),
            display_name: self.display_name,
            labels,
            create_time: Timestamp::from_micros(self.created_at),
            update_time: Timestamp::from_micros(self.updated_at),
            next_seq: Seq(self.next_seq),
            revision: Revision(self.revision),
            parent_session_id: self.parent,
            fork_origin: self.origin_id.map(|id| ForkOrigin {
                session_id: SessionId::new(&id),
                seq: Seq(self.origin_seq.unwrap_or_default()),
                revision: Revision(self.origin_revision.unwrap_or_default()),
            }),
            tokens: self.tokens,
            views: vec![self.view.into()],
        };
        Ok((self.key, session))
    }
}

/// Folds the rows of each session, which follow each other, into one.
fn fold(rows: Vec<SessionRow>) -> Result<Vec<(i64, Session)>, Error> {
    let mut sessions: Vec<(i64, Session)> = Vec::new();
    for row in rows {
        match sessions.last_mut() {
            Some((key, session)) if *key == row.key => session.views.push(row.view.into()),
            _ => sessions.push(row.start()?),
        }
    }
    Ok(sessions)
}

/// A session and its key.
pub(in super::super) async fn get_session(
    conn: &mut SqliteConnection,
    session: &SessionRef,
) -> Result<(i64, Session), Failure> {
    let rows: Vec<SessionRow> = sqlx::query_as(statements::GET_SESSION)
        .bind(session.namespace.as_str())
        .bind(session.id.as_str())
        .fetch_all(conn)
        .await?;
    fold(rows)?.pop().ok_or_else(|| not_found(session).into())
}

/// A session that is there.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Found {
    pub key: i64,
    pub newest: Revision,
    /// Of a fork, the last row that it shares.
    pub shared: Option<Seq>,
}

pub(in super::super) async fn find_session(
    conn: &mut SqliteConnection,
    session: &SessionRef,
) -> Result<Found, Failure> {
    let found: Option<(i64, i64, Option<i64>)> = sqlx::query_as(statements::FIND_SESSION)
        .bind(session.namespace.as_str())
        .bind(session.id.as_str())
        .fetch_optional(conn)
        .await?;
    let (key, newest, shared) = found.ok_or_else(|| not_found(session))?;
    Ok(Found { key, newest: Revision(newest), shared: shared.map(Seq) })
}

pub(in super::super) async fn list_sessions(
    conn: &mut SqliteConnection,
    filter: &SessionFilter,
    page: Page<(Timestamp, String)>,
) -> Result<Vec<Session>, Failure> {
    let (created_before, id_before) = match page.after {
        Some((created, id)) => (created.as_micros(), id),
        None => (i64::MAX, String::new()),
    };
    let rows: Vec<SessionRow> = sqlx::query_as(statements::LIST_SESSIONS)
        .bind(filter.namespace.as_str())
        .bind(created_before)
        .bind(id_before)
        .bind(filter.parent_session_id.as_str())
        .bind(values::json(&filter.labels))
        .bind(i64::try_from(page.limit).unwrap_or(i64::MAX))
        .bind(filter.fork_origin_session_id.as_str())
        .fetch_all(conn)
        .await?;
    Ok(fold(rows)?.into_iter().map(|(_, session)| session).collect())
}

pub(in super::super) fn not_found(session: &SessionRef) -> Error {
    Error::NotFound(Entity::Session(session.id.to_string()))
}
