//! Contexts of earlier revisions, over the wire.

use concertina::proto::v1::{
    self as pb, Role, WireFormat, context_item::Placement, stream_context_response::Part,
};
use tonic::{Code, Status};

use super::support::{
    Sessions, TestServer, append, appending, call, is_told, is_wrong, message, result, text, user,
    with_session,
};

const FORMATS: [WireFormat; 4] = [
    WireFormat::AnthropicMessages,
    WireFormat::OpenaiChat,
    WireFormat::OpenaiResponses,
    WireFormat::Typed,
];

fn asking(format: WireFormat) -> pb::GetContextRequest {
    pb::GetContextRequest { session_id: "s".into(), format: format.into(), ..Default::default() }
}

fn at(revision: i64) -> pb::GetContextRequest {
    pb::GetContextRequest { at_revision: Some(revision), ..asking(WireFormat::OpenaiChat) }
}

async fn get(client: &mut Sessions, request: pb::GetContextRequest) -> Result<pb::Context, Status> {
    Ok(client.get_context(request).await?.into_inner().context.unwrap())
}

/// What a context says that does not depend on when it is asked for.
fn lasting(context: pb::Context) -> pb::Context {
    let digest = context.fingerprint.rsplit(':').next().unwrap().to_owned();
    let stages = context.stages.into_iter();
    let stages = stages.map(|it| pb::StageReport { trigger: String::new(), ..it });
    pb::Context {
        fingerprint: digest,
        stages: stages.collect(),
        stable_prefix_messages: 0,
        stable_prefix_tokens: 0,
        reduction_pending: false,
        preview: false,
        ..context
    }
}

async fn set_item(client: &mut Sessions, name: &str, placement: Placement, content: &str) {
    let item = pb::ContextItem {
        name: name.into(),
        placement: placement.into(),
        content: content.to_owned().into(),
        ..Default::default()
    };
    let request = pb::SetContextItemRequest {
        session_id: "s".into(),
        item: Some(item),
        ..Default::default()
    };
    client.set_context_item(request).await.unwrap();
}

async fn set_main(client: &mut Sessions, preset: &str, window: i64) {
    let view = pb::View {
        name: "main".into(),
        policy: Some(pb::Policy { preset: preset.into(), ..Default::default() }),
        model: Some(pb::Model { context_window: window, ..Default::default() }),
    };
    let request =
        pb::SetViewRequest { session_id: "s".into(), view: Some(view), ..Default::default() };
    client.set_view(request).await.unwrap();
}

fn in_lane(lane: &str, message: pb::Message) -> pb::Message {
    pb::Message { lane: lane.into(), ..message }
}

/// Two lanes at work in a small window, items and policies that change; a
/// context of each format and lane after every step.
async fn remembered(client: &mut Sessions) -> Vec<(pb::GetContextRequest, pb::Context)> {
    let mut seen = Vec::new();
    for nth in 0..8 {
        let lane = if nth % 2 == 0 { "a" } else { "b" };
        let id = format!("c{nth}");
        let words = "a few words of a question ".repeat(30);
        let output = format!("line {nth}\n").repeat(200);
        let ask = in_lane(lane, user(&words));
        let calls = message(Role::Assistant, vec![text("let me see"), call(&id, "{}")]);
        append(client, vec![ask, in_lane(lane, calls)]).await;
        if nth % 3 != 2 {
            let answer = message(Role::User, vec![result(&id, output)]);
            append(client, vec![in_lane(lane, answer)]).await;
        }
        match nth {
            2 => set_item(client, "rules", Placement::System, "Be brief.").await,
            3 => set_item(client, "now", Placement::Reminder, "It is noon.").await,
            4 => set_main(client, "cascade", 3000).await,
            5 => set_item(client, "rules", Placement::System, "").await,
            6 => set_main(client, "teaching", 2500).await,
            _ => {}
        }
        for (format, lane) in FORMATS.into_iter().zip(["", "a", "b", ""]) {
            let request = pb::GetContextRequest { lane: lane.into(), ..asking(format) };
            let context = get(client, request.clone()).await.unwrap();
            assert!(!context.preview);
            seen.push((request, context));
        }
    }
    seen
}

async fn shows_again(client: &mut Sessions, seen: &[(pb::GetContextRequest, pb::Context)]) {
    for (request, then) in seen {
        let request = pb::GetContextRequest { at_revision: Some(then.revision), ..request.clone() };
        let past = get(client, request).await.unwrap();
        assert!(past.preview && past.fingerprint.starts_with("1p:"), "{}", past.fingerprint);
        assert_eq!(lasting(past), lasting(then.clone()));
    }
}

