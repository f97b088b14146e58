//! Forks over the wire: what they show, and what keeps what alive.

use concertina::proto::v1::{
    self as pb, Message, Role, WireFormat, collapse_service_client::CollapseServiceClient,
};
use tonic::{Code, Status, transport::Channel};

use super::support::{
    Sessions, TestServer, append, appending, call, create, history, is_told, is_wrong, message,
    read, result, seqs, text, user, with_session,
};
use crate::cases::support::{FORMATS, creating, prose};

fn forking(id: &str, seq: Option<i64>) -> pb::ForkSessionRequest {
    pb::ForkSessionRequest {
        session_id: "s".into(),
        new_session_id: id.into(),
        seq,
        ..Default::default()
    }
}

async fn fork(
    client: &mut Sessions,
    request: pb::ForkSessionRequest,
) -> Result<pb::Session, Status> {
    Ok(client.fork_session(request).await?.into_inner().session.unwrap())
}

async fn say(client: &mut Sessions, id: &str, lane: &str, messages: Vec<Message>) -> i64 {
    let request =
        pb::AppendTurnRequest { session_id: id.into(), lane: lane.into(), ..appending(messages) };
    client.append_turn(request).await.unwrap().into_inner().last_seq
}

/// The context in every format; `None` where there is nothing to show yet.
async fn contexts(client: &mut Sessions, id: &str) -> Option<Vec<pb::Context>> {
    let mut contexts = Vec::new();
    for format in FORMATS {
        let request = pb::GetContextRequest {
            session_id: id.into(),
            format: format.into(),
            ..Default::default()
        };
        match client.get_context(request).await {
            Ok(answer) => contexts.push(answer.into_inner().context.unwrap()),
            Err(status) => {
                is_told(Err::<(), _>(status), Code::FailedPrecondition, "SESSION_EMPTY", &[]);
                return None;
            }
        }
    }
    Some(contexts)
}

fn assistant(words: &str, calls: &[&str]) -> Message {
    let calls = calls.iter().map(|id| call(id, "{\"path\":\"a.rs\"}"));
    message(Role::Assistant, std::iter::once(text(words)).chain(calls).collect())
}

fn answer(id: &str, chars: usize) -> Message {
    message(Role::User, vec![result(id, prose(chars))])
}

/// Hides two rows by hand; what is refused is refused.
async fn snip(overlays: &mut CollapseServiceClient<Channel>, first: i64) -> Option<String> {
    let request = pb::CreateSnipRequest {
        session_id: "s".into(),
        rows: Some(pb::SeqRange { first_seq: first, last_seq: first + 1 }),
        ..Default::default()
    };
    let snip = overlays.create_snip(request).await.ok()?;
    Some(snip.into_inner().overlay.unwrap().id)
}

/// Two agents work side by side, results come late or never, and rows are
/// hidden and shown again between. Tells what was shown after each append: the
/// newest seq, and the contexts.
async fn work(
    client: &mut Sessions,
    overlays: &mut CollapseServiceClient<Channel>,
) -> Vec<(i64, Option<Vec<pb::Context>>)> {
    let mut shown = Vec::new();
    let mut hidden = None;
    for turn in 1..9_usize {
        let (a, b) = (format!("a{turn}"), format!("b{turn}"));
        let late = format!("b{}", turn - 1);
        let steps = [
            ("a", vec![user(&prose(300))]),
            ("a", vec![assistant("I look.", &[&a])]),
            ("b", vec![user("you too"), assistant("So do I.", &[&b])]),
            ("a", vec![answer(&a, 3_000 + 400 * turn)]),
            ("b", if turn % 3 == 1 { vec![answer(&late, 900)] } else { vec![user("and?")] }),
            ("a", vec![assistant(&prose(600), &[])]),
            ("b", if turn % 2 == 0 { vec![answer(&b, 1_500)] } else { vec![user("well")] }),
        ];
        for (lane, messages) in steps {
            let newest = say(client, "s", lane, messages).await;
            shown.push((newest, contexts(client, "s").await));
        }
        match hidden.take() {
            None => hidden = snip(overlays, shown.last().unwrap().0 - 5).await,
            Some(id) => {
                let request = pb::RollbackOverlayRequest {
                    session_id: "s".into(),
                    overlay_id: id,
                    ..Default::default()
                };
                // It may have been superseded meanwhile.
                let _ = overlays.rollback_overlay(request).await;
            }
        }
        // What was hidden or shown by hand belongs to what the next append found.
        let newest = shown.last().unwrap().0;
        shown.push((newest, contexts(client, "s").await));
    }
    shown
}

