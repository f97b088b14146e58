//! Contexts and overlays over the wire: codes, sizes, pieces.

use concertina::proto::v1::{self as pb, Role, WireFormat, stream_context_response::Part};
use tonic::Code;

use super::support::{
    Sessions, TestServer, append, call, is_told, is_wrong, message, result, text, told, user,
    with_session,
};

const MIB: usize = 1024 * 1024;

fn asking(format: WireFormat) -> pb::GetContextRequest {
    pb::GetContextRequest { session_id: "s".into(), format: format.into(), ..Default::default() }
}

async fn get(
    client: &mut Sessions,
    request: pb::GetContextRequest,
) -> Result<pb::Context, tonic::Status> {
    Ok(client.get_context(request).await?.into_inner().context.unwrap())
}

/// Head and messages, joined from their pieces.
async fn stream(
    client: &mut Sessions,
    request: pb::GetContextRequest,
) -> (pb::Context, Vec<Vec<u8>>) {
    let request = pb::StreamContextRequest { request: Some(request) };
    let mut parts = client.stream_context(request).await.unwrap().into_inner();
    let Some(Part::Head(head)) = parts.message().await.unwrap().unwrap().part else {
        panic!("no head")
    };
    let (mut messages, mut begun) = (Vec::new(), Vec::new());
    while let Some(answer) = parts.message().await.unwrap() {
        let Some(Part::Piece(piece)) = answer.part else { panic!("no piece") };
        assert!(piece.json.len() <= MIB);
        begun.extend_from_slice(&piece.json);
        if !piece.more {
            messages.push(std::mem::take(&mut begun));
        }
    }
    (head, messages)
}

/// A session whose context is as large as its history.
async fn roomy(client: &mut Sessions) {
    let model = pb::Model {
        context_window: 500_000_000,
        request_bytes_limit: 500_000_000,
        ..Default::default()
    };
    let policy = pb::Policy { preset: "off".into(), ..Default::default() };
    let request = pb::CreateSessionRequest {
        session_id: "s".into(),
        model: Some(model),
        policy: Some(policy),
        ..Default::default()
    };
    client.create_session(request).await.unwrap();
}

#[tokio::test]
async fn a_context_comes_in_every_format() {
    let (_server, mut client) = with_session().await;
    append(&mut client, vec![user("go")]).await;
    for format in
        [WireFormat::AnthropicMessages, WireFormat::OpenaiChat, WireFormat::OpenaiResponses]
    {
        let context = get(&mut client, asking(format)).await.unwrap();
        assert_eq!((context.messages_json.len(), context.messages.len()), (1, 0));
        assert_ne!(context.fingerprint, "");
        assert!(context.budget.unwrap().available > 0);
    }
    let typed = get(&mut client, asking(WireFormat::Typed)).await.unwrap();
    assert_eq!((typed.messages_json.len(), typed.messages), (0, vec![user("go")]));
}

#[tokio::test]
async fn a_context_wants_a_format_and_a_message() {
    let (_server, mut client) = with_session().await;
    let empty = get(&mut client, asking(WireFormat::OpenaiChat)).await;
    is_told(empty, Code::FailedPrecondition, "SESSION_EMPTY", &[]);
    append(&mut client, vec![user("go")]).await;
    is_wrong(get(&mut client, asking(WireFormat::Unspecified)).await, &["format"]);
    let negative =
        pb::GetContextRequest { max_response_bytes: -1, ..asking(WireFormat::OpenaiChat) };
    is_wrong(get(&mut client, negative).await, &["max_response_bytes"]);
    let view = pb::GetContextRequest { view: "wide".into(), ..asking(WireFormat::OpenaiChat) };
    is_told(get(&mut client, view).await, Code::NotFound, "VIEW_NOT_FOUND", &[("view", "wide")]);
}

#[tokio::test]
async fn a_context_that_cannot_fit_comes_with_its_numbers() {
    let (_server, mut client) = with_session().await;
    append(&mut client, vec![user("go")]).await;
    let model = pb::Model { context_window: 1000, caller_fixed_tokens: 5000, ..Default::default() };
    let request = pb::GetContextRequest { model: Some(model), ..asking(WireFormat::OpenaiChat) };
    let told = told(get(&mut client, request).await);
    assert_eq!((told.code, &*told.reason), (Code::FailedPrecondition, "CONTEXT_IRREDUCIBLE"));
    let keys: Vec<_> = told.metadata.keys().map(String::as_str).collect();
    let expected =
        ["fixed", "largest_seq", "largest_tokens", "messages", "output_reserve", "over", "window"];
    assert_eq!(keys, expected);
    assert_eq!(told.metadata["window"], "1000");
}

#[tokio::test]
async fn r1_a_context_above_the_limit_is_refused_and_streamed() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    roomy(&mut client).await;
    let large = "x y ".repeat(5 * MIB / 4);
    for _ in 0..6 {
        append(&mut client, vec![user(&large), message(Role::Assistant, vec![text("ok")])]).await;
    }
    append(&mut client, vec![user("go")]).await;
    let chat = asking(WireFormat::OpenaiChat);
    let refused = told(get(&mut client, chat.clone()).await);
    assert_eq!((refused.code, &*refused.reason), (Code::ResourceExhausted, "RESPONSE_TOO_LARGE"));
    assert_eq!(refused.metadata["limit"], (4 * MIB - 64 * 1024).to_string());
    assert!(refused.metadata["size"].parse::<usize>().unwrap() > 30 * MIB);
    let (head, messages) = stream(&mut client, chat.clone()).await;
    assert_eq!((messages.len(), head.origins.len(), head.messages_json.len()), (13, 13, 0));
    let mut roomy = client.clone().max_decoding_message_size(64 * MIB);
    let whole = pb::GetContextRequest { max_response_bytes: 64 << 20, ..chat };
    let whole = get(&mut roomy, whole).await.unwrap();
    assert!(whole.messages_json == messages, "the pieces are not the whole");
    assert_eq!(whole.fingerprint, head.fingerprint);
    assert_eq!(append(&mut client, vec![user("small")]).await.first_seq, 14);
}

