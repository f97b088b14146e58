//! Appending rows.

use std::sync::Arc;

use bytes::Bytes;
use concertina::{
    codec,
    model::{
        Block, BlockKind, ContextItem, Message, Opaque, Placement, Revision, Role, Seq, Timestamp,
        ToolOutput, ToolResult, WireFormat,
    },
    rounds::Oddity,
    store::{Append, Error, NewRow, SetItem, Store},
};

use super::support::{
    all_rows, append, appended, at, call, collapse, committed, created, message, request, result,
    revision, rollback, row, seqs, session, words,
};

type AnyStore = Arc<dyn Store>;

pub(super) async fn i10_seqs_start_at_1_and_have_no_gaps(store: AnyStore) {
    let session = created(&*store, "s").await;
    let first = appended(&*store, &session, 3).await;
    assert_eq!((first.first_seq, first.last_seq, first.revision), (Seq(1), Seq(3), Revision(2)));
    let second = appended(&*store, &session, 1).await;
    assert_eq!((second.first_seq, second.last_seq, second.revision), (Seq(4), Seq(4), Revision(3)));
    assert!(!second.replayed);
    let rows = all_rows(&*store, &session).await;
    assert_eq!(seqs(&rows), [1, 2, 3, 4]);
    let now = store.get_session(&session).await.unwrap();
    assert_eq!((now.next_seq, now.revision), (Seq(5), Revision(3)));
    assert_eq!(now.tokens, rows.iter().map(|it| it.tokens.total).sum::<i64>());
}

pub(super) async fn i1_a_row_comes_back_as_it_was_written(store: AnyStore) {
    let session = created(&*store, "s").await;
    let noise: String = (0..9_000_u32).map(|n| char::from(33 + (n * n % 89) as u8)).collect();
    let hashes: Vec<u8> =
        (0..200_u32).flat_map(|n| *blake3::hash(&n.to_le_bytes()).as_bytes()).collect();
    let rows: Vec<NewRow> = vec![
        words(""),
        words("short"),
        words(&"compressible ".repeat(2_000)),
        words(&noise),
        row(message(Role::Assistant, "lane", vec![call("c1"), call("c2"), Block::text("t").kind])),
        row(message(Role::User, "lane", vec![result("c2", "ok")])),
        row(message(Role::System, "", vec![opaque(Bytes::from(hashes))])),
        row(Message::default()),
    ];
    let append = Append {
        at: Timestamp { seconds: -7, nanos: 123_456_789 },
        ..append(&session, rows.clone())
    };
    let done = store.append(append).await.unwrap();
    let stored = all_rows(&*store, &session).await;
    assert_eq!(stored.len(), rows.len());
    for ((new, placed), stored) in rows.iter().zip(&done.placements).zip(&stored) {
        assert_eq!(stored.message, new.message);
        assert_eq!((stored.digest, &stored.tokens), (new.digest, &new.tokens));
        assert_eq!(codec::digest(&codec::encode(&stored.message)), new.digest);
        assert_eq!(
            (stored.seq, stored.turn, stored.round),
            (placed.seq, placed.turn, placed.round)
        );
        assert_eq!(stored.revision, done.revision);
        assert_eq!(stored.record_time, Timestamp { seconds: -7, nanos: 123_456_000 });
    }
}

fn opaque(json: Bytes) -> BlockKind {
    BlockKind::Opaque(Opaque {
        format: WireFormat::OpenAiChat,
        json,
        call_id: String::new(),
        is_result: false,
    })
}

pub(super) async fn i1_nothing_changes_a_row(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 20).await;
    let before = all_rows(&*store, &session).await;
    committed(&*store, &session, vec![collapse("a", 1, 9)]).await.unwrap();
    committed(&*store, &session, vec![collapse("b", 1, 19)]).await.unwrap();
    store.rollback_overlay(rollback(&session, "a")).await.unwrap();
    store.rollback_overlay(rollback(&session, "b")).await.unwrap();
    store.expire(at(i64::MAX / 2_000_000)).await.unwrap();
    appended(&*store, &session, 1).await;
    let after = all_rows(&*store, &session).await;
    assert_eq!(after[..20], before);
}

