//! What a client may not send: each is refused with its field, and nothing is
//! written.

use concertina::proto::v1::{
    self as pb, Message, Role, WireFormat, block::Kind, count_tokens_request::Content, tool_output,
};
use tonic::{Code, Status};

use super::support::{
    Sessions, TestServer, append, appending, call, history, is_told, is_wrong, message, read, seqs,
    told, user, with_session,
};

async fn refused(client: &mut Sessions, messages: Vec<Message>, fields: &[&str]) {
    is_wrong(client.append_turn(appending(messages)).await, fields);
}

#[tokio::test]
async fn messages_that_the_model_cannot_say_are_refused() {
    let (_server, mut client) = with_session().await;
    let client = &mut client;
    refused(client, vec![], &["messages"]).await;
    refused(client, vec![Message { role: 0, ..user("x") }], &["messages[0].role"]).await;
    refused(client, vec![Message { role: 77, ..user("x") }], &["messages[0].role"]).await;
    let mut bare = user("x");
    bare.blocks.push(pb::Block::default());
    refused(client, vec![user("y"), bare], &["messages[1].blocks[1].kind"]).await;
    let output = vec![pb::ToolOutput::default()];
    let empty = Kind::ToolResult(pb::ToolResult { output, ..Default::default() });
    let path = "messages[0].blocks[0].tool_result.output[0].kind";
    refused(client, vec![message(Role::User, vec![empty])], &[path]).await;
    let image = Kind::Image(pb::Image { media_type: "image/png".into(), source: None });
    let path = "messages[0].blocks[0].image.source";
    refused(client, vec![message(Role::User, vec![image])], &[path]).await;
    assert_eq!(seqs(&history(client).await), [0; 0]);
}

#[tokio::test]
async fn blocks_that_stand_in_the_wrong_message_are_refused() {
    let (_server, mut client) = with_session().await;
    let client = &mut client;
    let thinking = || Kind::Thinking(pb::Thinking::default());
    let result = || Kind::ToolResult(pb::ToolResult::default());
    for (role, kind, name) in [
        (Role::User, call("c", "{}"), "tool_use"),
        (Role::System, call("c", "{}"), "tool_use"),
        (Role::Assistant, result(), "tool_result"),
        (Role::System, result(), "tool_result"),
        (Role::User, thinking(), "thinking"),
    ] {
        let path = format!("messages[0].blocks[0].{name}");
        refused(client, vec![message(role, vec![kind])], &[&path]).await;
    }
}

#[tokio::test]
async fn fields_of_a_message_are_bounded() {
    let (_server, mut client) = with_session().await;
    let client = &mut client;
    let long = "x".repeat(257);
    let author = Message { author: long.clone(), ..user("x") };
    refused(client, vec![author], &["messages[0].author"]).await;
    let lane = Message { lane: long, ..user("x") };
    refused(client, vec![lane], &["messages[0].lane"]).await;
    let extra = Message { extra_json: "[1]".into(), ..user("x") };
    refused(client, vec![extra], &["messages[0].extra_json"]).await;
    let opaque = pb::Opaque {
        format: WireFormat::OpenaiChat.into(),
        json: "{".into(),
        ..Default::default()
    };
    let opaque = message(Role::User, vec![Kind::Opaque(opaque)]);
    refused(client, vec![opaque], &["messages[0].blocks[0].opaque.json"]).await;
    let usage = pb::Usage { input_tokens: -1, ..Default::default() };
    let usage = Message { usage: Some(usage), ..user("x") };
    refused(client, vec![usage], &["messages[0].usage"]).await;
}

#[tokio::test]
async fn fields_of_an_append_are_bounded() {
    let (_server, mut client) = with_session().await;
    let base = || appending(vec![user("x")]);
    let payload = pb::ProviderPayload { format: 0, json: "{}".into() };
    let cases = [
        (pb::AppendTurnRequest { session_id: "a/b".into(), ..base() }, "session_id"),
        (pb::AppendTurnRequest { request_id: "a b".into(), ..base() }, "request_id"),
        (pb::AppendTurnRequest { request_id: "x".repeat(129), ..base() }, "request_id"),
        (pb::AppendTurnRequest { author: "x".repeat(257), ..base() }, "author"),
        (pb::AppendTurnRequest { view: "no view".into(), ..base() }, "view"),
        (pb::AppendTurnRequest { expected_next_seq: Some(0), ..base() }, "expected_next_seq"),
        (pb::AppendTurnRequest { payload: Some(payload.clone()), ..base() }, "payload"),
        (
            pb::AppendTurnRequest { payload: Some(payload), ..appending(Vec::new()) },
            "payload.format",
        ),
    ];
    for (request, field) in cases {
        is_wrong(client.append_turn(request).await, &[field]);
    }
    assert_eq!(seqs(&history(&mut client).await), [0; 0]);
}

#[tokio::test]
async fn an_unknown_session_is_not_found_whatever_is_asked() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let id = || "nobody".to_owned();
    let told = |answer: Result<(), Status>| {
        is_told(answer, Code::NotFound, "SESSION_NOT_FOUND", &[("session_id", "nobody")]);
    };
    let request = pb::GetSessionRequest { session_id: id(), ..Default::default() };
    told(client.get_session(request).await.map(drop));
    let request = pb::AppendTurnRequest { session_id: id(), ..appending(vec![user("x")]) };
    told(client.append_turn(request).await.map(drop));
    told(client.delete_session(pb::DeleteSessionRequest { session_id: id() }).await.map(drop));
    let session = pb::Session { id: id(), display_name: "x".into(), ..Default::default() };
    let request = pb::UpdateSessionRequest { session: Some(session), update_mask: None };
    told(client.update_session(request).await.map(drop));
    let request = pb::ListContextItemsRequest { session_id: id(), at_revision: None };
    told(client.list_context_items(request).await.map(drop));
    let request = pb::ReadHistoryRequest { session_id: id(), ..Default::default() };
    told(read(&mut client, request).await.map(drop));
    let content = Some(pb::ContentRef { seq: 1, block: 0, output: None });
    let request = pb::ReadContentRequest { session_id: id(), content, ..Default::default() };
    told(client.read_content(request).await.map(drop));
}

