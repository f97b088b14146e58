//! G. Summaries: smaller than what they stand for, made of the messages
//! themselves, and nobody's words but the server's.

use std::collections::BTreeSet;

use concertina::{
    proto::v1::{self as pb, WireFormat},
    summary::material_text,
    tokens::MESSAGE_TOKENS,
};
use tonic::Code;

use super::{
    reducing::{range, used},
    support::{FORMATS, Talk, asking, assistant, count, joined, text, told, user},
};
use crate::{grpc::summarizers::Scripted, projection::support::of_tokens};

/// Two messages of 200 tokens together, then others.
async fn a_range_of_200() -> Talk {
    let mut talk = Talk::start("default", 40_000).await;
    let words = |tokens| text(&of_tokens(tokens - MESSAGE_TOKENS));
    talk.say(vec![
        super::support::message(pb::Role::User, vec![words(80)]),
        assistant(vec![words(120)]),
    ])
    .await;
    talk.turns(4, 100).await;
    let rows = talk.history().await;
    assert_eq!(rows[..2].iter().map(|it| it.tokens).sum::<i64>(), 200);
    talk
}

#[tokio::test]
async fn g1_of_summaries_shown_as_199_200_and_201_tokens_for_200_the_first_alone_is_taken() {
    let mut talk = a_range_of_200().await;
    let before = talk.context(WireFormat::OpenaiChat).await;
    let at = talk.revision().await;
    let plan = talk.prepare(1, 2).await.unwrap();
    assert_eq!(plan.tokens_before, before.budget.as_ref().unwrap().messages);
    // What surrounds the words costs the same for each of these.
    let words = |count: i64| format!("It was{}", of_tokens(count));
    let shown_as = |told: &crate::grpc::support::Told| {
        told.metadata["tokens"].parse::<i64>().unwrap() - (plan.tokens_before - 200)
    };
    let too_long = told(talk.commit(&plan, &words(190)).await);
    let around = shown_as(&too_long) - 190;
    for tokens in [201, 200] {
        let told = told(talk.commit(&plan, &words(tokens - around)).await);
        let code = (told.code, told.reason.as_str());
        assert_eq!(code, (Code::InvalidArgument, "SUMMARY_NOT_SMALLER"));
        assert_eq!(shown_as(&told), tokens);
        assert_eq!(told.metadata["tokens_before"], plan.tokens_before.to_string());
        let after = talk.context(WireFormat::OpenaiChat).await;
        assert_eq!(after.messages_json, before.messages_json);
        assert_eq!((talk.revision().await, talk.ever("").await), (at, Vec::new()));
    }
    let overlay = talk.commit(&plan, &words(199 - around)).await.unwrap();
    assert_eq!(overlay.tokens_before, plan.tokens_before);
    assert_eq!(overlay.tokens_after, plan.tokens_before - 1);
    let after = talk.context(WireFormat::OpenaiChat).await;
    assert_eq!(used(&after), used(&before) - 1, "the same estimate of the same scope");
}

const FACTS: [&str; 6] = [
    "port 48213",
    "user deploy-7",
    "commit 9f3c2ab",
    "timeout 37 s",
    "path /srv/x1/conf.toml",
    "ticket OPS-1187",
];

#[tokio::test]
async fn g3_collapsing_what_is_collapsed_says_so_and_a_wider_range_has_the_facts_word_for_word() {
    let summarizer = Scripted::extractive();
    let mut talk = Talk::summarized_by(summarizer.clone(), "default", "", 40_000).await;
    for nth in 0..10 {
        let fact = FACTS.get(nth).copied().unwrap_or("nothing new");
        let answer = format!("Noted: {fact}.{}", of_tokens(120));
        talk.exchange(&format!("Remember {fact} for part {nth}."), &answer).await;
    }
    talk.user("go on").await;
    talk.collapse(1, 20).await.unwrap();
    let at = talk.revision().await;
    for _ in 2..=5 {
        let again = told(talk.collapse(1, 20).await);
        let code = (again.code, again.reason.as_str());
        assert_eq!(code, (Code::FailedPrecondition, "NOTHING_TO_COLLAPSE"));
        let by_policy = pb::CreateCollapseRequest { session_id: "s".into(), ..Default::default() };
        let again = told(talk.overlays.create_collapse(by_policy).await);
        assert_eq!(again.reason, "NOTHING_TO_COLLAPSE");
    }
    assert_eq!((talk.ever("").await.len(), talk.revision().await), (1, at));
    assert_eq!(summarizer.tasks().len(), 1);

    // Twice wider: the second time two summaries lie on the facts.
    for last in [26, 32] {
        talk.turns(4, 120).await;
        let plan = talk.prepare(1, last).await.unwrap();
        let abandon =
            pb::AbandonCollapseRequest { session_id: "s".into(), plan_id: plan.plan_id.clone() };
        talk.overlays.abandon_collapse(abandon).await.unwrap();
        talk.collapse(1, last).await.unwrap();
        let asked = summarizer.tasks().pop().unwrap();
        assert!(asked.material.earlier.is_empty(), "the messages, not what was said of them");
        let given = material_text(&asked.material, 0).text;
        for fact in FACTS {
            assert!(given.contains(fact), "{fact}");
            assert!(plan.material.contains(fact), "{fact}");
        }
    }
    assert_eq!(summarizer.tasks().len(), 3);
}

