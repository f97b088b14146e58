//! Collapses whose summarizer is slow, fails or lies: nobody waits for it who
//! need not, and nothing is lost or changed.

use std::time::Duration;

use concertina::{
    proto::v1::{self as pb, WireFormat, overlay::Kind},
    summary::Summary,
};
use tonic::{Code, Request};

use super::{
    summarizers::Scripted,
    support::{Sessions, TestServer, append, history, message, seqs, text, told, user},
};

/// A session `s` in which collapse alone acts before the last resort.
async fn create(client: &mut Sessions, window: i64) {
    let policy = pb::Policy {
        preset: "default".into(),
        overrides_json: r#"{"stages":["collapse","fit"],"collapse":{"template":"span"}}"#.into(),
        ..Default::default()
    };
    let model = pb::Model { context_window: window, ..Default::default() };
    let request = pb::CreateSessionRequest {
        session_id: "s".into(),
        policy: Some(policy),
        model: Some(model),
        ..Default::default()
    };
    client.create_session(request).await.unwrap();
}

async fn turn(client: &mut Sessions, words: usize) {
    let answer = message(pb::Role::Assistant, vec![text(&"word ".repeat(words))]);
    append(client, vec![user("Go on with the next part."), answer]).await;
}

fn asking() -> pb::GetContextRequest {
    pb::GetContextRequest {
        session_id: "s".into(),
        format: WireFormat::OpenaiChat.into(),
        ..Default::default()
    }
}

async fn context(client: &mut Sessions) -> pb::Context {
    client.get_context(asking()).await.unwrap().into_inner().context.unwrap()
}

fn usage(context: &pb::Context) -> f64 {
    context.budget.as_ref().unwrap().usage_ratio
}

fn collapsing(first: i64, last: i64) -> pb::CreateCollapseRequest {
    pb::CreateCollapseRequest {
        session_id: "s".into(),
        rows: Some(pb::SeqRange { first_seq: first, last_seq: last }),
        ..Default::default()
    }
}

