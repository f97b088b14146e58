//! What only a database on disk can show.

use std::{fs, path::Path};

use concertina::{
    model::{Change, ContextItem, Placement, PlanId, Revision, Role, Seq, ViewName},
    store::{
        Append, Error, NewPlan, NewSession, Page, Plan, PlanEnd, SetItem, Store, UpdateSession,
        sqlite::{OpenError, Options, SqliteStore},
    },
};
use sqlx::{
    Connection, SqliteConnection,
    migrate::{Migrate, Migrator},
    sqlite::SqliteConnectOptions,
};
use tempfile::{TempDir, tempdir};

use super::{
    backends::open,
    support::{
        all_rows, append, appended, at, call, collapse, committed, created, deletion, ids, message,
        new_session, parts, pin, pins, plan, prepare, prepared, reduced_at, request, result, row,
        session, set, unpin, words,
    },
};

pub(super) async fn opened(dir: &TempDir) -> SqliteStore {
    open(dir.path(), Options::default()).await
}

async fn refusal(dir: &Path) -> OpenError {
    SqliteStore::open(dir, Options::default()).await.unwrap_err()
}

/// The database, opened past the store.
pub(super) async fn database(dir: &TempDir) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(dir.path().join("concertina.db"));
    SqliteConnection::connect_with(&options).await.unwrap()
}

/// Entries of every table and index of ours that has any.
pub(super) async fn entries(dir: &TempDir) -> Vec<(String, i64)> {
    sqlx::query_as(
        "SELECT name, sum(ncell) AS cells FROM dbstat
         WHERE pagetype IN ('leaf', 'overflow') AND name NOT LIKE 'sqlite_%'
           AND name NOT LIKE '\\_sqlx%' ESCAPE '\\'
         GROUP BY name HAVING cells > 0",
    )
    .fetch_all(&mut database(dir).await)
    .await
    .unwrap()
}

/// A session with something in every table.
pub(super) async fn full_session(store: &SqliteStore, id: &str) {
    let new = NewSession { request: Some(request(id, 1)), ..new_session(session(id)) };
    store.create_session(new).await.unwrap();
    let session = session(id);
    let rows = vec![
        row(message(Role::User, "lane", vec![])),
        words(&"long ".repeat(5_000)),
        row(message(Role::Assistant, "", vec![call("a"), call("b")])),
        row(message(Role::User, "", vec![result("a", "ok")])),
    ];
    let keyed = Append { request: Some(request("k", 1)), ..append(&session, rows) };
    store.append(keyed).await.unwrap();
    committed(store, &session, vec![collapse("o", 1, 2)]).await.unwrap();
    for content in ["one", "two"] {
        let item = ContextItem {
            name: "i".into(),
            placement: Placement::System,
            content: content.into(),
            format: None,
            view: None,
            tokens: 1,
        };
        let set = SetItem { session: session.clone(), item, author: String::new(), at: at(1) };
        store.set_item(set).await.unwrap();
    }
    for id in ["p", "q"] {
        store.pin(pin(&session, id, 3, 4)).await.unwrap();
    }
    store.unpin(unpin(&session, "p")).await.unwrap();
    for name in ["gone", "small"] {
        store.set_view(set(&session, name, parts(None))).await.unwrap();
    }
    store.delete_view(deletion(&session, "gone")).await.unwrap();
    let planned_at = reduced_at(store, &session).await;
    let keyed = NewPlan {
        request: Some(request("plan", 1)),
        ..prepare(&session, planned_at, vec![plan("a", 3, 3), plan("b", 4, 4)])
    };
    store.prepare(keyed).await.unwrap();
    store.abandon_plans(&session, &[PlanId::new("a")]).await.unwrap();
    let update =
        UpdateSession { session, display_name: Some("named".into()), labels: None, at: at(9_000) };
    store.update_session(update).await.unwrap();
}

