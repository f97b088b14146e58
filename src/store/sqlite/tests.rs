use sqlx::{Connection, Executor, SqlSafeStr};

use super::{Options, open, statements};

#[tokio::test]
async fn every_statement_prepares_against_a_fresh_schema() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open::open(dir.path(), &Options::default()).await.unwrap();
    for statement in statements::ALL {
        let prepared = opened.writer.prepare(statement.into_sql_str()).await;
        assert!(prepared.is_ok(), "{statement}: {:?}", prepared.err());
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