#[tokio::test]
async fn i8_a_revision_shows_what_it_showed_also_after_a_restart() {
    let (server, mut client) = with_session().await;
    set_main(&mut client, "default", 4000).await;
    let seen = remembered(&mut client).await;
    assert!(seen.iter().filter(|(_, it)| !it.overlays.is_empty()).count() > 10);
    assert!(seen.iter().any(|(_, it)| it.rounds_in_flight > 0));
    shows_again(&mut client, &seen).await;
    let server = server.restart().await;
    shows_again(&mut server.client().await, &seen).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i8_a_context_shows_its_revision_whatever_is_written_meanwhile() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    super::support::create(&mut client, "s").await;
    set_main(&mut client, "cascade", 3000).await;
    append(&mut client, vec![user("go")]).await;
    let mut writer = server.client().await;
    let mut collapses = server.collapses().await;
    let writing = tokio::spawn(async move {
        for nth in 0..40 {
            append(&mut writer, vec![user(&"some words ".repeat(40))]).await;
            set_item(&mut writer, "now", Placement::Reminder, &format!("It is {nth}.")).await;
            let request = pb::ListOverlaysRequest { session_id: "s".into(), ..Default::default() };
            let listed = collapses.list_overlays(request).await.unwrap().into_inner().overlays;
            if let Some(overlay) = listed.first().filter(|_| nth % 3 == 0) {
                let request = pb::RollbackOverlayRequest {
                    session_id: "s".into(),
                    overlay_id: overlay.id.clone(),
                    ..Default::default()
                };
                // A context may have been quicker.
                let _ = collapses.rollback_overlay(request).await;
            }
        }
    });
    let mut seen = Vec::new();
    while !writing.is_finished() {
        let context = get(&mut client, asking(WireFormat::OpenaiChat)).await.unwrap();
        if !context.preview {
            seen.push((asking(WireFormat::OpenaiChat), context));
        }
    }
    writing.await.unwrap();
    assert!(seen.len() > 5);
    shows_again(&mut client, &seen).await;
}

#[tokio::test]
async fn r1_a_revision_comes_in_pieces_too() {
    let (_server, mut client) = with_session().await;
    for words in ["one", "two"] {
        append(&mut client, vec![user(words)]).await;
    }
    let request = pb::StreamContextRequest { request: Some(at(2)) };
    let mut parts = client.stream_context(request).await.unwrap().into_inner();
    let Some(Part::Head(head)) = parts.message().await.unwrap().unwrap().part else {
        panic!("no head")
    };
    assert_eq!((head.revision, head.preview), (2, true));
    let Some(Part::Piece(piece)) = parts.message().await.unwrap().unwrap().part else {
        panic!("no piece")
    };
    let shown = get(&mut client, at(2)).await.unwrap().messages_json;
    assert_eq!((shown.len(), &shown[0]), (1, &piece.json));
    assert!(parts.message().await.unwrap().is_none());
}

#[tokio::test]
async fn a_revision_that_is_not_there_is_told_with_the_newest() {
    let (_server, mut client) = with_session().await;
    let client = &mut client;
    is_told(get(client, at(1)).await, Code::FailedPrecondition, "SESSION_EMPTY", &[]);
    append(client, vec![user("go")]).await;
    for revision in [0, -1, i64::MIN, 3, i64::MAX] {
        let asked = revision.to_string();
        let metadata = [("revision", asked.as_str()), ("newest_revision", "2")];
        let answer = get(client, at(revision)).await;
        is_told(answer, Code::NotFound, "REVISION_NOT_FOUND", &metadata);
    }
    is_told(get(client, at(1)).await, Code::FailedPrecondition, "SESSION_EMPTY", &[]);
    assert_eq!(get(client, at(2)).await.unwrap().messages_json.len(), 1);
    let nobody = pb::GetContextRequest { session_id: "none".into(), ..at(1) };
    let gone = [("session_id", "none")];
    is_told(get(client, nobody).await, Code::NotFound, "SESSION_NOT_FOUND", &gone);
}

#[tokio::test]
async fn a_view_is_shown_as_long_as_it_was() {
    let (_server, mut client) = with_session().await;
    let client = &mut client;
    append(client, vec![user("go")]).await;
    let view = pb::View { name: "side".into(), ..Default::default() };
    let request =
        pb::SetViewRequest { session_id: "s".into(), view: Some(view), ..Default::default() };
    client.set_view(request).await.unwrap();
    let request = pb::DeleteViewRequest { session_id: "s".into(), view: "side".into() };
    client.delete_view(request).await.unwrap();
    let side = |revision| pb::GetContextRequest { view: "side".into(), ..at(revision) };
    let gone = [("view", "side")];
    is_told(get(client, side(2)).await, Code::NotFound, "VIEW_NOT_FOUND", &gone);
    assert_eq!(get(client, side(3)).await.unwrap().view, "side");
    is_told(get(client, side(4)).await, Code::NotFound, "VIEW_NOT_FOUND", &gone);
}

