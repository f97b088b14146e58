//! E. Compaction that goes round in circles: it acts where that helps, at most
//! once, and says why where it does not.

use concertina::{
    proto::v1::{self as pb, WireFormat},
    summary::Summary,
};
use tonic::Code;

use super::{
    reducing::{made_by, stage, used},
    support::{Talk, asking, assistant, creating, prose, text, told},
};
use crate::grpc::{summarizers::Scripted, support::TestServer};

fn beside(fixed: i64) -> pb::GetContextRequest {
    let model = pb::Model { caller_fixed_tokens: fixed, ..Default::default() };
    pb::GetContextRequest { model: Some(model), ..asking(WireFormat::OpenaiChat) }
}

#[tokio::test]
async fn e1_where_the_fixed_part_fills_the_window_nothing_is_summarized() {
    let summarizer = Scripted::extractive();
    let mut talk = Talk::summarized_by(summarizer.clone(), "default", "", 20_000).await;
    talk.turns(30, 440).await;
    let at = talk.revision().await;
    for fixed in [15_000, 19_000] {
        for _ in 0..5 {
            let told = told(talk.try_context(beside(fixed)).await);
            let code = (told.code, told.reason.as_str());
            assert_eq!(code, (Code::FailedPrecondition, "CONTEXT_IRREDUCIBLE"));
            assert_eq!(told.metadata["fixed"], fixed.to_string());
            assert_eq!(told.metadata["window"], "20000");
        }
    }
    assert_eq!((talk.ever("").await, talk.revision().await), (Vec::new(), at));
    assert!(summarizer.tasks().is_empty());
}

#[tokio::test]
async fn e1_where_it_leaves_almost_nothing_the_attempt_is_not_repeated() {
    let summarizer = Scripted::extractive();
    let mut talk = Talk::summarized_by(summarizer.clone(), "default", "", 20_000).await;
    talk.turns(30, 440).await;
    talk.settled(beside(14_000)).await;
    let (made, asked) = (talk.ever("").await, summarizer.tasks().len());
    for _ in 0..5 {
        let context = talk.settled(beside(14_000)).await;
        assert!(used(&context) <= 15_000);
    }
    assert_eq!(talk.ever("").await, made);
    assert_eq!(summarizer.tasks().len(), asked);
}