#[tokio::test]
async fn i9_what_was_acknowledged_is_there_after_a_drop() {
    let dir = tempdir().unwrap();
    let store = opened(&dir).await;
    full_session(&store, "s").await;
    let (rows, before) =
        (all_rows(&store, &session("s")).await, store.get_session(&session("s")).await.unwrap());
    drop(store);
    let store = opened(&dir).await;
    assert_eq!(all_rows(&store, &session("s")).await, rows);
    assert_eq!(store.get_session(&session("s")).await.unwrap(), before);
    let answer = row(message(Role::User, "", vec![result("b", "late")]));
    let done = store.append(append(&session("s"), vec![answer])).await.unwrap();
    assert_eq!((done.first_seq, done.placements[0].round), (Seq(5), Seq(3)));
    assert_eq!(done.placements[0].settles, [Seq(3)]);
    store.close().await;
}

#[tokio::test]
async fn i9_what_was_acknowledged_is_there_after_a_crash() {
    let (dir, image) = (tempdir().unwrap(), tempdir().unwrap());
    let store = opened(&dir).await;
    full_session(&store, "s").await;
    let rows = all_rows(&store, &session("s")).await;
    let page = || Page { limit: 99, after: None };
    let revisions = store.list_revisions(&session("s"), page()).await.unwrap();
    let (main, now) = (ViewName::main(), at(8_001));
    let plans = store.list_plans(&session("s"), &main, now).await.unwrap();
    assert_eq!((revisions.len(), plans.len()), (12, 1));
    // What a crash leaves: the database as it is, and the log beside it.
    for file in ["concertina.db", "concertina.db-wal"] {
        fs::copy(dir.path().join(file), image.path().join(file)).unwrap();
    }
    store.close().await;
    let store = opened(&image).await;
    assert_eq!(all_rows(&store, &session("s")).await, rows);
    assert_eq!(store.list_revisions(&session("s"), page()).await.unwrap(), revisions);
    assert_eq!(store.list_plans(&session("s"), &main, now).await.unwrap(), plans);
    assert_eq!(pins(&store, &session("s"), "main").await, ["q"]);
    assert_eq!(appended(&store, &session("s"), 1).await.first_seq, Seq(5));
    store.close().await;
}

#[tokio::test]
async fn j5_request_ids_are_known_after_a_restart() {
    let dir = tempdir().unwrap();
    let store = opened(&dir).await;
    full_session(&store, "s").await;
    store.close().await;
    let store = opened(&dir).await;
    let keyed = |digest| Append {
        request: Some(request("k", digest)),
        ..append(&session("s"), vec![words("x")])
    };
    let again = store.append(keyed(1)).await.unwrap();
    assert!(again.replayed);
    assert_eq!((again.first_seq, again.last_seq), (Seq(1), Seq(4)));
    assert!(matches!(store.append(keyed(2)).await.unwrap_err(), Error::RequestIdReused));
    let created = NewSession { request: Some(request("s", 1)), ..new_session(session("t")) };
    assert!(store.create_session(created).await.unwrap().1);
    assert_eq!(all_rows(&store, &session("s")).await.len(), 4);
    store.close().await;
}

#[tokio::test]
async fn a_deleted_session_leaves_no_row_in_any_table() {
    let dir = tempdir().unwrap();
    let store = opened(&dir).await;
    full_session(&store, "s").await;
    full_session(&store, "t").await;
    for id in ["s", "t"] {
        appended(&store, &session(id), 700).await;
    }
    let names: Vec<String> = entries(&dir).await.into_iter().map(|(name, _)| name).collect();
    for table in [
        "messages",
        "contents",
        "rounds",
        "calls",
        "overlays",
        "views",
        "pins",
        "plans",
        "context_items",
        "session_names",
        "revisions",
        "requests",
    ] {
        assert!(names.iter().any(|it| it == table), "{table} holds something");
    }
    store.delete_session(&session("s")).await.unwrap();
    assert_eq!(all_rows(&store, &session("t")).await.len(), 704, "the other one stays");
    store.delete_session(&session("t")).await.unwrap();
    store.close().await;
    assert_eq!(entries(&dir).await, []);
}