pub(super) async fn l5_bytes_come_back_as_they_are(store: AnyStore) {
    let session = created(&*store, "s").await;
    let bytes = Bytes::from_static(b"\xff\xfe\0\n\x80");
    let output = BlockKind::ToolResult(ToolResult {
        output: vec![ToolOutput::Text(bytes), ToolOutput::Text(Bytes::new())],
        ..ToolResult::default()
    });
    let text = "\u{feff}a\u{2028}\u{2029}\r\n\0'\"\\ \u{10ffff}";
    let mut named = message(Role::User, text, vec![Block::text(text).kind, output]);
    named.author = text.into();
    let new = row(named);
    let append = Append { author: text.into(), ..append(&session, vec![new.clone()]) };
    store.append(append).await.unwrap();
    assert_eq!(all_rows(&*store, &session).await[0].message, new.message);
}

pub(super) async fn an_append_that_expects_another_seq_writes_nothing(store: AnyStore) {
    let session = created(&*store, "s").await;
    let expecting = |seq| Append {
        expected_next_seq: Some(Seq(seq)),
        ..append(&session, vec![words("x"), words("y")])
    };
    store.append(expecting(1)).await.unwrap();
    let before = store.get_session(&session).await.unwrap();
    let err = store.append(expecting(1)).await.unwrap_err();
    assert!(matches!(err, Error::SeqMoved { expected: Seq(1), found: Seq(3) }));
    assert_eq!(store.get_session(&session).await.unwrap(), before);
    assert_eq!(store.append(expecting(3)).await.unwrap().last_seq, Seq(4));
}

pub(super) async fn j3_only_appends_move_the_next_seq(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 5).await;
    committed(&*store, &session, vec![collapse("o", 1, 4)]).await.unwrap();
    let item = ContextItem {
        name: "i".into(),
        placement: Placement::System,
        content: Bytes::from_static(b"x"),
        format: None,
        view: None,
        tokens: 1,
    };
    let set = SetItem { session: session.clone(), item, author: String::new(), at: at(1) };
    store.set_item(set).await.unwrap();
    let expecting =
        Append { expected_next_seq: Some(Seq(6)), ..append(&session, vec![words("x")]) };
    let done = store.append(expecting).await.unwrap();
    assert_eq!((done.first_seq, done.revision), (Seq(6), Revision(5)));
}

pub(super) async fn j5_a_repeated_append_writes_once(store: AnyStore) {
    let session = created(&*store, "s").await;
    let keyed = |digest| Append {
        request: Some(request("k1", digest)),
        ..append(&session, vec![words("x"), words("y")])
    };
    let first = store.append(keyed(1)).await.unwrap();
    appended(&*store, &session, 1).await;
    let again = store.append(keyed(1)).await.unwrap();
    assert!(again.replayed && again.placements.is_empty());
    assert_eq!(
        (again.first_seq, again.last_seq, again.revision),
        (first.first_seq, first.last_seq, first.revision)
    );
    assert!(matches!(store.append(keyed(2)).await.unwrap_err(), Error::RequestIdReused));
    assert_eq!(all_rows(&*store, &session).await.len(), 3);
    assert_eq!(revision(&*store, &session).await, 3);
    assert_eq!(appended(&*store, &session, 1).await.first_seq, Seq(4));
}

pub(super) async fn j5_a_known_request_wins_over_every_other_check(store: AnyStore) {
    let session = created(&*store, "s").await;
    let keyed = |id: &str, digest| Append {
        request: Some(request(id, digest)),
        expected_next_seq: Some(Seq(1)),
        ..append(&session, vec![words("x")])
    };
    store.append(keyed("k", 1)).await.unwrap();
    assert!(store.append(keyed("k", 1)).await.unwrap().replayed);
    assert!(matches!(store.append(keyed("k", 2)).await.unwrap_err(), Error::RequestIdReused));
    let err = store.append(keyed("failed", 1)).await.unwrap_err();
    assert!(matches!(err, Error::SeqMoved { .. }));
    let retried = Append { expected_next_seq: None, ..keyed("failed", 2) };
    assert!(!store.append(retried).await.unwrap().replayed, "only successes are remembered");
}

pub(super) async fn j5_a_request_id_is_of_one_session(store: AnyStore) {
    for id in ["s", "t", "S"] {
        let session = created(&*store, id).await;
        let keyed = Append {
            request: Some(request("k", id.bytes().next().unwrap())),
            ..append(&session, vec![words(id)])
        };
        assert!(!store.append(keyed).await.unwrap().replayed);
    }
    let nowhere =
        Append { request: Some(request("k", 1)), ..append(&session("u"), vec![words("x")]) };
    assert!(matches!(store.append(nowhere).await.unwrap_err(), Error::NotFound(_)));
}