#[tokio::test]
async fn g5_what_is_no_summary_is_not_taken_for_one_whoever_wrote_it() {
    let no_summaries = [
        "",
        " \n\t ",
        "<thinking>The user wants the parts mended.</thinking>",
        r#"{"type":"tool_use","id":"c1","name":"read_file","input":{"path":"a.rs"}}"#,
        r#"[{"type":"thinking","thinking":"hm","signature":"s"}]"#,
        "<tool_call>{\"name\":\"read_file\"}</tool_call>",
        "429",
        "Error: 429 Too Many Requests",
        "HTTP 503 Service Unavailable",
        "I'm sorry, I cannot help with that.",
        "a summary with a \u{0} in it",
    ];
    for words in no_summaries {
        let summary = concertina::summary::Summary { text: words.into(), ..Default::default() };
        let summarizer = Scripted::answering(Ok(summary));
        let patch = r#"{"collapse":{"template":"span"}}"#;
        let mut talk = Talk::summarized_by(summarizer, "default", patch, 40_000).await;
        talk.turns(8, 200).await;
        let before = talk.context(WireFormat::OpenaiChat).await;
        let plan = talk.prepare(1, 6).await.unwrap();
        for answer in [talk.commit(&plan, words).await, talk.collapse(7, 12).await] {
            let told = told(answer);
            let code = (told.code, told.reason.as_str());
            assert_eq!(code, (Code::InvalidArgument, "SUMMARY_REJECTED"), "{words:?}");
        }
        assert_eq!(talk.ever("").await, []);
        let after = talk.context(WireFormat::OpenaiChat).await;
        assert_eq!(after.messages_json, before.messages_json);
        // A success is one that is in force and says something.
        let overlay = talk.commit(&plan, "Three parts were mended.").await.unwrap();
        let shown = talk.context(WireFormat::OpenaiChat).await;
        assert_eq!(shown.overlays[0].id, overlay.id);
        assert_eq!(count(&joined(&shown), "Three parts were mended."), 1);
    }
}

#[tokio::test]
async fn g7_no_word_of_how_a_summary_is_asked_for_is_shown_or_kept() {
    let mut talk = Talk::start("default", 40_000).await;
    talk.turns(20, 300).await;
    talk.user("and now?").await;
    let rows = talk.history().await;
    let asked = pb::CreateCollapseRequest {
        session_id: "s".into(),
        rows: Some(range(1, 10)),
        instructions: "KEEP-EVERY-PORT-NUMBER".into(),
        author: "operator-7".into(),
        ..Default::default()
    };
    talk.overlays.create_collapse(asked).await.unwrap();
    let plan = talk.prepare(11, 20).await.unwrap();
    talk.commit(&plan, "User wants X.").await.unwrap();
    // Words of the instructions that nobody else would use.
    let own: BTreeSet<&str> = plan.instructions.lines().filter(|it| it.len() > 40).collect();
    assert!(!own.is_empty(), "{}", plan.instructions);
    for format in FORMATS {
        let context = talk.context(format).await;
        let shown = joined(&context);
        assert!(!shown.contains("KEEP-EVERY-PORT-NUMBER") && !shown.contains("operator-7"));
        assert!(own.iter().all(|line| !shown.contains(line)), "{shown}");
        assert_eq!(count(&shown, "User wants X."), 1);
        assert!(shown.contains(r#"messages=\"11-20\" count=\"10\""#), "{shown}");
        assert!(shown.contains(r#"messages=\"1-10\" count=\"10\""#), "{shown}");
        assert!(!shown.contains("ssistant\",\"content\":\"User wants X"), "{shown}");
    }
    assert_eq!(talk.history().await, rows, "no prompt and no summary is a message");
    let typed = pb::GetContextRequest { ..asking(WireFormat::Typed) };
    let typed = talk.try_context(typed).await.unwrap();
    assert_eq!(typed.messages.len(), 2 + 21);
    assert!(typed.messages[..2].iter().all(|it| it.role() == pb::Role::User));
    assert_eq!(typed.messages[22], user("and now?"));
}
