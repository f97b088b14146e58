//! Many callers at once.

use std::sync::Arc;

use concertina::{
    model::{Row, Seq},
    store::{Append, Error, RowsQuery, SessionRef, Store},
};
use tokio::task::JoinSet;

use super::support::{all_rows, append, created, everything, request, seqs, session, words};

type AnyStore = Arc<dyn Store>;

pub(super) async fn two_writers_race_for_one_seq(store: AnyStore) {
    let session = created(&*store, "s").await;
    let mut writers = JoinSet::new();
    for writer in 0..2 {
        let (store, session) = (Arc::clone(&store), session.clone());
        writers.spawn(async move {
            let mut won = Vec::new();
            for seq in 1..=50 {
                let expecting = Append {
                    expected_next_seq: Some(Seq(seq)),
                    ..append(&session, vec![words(&format!("{writer}"))])
                };
                match store.append(expecting).await {
                    Ok(done) => won.push(done.first_seq.0),
                    Err(Error::SeqMoved { .. }) => {}
                    Err(other) => panic!("{other}"),
                }
            }
            won
        });
    }
    let mut won: Vec<i64> = writers.join_all().await.into_iter().flatten().collect();
    won.sort_unstable();
    let rows = all_rows(&*store, &session).await;
    assert_eq!(won, seqs(&rows), "each seq was won once");
    assert!(!won.is_empty());
}

pub(super) async fn q1_many_appenders_and_a_reader(store: AnyStore) {
    const APPENDERS: usize = 64;
    const APPENDS: usize = 20;
    created(&*store, "s").await;
    created(&*store, "t").await;
    let mut appenders = JoinSet::new();
    for n in 0..APPENDERS {
        let store = Arc::clone(&store);
        appenders.spawn(async move {
            let session = session(if n % 4 == 0 { "t" } else { "s" });
            for _ in 0..APPENDS {
                let pair = vec![words(&format!("{n}")), words(&format!("{n}"))];
                store.append(append(&session, pair)).await.unwrap();
            }
        });
    }
    let reader = tokio::spawn({
        let store = Arc::clone(&store);
        async move { stream(&store, &session("s"), APPENDERS * APPENDS * 2 * 3 / 4).await }
    });
    appenders.join_all().await;
    let rows = reader.await.unwrap();
    assert!(seqs(&rows).into_iter().zip(1..).all(|(seq, n)| seq == n), "no gap, no double");
    for pair in rows.chunks(2) {
        assert_eq!(pair[0].message, pair[1].message, "appends interleave between requests only");
        assert_eq!(pair[0].revision, pair[1].revision);
    }
    let t = all_rows(&*store, &session("t")).await;
    assert_eq!(t.len(), APPENDERS * APPENDS * 2 / 4);
}

/// Reads page after page while rows come in, until there are `count`.
async fn stream(store: &AnyStore, session: &SessionRef, count: usize) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    while rows.len() < count {
        let first = rows.last().map_or(Seq(1), |it| it.seq.next());
        let query = RowsQuery { first, limit: 33, ..everything() };
        rows.extend(store.read_rows(session, query).await.unwrap());
        tokio::task::yield_now().await;
    }
    rows
}

pub(super) async fn r3_a_caller_that_goes_away_changes_nothing(store: AnyStore) {
    let session = created(&*store, "s").await;
    let mut callers = JoinSet::new();
    for n in 0..200_u8 {
        let (store, session) = (Arc::clone(&store), session.clone());
        callers.spawn(async move {
            let rows = vec![words("a"), words("b"), words("c")];
            let keyed =
                Append { request: Some(request(&n.to_string(), n)), ..append(&session, rows) };
            store.append(keyed).await.map(|_| ())
        });
        if n % 3 == 0 {
            tokio::task::yield_now().await;
        }
    }
    callers.abort_all();
    while callers.join_next().await.is_some() {}
    // A retry of each, by its id, and everything is there once and whole.
    for n in 0..200_u8 {
        let rows = vec![words("a"), words("b"), words("c")];
        let keyed = Append { request: Some(request(&n.to_string(), n)), ..append(&session, rows) };
        store.append(keyed).await.unwrap();
    }
    let rows = all_rows(&*store, &session).await;
    assert_eq!(rows.len(), 600);
    assert!(rows.chunks(3).all(|it| it[0].revision == it[2].revision));
}
