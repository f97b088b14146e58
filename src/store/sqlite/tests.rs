use std::sync::Arc;

use bytes::Bytes;
use sqlx::{Connection, Executor, SqlSafeStr};

use super::{Options, SqliteStore, open, statements};
use crate::{
    codec,
    model::{Block, Message, MessageTokens, Namespace, Seq, SessionId, Timestamp},
    rounds::MessageShape,
    store::{
        Append, Appended, Error, NewRow, NewSession, RequestKey, RowsQuery, SessionRef,
        SetViewParts, Store,
    },
};

#[tokio::test]
async fn every_statement_prepares_against_a_fresh_schema() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open::open(dir.path(), &Options::default()).await.unwrap();
    for statement in statements::ALL.iter().chain(statements::APPENDS_AT_ONCE) {
        let prepared = opened.writer.prepare(statement.into_sql_str()).await;
        assert!(prepared.is_ok(), "{statement}: {:?}", prepared.err());
    }
    opened.writer.close().await.unwrap();
}

/// What is asked of a page or of what is in force costs what that holds, not
/// what the session or the database does.
#[tokio::test]
async fn no_table_is_searched_from_end_to_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open::open(dir.path(), &Options::default()).await.unwrap();
    for statement in [
        statements::LIST_REVISIONS,
        statements::LIST_REVISIONS_OF_FORK,
        statements::VIEWS_SET,
        statements::ITEMS_SET,
        statements::VIEW_AT,
        statements::VIEW_AT_OF_FORK,
        statements::READ_ROWS,
        statements::READ_SHARED_ROWS,
        statements::READ_SHARED_ROWS_REVERSED,
        statements::CALLS_BY_ID,
        statements::CALLS_BY_ID_OF_FORK,
        statements::FORK_POINT_OF_FORK,
        statements::FORKS,
        statements::OVERLAYS_AT,
        statements::LIST_OVERLAYS,
        statements::LIST_ALL_OVERLAYS,
        statements::GET_PINS,
        statements::LIST_PINS,
        statements::GET_PLANS,
        statements::LIST_PLANS,
        statements::OVERLAYS_IN_FORCE,
        statements::VIEW_DELETED_AT,
        statements::RENEW_PLANS,
        statements::ABANDON_PLANS,
    ] {
        let explain: &'static str = Box::leak(format!("EXPLAIN QUERY PLAN {statement}").into());
        let steps: Vec<(i64, i64, i64, String)> =
            sqlx::query_as(explain).fetch_all(&mut opened.writer).await.unwrap();
        for (_, _, _, step) in steps {
            // `r` is a page of revisions, a virtual table a list that came in, a
            // subquery a page of rows.
            let is_bounded = !step.starts_with("SCAN")
                || step.contains("VIRTUAL TABLE")
                || step == "SCAN r"
                || step == "SCAN m"
                || step.starts_with("SCAN (subquery");
            assert!(is_bounded && !step.contains("AUTOMATIC"), "{step}: {statement}");
        }
    }
    opened.writer.close().await.unwrap();
}

#[test]
fn every_step_of_an_erasure_is_in_the_inventory() {
    assert!(statements::ERASE.iter().all(|it| statements::ALL.contains(it)));
}

#[tokio::test]
async fn the_writer_is_durable_and_the_readers_only_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open::open(dir.path(), &Options::default()).await.unwrap();
    for (pragma, expected) in [
        ("SELECT synchronous FROM pragma_synchronous", 2),
        ("SELECT page_size FROM pragma_page_size", 4096),
        ("SELECT auto_vacuum FROM pragma_auto_vacuum", 2),
        ("SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'", 1),
        ("SELECT journal_size_limit FROM pragma_journal_size_limit", 33_554_432),
    ] {
        let found: i64 = sqlx::query_scalar(pragma).fetch_one(&mut opened.writer).await.unwrap();
        assert_eq!(found, expected, "{pragma}");
    }
    let written = sqlx::query("DELETE FROM sessions").execute(&opened.readers).await;
    assert!(written.is_err());
}

fn session(id: &str) -> SessionRef {
    SessionRef { namespace: Namespace::new("n"), id: SessionId::new(id) }
}

async fn create(store: &SqliteStore, id: &str) {
    let main = SetViewParts {
        preset: String::new(),
        overrides_json: Bytes::new(),
        policy_json: Bytes::new(),
        model: None,
    };
    let new = NewSession {
        session: session(id),
        display_name: String::new(),
        labels: [].into(),
        parent_session_id: String::new(),
        main,
        at: Timestamp::default(),
        request: None,
    };
    store.create_session(new).await.unwrap();
}