#[tokio::test]
async fn an_erasure_that_was_cut_off_goes_on_at_the_next_start() {
    let dir = tempdir().unwrap();
    let store = opened(&dir).await;
    full_session(&store, "s").await;
    store.close().await;
    // As after a crash right after the session was taken out of sight.
    sqlx::raw_sql(
        "INSERT INTO erasures (session) SELECT key FROM sessions; DELETE FROM requests; DELETE FROM sessions",
    )
    .execute(&mut database(&dir).await)
    .await
    .unwrap();
    let store = opened(&dir).await;
    let fresh = created(&store, "s").await;
    appended(&store, &fresh, 1).await;
    assert_eq!(all_rows(&store, &fresh).await.len(), 1, "its key is a new one");
    store.delete_session(&fresh).await.unwrap();
    store.close().await;
    assert_eq!(entries(&dir).await, []);
}

#[tokio::test]
async fn plans_of_a_server_that_is_gone_are_given_back() {
    let dir = tempdir().unwrap();
    let store = opened(&dir).await;
    let session = created(&store, "s").await;
    appended(&store, &session, 20).await;
    let own = |id: &str, seq| Plan { is_own: true, ..plan(id, seq, seq) };
    let plans = vec![own("own", 1), plan("others", 2, 2), own("done", 3), own("both", 4)];
    prepared(&store, &session, plans).await.unwrap();
    let done = super::support::planned(&session, &["done"], vec![collapse("o", 3, 3)]);
    let done = store.commit_overlays(done).await.unwrap();
    let before = store.get_session(&session).await.unwrap();
    drop(store);
    let store = opened(&dir).await;
    let committed = PlanEnd::Committed(done.overlays[0].id.clone());
    for (id, end) in [
        ("own", Some(PlanEnd::Abandoned)),
        ("others", None),
        ("done", Some(committed)),
        ("both", Some(PlanEnd::Abandoned)),
    ] {
        assert_eq!(store.get_plan(&session, &PlanId::new(id)).await.unwrap().end, end, "{id}");
    }
    assert_eq!(store.get_session(&session).await.unwrap(), before);
    prepared(&store, &session, vec![plan("next", 1, 1)]).await.expect("the range is free");
    store.close().await;
}

/// A database as the first migration alone left it, with a session in it.
async fn first_migration_only(dir: &TempDir) {
    let migrations = tempdir().unwrap();
    let first = "0001_sessions_rows_overlays.sql";
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/sqlite").join(first);
    fs::copy(ours, migrations.path().join(first)).unwrap();
    let options = SqliteConnectOptions::new()
        .filename(dir.path().join("concertina.db"))
        .create_if_missing(true);
    let mut conn = SqliteConnection::connect_with(&options).await.unwrap();
    Migrator::new(migrations.path()).await.unwrap().run(&mut conn).await.unwrap();
    assert_eq!(conn.list_applied_migrations("_sqlx_migrations").await.unwrap().len(), 1);
    sqlx::raw_sql(
        "INSERT INTO sessions VALUES
             (1, 'default', 's', 'new', '{\"l\":\"v\"}', '', 1, 2, 1, 5, 0, 0, NULL),
             (2, 'default', 't', 'other', '{}', '', 1, 2, 1, 1, 0, 0, NULL);
         INSERT INTO views (session, name, since_revision, reductions_revision, preset,
                            overrides_json, policy_json)
             SELECT key, 'main', 1, CASE key WHEN 1 THEN 4 ELSE 1 END, 'default', x'', x'7b7d'
             FROM sessions;
         INSERT INTO overlays (session, commit_revision, id, view, kind, covered, kept,
                               tokens_before, tokens_after, summarizer, cause, stage, author,
                               commit_time, transcript, covered_overlays, source_digest)
             VALUES (1, 4, 'o', 'main', 2, '[[1,2]]', '[]', 9, 1, '', 4, '', '', 3, '', '[]',
                     zeroblob(32));
         INSERT INTO revisions VALUES
             (1, 1, 1, 6, 'main', '', 1), (1, 2, 1, 9, '', '', 2), (1, 3, 1, 9, '', '', 2),
             (1, 4, 1, 2, 'o', '', 2), (1, 5, 1, 9, '', '', 2), (2, 1, 1, 6, 'main', '', 1)",
    )
    .execute(&mut conn)
    .await
    .unwrap();
    conn.close().await.unwrap();
}

