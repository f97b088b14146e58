//! Pins over the wire: set, listed, taken away, refused.

use concertina::proto::v1::{
    self as pb, Role, WireFormat, collapse_service_client::CollapseServiceClient,
};
use tonic::{Code, transport::Channel};

use super::support::{
    Sessions, TestServer, append, is_told, is_wrong, message, text, told, user, with_session,
};

type Collapses = CollapseServiceClient<Channel>;

/// A session of 12 turns that fill a window of 4,000 under `cascade`.
async fn full() -> (TestServer, Sessions, Collapses) {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let policy = pb::Policy { preset: "cascade".into(), ..Default::default() };
    let model = pb::Model { context_window: 4000, ..Default::default() };
    let request = pb::CreateSessionRequest {
        session_id: "s".into(),
        policy: Some(policy),
        model: Some(model),
        ..Default::default()
    };
    client.create_session(request).await.unwrap();
    for _ in 0..12 {
        let words = "one two three four five ".repeat(30);
        append(&mut client, vec![user(&words), message(Role::Assistant, vec![text(&words)])]).await;
    }
    let collapses = server.collapses().await;
    (server, client, collapses)
}

fn pinning(first_seq: i64, last_seq: i64) -> pb::PinMessagesRequest {
    pb::PinMessagesRequest {
        session_id: "s".into(),
        rows: Some(pb::SeqRange { first_seq, last_seq }),
        reason: "the task".into(),
        author: "ann".into(),
        ..Default::default()
    }
}

fn unpinning(pin_id: &str) -> pb::UnpinMessagesRequest {
    pb::UnpinMessagesRequest { session_id: "s".into(), pin_id: pin_id.into() }
}

async fn pins(collapses: &mut Collapses) -> Vec<pb::Pin> {
    let request = pb::ListPinsRequest { session_id: "s".into(), view: String::new() };
    collapses.list_pins(request).await.unwrap().into_inner().pins
}

async fn context(client: &mut Sessions) -> pb::Context {
    let request = pb::GetContextRequest {
        session_id: "s".into(),
        format: WireFormat::OpenaiChat.into(),
        ..Default::default()
    };
    client.get_context(request).await.unwrap().into_inner().context.unwrap()
}

fn shows(context: &pb::Context, seq: i64) -> bool {
    let rows = context.origins.iter().flat_map(|it| &it.rows);
    rows.into_iter().any(|it| (it.first_seq..=it.last_seq).contains(&seq))
}

async fn revision(client: &mut Sessions) -> i64 {
    let request = pb::GetSessionRequest { session_id: "s".into(), ..Default::default() };
    client.get_session(request).await.unwrap().into_inner().session.unwrap().revision
}

#[tokio::test]
async fn pinned_rows_stay_and_a_pin_outlives_a_restart() {
    let (server, mut client, mut collapses) = full().await;
    let newest = revision(&mut client).await;
    let set = collapses.pin_messages(pinning(1, 1)).await.unwrap().into_inner();
    let pin = set.pin.unwrap();
    assert_eq!(set.revision, newest + 1);
    assert_eq!(pin.rows, Some(pb::SeqRange { first_seq: 1, last_seq: 1 }));
    assert_eq!((&*pin.view, &*pin.reason, &*pin.author), ("main", "the task", "ann"));
    assert!(pin.create_time.is_some());
    assert_eq!(pins(&mut collapses).await, std::slice::from_ref(&pin));

    let server = server.restart().await;
    let (mut client, mut collapses) = (server.client().await, server.collapses().await);
    assert_eq!(pins(&mut collapses).await, std::slice::from_ref(&pin));
    let shown = context(&mut client).await;
    assert!(shows(&shown, 1) && !shows(&shown, 2) && !shown.overlays.is_empty());

    let newest = revision(&mut client).await;
    let taken = collapses.unpin_messages(unpinning(&pin.id)).await.unwrap().into_inner();
    assert_eq!(taken.revision, newest + 1);
    assert_eq!(pins(&mut collapses).await, []);
    let again = collapses.unpin_messages(unpinning(&pin.id)).await;
    is_told(again, Code::NotFound, "PIN_NOT_FOUND", &[("pin_id", &pin.id)]);
}

