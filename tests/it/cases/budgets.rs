//! E, N5, N7 and the context's own account of itself.

use concertina::proto::v1::{self as pb, WireFormat, context_item::Placement};
use tonic::Code;

use super::support::{FORMATS, Talk, asking, assistant, creating, joined, prose, text, told, user};
use crate::grpc::support::{TestServer, is_wrong};

#[tokio::test]
async fn e1_a_fixed_part_that_fills_the_window_is_told_with_its_numbers() {
    let mut talk = Talk::start("default", 2000).await;
    talk.user("hi").await;
    let model = pb::Model { caller_fixed_tokens: 1900, ..Default::default() };
    let request =
        || pb::GetContextRequest { model: Some(model.clone()), ..asking(WireFormat::OpenaiChat) };
    for _ in 0..3 {
        let told = told(talk.try_context(request()).await);
        let code = (told.code, told.reason.as_str());
        assert_eq!(code, (Code::FailedPrecondition, "CONTEXT_IRREDUCIBLE"));
        assert_eq!((&*told.metadata["fixed"], &*told.metadata["window"]), ("1900", "2000"));
    }
    let list = pb::ListOverlaysRequest {
        session_id: "s".into(),
        include_rolled_back: true,
        ..Default::default()
    };
    assert_eq!(talk.overlays.list_overlays(list).await.unwrap().into_inner().overlays, []);
    assert_eq!(talk.context(WireFormat::OpenaiChat).await.messages_json.len(), 1, "it may shrink");
}

#[tokio::test]
async fn e7_a_trigger_that_makes_no_sense_is_refused_with_its_name() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    for value in ["0", "-1", "1.01", "100", "\"90%\"", "null"] {
        let patch = format!(r#"{{"collapse":{{"commit_ratio":{value}}}}}"#);
        let told = told(client.create_session(creating("x", "default", &patch, 9000)).await);
        assert_eq!(told.code, Code::InvalidArgument, "{value}: {told:?}");
        assert!(format!("{told:?}").contains("commit_ratio"), "{value}: {told:?}");
    }
    let patch = r#"{"collapse":{"commit_ratio":NaN}}"#;
    let told = told(client.create_session(creating("x", "default", patch, 9000)).await);
    assert_eq!(told.code, Code::InvalidArgument);
    client.create_session(creating("x", "off", "", 9000)).await.unwrap();
}

#[tokio::test]
async fn e7_a_reserve_that_leaves_nothing_is_refused() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    for reserve in [9000, 9001] {
        let mut request = creating("x", "default", "", 9000);
        request.model.as_mut().unwrap().output_reserve = Some(reserve);
        is_wrong(client.create_session(request).await, &["model.output_reserve"]);
    }
}

#[tokio::test]
async fn r1_r2_r4_the_budget_has_all_its_parts() {
    let mut talk = Talk::start("cascade", 200_000).await;
    talk.exchange(&prose(4000), &prose(4000)).await;
    let model = pb::Model { caller_fixed_tokens: 35_000, ..Default::default() };
    let request =
        pb::GetContextRequest { model: Some(model), ..asking(WireFormat::AnthropicMessages) };
    let context = talk.try_context(request).await.unwrap();
    assert!(!context.preview, "what the caller adds makes no preview");
    let it = context.budget.unwrap();
    assert_eq!((it.window, it.fixed, it.output_reserve), (200_000, 35_000, 8192));
    assert_eq!(it.available, 200_000 - 35_000 - 8192 - it.messages);
    let parts: i64 = it.parts.iter().map(|part| part.tokens).sum();
    assert!((parts - it.fixed - it.messages).abs() <= 3, "{it:?}");
    let named = pb::Model { name: "claude-sonnet-4-5".into(), ..Default::default() };
    let request =
        pb::GetContextRequest { model: Some(named), ..asking(WireFormat::AnthropicMessages) };
    let context = talk.try_context(request).await.unwrap();
    assert!(context.preview, "another model than the view's");
    assert!(context.budget.unwrap().window >= 200_000);
}

#[tokio::test]
async fn r10_every_stage_tells_what_it_did() {
    let mut talk = Talk::start("cascade", 200_000).await;
    talk.user("go").await;
    let seq = talk.tool("bash", "{}", &prose(50_000)).await;
    let request = pb::GetContextRequest { explain: true, ..asking(WireFormat::OpenaiChat) };
    let context = talk.try_context(request).await.unwrap();
    let names: Vec<_> = context.stages.iter().map(|it| it.stage.as_str()).collect();
    let all = ["result_cap", "micro_clear", "snip_turns", "collapse", "auto_compact", "fit"];
    assert_eq!(names, all);
    let cap = &context.stages[0];
    assert_eq!((cap.trigger.as_str(), cap.messages_reduced), ("always", 1));
    let reduced = &context.reductions[0];
    assert_eq!(reduced.content.unwrap().seq, seq);
    assert_eq!(cap.tokens_before - cap.tokens_after, reduced.tokens_before - reduced.tokens_after);
}

