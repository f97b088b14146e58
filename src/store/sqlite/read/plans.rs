//! Plans.

use sqlx::{FromRow, SqliteConnection};

use super::{
    super::{error::Failure, statements, values},
    corrupt, find_session, number,
};
use crate::{
    codec::overlay::kind_from_pb,
    model::{OverlayId, PinId, PlanId, Timestamp, ViewName},
    store::{Entity, Error, Plan, PlanEnd, SessionRef},
};

#[derive(Debug, FromRow)]
struct PlanRow {
    key: i64,
    id: String,
    view: String,
    kind: i64,
    covered: String,
    kept: String,
    overlays: String,
    pins: String,
    source_digest: Vec<u8>,
    max_summary_tokens: i64,
    stage: String,
    is_own: bool,
    author: String,
    created_at: i64,
    expires_at: i64,
    ended: Option<i64>,
    overlay: Option<String>,
}

impl TryFrom<PlanRow> for Plan {
    type Error = Error;

    fn try_from(row: PlanRow) -> Result<Self, Error> {
        let bad = |column| corrupt("plans", column, row.key);
        let ids = |text: &str| serde_json::from_str::<Vec<String>>(text).ok();
        let overlays = ids(&row.overlays).ok_or_else(|| bad("overlays"))?;
        let pins = ids(&row.pins).ok_or_else(|| bad("pins"))?;
        let end = match (row.ended, &row.overlay) {
            (None, _) => None,
            (Some(1), _) => Some(PlanEnd::Abandoned),
            (Some(2), Some(overlay)) => Some(PlanEnd::Committed(OverlayId::new(overlay))),
            _ => return Err(bad("ended")),
        };
        Ok(Self {
            id: PlanId::new(&row.id),
            view: ViewName::new(&row.view),
            kind: kind_from_pb(number(row.kind)).map_err(|_| bad("kind"))?,
            covered: values::ranges_from(&row.covered).ok_or_else(|| bad("covered"))?,
            kept: values::ranges_from(&row.kept).ok_or_else(|| bad("kept"))?,
            overlays: overlays.iter().map(|id| OverlayId::new(id)).collect(),
            pins: pins.iter().map(|id| PinId::new(id)).collect(),
            source_digest: row
                .source_digest
                .as_slice()
                .try_into()
                .map_err(|_| bad("source_digest"))?,
            max_summary_tokens: row.max_summary_tokens,
            stage: row.stage,
            is_own: row.is_own,
            author: row.author,
            create_time: Timestamp::from_micros(row.created_at),
            expire_time: Timestamp::from_micros(row.expires_at),
            end,
        })
    }
}

/// The plans of these ids, in their order.
pub(in super::super) async fn get_plans(
    conn: &mut SqliteConnection,
    session: &SessionRef,
    ids: &[PlanId],
) -> Result<Vec<Plan>, Failure> {
    let names: Vec<&str> = ids.iter().map(PlanId::as_str).collect();
    let rows: Vec<PlanRow> = sqlx::query_as(statements::GET_PLANS)
        .bind(session.namespace.as_str())
        .bind(session.id.as_str())
        .bind(values::json(&names))
        .fetch_all(&mut *conn)
        .await?;
    if rows.is_empty() {
        find_session(conn, session).await?;
    }
    let found = convert(rows)?;
    let plan = |id: &PlanId| {
        let plan = found.iter().find(|it| it.id == *id).cloned();
        plan.ok_or_else(|| Error::NotFound(Entity::Plan(id.to_string())))
    };
    Ok(ids.iter().map(plan).collect::<Result<_, _>>()?)
}

pub(in super::super) async fn list_plans(
    conn: &mut SqliteConnection,
    session: &SessionRef,
    view: &ViewName,
    now: Timestamp,
) -> Result<Vec<Plan>, Failure> {
    let rows: Vec<PlanRow> = sqlx::query_as(statements::LIST_PLANS)
        .bind(session.namespace.as_str())
        .bind(session.id.as_str())
        .bind(view.as_str())
        .bind(now.as_micros())
        .fetch_all(&mut *conn)
        .await?;
    if rows.is_empty() {
        find_session(conn, session).await?;
    }
    convert(rows)
}

fn convert(rows: Vec<PlanRow>) -> Result<Vec<Plan>, Failure> {
    Ok(rows.into_iter().map(Plan::try_from).collect::<Result<_, _>>()?)
}