async fn shows_what_was_shown(preset: &str) {
    let server = TestServer::start().await;
    let (mut client, mut overlays) = (server.client().await, server.collapses().await);
    client.create_session(creating("s", preset, "", 12_000)).await.unwrap();
    let shown = work(&mut client, &mut overlays).await;
    let mut reduced = 0;
    for (at, (newest, expected)) in shown.iter().enumerate() {
        if shown.get(at + 1).is_some_and(|(next, _)| next == newest) {
            continue;
        }
        let made = fork(&mut client, forking(&format!("f{at}"), Some(*newest))).await.unwrap();
        let found = contexts(&mut client, &made.id).await;
        assert_eq!(found.is_some(), expected.is_some(), "{preset}, message {newest}");
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            assert_eq!(found.messages_json, expected.messages_json, "{preset}, message {newest}");
            assert_eq!(found.budget, expected.budget);
            assert_eq!(found.fingerprint, expected.fingerprint, "{preset}, message {newest}");
        }
        let request = pb::GetSessionRequest { session_id: made.id.clone(), ..Default::default() };
        let now = client.get_session(request).await.unwrap().into_inner().session.unwrap();
        assert_eq!(now.revision, made.revision, "nothing was left to reduce");
        let request = pb::ListOverlaysRequest { session_id: made.id, ..Default::default() };
        let listed = overlays.list_overlays(request).await.unwrap().into_inner();
        reduced = reduced.max(listed.overlays.len());
    }
    assert!(reduced > 1, "{preset} reduces");
    let whole = fork(&mut client, forking("whole", None)).await.unwrap();
    say(&mut client, "whole", "a", vec![user("mine")]).await;
    for (newest, expected) in &shown {
        let Some(expected) = expected.as_ref().map(|it| &it[0]) else { continue };
        let request = pb::GetContextRequest {
            session_id: whole.id.clone(),
            format: FORMATS[0].into(),
            at_revision: Some(expected.revision),
            ..Default::default()
        };
        let then = client.get_context(request).await.unwrap().into_inner().context.unwrap();
        assert_eq!(then.messages_json, expected.messages_json, "{preset}, then {newest}");
    }
}

#[tokio::test]
async fn i8_a_fork_shows_what_the_origin_showed() {
    for preset in ["default", "cascade"] {
        shows_what_was_shown(preset).await;
    }
}

#[tokio::test]
async fn i8_a_fork_of_a_teaching_session_shows_what_the_origin_showed() {
    for preset in ["teaching", "four-level"] {
        shows_what_was_shown(preset).await;
    }
}

#[tokio::test]
async fn an_open_round_is_not_shown_until_it_settles() {
    let (_server, mut client) = with_session().await;
    append(&mut client, vec![user("go"), assistant("I look.", &["a"])]).await;
    append(&mut client, vec![answer("a", 10)]).await;
    append(&mut client, vec![user("on")]).await;
    fork(&mut client, forking("f", Some(2))).await.unwrap();
    let open = contexts(&mut client, "f").await.unwrap();
    assert_eq!(open[0].messages_json.len(), 1, "the question alone");
    say(&mut client, "f", "", vec![message(Role::User, vec![result("a", "another answer")])]).await;
    let settled = contexts(&mut client, "f").await.unwrap();
    assert_eq!(settled[0].messages_json.len(), 3);
    assert!(String::from_utf8_lossy(&settled[0].messages_json[2]).contains("another answer"));
}

#[tokio::test]
async fn a_fork_is_a_session_like_any_other() {
    let (server, mut client) = with_session().await;
    append(&mut client, vec![user("one"), user("two"), user("three")]).await;
    let named = pb::ForkSessionRequest { display_name: "a try".into(), ..forking("f", Some(2)) };
    let made = fork(&mut client, named).await.unwrap();
    assert_eq!((made.next_seq, &*made.display_name), (3, "a try"));
    let origin = pb::ForkOrigin { session_id: "s".into(), seq: 2, revision: 1 };
    assert_eq!(made.fork_origin, Some(origin.clone()));
    assert_eq!(say(&mut client, "f", "", vec![user("mine")]).await, 3);
    let asked = pb::ReadHistoryRequest { session_id: "f".into(), ..Default::default() };
    let rows = read(&mut client, asked.clone()).await.unwrap();
    assert_eq!(seqs(&rows), [1, 2, 3]);
    let shared = history(&mut client).await;
    assert_eq!((&rows[..2], shared.len()), (&shared[..2], 3));
    let back = pb::ReadHistoryRequest { newest_first: true, limit: 2, ..asked.clone() };
    assert_eq!(seqs(&read(&mut client, back).await.unwrap()), [3, 2]);

    let server = server.restart().await;
    let mut client = server.client().await;
    assert_eq!(read(&mut client, asked).await.unwrap(), rows);
    let request = pb::GetSessionRequest { session_id: "f".into(), ..Default::default() };
    let now = client.get_session(request).await.unwrap().into_inner().session.unwrap();
    assert_eq!((now.fork_origin, now.next_seq), (Some(origin), 4));
    let content = pb::ReadContentRequest {
        session_id: "f".into(),
        content: Some(pb::ContentRef { seq: 1, ..Default::default() }),
        ..Default::default()
    };
    let mut chunks = client.read_content(content).await.unwrap().into_inner();
    assert_eq!(&chunks.message().await.unwrap().unwrap().chunk[..], b"one");
}

