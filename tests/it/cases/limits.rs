//! What must still fit, what failed without a trace, and markers that tell the
//! truth.

use concertina::proto::v1::{self as pb, WireFormat, context_item::Placement, tool_output};
use tonic::Code;

use super::support::{
    FORMATS, Talk, asking, assistant, call, creating, image, joined, prose, results, user,
};
use crate::grpc::support::{TestServer, is_wrong, result, told};

fn pictures(id: &str, count: usize, bytes: usize) -> pb::block::Kind {
    let picture = || {
        let pb::block::Kind::Image(picture) = image(2000, 2000, bytes) else {
            unreachable!("it is a picture")
        };
        pb::ToolOutput { kind: Some(tool_output::Kind::Image(picture)) }
    };
    let mut answer = result(id, "shot");
    if let pb::block::Kind::ToolResult(answer) = &mut answer {
        answer.output.extend((0..count).map(|_| picture()));
    }
    answer
}

#[tokio::test]
async fn p1_pictures_of_the_newest_tool_round_give_way_before_the_context_fails() {
    for (window, count) in [(1500, 1), (40_000, 30)] {
        let mut talk = Talk::start("default", window).await;
        talk.user("look").await;
        let answer = pictures("c1", count, 2000);
        talk.say(vec![assistant(vec![call("c1", "shot", "{}")]), results(vec![answer])]).await;
        for format in FORMATS {
            let shown = joined(&talk.context(format).await);
            assert!(shown.contains("shot") && shown.contains("image/png"), "{shown:.300}");
        }
    }
}

#[tokio::test]
async fn p1_pictures_above_the_bytes_of_a_request_give_way() {
    let mut talk = Talk::start("default", 1_000_000).await;
    talk.user("look").await;
    for id in ["c1", "c2", "c3"] {
        let answer = pictures(id, 1, 7 << 20);
        talk.say(vec![assistant(vec![call(id, "shot", "{}")]), results(vec![answer])]).await;
    }
    let context = talk.context_of(WireFormat::AnthropicMessages, 64 << 20).await;
    let bytes: usize = context.messages_json.iter().map(bytes::Bytes::len).sum();
    assert!(bytes <= 20 << 20, "{bytes}");
}

#[tokio::test]
async fn a_model_is_taken_only_from_a_context_that_was_given() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    client.create_session(creating("s", "default", "", 0)).await.unwrap();
    let turn = pb::AppendTurnRequest {
        session_id: "s".into(),
        messages: vec![user(&prose(400))],
        ..Default::default()
    };
    client.append_turn(turn).await.unwrap();
    let named = |window| pb::GetContextRequest {
        model: Some(pb::Model { context_window: window, ..Default::default() }),
        ..asking(WireFormat::OpenaiChat)
    };
    let revision = |session: pb::GetSessionResponse| session.session.unwrap().revision;
    let get = || pb::GetSessionRequest { session_id: "s".into(), ..Default::default() };
    let before = revision(client.get_session(get()).await.unwrap().into_inner());
    let refused = told(client.get_context(named(1)).await);
    assert_eq!(refused.reason, "CONTEXT_IRREDUCIBLE");
    assert_eq!(revision(client.get_session(get()).await.unwrap().into_inner()), before);
    let given = client.get_context(named(50_000)).await.unwrap().into_inner().context.unwrap();
    assert!(!given.preview);
    let again = client.get_context(asking(WireFormat::OpenaiChat)).await.unwrap().into_inner();
    assert_eq!(again.context.unwrap().budget.unwrap().window, 50_000);
}

#[tokio::test]
async fn m5_a_placeholder_tells_the_size_of_what_it_stands_for() {
    let mut talk = Talk::start("default", 20_000).await;
    for turn in 0..40 {
        talk.user(&format!("turn {turn}")).await;
        talk.tool("fetch", "{}", &format!("{turn} {}", prose(59_990))).await;
        talk.say(vec![assistant(vec![super::support::text("done")])]).await;
        talk.context(WireFormat::OpenaiChat).await;
    }
    let shown = talk.shown(WireFormat::OpenaiChat).await;
    assert!(shown.contains("[tool result cleared: "), "{shown:.500}");
    for told in shown.split("[tool result cleared: ").skip(1) {
        let bytes: usize = told.split(' ').next().unwrap().parse().unwrap();
        assert!(bytes >= 59_990, "{bytes}");
    }
}

#[tokio::test]
async fn r31_a_preview_cut_twice_tells_the_whole_size() {
    let mut talk = Talk::start("teaching", 1500).await;
    talk.user("go").await;
    let calls = vec![call("a", "x", "{}"), call("b", "x", "{}")];
    let answers = vec![result("a", prose(600)), result("b", prose(4000))];
    talk.say(vec![assistant(calls), results(answers)]).await;
    let shown = talk.shown(WireFormat::OpenaiChat).await;
    assert!(shown.contains("4000 characters"), "{shown}");
}

#[tokio::test]
async fn bytes_that_cannot_fit_are_told_as_bytes() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let mut create = creating("s", "default", "", 100_000);
    create.model.as_mut().unwrap().request_bytes_limit = 1;
    client.create_session(create).await.unwrap();
    let turn = pb::AppendTurnRequest {
        session_id: "s".into(),
        messages: vec![user("hello")],
        ..Default::default()
    };
    client.append_turn(turn).await.unwrap();
    let refused = client.get_context(asking(WireFormat::OpenaiChat)).await;
    let words = refused.as_ref().unwrap_err().message().to_owned();
    let told = told(refused);
    assert_eq!(told.reason, "CONTEXT_IRREDUCIBLE");
    assert!(words.contains("bytes too many"), "{words}");
    assert!(!told.metadata["over"].starts_with('-'), "{:?}", told.metadata);
}

#[tokio::test]
async fn tools_without_a_name_are_refused() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    client.create_session(creating("s", "default", "", 100_000)).await.unwrap();
    let item = |json: &'static str| pb::SetContextItemRequest {
        session_id: "s".into(),
        item: Some(pb::ContextItem {
            name: "tools".into(),
            placement: Placement::Tools.into(),
            content: json.into(),
            format: WireFormat::AnthropicMessages.into(),
            ..Default::default()
        }),
        ..Default::default()
    };
    for json in ["[{}]", r#"[{"name":""}]"#, r#"[{"name":5}]"#] {
        is_wrong(client.set_context_item(item(json)).await, &["item.content"]);
    }
    let fine = r#"[{"name":"a","input_schema":{}},{"type":"web_search_20250305","name":"w"}]"#;
    client.set_context_item(item(fine)).await.unwrap();
}

#[tokio::test]
async fn a_preview_is_the_same_bytes_each_time() {
    let mut talk = Talk::start("teaching", 100_000).await;
    for _ in 0..60 {
        talk.exchange("more", &prose(80)).await;
    }
    let preview =
        || pb::GetContextRequest { preview: true, explain: true, ..asking(WireFormat::OpenaiChat) };
    let first = talk.try_context(preview()).await.unwrap();
    let second = talk.try_context(preview()).await.unwrap();
    assert!(first == second, "{:?} {:?}", first.overlays, second.overlays);
    let code = |told: crate::grpc::support::Told| told.code;
    let id = first.overlays[0].id.clone();
    let get = pb::GetOverlayRequest { session_id: "s".into(), overlay_id: id };
    assert_eq!(code(told(talk.overlays.get_overlay(get).await)), Code::NotFound);
}