#[tokio::test]
async fn e1_a_segment_whose_summary_would_be_no_smaller_is_not_tried_again_as_it_is() {
    // With its envelope it is longer than the turn.
    let summary = Summary { text: "It was done.".into(), ..Summary::default() };
    let summarizer = Scripted::answering(Ok(summary));
    let envelope = format!("{{summary}} {}", "and so on ".repeat(50));
    let rules = format!(
        r#""template":"span","min_summary_tokens":1,"keep_share":0,"envelope":"{envelope}""#
    );
    let patch = format!(r#"{{"stages":["collapse","fit"],"collapse":{{{rules}}}}}"#);
    let mut talk = Talk::summarized_by(summarizer.clone(), "default", &patch, 8_000).await;
    talk.turns(1, 110).await;
    talk.turns(2, 2_600).await;
    talk.fill_to(5_500).await;
    let context = talk.at_rest().await;
    assert_eq!((context.overlays, summarizer.tasks().len()), (Vec::new(), 1));
    for _ in 0..5 {
        talk.say(vec![assistant(vec![text("And on.")])]).await;
        talk.at_rest().await;
    }
    assert_eq!(summarizer.tasks().len(), 1, "the oldest turn is as it was");
}

#[tokio::test]
async fn e1_a_summarizer_that_fails_is_asked_again_only_once_something_has_come() {
    for answer in [Err("overloaded".to_owned()), Ok(Summary::default())] {
        let summarizer = Scripted::answering(answer);
        let patch = r#"{"stages":["collapse","fit"]}"#;
        let mut talk = Talk::summarized_by(summarizer.clone(), "default", patch, 8_000).await;
        talk.turns(20, 250).await;
        talk.fill_to(5_500).await;
        talk.at_rest().await;
        let asked = summarizer.tasks().len();
        assert!(asked > 0);
        for _ in 0..5 {
            let context = talk.context(WireFormat::OpenaiChat).await;
            assert!(!context.reduction_pending && context.overlays.is_empty());
        }
        assert_eq!(summarizer.tasks().len(), asked);
        talk.user("go on").await;
        talk.at_rest().await;
        assert_eq!(summarizer.tasks().len(), 2 * asked);
    }
}

#[tokio::test]
async fn e3_each_step_changes_what_is_shown_or_is_left_out() {
    for preset in
        ["default", "four-level", "cascade", "teaching", "teaching-collapse", "claude-code"]
    {
        let mut talk = Talk::start(preset, 5_000).await;
        for nth in 0..10 {
            talk.exchange(&format!("{nth} {}", prose(4000)), &prose(4000)).await;
        }
        let context = talk.context(WireFormat::OpenaiChat).await;
        let ever = talk.ever("").await;
        assert!(!ever.is_empty(), "{preset}");
        assert!(ever.iter().all(|it| it.tokens_after < it.tokens_before), "{preset}: {ever:?}");
        for stage in &context.stages {
            let has_acted = !made_by(&ever, &stage.stage).is_empty();
            assert_eq!(has_acted, stage.tokens_after < stage.tokens_before, "{preset}: {stage:?}");
            assert_eq!(has_acted, stage.trigger == "over_threshold", "{preset}: {stage:?}");
        }
        for of_tools in ["micro_clear", "tool_fold"] {
            assert!(made_by(&ever, of_tools).is_empty(), "{preset} has no tools");
        }
        let again = talk.context(WireFormat::OpenaiChat).await;
        assert_eq!(again.messages_json, context.messages_json, "{preset}");
        assert_eq!(talk.ever("").await, ever, "{preset}");
    }
}

#[tokio::test]
async fn e3_what_nothing_may_reduce_is_told_at_once_with_what_is_too_large() {
    let mut talk = Talk::start("off", 5_000).await;
    for nth in 0..10 {
        let longer = if nth == 6 { 400 } else { 0 };
        talk.exchange(&format!("{nth} {}", prose(4000 + longer)), &prose(4000)).await;
    }
    let told = told(talk.try_context(asking(WireFormat::OpenaiChat)).await);
    assert_eq!(told.reason, "CONTEXT_IRREDUCIBLE");
    assert_eq!(told.metadata["largest_seq"], "13");
    assert_eq!(talk.ever("").await, []);
}

#[tokio::test]
async fn e5_a_report_of_a_context_from_before_a_collapse_teaches_nothing() {
    let mut talk = Talk::start("default", 40_000).await;
    talk.turns(20, 500).await;
    let before = talk.context(WireFormat::OpenaiChat).await;
    talk.collapse(1, 30).await.unwrap();
    let factor = |context: &pb::Context| context.budget.as_ref().unwrap().calibration;
    let collapsed = talk.context(WireFormat::OpenaiChat).await;
    for of in [&before, &collapsed] {
        let (fingerprint, is_current) = (&of.fingerprint, of.revision == collapsed.revision);
        let usage = pb::Usage { input_tokens: used(of) * 3 / 2, ..Default::default() };
        let answer = pb::Message {
            usage: Some(usage),
            context_fingerprint: fingerprint.clone(),
            ..assistant(vec![text("ok")])
        };
        talk.say(vec![answer]).await;
        let now = factor(&talk.context(WireFormat::OpenaiChat).await);
        assert_eq!(now > factor(&before), is_current, "{now}");
    }
}

#[tokio::test]
async fn e5_a_smaller_window_is_judged_before_the_first_context_in_it() {
    let mut talk = Talk::start("default", 100_000).await;
    talk.turns(20, 500).await;
    let large = talk.context(WireFormat::OpenaiChat).await;
    assert_eq!(large.overlays, []);
    let view = creating("s", "default", "", 8_000);
    let view = pb::View { name: "main".into(), policy: view.policy, model: view.model };
    let request = pb::SetViewRequest {
        session_id: "s".into(),
        view: Some(view.clone()),
        ..Default::default()
    };
    talk.client.set_view(request).await.unwrap();
    let small = talk.context(WireFormat::OpenaiChat).await;
    assert!(!small.preview && !small.overlays.is_empty());
    assert!(used(&small) <= 6_000 * 9 / 10, "{}", used(&small));
    assert_eq!(stage(&small, "fit").trigger, "below_threshold", "collapse was enough");
}

#[tokio::test]
async fn e7_parameters_of_a_collapse_that_make_no_sense_are_refused_with_their_key() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    client.create_session(creating("s", "default", "", 9000)).await.unwrap();
    let triggers =
        ["commit_ratio", "block_ratio", "segment_share", "summary_share", "all_summaries_share"];
    let shares = ["until_ratio", "keep_share", "wider_share"];
    let mut wrong: Vec<(&str, &str)> = Vec::new();
    for key in triggers {
        wrong.extend(["0", "-1", "1.01", "100", "\"off\"", "null"].map(|value| (key, value)));
    }
    for key in shares {
        wrong.extend(["-0.01", "1.01", "100"].map(|value| (key, value)));
    }
    // More than everything, or less than nothing.
    wrong.extend([("keep_turns", "-1"), ("keep_turns", "1000000001"), ("min_turns", "0")]);
    wrong.extend([("min_turns", "11"), ("min_summary_tokens", "301"), ("until_ratio", "0.95")]);
    wrong.extend([("block_wait_seconds", "-1"), ("envelope", "\"no place\"")]);
    for (key, value) in wrong {
        let patch = format!(r#"{{"collapse":{{"{key}":{value}}}}}"#);
        let create = creating("x", "default", &patch, 9000);
        let view = pb::View {
            name: "x".into(),
            policy: create.policy.clone(),
            model: create.model.clone(),
        };
        let set =
            pb::SetViewRequest { session_id: "s".into(), view: Some(view), ..Default::default() };
        let preview = pb::GetContextRequest {
            preview: true,
            policy_overrides_json: patch.into(),
            ..asking(WireFormat::OpenaiChat)
        };
        for told in [
            told(client.create_session(create).await),
            told(client.set_view(set).await),
            told(client.get_context(preview).await),
        ] {
            let code = (told.code, told.reason.as_str());
            assert_eq!(code, (Code::InvalidArgument, "INVALID_POLICY"), "{key} = {value}");
            assert_eq!(told.metadata["key"], format!("collapse.{key}"), "{value}: {told:?}");
        }
    }
    for patch in [r#"{"collapse":{"commit_ratio":NaN}}"#, r#"{"collapse":{"commit_ratio":1e999}}"#]
    {
        let told = told(client.create_session(creating("x", "default", patch, 9000)).await);
        assert_eq!((told.code, told.reason.as_str()), (Code::InvalidArgument, "INVALID_POLICY"));
    }
}

#[tokio::test]
async fn e7_off_is_a_word_of_its_own() {
    let mut talk = Talk::start("off", 20_000).await;
    talk.turns(30, 440).await;
    let context = talk.at_rest().await;
    assert_eq!((context.stages.len(), context.messages_json.len()), (0, 60));
    assert_eq!(talk.ever("").await, []);
}