/// The first context without a collapse under way that shows one.
async fn until_collapsed(client: &mut Sessions) -> pb::Context {
    let looking = async {
        loop {
            let context = context(client).await;
            if !context.overlays.is_empty() && !context.reduction_pending {
                return context;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_mins(2), looking).await.expect("a collapse")
}

/// The first context that says that a collapse is under way.
async fn until_pending(client: &mut Sessions, words: usize) -> pb::Context {
    for _ in 0..200 {
        turn(client, words).await;
        let context = context(client).await;
        if context.reduction_pending {
            return context;
        }
    }
    panic!("nothing was ever pending");
}

#[tokio::test]
async fn j1_i10_what_comes_during_a_collapse_is_kept_and_shown_after_it() {
    let summarizer = Scripted::saying("Ten parts were done.");
    let server = TestServer::start_with(summarizer.clone(), |_| {}).await;
    let mut client = server.client().await;
    create(&mut client, 1_000_000).await;
    for _ in 0..20 {
        turn(&mut client, 100).await;
    }
    let mut collapses = server.collapses().await;
    let collapse = tokio::spawn(async move {
        let answer = collapses.create_collapse(collapsing(1, 20)).await;
        answer.unwrap().into_inner().overlay.unwrap()
    });
    summarizer.was_asked().await;
    let mut writers = Vec::new();
    for writer in 0..8 {
        let mut client = server.client().await;
        writers.push(tokio::spawn(async move {
            for nth in 0..30 {
                let words = format!("{writer} says {nth}");
                let said = pb::Message { lane: format!("lane-{writer}"), ..user(&words) };
                append(&mut client, vec![said]).await;
                if nth % 10 == 0 {
                    context(&mut client).await;
                }
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    summarizer.release();
    let overlay = collapse.await.unwrap();
    assert_eq!(overlay.covered, [pb::SeqRange { first_seq: 1, last_seq: 20 }]);
    assert_eq!(overlay.summarizer, "scripted:test");
    let rows = history(&mut client).await;
    assert_eq!(seqs(&rows), (1..=280).collect::<Vec<i64>>());
    let shown = context(&mut client).await;
    assert_eq!(shown.messages_json.len(), 1 + 20 + 240);
    assert_eq!(shown.origins[0].overlay_id, overlay.id);
    for writer in 0..8 {
        for nth in 0..30 {
            let said = format!("{writer} says {nth}");
            let times = shown
                .messages_json
                .iter()
                .filter(|it| String::from_utf8_lossy(it).contains(&format!("\"{said}\"")));
            assert_eq!(times.count(), 1, "{said}");
        }
    }
}

#[tokio::test]
async fn r68_from_the_commit_ratio_on_it_goes_on_in_the_background() {
    let summarizer = Scripted::saying("What was said before.");
    let server = TestServer::start_with(summarizer.clone(), |_| {}).await;
    let mut client = server.client().await;
    create(&mut client, 16_000).await;
    let pending = until_pending(&mut client, 60).await;
    assert!((0.90..0.95).contains(&usage(&pending)), "{}", usage(&pending));
    assert!(pending.overlays.is_empty(), "it answers with what there is");
    summarizer.was_asked().await;
    // As long as it works the range is its own.
    let mut collapses = server.collapses().await;
    let other = told(collapses.create_collapse(collapsing(1, 8)).await);
    assert_eq!((other.code, other.reason.as_str()), (Code::Aborted, "RANGE_LEASED"));
    summarizer.release();
    let after = until_collapsed(&mut client).await;
    assert!(usage(&after) < 0.75, "{}", usage(&after));
    assert!(after.overlays.iter().all(|it| it.stage == "collapse"));
    let stage = after.stages.iter().find(|it| it.stage == "collapse").unwrap();
    assert!(stage.tokens_after < stage.tokens_before);
}

#[tokio::test]
async fn r68_from_the_block_ratio_on_a_context_waits_and_answers_all_the_same() {
    let summarizer = Scripted::saying("What was said before.");
    let server = TestServer::start_with(summarizer.clone(), |_| {}).await;
    let mut client = server.client().await;
    create(&mut client, 16_000).await;
    // A first collapse by hand: a view's very first waits for nobody.
    until_pending(&mut client, 60).await;
    summarizer.release();
    until_collapsed(&mut client).await;
    summarizer.hold();
    // Above the limit while nobody summarizes: it waits less than its deadline,
    // then the last resort answers.
    for _ in 0..150 {
        turn(&mut client, 60).await;
    }
    let rows = history(&mut client).await;
    let mut request = Request::new(asking());
    request.set_timeout(Duration::from_secs(3));
    let answer = client.get_context(request).await.unwrap().into_inner().context.unwrap();
    assert!(usage(&answer) <= 1.0);
    let snips = answer.overlays.iter().filter(|it| it.kind() == Kind::Snip && it.stage == "fit");
    assert!(snips.count() > 0);
    assert!(answer.reduction_pending);
    assert_eq!(history(&mut client).await, rows);
    summarizer.release();
}

#[tokio::test]
async fn the_first_context_of_a_long_history_is_not_waited_for() {
    let summarizer = Scripted::saying("never");
    let server = TestServer::start_with(summarizer, |_| {}).await;
    let mut client = server.client().await;
    create(&mut client, 16_000).await;
    for _ in 0..300 {
        turn(&mut client, 60).await;
    }
    let first = context(&mut client).await;
    assert!(usage(&first) < 0.9, "{}", usage(&first));
    assert!(first.overlays.iter().all(|it| it.summarizer == "extractive"), "{:?}", first.overlays);
    assert!(first.overlays.len() > 1);
}

#[tokio::test]
async fn h1_a_summarizer_that_fails_hangs_or_lies_changes_nothing() {
    let lies = |text: &str, finish_reason: &str| {
        Ok(Summary { text: text.into(), finish_reason: finish_reason.into() })
    };
    let answers = [
        (Err("the connection was closed".to_owned()), Code::Unavailable, "SUMMARIZER_UNAVAILABLE"),
        (lies("", ""), Code::InvalidArgument, "SUMMARY_REJECTED"),
        (lies("429", "stop"), Code::InvalidArgument, "SUMMARY_REJECTED"),
        (lies("A summary that was cut", "length"), Code::InvalidArgument, "SUMMARY_REJECTED"),
        (lies(&"word ".repeat(3000), "stop"), Code::InvalidArgument, "SUMMARY_TOO_LONG"),
    ];
    for (answer, code, reason) in answers {
        let server = TestServer::start_with(Scripted::answering(answer), |_| {}).await;
        nothing_changes(&server, code, reason).await;
    }
    let hangs = Scripted::saying("never");
    let server = TestServer::start_with(hangs, |limits| {
        limits.summarizer = Duration::from_millis(50);
    })
    .await;
    nothing_changes(&server, Code::Unavailable, "SUMMARIZER_UNAVAILABLE").await;
}

async fn nothing_changes(server: &TestServer, code: Code, reason: &str) {
    let mut client = server.client().await;
    let mut collapses = server.collapses().await;
    create(&mut client, 100_000).await;
    for _ in 0..10 {
        turn(&mut client, 100).await;
    }
    let before = (history(&mut client).await, context(&mut client).await);
    let refused = told(collapses.create_collapse(collapsing(1, 12)).await);
    assert_eq!((refused.code, refused.reason.as_str()), (code, reason));
    let after = (history(&mut client).await, context(&mut client).await);
    assert_eq!(after.0, before.0);
    assert_eq!(after.1.messages_json, before.1.messages_json);
    assert_eq!(after.1.revision, before.1.revision);
    // Nothing holds the range any more.
    let request = pb::PrepareCollapseRequest {
        session_id: "s".into(),
        rows: Some(pb::SeqRange { first_seq: 1, last_seq: 12 }),
        kind: Kind::Collapse.into(),
        ..Default::default()
    };
    collapses.prepare_collapse(request).await.unwrap();
}

#[tokio::test]
async fn j3_a_collapse_in_the_background_never_makes_an_append_conflict() {
    let summarizer = Scripted::saying("What was said before.");
    let server = TestServer::start_with(summarizer.clone(), |_| {}).await;
    let mut client = server.client().await;
    create(&mut client, 16_000).await;
    until_pending(&mut client, 60).await;
    let newest = i64::try_from(history(&mut client).await.len()).unwrap();
    summarizer.release();
    until_collapsed(&mut client).await;
    let request = pb::AppendTurnRequest {
        session_id: "s".into(),
        messages: vec![user("and now?")],
        expected_next_seq: Some(newest + 1),
        ..Default::default()
    };
    let answer = client.append_turn(request).await.unwrap().into_inner();
    assert_eq!(answer.first_seq, newest + 1);
}

#[tokio::test]
async fn e5_a_collapse_is_not_followed_by_another_one_at_once() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    create(&mut client, 16_000).await;
    let before = until_pending(&mut client, 60).await;
    let collapsed = until_collapsed(&mut client).await;
    let usage = pb::Usage { input_tokens: 15_000, ..Default::default() };
    let late = pb::Message {
        usage: Some(usage),
        context_fingerprint: before.fingerprint,
        ..message(pb::Role::Assistant, vec![text("as of before")])
    };
    append(&mut client, vec![late]).await;
    let next = context(&mut client).await;
    assert!(!next.reduction_pending);
    assert_eq!(next.overlays.len(), collapsed.overlays.len());
    // Another window is judged before the first request on it.
    let smaller = pb::GetContextRequest {
        model: Some(pb::Model { context_window: 4_000, ..Default::default() }),
        ..asking()
    };
    let smaller = client.get_context(smaller).await.unwrap().into_inner().context.unwrap();
    assert!(smaller.preview);
    assert!(smaller.budget.unwrap().usage_ratio <= 1.0);
}
