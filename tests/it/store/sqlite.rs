//! What only a database on disk can show.

use std::{fs, path::Path};

use concertina::{
    model::{ContextItem, Placement, Role, Seq},
    store::{
        Append, Error, NewSession, SetItem, Store,
        sqlite::{OpenError, Options, SqliteStore},
    },
};
use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use tempfile::{TempDir, tempdir};

use super::{
    backends::open,
    support::{
        all_rows, append, appended, at, call, collapse, committed, created, message, new_session,
        request, result, row, session, words,
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
    // What a crash leaves: the database as it is, and the log beside it.
    for file in ["concertina.db", "concertina.db-wal"] {
        fs::copy(dir.path().join(file), image.path().join(file)).unwrap();
    }
    store.close().await;
    let store = opened(&image).await;
    assert_eq!(all_rows(&store, &session("s")).await, rows);
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
    for table in ["messages", "contents", "rounds", "calls", "overlays", "views", "requests"] {
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
