//! What changed, revision by revision.

use std::collections::BTreeMap;

use sqlx::{FromRow, SqliteConnection};

use super::{
    super::{error::Failure, statements, values},
    corrupt, find_session, get_overlays, get_pins,
    items::item_from_parts,
    sessions::{Found, ViewRow},
};
use crate::{
    model::{
        Change, ContextItem, Overlay, Pin, Revision, RevisionEntry, Seq, Timestamp, View, ViewName,
    },
    proto::v1 as pb,
    store::{Error, Page, SessionRef},
};

/// A revision joined with what is small of what it changed.
#[derive(Debug, FromRow)]
struct RevisionRow {
    revision: i64,
    next_seq: i64,
    kind: i64,
    named: String,
    author: String,
    at: i64,
    first_seq: Option<i64>,
    lane: Option<String>,
    display_name: Option<String>,
    labels: Option<String>,
}

#[derive(Debug, FromRow)]
struct ViewSetRow {
    since_revision: i64,
    #[sqlx(flatten)]
    view: ViewRow,
}

#[derive(Debug, FromRow)]
struct ItemSetRow {
    revision: i64,
    name: String,
    view: String,
    placement: i64,
    format: i64,
    tokens: i64,
}

/// What the revisions of a page name, by id or by revision.
#[derive(Debug, Default)]
struct Named {
    overlays: BTreeMap<String, Overlay>,
    pins: BTreeMap<String, Pin>,
    views: BTreeMap<i64, View>,
    items: BTreeMap<i64, ContextItem>,
}

/// To be called in a transaction: it asks more than once.
pub(in super::super) async fn list_revisions(
    conn: &mut SqliteConnection,
    session: &SessionRef,
    page: Page<Revision>,
) -> Result<Vec<RevisionEntry>, Failure> {
    let Found { key, shared, .. } = find_session(conn, session).await?;
    let statement = if shared.is_some() {
        statements::LIST_REVISIONS_OF_FORK
    } else {
        statements::LIST_REVISIONS
    };
    let rows: Vec<RevisionRow> = sqlx::query_as(statement)
        .bind(key)
        .bind(page.after.unwrap_or_default().0)
        .bind(i64::try_from(page.limit).unwrap_or(i64::MAX))
        .fetch_all(&mut *conn)
        .await?;
    let named = Named {
        overlays: overlays(conn, session, &rows).await?,
        pins: pins(conn, session, &rows).await?,
        views: views(conn, key, &rows).await?,
        items: items(conn, key, &rows).await?,
    };
    Ok(rows.into_iter().map(|row| entry(row, &named)).collect::<Result<_, _>>()?)
}

fn names<'a>(rows: &'a [RevisionRow], kinds: &[i64]) -> Vec<&'a str> {
    let mut names: Vec<&str> = of_kinds(rows, kinds).map(|it| it.named.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn of_kinds<'a>(rows: &'a [RevisionRow], kinds: &[i64]) -> impl Iterator<Item = &'a RevisionRow> {
    rows.iter().filter(|it| kinds.contains(&it.kind))
}

async fn overlays(
    conn: &mut SqliteConnection,
    session: &SessionRef,
    rows: &[RevisionRow],
) -> Result<BTreeMap<String, Overlay>, Failure> {
    let ids = names(rows, &[2, 3]);
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let found = get_overlays(conn, session, &ids).await?;
    Ok(found.into_iter().map(|it| (it.id.to_string(), it)).collect())
}

async fn pins(
    conn: &mut SqliteConnection,
    session: &SessionRef,
    rows: &[RevisionRow],
) -> Result<BTreeMap<String, Pin>, Failure> {
    let ids = names(rows, &[4, 5]);
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let found = get_pins(conn, session, &ids).await?;
    Ok(found.into_iter().map(|it| (it.id.to_string(), it)).collect())
}

async fn views(
    conn: &mut SqliteConnection,
    key: i64,
    rows: &[RevisionRow],
) -> Result<BTreeMap<i64, View>, Failure> {
    let wanted: Vec<(i64, &str)> =
        of_kinds(rows, &[6]).map(|it| (it.revision, it.named.as_str())).collect();
    if wanted.is_empty() {
        return Ok(BTreeMap::new());
    }
    let found: Vec<ViewSetRow> = sqlx::query_as(statements::VIEWS_SET)
        .bind(key)
        .bind(values::json(&wanted))
        .fetch_all(conn)
        .await?;
    Ok(found.into_iter().map(|it| (it.since_revision, it.view.into())).collect())
}

async fn items(
    conn: &mut SqliteConnection,
    key: i64,
    rows: &[RevisionRow],
) -> Result<BTreeMap<i64, ContextItem>, Failure> {
    let wanted: Vec<i64> = of_kinds(rows, &[8]).map(|it| it.revision).collect();
    if wanted.is_empty() {
        return Ok(BTreeMap::new());
    }
    let found: Vec<ItemSetRow> = sqlx::query_as(statements::ITEMS_SET)
        .bind(key)
        .bind(values::json(&wanted))
        .fetch_all(conn)
        .await?;
    let item = |row: ItemSetRow| {
        let bad = corrupt("context_items", "placement", row.revision);
        let item = pb::ContextItem {
            name: row.name,
            placement: super::number(row.placement),
            format: super::number(row.format),
            view: row.view,
            ..pb::ContextItem::default()
        };
        let item = item_from_parts(item, row.tokens).ok_or(bad)?;
        Ok((row.revision, item))
    };
    Ok(found.into_iter().map(item).collect::<Result<_, Error>>()?)
}

fn entry(row: RevisionRow, named: &Named) -> Result<RevisionEntry, Error> {
    Ok(RevisionEntry {
        revision: Revision(row.revision),
        time: Timestamp::from_micros(row.at),
        change: change(&row, named).ok_or_else(|| corrupt("revisions", "ref", row.revision))?,
        author: row.author,
    })
}

/// What a revision changed; `None` where what it names is not there.
fn change(row: &RevisionRow, named: &Named) -> Option<Change> {
    let overlay = || named.overlays.get(&row.named).cloned().map(Box::new);
    let pin = || named.pins.get(&row.named).cloned();
    Some(match row.kind {
        1 => Change::Appended {
            first: Seq(row.first_seq?),
            last: Seq(row.next_seq - 1),
            lane: row.lane.clone()?,
        },
        2 => Change::OverlayCommitted(overlay()?),
        3 => Change::OverlayRolledBack(overlay()?),
        4 => Change::Pinned(pin()?),
        5 => Change::Unpinned(pin()?),
        6 => Change::ViewSet(Box::new(named.views.get(&row.revision)?.clone())),
        7 => Change::ViewDeleted(ViewName::new(&row.named)),
        8 => Change::ItemSet(Box::new(named.items.get(&row.revision)?.clone())),
        9 => Change::SessionUpdated {
            display_name: row.display_name.clone()?,
            labels: values::labels_from(row.labels.as_deref()?)?,
        },
        _ => return None,
    })
}
