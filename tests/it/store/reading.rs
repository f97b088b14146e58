//! Reading rows.

use std::sync::Arc;

use concertina::{
    model::Seq,
    store::{Entity, Error, RowsQuery, Store},
};

use super::support::{append, appended, created, everything, seqs, session, words};

type AnyStore = Arc<dyn Store>;

pub(super) async fn rows_are_read_in_pages_from_both_ends(store: AnyStore) {
    let session = created(&*store, "s").await;
    let other = created(&*store, "t").await;
    for _ in 0..5 {
        appended(&*store, &session, 2).await;
        appended(&*store, &other, 1).await;
    }
    let page = |first, last, newest_first, limit| RowsQuery {
        first: Seq(first),
        last: Seq(last),
        newest_first,
        limit,
        ..everything()
    };
    let read = async |query| seqs(&store.read_rows(&session, query).await.unwrap());
    assert_eq!(read(page(1, 10, false, 4)).await, [1, 2, 3, 4]);
    assert_eq!(read(page(5, 10, false, 4)).await, [5, 6, 7, 8]);
    assert_eq!(read(page(9, 99, false, 4)).await, [9, 10]);
    assert_eq!(read(page(1, 10, true, 3)).await, [10, 9, 8]);
    assert_eq!(read(page(1, 7, true, 99)).await, [7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(read(page(-5, 1, false, 9)).await, [1]);
    assert_eq!(read(page(7, 3, false, 9)).await, [0; 0]);
    assert_eq!(read(page(1, 10, false, 0)).await, [0; 0]);
    assert_eq!(read(page(11, 99, true, 9)).await, [0; 0]);
}

pub(super) async fn a_page_stops_at_its_bytes(store: AnyStore) {
    let session = created(&*store, "s").await;
    let rows = vec![words(&"x".repeat(5_000)), words("a"), words("b"), words("c")];
    let sizes: Vec<usize> = rows.iter().map(|it| it.encoded.len()).collect();
    store.append(append(&session, rows)).await.unwrap();
    let read = async |newest_first, limit_bytes| {
        let query = RowsQuery { newest_first, limit_bytes, ..everything() };
        seqs(&store.read_rows(&session, query).await.unwrap())
    };
    assert_eq!(read(false, 0).await, [1], "at least one row comes");
    assert_eq!(read(false, 1).await, [1]);
    assert_eq!(read(false, sizes[0]).await, [1]);
    assert_eq!(read(false, sizes[0] + 1).await, [1, 2]);
    assert_eq!(read(true, sizes[3] + sizes[2]).await, [4, 3]);
    assert_eq!(read(true, sizes[3] + sizes[2] + sizes[1] + 1).await, [4, 3, 2, 1]);
}

pub(super) async fn an_absent_session_has_no_rows_to_read(store: AnyStore) {
    let err = store.read_rows(&session("s"), everything()).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::Session(id)) if id == "s"));
    let session = created(&*store, "s").await;
    assert_eq!(store.read_rows(&session, everything()).await.unwrap(), []);
}
