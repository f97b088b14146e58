//! A. Calls and results stay together, whatever is cut and whenever results
//! come.

use concertina::proto::v1::WireFormat;

use super::support::{
    FORMATS, Talk, assistant, call, count, has, joined, prose, result, results, text, user,
};

/// Anthropic: the answers that follow the first message with a call.
async fn answers(talk: &mut Talk) -> String {
    let values = talk.values(WireFormat::AnthropicMessages).await;
    let at = values.iter().position(|it| it["content"][0]["type"] == "tool_use").unwrap();
    values[at + 1].to_string()
}

#[tokio::test]
async fn a1_a_cut_between_call_and_result_takes_both() {
    for (first, last) in [(1, 2), (2, 2), (3, 3), (3, 4), (1, 3)] {
        let mut talk = Talk::start("off", 100_000).await;
        talk.user("count files").await;
        let step = vec![
            assistant(vec![call("c1", "list_dir", r#"{"path":"src"}"#)]),
            results(vec![result("c1", "a.rs b.rs")]),
            assistant(vec![text("two files")]),
            user("thanks"),
        ];
        talk.say(step).await;
        let covered = talk.snip(first, last).await.unwrap().covered;
        let rows: Vec<_> = covered.iter().map(|it| (it.first_seq, it.last_seq)).collect();
        assert_eq!(rows, [(first.min(2), last.max(3))], "the range that was really used");
        for format in FORMATS {
            let shown = talk.shown(format).await;
            assert!(!shown.contains("a.rs b.rs") && !shown.contains("c1"), "{shown}");
        }
    }
}

#[tokio::test]
async fn a3_words_beside_a_result_are_still_seen() {
    let mut talk = Talk::start("off", 100_000).await;
    let words = "also rename it to k.rs";
    talk.user("go").await;
    talk.say(vec![
        assistant(vec![call("c1", "bash", "{}")]),
        results(vec![result("c1", "ok"), text(words)]),
        assistant(vec![text("done")]),
    ])
    .await;
    for _ in 0..10 {
        talk.exchange("and", "so on").await;
    }
    talk.snip(1, 2).await.unwrap();
    for format in FORMATS {
        let shown = talk.shown(format).await;
        assert_eq!(count(&shown, words), 1);
        assert_eq!(count(&shown, "\"c1\"") % 2, 0, "call and result, or neither");
    }
}

#[tokio::test]
async fn a1_a3_a_collapse_takes_whole_rounds_and_words_beside_a_result_only_where_they_are_named() {
    let words = "also rename it to k.rs";
    for (last, covered, is_seen) in [(1, 1, true), (2, 1, true), (3, 3, false)] {
        let mut talk = Talk::start("default", 100_000).await;
        talk.user(&format!("count files {}", prose(800))).await;
        talk.say(vec![
            assistant(vec![call("c1", "list_dir", r#"{"path":"src"}"#)]),
            results(vec![result("c1", format!("a.rs b.rs {}", prose(800))), text(words)]),
            assistant(vec![text("two files")]),
            user("thanks"),
        ])
        .await;
        let plan = talk.prepare(1, last).await.unwrap();
        assert_eq!(plan.covered, [super::reducing::range(1, covered)], "1 to {last}");
        assert_eq!(plan.material.contains(words), !is_seen);
        talk.commit(&plan, "Files were counted.").await.unwrap();
        for format in FORMATS {
            let shown = talk.shown(format).await;
            assert_eq!(count(&shown, words), usize::from(is_seen), "{format:?}");
            assert_eq!(count(&shown, "a.rs b.rs"), usize::from(is_seen), "{format:?}");
            assert_eq!(count(&shown, "list_dir"), usize::from(is_seen), "{format:?}");
        }
    }
}

#[tokio::test]
async fn a5_a_call_that_waits_for_a_person_is_not_reduced_away() {
    let mut talk = Talk::start("default", 2000).await;
    talk.say(vec![
        assistant(vec![call("c1", "ask_confirm", r#"{"what":"deploy"}"#)]),
        user("meanwhile, what time is it"),
        assistant(vec![text("noon")]),
    ])
    .await;
    for nth in 0..30 {
        talk.exchange(&format!("filler {nth} {}", prose(300)), &prose(300)).await;
        talk.context(WireFormat::AnthropicMessages).await;
    }
    let before = talk.context(WireFormat::AnthropicMessages).await;
    assert!(!before.overlays.is_empty(), "it was reduced");
    assert!(joined(&before).contains("ask_confirm"));
    talk.say(vec![results(vec![result("c1", "approved")])]).await;
    for format in FORMATS {
        let shown = talk.shown(format).await;
        assert_eq!((count(&shown, "approved"), count(&shown, "ask_confirm")), (1, 1));
    }
    assert!(answers(&mut talk).await.contains("approved"), "directly after its call");
}

#[tokio::test]
async fn a5_an_answer_that_comes_when_its_call_is_hidden_is_shown_as_text() {
    let mut talk = Talk::start("off", 100_000).await;
    talk.user("go").await;
    talk.say(vec![assistant(vec![call("c1", "ask_confirm", "{}")]), user("meanwhile")]).await;
    talk.snip(1, 2).await.unwrap();
    talk.say(vec![results(vec![result("c1", "approved")])]).await;
    for format in FORMATS {
        let context = talk.context(format).await;
        assert_eq!(count(&joined(&context), "approved"), 1);
        assert!(has(&context, "ORPHAN_RESULT_TO_TEXT"));
    }
}

#[tokio::test]
async fn a7_a_call_that_nobody_answers_never_stops_reducing() {
    let mut talk = Talk::start("default", 2000).await;
    talk.user("go").await;
    talk.say(vec![assistant(vec![call("c1", "bash", "{}")])]).await;
    let mut synthesised = 0;
    for nth in 0..200 {
        talk.exchange(&format!("turn {nth} {}", prose(150)), &prose(150)).await;
        if nth % 10 == 0 {
            // That it fits is checked on every context.
            let context = talk.context(WireFormat::OpenaiChat).await;
            synthesised += usize::from(has(&context, "SYNTHETIC_RESULT"));
        }
    }
    // It is protected until 100 newer rounds have settled, and goes then.
    assert!((1..20).contains(&synthesised), "{synthesised}");
}

#[tokio::test]
async fn a9_a_call_whose_client_died_has_a_synthetic_result_until_the_real_one_comes() {
    let mut talk = Talk::start("default", 100_000).await;
    talk.user("deploy").await;
    talk.say(vec![assistant(vec![call("c1", "bash", r#"{"command":"make"}"#)])]).await;
    let in_flight = talk.context(WireFormat::AnthropicMessages).await;
    assert_eq!((in_flight.messages_json.len(), in_flight.rounds_in_flight), (1, 1));
    talk.user("continue").await;
    for format in FORMATS {
        let context = talk.context(format).await;
        assert!(has(&context, "SYNTHETIC_RESULT"));
    }
    assert!(answers(&mut talk).await.contains("continue"));
    assert_eq!(talk.history().await.len(), 3);
    talk.say(vec![results(vec![result("c1", "it was built")])]).await;
    assert_eq!(talk.history().await.len(), 4);
    for format in FORMATS {
        let context = talk.context(format).await;
        assert!(!has(&context, "SYNTHETIC_RESULT"));
        assert_eq!(count(&joined(&context), "it was built"), 1);
    }
    assert!(answers(&mut talk).await.contains("it was built"));
}

#[tokio::test]
async fn a9_the_same_after_a_restart_between_call_and_result() {
    let mut talk = Talk::start("default", 100_000).await;
    talk.user("deploy").await;
    talk.say(vec![assistant(vec![call("c1", "bash", "{}"), call("c2", "bash", "{}")])]).await;
    let mut talk = talk.restart().await;
    talk.newest = 2;
    talk.say(vec![results(vec![result("c2", "second")])]).await;
    let mut talk = talk.restart().await;
    talk.user("go on").await;
    let context = talk.context(WireFormat::OpenaiChat).await;
    assert_eq!(count(&joined(&context), "second"), 1);
    assert!(has(&context, "SYNTHETIC_RESULT"));
}