/// Appends one message of 100 KB that no compression makes smaller.
async fn append_noise(store: &SqliteStore, id: &str) -> Result<Appended, Error> {
    let hash = |n: u32| blake3::hash(&n.to_le_bytes()).to_hex();
    let text = (0..1_600).map(|n| hash(n).to_string()).collect::<String>();
    let blocks = vec![Arc::new(Block::text(text))];
    let message = Message { blocks, ..Message::default() };
    let encoded = codec::encode(&message);
    let row = NewRow {
        digest: codec::digest(&encoded),
        encoded,
        tokens: MessageTokens { total: 5, blocks: vec![1] },
        shape: MessageShape::of(&message),
        message: Arc::new(message),
    };
    let append = Append {
        session: session(id),
        rows: vec![row],
        expected_next_seq: None,
        author: String::new(),
        at: Timestamp::default(),
        request: None,
    };
    store.append(append).await
}

async fn rows(store: &SqliteStore, id: &str) -> Vec<i64> {
    let query = RowsQuery {
        first: Seq(1),
        last: Seq(i64::MAX),
        newest_first: false,
        limit: usize::MAX,
        limit_bytes: usize::MAX,
    };
    let rows = store.read_rows(&session(id), query).await.unwrap();
    rows.iter().map(|it| it.seq.0).collect()
}

#[tokio::test]
async fn q5_a_full_disk_is_told_and_writing_goes_on_once_there_is_space() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open::open(dir.path(), &Options::default()).await.unwrap();
    sqlx::query("PRAGMA max_page_count = 500").execute(&mut opened.writer).await.unwrap();
    let store = SqliteStore::start(opened, &Options::default()).await.unwrap();
    create(&store, "old").await;
    create(&store, "new").await;
    for _ in 0..5 {
        append_noise(&store, "old").await.unwrap();
    }
    let mut acknowledged = Vec::new();
    let full = loop {
        match append_noise(&store, "new").await {
            Ok(done) => acknowledged.push(done.first_seq.0),
            Err(err) => break err,
        }
    };
    assert!(matches!(full, Error::Full(_)), "{full}");
    assert!(matches!(append_noise(&store, "old").await, Err(Error::Full(_))));
    assert_eq!(rows(&store, "new").await, acknowledged, "reads go on, nothing is torn");
    store.delete_session(&session("old")).await.unwrap();
    let done = append_noise(&store, "new").await.unwrap();
    assert_eq!(Some(done.first_seq.0 - 1), acknowledged.last().copied());
    store.close().await;
}

/// Appends a short message under a request id.
fn short(id: &str, request: usize, text: &str) -> Append {
    let blocks = vec![Arc::new(Block::text(text))];
    let message = Message { blocks, ..Message::default() };
    let encoded = codec::encode(&message);
    let digest = codec::digest(&encoded);
    let row = NewRow {
        digest,
        encoded,
        tokens: MessageTokens { total: 5, blocks: vec![1] },
        shape: MessageShape::of(&message),
        message: Arc::new(message),
    };
    Append {
        session: session(id),
        rows: vec![row],
        expected_next_seq: None,
        author: String::new(),
        at: Timestamp::default(),
        request: Some(RequestKey { id: format!("r{request}"), digest }),
    }
}

#[tokio::test]
async fn i10_appends_of_one_group_fail_each_for_itself() {
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(dir.path(), Options::default()).await.unwrap());
    create(&store, "a").await;
    create(&store, "b").await;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..90 {
        let store = Arc::clone(&store);
        // Every third repeats a request, every ninth in other words, and one
        // session is not there.
        let id = ["a", "b", "a", "b", "none"][number % 5];
        let request = if number % 3 == 2 { number % 5 } else { number };
        let text = if number % 9 == 8 { "other" } else { "text" };
        let append = short(id, request, text);
        tasks.spawn(async move { (number, request, store.append(append).await) });
    }
    let mut seqs = [Vec::new(), Vec::new()];
    let mut first_of: std::collections::BTreeMap<(usize, usize), Vec<i64>> = [].into();
    while let Some(done) = tasks.join_next().await {
        let (number, request, outcome) = done.unwrap();
        match (number % 5, outcome) {
            (4, outcome) => assert!(matches!(outcome, Err(Error::NotFound(_)))),
            (_, Err(err)) => assert!(matches!(err, Error::RequestIdReused), "{err}"),
            (at, Ok(done)) => {
                if !done.replayed {
                    seqs[at % 2].push(done.first_seq.0);
                }
                first_of.entry((at % 2, request)).or_default().push(done.first_seq.0);
            }
        }
    }
    for (id, mut seqs) in ["a", "b"].into_iter().zip(seqs) {
        seqs.sort_unstable();
        assert_eq!(seqs, (1..=i64::try_from(seqs.len()).unwrap()).collect::<Vec<_>>());
        assert_eq!(rows(&store, id).await, seqs, "what was told is what is there");
    }
    for (request, seqs) in first_of {
        assert!(seqs.iter().all(|it| it == &seqs[0]), "{request:?} was answered once: {seqs:?}");
    }
}