#[tokio::test]
async fn j5_a_repeated_fork_is_the_same() {
    let (_server, mut client) = with_session().await;
    append(&mut client, vec![user("x")]).await;
    let request = |seq| pb::ForkSessionRequest { request_id: "k".into(), ..forking("", seq) };
    let first = fork(&mut client, request(None)).await.unwrap();
    assert_eq!(first.id.len(), 36, "the server makes an id");
    append(&mut client, vec![user("y")]).await;
    assert_eq!(fork(&mut client, request(None)).await.unwrap(), first);
    let other = fork(&mut client, request(Some(1))).await;
    is_told(other, Code::AlreadyExists, "IDEMPOTENCY_KEY_REUSED", &[]);
    let taken = fork(&mut client, forking("s", None)).await;
    is_told(taken, Code::AlreadyExists, "SESSION_EXISTS", &[("session_id", "s")]);
}

#[tokio::test]
async fn what_cannot_be_forked_is_told() {
    let (_server, mut client) = with_session().await;
    append(&mut client, vec![user("x"), user("y")]).await;
    let beyond = fork(&mut client, forking("f", Some(3))).await;
    let metadata = [("first_seq", "3"), ("last_seq", "3"), ("newest_seq", "2")];
    is_told(beyond, Code::NotFound, "RANGE_NOT_FOUND", &metadata);
    for seq in [0, -1] {
        is_wrong(fork(&mut client, forking("f", Some(seq))).await, &["seq"]);
    }
    let ids = pb::ForkSessionRequest { session_id: "a/b".into(), ..forking("é", None) };
    is_wrong(fork(&mut client, ids).await, &["session_id", "new_session_id"]);
    let name = pb::ForkSessionRequest { display_name: "x".repeat(1025), ..forking("f", None) };
    is_wrong(fork(&mut client, name).await, &["display_name"]);
    let nowhere = pb::ForkSessionRequest { session_id: "none".into(), ..forking("f", None) };
    let nowhere = fork(&mut client, nowhere).await;
    is_told(nowhere, Code::NotFound, "SESSION_NOT_FOUND", &[("session_id", "none")]);
}

#[tokio::test]
async fn a_session_with_forks_is_listed_and_kept() {
    let (_server, mut client) = with_session().await;
    append(&mut client, vec![user("x")]).await;
    create(&mut client, "alone").await;
    for id in ["f", "g"] {
        fork(&mut client, forking(id, None)).await.unwrap();
    }
    let list = pb::ListSessionsRequest {
        fork_origin_session_id: "s".into(),
        page_size: 1,
        ..Default::default()
    };
    let first = client.list_sessions(list.clone()).await.unwrap().into_inner();
    let rest = pb::ListSessionsRequest { page_token: first.next_page_token.clone(), ..list };
    let second = client.list_sessions(rest).await.unwrap().into_inner();
    let ids = first.sessions.iter().chain(&second.sessions).map(|it| &*it.id);
    assert_eq!(ids.collect::<Vec<_>>(), ["g", "f"]);
    assert_eq!(second.next_page_token, "");

    let delete = |id: &str| pb::DeleteSessionRequest { session_id: id.into() };
    let kept = client.delete_session(delete("s")).await;
    is_told(kept, Code::FailedPrecondition, "SESSION_HAS_FORKS", &[("fork_ids", "f,g")]);
    for id in ["f", "g"] {
        client.delete_session(delete(id)).await.unwrap();
    }
    assert_eq!(history(&mut client).await.len(), 1);
    client.delete_session(delete("s")).await.unwrap();
}

#[tokio::test]
async fn a_new_session_of_a_deleted_forks_name_shows_nothing_of_it() {
    let (_server, mut client) = with_session().await;
    append(&mut client, vec![user("shared")]).await;
    fork(&mut client, forking("f", None)).await.unwrap();
    assert!(contexts(&mut client, "f").await.is_some());
    client.delete_session(pb::DeleteSessionRequest { session_id: "f".into() }).await.unwrap();
    create(&mut client, "f").await;
    assert!(contexts(&mut client, "f").await.is_none());
    let format = WireFormat::AnthropicMessages.into();
    let request = pb::GetContextRequest { session_id: "s".into(), format, ..Default::default() };
    let context = client.get_context(request).await.unwrap().into_inner().context.unwrap();
    assert!(String::from_utf8_lossy(&context.messages_json[0]).contains("shared"));
}