#[tokio::test]
async fn i6_a_context_is_the_same_after_a_restart() {
    let (server, mut client) = with_session().await;
    let messages = vec![
        user("go"),
        message(Role::Assistant, vec![call("c", r#"{"b":1,"a":2}"#)]),
        message(Role::User, vec![result("c", "done")]),
    ];
    append(&mut client, messages).await;
    let chat = asking(WireFormat::OpenaiChat);
    let before = get(&mut client, chat.clone()).await.unwrap();
    let server = server.restart().await;
    let after = get(&mut server.client().await, chat).await.unwrap();
    assert_eq!(after.messages_json, before.messages_json);
    assert_eq!(after.fingerprint, before.fingerprint);
}

#[tokio::test]
async fn a_snip_is_made_listed_and_taken_back() {
    let (server, mut client) = with_session().await;
    let mut overlays = server.collapses().await;
    for words in ["one", "two", "three"] {
        append(&mut client, vec![user(words), message(Role::Assistant, vec![text("ok")])]).await;
    }
    let chat = asking(WireFormat::OpenaiChat);
    let before = get(&mut client, chat.clone()).await.unwrap().messages_json;
    let snip = |first, last| pb::CreateSnipRequest {
        session_id: "s".into(),
        rows: Some(pb::SeqRange { first_seq: first, last_seq: last }),
        author: "ann".into(),
        ..Default::default()
    };
    let made = overlays.create_snip(snip(1, 2)).await.unwrap().into_inner().overlay.unwrap();
    let second = overlays.create_snip(snip(3, 4)).await.unwrap().into_inner().overlay.unwrap();
    assert_eq!((made.session_id.as_str(), made.author.as_str()), ("s", "ann"));
    let shown = get(&mut client, chat.clone()).await.unwrap();
    assert_eq!(shown.messages_json, before[4..]);
    let again = overlays.create_snip(snip(1, 2)).await;
    is_told(again, Code::FailedPrecondition, "NOTHING_TO_COLLAPSE", &[]);
    is_wrong(overlays.create_snip(snip(2, 1)).await, &["rows"]);

    let list = |token: String, all| pb::ListOverlaysRequest {
        session_id: "s".into(),
        page_size: 1,
        page_token: token,
        include_rolled_back: all,
        ..Default::default()
    };
    let first = overlays.list_overlays(list(String::new(), false)).await.unwrap().into_inner();
    assert_eq!(first.overlays[0].id, made.id);
    let token = first.next_page_token;
    let next = overlays.list_overlays(list(token.clone(), false)).await.unwrap().into_inner();
    assert_eq!((&next.overlays[0].id, &*next.next_page_token), (&second.id, ""));
    let other = overlays.list_overlays(list(token, true)).await;
    is_told(other, Code::InvalidArgument, "INVALID_PAGE_TOKEN", &[]);

    let back = |id: &str| pb::RollbackOverlayRequest {
        session_id: "s".into(),
        overlay_id: id.into(),
        ..Default::default()
    };
    let ended = overlays.rollback_overlay(back(&made.id)).await.unwrap().into_inner();
    overlays.rollback_overlay(back(&second.id)).await.unwrap();
    assert_eq!(get(&mut client, chat).await.unwrap().messages_json, before, "byte for byte");
    let twice = overlays.rollback_overlay(back(&made.id)).await;
    let revision = ended.overlay.unwrap().rollback_revision.to_string();
    let metadata = [("rollback_revision", revision.as_str())];
    is_told(twice, Code::FailedPrecondition, "ALREADY_ROLLED_BACK", &metadata);
    let nobody = overlays.rollback_overlay(back("nobody")).await;
    is_told(nobody, Code::NotFound, "OVERLAY_NOT_FOUND", &[("overlay_id", "nobody")]);
    let request = pb::GetOverlayRequest { session_id: "s".into(), overlay_id: made.id.clone() };
    let got = overlays.get_overlay(request).await.unwrap().into_inner().overlay.unwrap();
    assert_ne!(got.rollback_revision, 0);
}

#[tokio::test]
async fn rows_under_an_overlay_are_read_by_its_id() {
    let (server, mut client) = with_session().await;
    for words in ["one", "two", "three"] {
        append(&mut client, vec![user(words), message(Role::Assistant, vec![text("ok")])]).await;
    }
    let request = pb::CreateSnipRequest {
        session_id: "s".into(),
        rows: Some(pb::SeqRange { first_seq: 1, last_seq: 4 }),
        ..Default::default()
    };
    let mut overlays = server.collapses().await;
    let made = overlays.create_snip(request).await.unwrap().into_inner().overlay.unwrap();
    let request = |newest_first| pb::ReadHistoryRequest {
        session_id: "s".into(),
        overlay_id: made.id.clone(),
        newest_first,
        ..Default::default()
    };
    let rows = super::support::read(&mut client, request(false)).await.unwrap();
    assert_eq!(super::support::seqs(&rows), [1, 2, 3, 4]);
    let rows = super::support::read(&mut client, request(true)).await.unwrap();
    assert_eq!(super::support::seqs(&rows), [4, 3, 2, 1]);
}