#[tokio::test]
async fn a_database_of_the_first_migration_is_brought_up_to_date() {
    let dir = tempdir().unwrap();
    first_migration_only(&dir).await;
    let store = opened(&dir).await;
    let session = session("s");
    let page = Page { limit: 9, after: Some(Revision(1)) };
    let entries = store.list_revisions(&session, page).await.unwrap();
    let names: Vec<Option<&str>> = entries
        .iter()
        .map(|it| match &it.change {
            Change::SessionUpdated { display_name, labels } if labels["l"] == "v" => {
                Some(display_name.as_str())
            }
            _ => None,
        })
        .collect();
    assert_eq!(names, [Some("new"), Some("new"), None, Some("new")], "as far as it was kept");
    let main = ViewName::main();
    let state = store.state_at(&session, &main, Revision(4)).await.unwrap();
    assert_eq!((ids(&state.overlays), state.view.reductions_revision), (vec!["o"], Revision(4)));
    assert_eq!(ids(&store.list_overlays(&session, &main, false).await.unwrap()), ["o"]);
    store.pin(pin(&session, "p", 1, 1)).await.unwrap();
    assert_eq!(pins(&store, &session, "main").await, ["p"]);
    store.close().await;
}

#[tokio::test]
async fn a_second_server_is_refused() {
    let dir = tempdir().unwrap();
    let store = opened(&dir).await;
    assert!(matches!(refusal(dir.path()).await, OpenError::InUse(_)));
    created(&store, "s").await;
    store.close().await;
    let next = opened(&dir).await;
    assert!(next.get_session(&session("s")).await.is_ok());
    next.close().await;
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused() {
    let dir = tempdir().unwrap();
    opened(&dir).await.close().await;
    sqlx::raw_sql(
        "INSERT INTO _sqlx_migrations VALUES (9000, 'later', '2030-01-01', TRUE, x'00', 0)",
    )
    .execute(&mut database(&dir).await)
    .await
    .unwrap();
    assert!(matches!(refusal(dir.path()).await, OpenError::Newer(9000)));
}

#[tokio::test]
async fn a_migration_that_was_altered_is_refused() {
    let dir = tempdir().unwrap();
    opened(&dir).await.close().await;
    sqlx::raw_sql("UPDATE _sqlx_migrations SET checksum = x'00'")
        .execute(&mut database(&dir).await)
        .await
        .unwrap();
    assert!(matches!(refusal(dir.path()).await, OpenError::Altered(1)));
}

#[tokio::test]
async fn what_is_no_database_is_refused_and_left_alone() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("concertina.db");
    let text = "not a database, but long enough to be looked at as one ".repeat(50);
    fs::write(&file, &text).unwrap();
    assert!(matches!(refusal(dir.path()).await, OpenError::NotADatabase(path) if path == file));
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_told() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let err = refusal(&file.join("data")).await;
    assert!(matches!(err, OpenError::Folder { .. }));
    assert!(err.to_string().contains("data"), "{err}");
}

#[tokio::test]
async fn q3_a_close_empties_the_log() {
    let dir = tempdir().unwrap();
    let store = opened(&dir).await;
    let session = created(&store, "s").await;
    appended(&store, &session, 500).await;
    store.close().await;
    let log = fs::metadata(dir.path().join("concertina.db-wal")).map_or(0, |it| it.len());
    assert_eq!(log, 0);
}