#[tokio::test]
async fn what_makes_no_sense_beside_a_revision_is_refused() {
    let (_server, mut client) = with_session().await;
    let client = &mut client;
    append(client, vec![user("go")]).await;
    let format = pb::GetContextRequest { format: 0, ..at(2) };
    is_wrong(get(client, format).await, &["format"]);
    for model in [
        pb::Model { name: "gpt-4o".into(), ..Default::default() },
        pb::Model { context_window: 1000, ..Default::default() },
        pb::Model { output_reserve: Some(0), ..Default::default() },
        pb::Model { request_bytes_limit: 1000, ..Default::default() },
    ] {
        let request = pb::GetContextRequest { model: Some(model), ..at(2) };
        is_wrong(get(client, request).await, &["model"]);
    }
    let policy_overrides_json = bytes::Bytes::from_static(b"{}");
    for preview in [true, false] {
        let request = pb::GetContextRequest {
            preview,
            policy_overrides_json: policy_overrides_json.clone(),
            ..at(2)
        };
        is_wrong(get(client, request).await, &["policy_overrides_json"]);
    }
    let expand = pb::GetContextRequest { expand_overlay_ids: vec!["o".into()], ..at(2) };
    is_wrong(get(client, expand.clone()).await, &["expand_overlay_ids"]);
    let unknown = get(client, pb::GetContextRequest { preview: true, ..expand.clone() }).await;
    is_told(unknown, Code::NotFound, "OVERLAY_NOT_FOUND", &[("overlay_id", "o")]);
    let many = pb::GetContextRequest {
        preview: true,
        expand_overlay_ids: vec!["o".into(); 1025],
        ..at(2)
    };
    is_wrong(get(client, many).await, &["expand_overlay_ids"]);
    let fixed = pb::Model { caller_fixed_tokens: 77, ..Default::default() };
    let request = pb::GetContextRequest { model: Some(fixed), ..at(2) };
    assert_eq!(get(client, request).await.unwrap().budget.unwrap().fixed, 77);
}

#[tokio::test]
async fn overlays_of_then_are_shown_as_they_were_and_may_be_opened() {
    let (server, mut client) = with_session().await;
    let client = &mut client;
    for words in ["one", "two", "three"] {
        append(client, vec![user(words), message(Role::Assistant, vec![text("ok")])]).await;
    }
    let whole = get(client, asking(WireFormat::OpenaiChat)).await.unwrap();
    let mut collapses = server.collapses().await;
    let request = pb::CreateSnipRequest {
        session_id: "s".into(),
        rows: Some(pb::SeqRange { first_seq: 1, last_seq: 2 }),
        marker: "[gone]".into(),
        ..Default::default()
    };
    let snip = collapses.create_snip(request).await.unwrap().into_inner();
    let revision = snip.revision;
    let overlay = snip.overlay.unwrap();
    let request = pb::RollbackOverlayRequest {
        session_id: "s".into(),
        overlay_id: overlay.id.clone(),
        ..Default::default()
    };
    collapses.rollback_overlay(request).await.unwrap();
    append(client, vec![user("more")]).await;

    let past = pb::GetContextRequest { explain: true, ..at(revision) };
    let past = get(client, past).await.unwrap();
    assert_eq!(past.messages_json.len(), 5);
    assert!(past.messages_json[0].starts_with(br#"{"role":"user","content":"[gone]"#));
    assert_eq!(past.overlays, std::slice::from_ref(&overlay), "in force, whole");
    let triggers: Vec<&str> = past.stages.iter().map(|it| it.trigger.as_str()).collect();
    assert!(triggers.iter().all(|it| ["always", "at_revision"].contains(it)), "{triggers:?}");
    assert_eq!(past.budget.unwrap().history, whole.budget.unwrap().history);

    let opened = pb::GetContextRequest {
        preview: true,
        expand_overlay_ids: vec![overlay.id],
        ..at(revision)
    };
    let opened = get(client, opened).await.unwrap();
    assert_eq!((opened.messages_json, opened.overlays), (whole.messages_json, vec![]));
}

#[tokio::test]
async fn usage_of_an_earlier_revision_does_not_calibrate() {
    let (_server, mut client) = with_session().await;
    let client = &mut client;
    set_main(client, "off", 100_000).await;
    append(client, vec![user(&"some words ".repeat(400))]).await;
    let now = get(client, asking(WireFormat::OpenaiChat)).await.unwrap();
    let past = get(client, at(now.revision)).await.unwrap();
    assert_eq!(past.messages_json, now.messages_json);
    let factor = |of: &pb::Context| of.budget.as_ref().unwrap().calibration;
    let answering = |print: &str, name: &str| {
        let usage = pb::Usage { input_tokens: 1000, ..Default::default() };
        let mut answer = message(Role::Assistant, vec![text("ok")]);
        answer.usage = Some(usage);
        answer.model = name.into();
        let request = appending(vec![answer, user("and?")]);
        pb::AppendTurnRequest { context_fingerprint: print.into(), ..request }
    };
    client.append_turn(answering(&past.fingerprint, "")).await.unwrap();
    let next = get(client, asking(WireFormat::OpenaiChat)).await.unwrap();
    assert!((factor(&next) - factor(&now)).abs() < 1e-9, "{} {}", factor(&next), factor(&now));
    client.append_turn(answering(&next.fingerprint, "")).await.unwrap();
    let learned = get(client, asking(WireFormat::OpenaiChat)).await.unwrap();
    assert!(factor(&learned) > factor(&now), "what was committed does");
}