#[tokio::test]
async fn n7_what_the_caller_adds_is_left_free() {
    let mut talk = Talk::start("default", 10_000).await;
    for nth in 0..12 {
        talk.exchange(&format!("{nth} {}", prose(900)), &prose(900)).await;
    }
    let model = pb::Model { caller_fixed_tokens: 6000, ..Default::default() };
    let request = pb::GetContextRequest { model: Some(model), ..asking(WireFormat::OpenaiChat) };
    let budget = talk.try_context(request).await.unwrap().budget.unwrap();
    assert_eq!((budget.fixed, budget.output_reserve), (6000, 2500));
    assert!(budget.messages <= 10_000 - 6000 - 2500, "{budget:?}");
}

#[tokio::test]
async fn n7_without_a_word_of_it_a_margin_is_left() {
    let mut talk = Talk::start("default", 10_000).await;
    for nth in 0..40 {
        talk.exchange(&format!("{nth} {}", prose(900)), &prose(900)).await;
        let budget = talk.context(WireFormat::OpenaiChat).await.budget.unwrap();
        assert!(budget.messages <= 7500 - 150, "2 % of the limit: {budget:?}");
    }
}

#[tokio::test]
async fn n5_reported_usage_corrects_the_estimate() {
    let mut talk = Talk::start("default", 200_000).await;
    let plain = |budget: &pb::TokenBudget| {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let messages = budget.messages as f64;
        messages / budget.calibration
    };
    let mut told = Vec::new();
    for nth in 0..6 {
        talk.user(&format!("question {nth} {}", prose(8000))).await;
        let context = talk.context(WireFormat::OpenaiChat).await;
        let budget = context.budget.unwrap();
        told.push(budget.calibration);
        #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
        let reported = (plain(&budget) * 1.5) as i64;
        let usage = pb::Usage {
            input_tokens: reported,
            cache_read_tokens: reported / 2,
            ..Default::default()
        };
        let answer = pb::Message {
            usage: Some(usage),
            context_fingerprint: context.fingerprint,
            ..assistant(vec![text("ok")])
        };
        talk.say(vec![answer]).await;
    }
    assert!(told.windows(2).all(|pair| pair[0] <= pair[1]), "{told:?}");
    let last = told.last().unwrap();
    assert!((1.4..=1.6).contains(last), "three reports bring it there: {told:?}");
    let factor = |context: pb::Context| context.budget.unwrap().calibration;
    let before = factor(talk.context(WireFormat::OpenaiChat).await);
    let mut talk = talk.restart().await;
    let after = factor(talk.context(WireFormat::OpenaiChat).await);
    assert!((before - after).abs() < 1e-9, "it outlives a restart: {before} {after}");
    // Another model has learned nothing of it.
    let other = pb::Model { name: "gpt-4o".into(), ..Default::default() };
    let asked = pb::GetContextRequest { model: Some(other), ..asking(WireFormat::OpenaiChat) };
    assert!((factor(talk.try_context(asked).await.unwrap()) - 1.0).abs() < 1e-9);
}

async fn set_item(talk: &mut Talk, name: &str, placement: Placement, content: &str) {
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
    talk.client.set_context_item(request).await.unwrap();
}

#[tokio::test]
async fn r101_r102_r103_what_stands_around_the_messages_is_there_each_turn() {
    let mut talk = Talk::start("default", 4000).await;
    set_item(&mut talk, "git", Placement::System, "branch main, 3 changes, 2026-07-01").await;
    set_item(&mut talk, "memory", Placement::UserContext, "the user likes tests").await;
    set_item(&mut talk, "files", Placement::Reminder, "a.rs changed on disk").await;
    for nth in 0..30 {
        talk.exchange(&format!("question {nth} {}", prose(400)), &prose(400)).await;
        talk.user("and now?").await;
        for format in FORMATS {
            let context = talk.context(format).await;
            let system = String::from_utf8(context.system_json.to_vec()).unwrap();
            let (whole, shown) = (format!("{system}{}", joined(&context)), joined(&context));
            assert!(whole.contains("branch main"), "R101: {format:?}");
            assert!(shown.contains("the user likes tests"), "R102: {format:?}");
            assert!(shown.contains("<system-reminder>") && shown.contains("a.rs changed"), "R103");
        }
    }
    let budget = talk.context(WireFormat::OpenaiChat).await.budget.unwrap();
    assert!(budget.fixed > 0, "and is counted");
}

#[tokio::test]
async fn r5_r69_levels_and_the_block_of_spawning_are_told() {
    let mut talk = Talk::start("off", 40_000).await;
    let mut told = Vec::new();
    talk.user("go").await;
    loop {
        talk.say(vec![assistant(vec![text(&prose(2000))]), user("more")]).await;
        let Ok(context) = talk.try_context(asking(WireFormat::OpenaiChat)).await else { break };
        let budget = context.budget.unwrap();
        let level = match budget.usage_ratio {
            ratio if ratio >= 0.95 => pb::Pressure::Critical,
            ratio if ratio >= 0.85 => pb::Pressure::Warning,
            ratio if ratio >= 0.70 => pb::Pressure::Elevated,
            _ => pb::Pressure::Normal,
        };
        assert_eq!(budget.pressure(), level, "{budget:?}");
        assert_eq!(budget.spawn_allowed, budget.usage_ratio < 0.95);
        told.push(level);
    }
    told.dedup();
    assert_eq!(told.len(), 4, "all of them were passed: {told:?}");
}