#[tokio::test]
async fn a_policy_with_an_unknown_key_is_refused_with_the_keys_name() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let create = |preset: &str, overrides: &str| pb::CreateSessionRequest {
        session_id: "s".into(),
        policy: Some(pb::Policy {
            preset: preset.into(),
            overrides_json: overrides.to_owned().into(),
            ..Default::default()
        }),
        ..Default::default()
    };
    for (preset, overrides, key) in [
        ("default", r#"{"fit":{"colour":1}}"#, "fit.colour"),
        ("default", r#"{"fit":{"until_ratio":"x"}}"#, "fit.until_ratio"),
        ("nobody", "", "preset"),
        ("default", "not json", "overrides_json"),
    ] {
        let told = told(client.create_session(create(preset, overrides)).await);
        assert_eq!((told.code, &*told.reason), (Code::InvalidArgument, "INVALID_POLICY"));
        assert_eq!(told.metadata["key"], key);
        assert_eq!(told.metadata.len(), 3, "{told:?}");
    }
    let listed = client.list_sessions(pb::ListSessionsRequest::default()).await.unwrap();
    assert_eq!(listed.into_inner().sessions, [], "nothing was written");
}

#[tokio::test]
async fn a_model_is_known_or_brings_its_window() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let create = |model| pb::CreateSessionRequest { model: Some(model), ..Default::default() };
    let named = pb::Model { name: "nobody-9".into(), ..Default::default() };
    let unknown = client.create_session(create(named.clone())).await;
    is_told(unknown, Code::InvalidArgument, "UNKNOWN_MODEL", &[("model", "nobody-9")]);
    let sized = pb::Model { context_window: 5000, ..named };
    let created = client.create_session(create(sized.clone())).await.unwrap().into_inner();
    let model = created.session.unwrap().views[0].model.clone().unwrap();
    assert_eq!((model.context_window, model.request_bytes_limit), (5000, 20 * 1024 * 1024));
    assert_eq!(created.warnings, [""; 0]);
    for reserve in [5000, 9000] {
        let reserved = pb::Model { output_reserve: Some(reserve), ..sized.clone() };
        is_wrong(client.create_session(create(reserved)).await, &["model.output_reserve"]);
    }
    let negative = pb::Model { context_window: -1, ..Default::default() };
    is_wrong(client.create_session(create(negative)).await, &["model.context_window"]);
    let windowless = pb::Model { caller_fixed_tokens: 5, ..Default::default() };
    is_wrong(client.create_session(create(windowless)).await, &["model"]);
}

#[tokio::test]
async fn a_content_that_is_not_there_is_not_found() {
    let (_server, mut client) = with_session().await;
    append(&mut client, vec![user("x")]).await;
    for (seq, block, output) in [(2, 0, None), (1, 1, None), (1, 0, Some(0))] {
        let request = pb::ReadContentRequest {
            session_id: "s".into(),
            content: Some(pb::ContentRef { seq, block, output }),
            ..Default::default()
        };
        let told = told(client.read_content(request).await);
        assert_eq!((told.code, &*told.reason), (Code::NotFound, "CONTENT_NOT_FOUND"));
        assert_eq!(told.metadata["seq"], seq.to_string());
        assert_eq!(told.metadata["block"], block.to_string());
    }
    let request = pb::ReadContentRequest { session_id: "s".into(), ..Default::default() };
    is_wrong(client.read_content(request).await, &["content"]);
}

#[tokio::test]
async fn counting_wants_something_to_count() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    is_wrong(client.count_tokens(pb::CountTokensRequest::default()).await, &["content"]);
    let text = Some(Content::Text("hello world".into()));
    let request = pb::CountTokensRequest { content: text, model: None };
    let counted = client.count_tokens(request).await.unwrap().into_inner();
    assert_eq!((counted.tokens, &*counted.tokenizer), (2, "o200k_base"));
}

#[tokio::test]
async fn l5_text_that_is_no_unicode_is_refused_clearly_where_only_text_fits() {
    /// As `AppendTurnRequest`, with bytes where text belongs.
    #[derive(Clone, PartialEq, prost::Message)]
    struct Raw {
        #[prost(bytes = "vec", tag = "1")]
        session_id: Vec<u8>,
    }
    let (server, _) = with_session().await;
    let mut grpc = tonic::client::Grpc::new(server.channel().await);
    grpc.ready().await.unwrap();
    let request = tonic::Request::new(Raw { session_id: b"\xff\xfe".to_vec() });
    let path = "/concertina.v1.SessionService/AppendTurn".parse().unwrap();
    let codec = tonic_prost::ProstCodec::<Raw, pb::AppendTurnResponse>::default();
    is_wrong(grpc.unary(request, path, codec).await, &["request"]);
}

#[tokio::test]
async fn an_output_without_a_kind_is_not_an_empty_one() {
    let (_server, mut client) = with_session().await;
    let output = vec![pb::ToolOutput { kind: Some(tool_output::Kind::Text("".into())) }];
    let empty = Kind::ToolResult(pb::ToolResult { output, ..Default::default() });
    let appended = append(&mut client, vec![message(Role::User, vec![empty])]).await;
    assert_eq!(appended.last_seq, 1);
}