#[tokio::test]
async fn a_rollback_may_pin_what_comes_back() {
    let (_server, mut client, mut collapses) = full().await;
    let reduced = context(&mut client).await;
    assert!(!shows(&reduced, 1));
    let overlay = &reduced.overlays[0];
    let request = pb::RollbackOverlayRequest {
        session_id: "s".into(),
        overlay_id: overlay.id.clone(),
        reason: "look again".into(),
        author: "bob".into(),
        pin: true,
        ..Default::default()
    };
    let ended = collapses.rollback_overlay(request).await.unwrap().into_inner();
    let pin = ended.pin.unwrap();
    let rows = pin.rows.unwrap();
    assert_eq!((rows.first_seq, rows.last_seq), (1, overlay.covered.last().unwrap().last_seq));
    assert_eq!((&*pin.reason, &*pin.author), ("look again", "bob"));
    assert_eq!(ended.revision, ended.overlay.unwrap().rollback_revision + 1);
    assert_eq!(pins(&mut collapses).await, [pin]);
    assert!(shows(&context(&mut client).await, 1));
}

#[tokio::test]
async fn j5_a_repeated_pin_is_the_same_pin() {
    let (server, _, mut collapses) = full().await;
    let asked = pb::PinMessagesRequest { request_id: "k".into(), ..pinning(1, 2) };
    let first = collapses.pin_messages(asked.clone()).await.unwrap().into_inner();
    let server = server.restart().await;
    let mut collapses = server.collapses().await;
    let again = collapses.pin_messages(asked.clone()).await.unwrap().into_inner();
    assert_eq!(again, first);
    let other = pb::PinMessagesRequest { reason: "another".into(), ..asked };
    let other = collapses.pin_messages(other).await;
    is_told(other, Code::AlreadyExists, "IDEMPOTENCY_KEY_REUSED", &[]);
    assert_eq!(pins(&mut collapses).await.len(), 1);
}