pub(super) async fn request_ids_are_remembered_for_24_hours(store: AnyStore) {
    const DAY: i64 = 24 * 60 * 60;
    let session = created(&*store, "s").await;
    let keyed = |n: usize, seconds| Append {
        request: Some(request(&format!("k{n}"), 1)),
        at: at(seconds),
        ..append(&session, vec![words("x")])
    };
    for n in 0..600 {
        store.append(keyed(n, if n < 590 { 10 } else { 20 })).await.unwrap();
    }
    store.expire(at(10 + DAY - 1)).await.unwrap();
    assert!(store.append(keyed(0, 0)).await.unwrap().replayed);
    store.expire(at(10 + DAY)).await.unwrap();
    assert!(store.append(keyed(590, 0)).await.unwrap().replayed);
    assert!(!store.append(keyed(0, 30)).await.unwrap().replayed);
    assert!(!store.append(keyed(589, 30)).await.unwrap().replayed);
}

pub(super) async fn k1_order_is_the_number_only(store: AnyStore) {
    let session = created(&*store, "s").await;
    let shapes = [
        message(Role::Assistant, "", vec![call("c1")]),
        message(Role::User, "", vec![result("c1", "one")]),
        message(Role::Assistant, "", vec![call("c2")]),
        message(Role::User, "", vec![result("c2", "two")]),
    ];
    for (message, millis) in shapes.into_iter().zip([382, 484, 441, 470]) {
        let at = Timestamp::from_micros(100_000_000 + millis * 1_000);
        let append = Append { at, ..append(&session, vec![row(message)]) };
        store.append(append).await.unwrap();
    }
    let rows = all_rows(&*store, &session).await;
    assert_eq!(seqs(&rows), [1, 2, 3, 4]);
    assert_eq!(rows.iter().map(|it| it.round.0).collect::<Vec<_>>(), [1, 1, 3, 3]);
    assert_eq!(rows[2].record_time, Timestamp::from_micros(100_441_000));
}

pub(super) async fn a9_pairing_goes_on_over_appends(store: AnyStore) {
    let session = created(&*store, "s").await;
    let one = |message| append(&session, vec![row(message)]);
    store.append(one(message(Role::User, "", vec![Block::text("go").kind]))).await.unwrap();
    store
        .append(one(message(Role::Assistant, "", vec![call("a"), call("a"), call("b")])))
        .await
        .unwrap();
    created(&*store, "between").await;
    let first = store.append(one(message(Role::User, "", vec![result("a", "1")]))).await.unwrap();
    assert_eq!(first.placements[0].answers[0].call.block, 0);
    assert_eq!(first.placements[0].settles, []);
    let second = store.append(one(message(Role::User, "", vec![result("a", "2")]))).await.unwrap();
    assert_eq!(second.placements[0].answers[0].call.block, 1);
    let news =
        store.append(one(message(Role::User, "", vec![Block::text("go on").kind]))).await.unwrap();
    assert_eq!(news.placements[0].settles, [Seq(2), Seq(5)], "newer words settle it");
    assert_eq!(news.placements[0].turn, 2);
    let late = store.append(one(message(Role::User, "", vec![result("b", "3")]))).await.unwrap();
    assert!(late.placements[0].answers[0].is_late);
    assert_eq!(late.placements[0].round, Seq(2));
    let newer = store.append(one(message(Role::User, "", vec![result("b", "4")]))).await.unwrap();
    assert_eq!(newer.placements[0].answers[0].supersedes, Some((Seq(6), 0)));
    let again = store.append(one(message(Role::Assistant, "", vec![call("a")]))).await.unwrap();
    assert_eq!(again.placements[0].calls, [(0, "a".into(), true)]);
    assert_eq!(again.placements[0].oddities, [(Oddity::DuplicateCallId, "a".into())]);
}

pub(super) async fn an_append_without_rows_changes_nothing(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 2).await;
    let before = store.get_session(&session).await.unwrap();
    let done = store.append(append(&session, Vec::new())).await.unwrap();
    assert_eq!((done.first_seq, done.last_seq, done.revision), (Seq(3), Seq(2), Revision(2)));
    assert_eq!(store.get_session(&session).await.unwrap(), before);
}
