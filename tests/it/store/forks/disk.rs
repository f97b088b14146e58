//! Forks in a database on disk.

use std::{collections::BTreeMap, fs, path::Path};

use concertina::{
    model::{Role, Seq},
    store::{ForkSession, Store},
};
use sqlx::{Connection, SqliteConnection, migrate::Migrator, sqlite::SqliteConnectOptions};
use tempfile::{TempDir, tempdir};

use super::{
    super::{
        sqlite::{database, entries, full_session, opened},
        support::{
            all_rows, append, appended, call, collapse, committed, created, message, request, row,
            session,
        },
    },
    answer, fork, forked,
    life::{held, live},
};

/// How many rows each table has.
async fn counts(dir: &TempDir) -> BTreeMap<&'static str, i64> {
    const TABLES: [(&str, &str); 6] = [
        ("messages", "SELECT count(*) FROM messages"),
        ("contents", "SELECT count(*) FROM contents"),
        ("calls", "SELECT count(*) FROM calls"),
        ("answers", "SELECT count(*) FROM answers"),
        ("revisions", "SELECT count(*) FROM revisions"),
        ("lineage", "SELECT count(*) FROM lineage"),
    ];
    let mut database = database(dir).await;
    let mut counts = BTreeMap::new();
    for (table, statement) in TABLES {
        counts.insert(table, sqlx::query_scalar(statement).fetch_one(&mut database).await.unwrap());
    }
    counts
}

#[tokio::test]
async fn i9_a_fork_is_there_after_a_restart() {
    let dir = tempdir().unwrap();
    let store = opened(&dir).await;
    let origin = created(&store, "s").await;
    live(&store, &origin, 3, 30).await;
    let pair = vec![call("p"), call("q")];
    let rows = vec![row(message(Role::Assistant, "own", pair)), answer("p"), answer("q")];
    let called = store.append(append(&origin, rows)).await.unwrap().first_seq;
    let fork = forked(&store, &origin, "f", Some(called.0 + 1)).await;
    let before = (all_rows(&store, &fork).await, held(&store, &fork).await);
    let made = store.get_session(&fork).await.unwrap();
    store.close().await;
    let store = opened(&dir).await;
    assert_eq!((all_rows(&store, &fork).await, held(&store, &fork).await), before);
    assert_eq!(store.get_session(&fork).await.unwrap(), made);
    let done = store.append(append(&fork, vec![answer("q"), answer("p")])).await.unwrap();
    assert_eq!(done.placements[0].settles, [called]);
    assert_eq!(done.placements[1].answers[0].supersedes, Some((Seq(called.0 + 1), 0)));
    assert_eq!(done.revision, made.revision.next());
    store.close().await;
}

#[tokio::test]
async fn a_fork_copies_no_row() {
    let dir = tempdir().unwrap();
    let store = opened(&dir).await;
    full_session(&store, "s").await;
    appended(&store, &session("s"), 100).await;
    let mut expected = counts(&dir).await;
    let mut origin = session("s");
    for number in 1..4 {
        origin = forked(&store, &origin, &format!("f{number}"), Some(90)).await;
        // The revision that it started in is its own, and so is one that deleted
        // a view; sessions without own rows in between are not read.
        expected.entry("revisions").and_modify(|it| *it += 2);
        expected.entry("lineage").and_modify(|it| *it += 2);
        assert_eq!(counts(&dir).await, expected);
    }
    store.close().await;
}

#[tokio::test]
async fn a_deleted_fork_leaves_what_it_shared_and_nothing_else() {
    let dir = tempdir().unwrap();
    let store = opened(&dir).await;
    full_session(&store, "s").await;
    let before = entries(&dir).await;
    let shared = (all_rows(&store, &session("s")).await, held(&store, &session("s")).await);
    let keyed = ForkSession { request: Some(request("fork", 1)), ..fork(&session("s"), "f", None) };
    store.fork_session(keyed).await.unwrap();
    let own = vec![answer("b"), row(message(Role::Assistant, "", vec![call("mine")]))];
    store.append(append(&session("f"), own)).await.unwrap();
    appended(&store, &session("f"), 700).await;
    committed(&store, &session("f"), vec![collapse("own", 3, 9)]).await.unwrap();
    store.delete_session(&session("f")).await.unwrap();
    assert_eq!(entries(&dir).await, before);
    let after = (all_rows(&store, &session("s")).await, held(&store, &session("s")).await);
    assert_eq!(after, shared);
    store.delete_session(&session("s")).await.unwrap();
    store.close().await;
    assert_eq!(entries(&dir).await, []);
}

#[tokio::test]
async fn an_erasure_of_a_fork_that_was_cut_off_leaves_what_it_shared() {
    let dir = tempdir().unwrap();
    let store = opened(&dir).await;
    full_session(&store, "s").await;
    let before = entries(&dir).await;
    let shared = held(&store, &session("s")).await;
    let fork = forked(&store, &session("s"), "f", None).await;
    appended(&store, &fork, 5).await;
    committed(&store, &fork, vec![collapse("own", 3, 9)]).await.unwrap();
    store.close().await;
    // As after a crash right after the fork was taken out of sight.
    sqlx::raw_sql(
        "INSERT INTO erasures (session, shared_revision)
             SELECT key, origin_revision FROM sessions WHERE id = 'f';
         DELETE FROM sessions WHERE id = 'f'",
    )
    .execute(&mut database(&dir).await)
    .await
    .unwrap();
    let store = opened(&dir).await;
    created(&store, "last").await;
    store.delete_session(&session("last")).await.unwrap();
    assert_eq!(held(&store, &session("s")).await, shared);
    store.close().await;
    assert_eq!(entries(&dir).await, before);
}

/// A database as the first migration left it.
async fn first_database(dir: &Path) -> SqliteConnection {
    let migrations = tempdir().unwrap();
    let first = "0001_sessions_rows_overlays.sql";
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/sqlite").join(first);
    fs::copy(ours, migrations.path().join(first)).unwrap();
    let file = dir.join("concertina.db");
    let options = SqliteConnectOptions::new().filename(file).create_if_missing(true);
    let mut conn = SqliteConnection::connect_with(&options).await.unwrap();
    Migrator::new(migrations.path()).await.unwrap().run(&mut conn).await.unwrap();
    conn
}

#[tokio::test]
async fn answers_of_an_older_database_stay_known() {
    let dir = tempdir().unwrap();
    let mut conn = first_database(dir.path()).await;
    sqlx::raw_sql(
        "INSERT INTO sessions VALUES (1, 'default', 's', '', '{}', '', 1, 1, 4, 2, 1, 9, NULL);
         INSERT INTO views (session, name, since_revision, reductions_revision, preset,
                            overrides_json, policy_json)
             VALUES (1, 'main', 1, 1, '', x'', x'');
         INSERT INTO rounds VALUES (1, 2, 'lane', 1, NULL, NULL);
         INSERT INTO calls VALUES (1, 'a', 2, 0, 3, 0), (1, 'b', 2, 1, NULL, NULL);",
    )
    .execute(&mut conn)
    .await
    .unwrap();
    conn.close().await.unwrap();
    let store = opened(&dir).await;
    let rows = vec![answer("a"), answer("b")];
    let placements = store.append(append(&session("s"), rows)).await.unwrap().placements;
    assert_eq!(placements[0].answers[0].supersedes, Some((Seq(3), 0)));
    assert_eq!(placements[1].answers[0].supersedes, None);
    assert_eq!(placements[1].settles, [Seq(2)]);
    store.close().await;
}