#[tokio::test]
async fn what_cannot_be_pinned_is_refused_and_nothing_changes() {
    let (_server, mut client, mut collapses) = full().await;
    let before = revision(&mut client).await;
    let collapses = &mut collapses;
    let none = pb::PinMessagesRequest { rows: None, ..pinning(1, 1) };
    is_wrong(collapses.pin_messages(none).await, &["rows"]);
    for (first, last) in [(0, 1), (2, 1), (-5, -1), (i64::MIN, i64::MAX)] {
        is_wrong(collapses.pin_messages(pinning(first, last)).await, &["rows"]);
    }
    for (first, last) in [(24, 25), (30, 40), (1, i64::MAX)] {
        let (first_seq, last_seq) = (first.to_string(), last.to_string());
        let metadata = [("first_seq", &*first_seq), ("last_seq", &*last_seq), ("newest_seq", "24")];
        let answer = collapses.pin_messages(pinning(first, last)).await;
        is_told(answer, Code::NotFound, "RANGE_NOT_FOUND", &metadata);
    }
    let large = told(collapses.pin_messages(pinning(1, 24)).await);
    assert_eq!((large.code, &*large.reason), (Code::FailedPrecondition, "PIN_TOO_LARGE"));
    assert_eq!(large.metadata["max_tokens"], "1500");
    assert!(large.metadata["tokens"].parse::<i64>().unwrap() > 3000, "{large:?}");
    assert_eq!(large.metadata.len(), 2);
    let gone = [("view", "none")];
    let view = pb::PinMessagesRequest { view: "none".into(), ..pinning(1, 1) };
    is_told(collapses.pin_messages(view).await, Code::NotFound, "VIEW_NOT_FOUND", &gone);
    let listed = pb::ListPinsRequest { session_id: "s".into(), view: "none".into() };
    is_told(collapses.list_pins(listed).await, Code::NotFound, "VIEW_NOT_FOUND", &gone);
    let base = || pinning(1, 1);
    for (request, field) in [
        (pb::PinMessagesRequest { session_id: "a/b".into(), ..base() }, "session_id"),
        (pb::PinMessagesRequest { view: "a/b".into(), ..base() }, "view"),
        (pb::PinMessagesRequest { author: "x".repeat(257), ..base() }, "author"),
        (pb::PinMessagesRequest { reason: "x".repeat(4097), ..base() }, "reason"),
        (pb::PinMessagesRequest { request_id: "a b".into(), ..base() }, "request_id"),
    ] {
        is_wrong(collapses.pin_messages(request).await, &[field]);
    }
    let long = "x".repeat(257);
    for id in ["", &long] {
        is_wrong(collapses.unpin_messages(unpinning(id)).await, &["pin_id"]);
    }
    let nobody = collapses.unpin_messages(unpinning("nobody")).await;
    is_told(nobody, Code::NotFound, "PIN_NOT_FOUND", &[("pin_id", "nobody")]);
    let all = context(&mut client).await.overlays.remove(0);
    let newest = revision(&mut client).await;
    assert!(newest > before, "the context made an overlay");
    assert_eq!(pins(collapses).await, []);
    let nobody = pb::RollbackOverlayRequest {
        session_id: "s".into(),
        overlay_id: "nobody".into(),
        pin: true,
        ..Default::default()
    };
    let metadata = [("overlay_id", "nobody")];
    let answer = collapses.rollback_overlay(nobody).await;
    is_told(answer, Code::NotFound, "OVERLAY_NOT_FOUND", &metadata);
    assert_eq!(revision(&mut client).await, newest);
    assert_eq!(all.rollback_revision, 0);
}

#[tokio::test]
async fn a_rollback_whose_rows_are_too_many_to_pin_is_refused_whole() {
    let (_server, mut client, mut collapses) = full().await;
    collapses.pin_messages(pinning(19, 24)).await.unwrap();
    let before = context(&mut client).await;
    let request = pb::RollbackOverlayRequest {
        session_id: "s".into(),
        overlay_id: before.overlays[0].id.clone(),
        pin: true,
        ..Default::default()
    };
    let told = told(collapses.rollback_overlay(request).await);
    assert_eq!((told.code, &*told.reason), (Code::FailedPrecondition, "PIN_TOO_LARGE"));
    assert_eq!(told.metadata["max_tokens"], "1500");
    let after = context(&mut client).await;
    assert_eq!((after.messages_json, after.revision), (before.messages_json, before.revision));
    assert_eq!(pins(&mut collapses).await.len(), 1);
}

#[tokio::test]
async fn pins_of_an_unknown_session_are_not_found() {
    let (server, _client) = with_session().await;
    let mut collapses = server.collapses().await;
    let gone = [("session_id", "t")];
    let pin = pb::PinMessagesRequest { session_id: "t".into(), ..pinning(1, 1) };
    is_told(collapses.pin_messages(pin.clone()).await, Code::NotFound, "SESSION_NOT_FOUND", &gone);
    let retried = pb::PinMessagesRequest { request_id: "k".into(), ..pin };
    is_told(collapses.pin_messages(retried).await, Code::NotFound, "SESSION_NOT_FOUND", &gone);
    let unpin = pb::UnpinMessagesRequest { session_id: "t".into(), ..unpinning("p") };
    is_told(collapses.unpin_messages(unpin).await, Code::NotFound, "SESSION_NOT_FOUND", &gone);
    let list = pb::ListPinsRequest { session_id: "t".into(), ..Default::default() };
    is_told(collapses.list_pins(list).await, Code::NotFound, "SESSION_NOT_FOUND", &gone);
}
