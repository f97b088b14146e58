//! H, I. The record is never changed, half-done work leaves nothing behind, and
//! a rollback shows what was there.

use bytes::Bytes;
use concertina::proto::v1::{self as pb, WireFormat};

use super::{
    reducing::range,
    support::{FORMATS, Talk, asking, assistant, call, count, has, joined, result, results, told},
};
use crate::{grpc::summarizers::Scripted, projection::support::of_tokens};

const COLLAPSE_ONLY: &str = r#"{"stages":["collapse","fit"],"collapse":{"template":"span"}}"#;
/// A window whose limit is 30,000.
const WINDOW: i64 = 38_192;

/// The view without any stage that acts now, in every format.
async fn everywhere(talk: &mut Talk) -> Vec<Vec<Bytes>> {
    let mut out = Vec::new();
    for format in FORMATS {
        let request = pb::GetContextRequest {
            preview: true,
            policy_overrides_json: r#"{"stages":[]}"#.into(),
            ..asking(format)
        };
        out.push(talk.try_context(request).await.unwrap().messages_json);
    }
    out
}

#[tokio::test]
async fn h1_a_summarizer_that_fails_in_the_background_leaves_300_messages_as_they_were() {
    let failing = Scripted::answering(Err("429: too many requests".into()));
    let mut talk = Talk::summarized_by(failing.clone(), "default", COLLAPSE_ONLY, WINDOW).await;
    talk.turns(150, 170).await;
    let (rows, shown) = (talk.history().await, everywhere(&mut talk).await);
    assert_eq!(rows.len(), 300);
    let at = talk.revision().await;
    let first = talk.context(WireFormat::OpenaiChat).await;
    assert!(first.reduction_pending);
    assert_eq!(first.messages_json, shown[1]);
    failing.was_asked().await;
    // Whether it has given up by then or not.
    for _ in 0..3 {
        let context = talk.context(WireFormat::OpenaiChat).await;
        assert_eq!(context.messages_json, shown[1]);
    }
    // By hand it is told; nothing of what failed holds the range.
    let plan = loop {
        match talk.prepare(1, 10).await {
            Ok(plan) => break plan,
            Err(status) => assert_eq!(told(Err::<(), _>(status)).reason, "RANGE_LEASED"),
        }
    };
    assert_eq!((talk.history().await, everywhere(&mut talk).await), (rows.clone(), shown));
    assert_eq!((talk.revision().await, talk.ever("").await), (at, Vec::new()));
    talk.commit(&plan, "Five parts were done.").await.unwrap();
    assert_eq!(talk.history().await, rows);
}

#[tokio::test]
async fn h5_what_the_background_had_leased_is_free_after_a_restart() {
    let held = Scripted::saying("never");
    let mut talk = Talk::summarized_by(held.clone(), "default", COLLAPSE_ONLY, WINDOW).await;
    talk.turns(30, 890).await;
    let before = talk.context(WireFormat::OpenaiChat).await;
    assert!(before.reduction_pending);
    held.was_asked().await;
    assert_eq!(told(talk.prepare(1, 8).await).reason, "RANGE_LEASED");
    let (rows, shown) = (talk.history().await, everywhere(&mut talk).await);

    let mut talk = talk.restart().await;
    let plan = talk.prepare(1, 8).await.unwrap();
    talk.overlays
        .abandon_collapse(pb::AbandonCollapseRequest {
            session_id: "s".into(),
            plan_id: plan.plan_id,
        })
        .await
        .unwrap();
    assert_eq!((talk.history().await, everywhere(&mut talk).await), (rows.clone(), shown));
    let after = talk.at_rest().await;
    assert!(!after.overlays.is_empty(), "it is done now");
    assert!(after.overlays.iter().all(|it| it.summarizer == "extractive"));
    assert_eq!(talk.history().await, rows);
}

#[tokio::test]
async fn h5_a_collapse_whose_caller_and_server_went_away_leaves_nothing() {
    let held = Scripted::saying("Six parts were done.");
    let mut talk = Talk::summarized_by(held.clone(), "default", COLLAPSE_ONLY, WINDOW).await;
    talk.turns(10, 100).await;
    let (rows, shown) = (talk.history().await, everywhere(&mut talk).await);
    let mut caller = talk.overlays.clone();
    let asking = tokio::spawn(async move {
        let request = pb::CreateCollapseRequest {
            session_id: "s".into(),
            rows: Some(range(1, 12)),
            ..Default::default()
        };
        caller.create_collapse(request).await
    });
    held.was_asked().await;
    asking.abort();
    let mut talk = talk.restart().await;
    held.release();
    let plan = talk.prepare(1, 12).await.unwrap();
    assert_eq!((talk.history().await, everywhere(&mut talk).await), (rows, shown));
    assert_eq!(talk.ever("").await, []);
    talk.commit(&plan, "Six parts were done.").await.unwrap();
}

#[tokio::test]
async fn i2_the_middle_of_a_nest_goes_unseen_until_what_lies_over_it_goes() {
    let mut talk = Talk::start("default", 100_000).await;
    talk.turns(14, 150).await;
    let plain = everywhere(&mut talk).await;
    let inner = talk.collapse(5, 8).await.unwrap();
    let with_inner = everywhere(&mut talk).await;
    let middle = talk.collapse(3, 10).await.unwrap();
    let outer = talk.collapse(1, 14).await.unwrap();
    let with_outer = everywhere(&mut talk).await;
    assert_eq!(middle.covered_overlay_ids, [inner.id.as_str()]);
    assert_eq!(outer.covered_overlay_ids, [middle.id.as_str()]);

    let ended = talk.roll_back(&middle.id).await;
    assert_eq!(ended.hidden_by_overlay_id, outer.id);
    assert_eq!(everywhere(&mut talk).await, with_outer);
    let ended = talk.roll_back(&outer.id).await;
    assert_eq!(ended.hidden_by_overlay_id, "");
    assert_eq!(everywhere(&mut talk).await, with_inner, "the inner one is back, the middle is not");

    // What was rolled back may be collapsed again, over what is there now.
    let again = talk.collapse(3, 10).await.unwrap();
    assert_eq!(again.covered_overlay_ids, [inner.id.as_str()]);
    talk.roll_back(&inner.id).await;
    talk.roll_back(&again.id).await;
    assert_eq!(everywhere(&mut talk).await, plain);
    let ever = talk.ever("").await;
    assert!(ever.len() == 4 && ever.iter().all(|it| it.rollback_revision > 0));
}

#[tokio::test]
async fn i2_call_ids_that_come_again_hide_and_pair_no_other_exchange() {
    let mut talk = Talk::start("default", 100_000).await;
    for nth in 0..8 {
        talk.user(&format!("request {nth}")).await;
        let input = format!(r#"{{"part":"p{nth}p"}}"#);
        let output = format!("output {nth}.{}", of_tokens(60));
        talk.say(vec![
            assistant(vec![call("c1", "bash", &input)]),
            results(vec![result("c1", output)]),
        ])
        .await;
    }
    talk.user("go on").await;
    let plain = everywhere(&mut talk).await;
    // The oldest four, then two in the middle.
    for (first, last, hidden) in [(1, 12, 0..4), (7, 12, 2..4)] {
        let leased = talk.prepare(first, last).await.unwrap();
        let overlay = talk.commit(&leased, "Some parts were done.").await.unwrap();
        assert_eq!(overlay.covered, [range(first, last)]);
        for format in FORMATS {
            let context = talk.context(format).await;
            let shown = joined(&context);
            for nth in 0..8 {
                let times = usize::from(!hidden.contains(&nth));
                assert_eq!(count(&shown, &format!("output {nth}.")), times, "{format:?} {nth}");
                assert_eq!(count(&shown, &format!("p{nth}p")), times, "{format:?} {nth}");
                let at = |part: &str| shown.find(part).unwrap_or_default();
                assert!(at(&format!("p{nth}p")) <= at(&format!("output {nth}.")), "{nth}");
            }
            assert!(!has(&context, "SYNTHETIC_RESULT") && !has(&context, "ORPHAN_RESULT_TO_TEXT"));
        }
        talk.roll_back(&overlay.id).await;
        assert_eq!(everywhere(&mut talk).await, plain);
    }
}

/// The message after the one that calls.
fn answer_of(context: &pb::Context, called: &str) -> String {
    let shown: Vec<_> =
        context.messages_json.iter().map(|it| String::from_utf8_lossy(it).into_owned()).collect();
    let at = shown.iter().position(|it| it.contains(called)).unwrap();
    shown[at + 1].clone()
}

#[tokio::test]
async fn i2_a_late_result_of_a_collapsed_round_has_its_own_place_until_the_rollback() {
    let patch = r#"{"protect":{"unanswered_rounds":0}}"#;
    for was_planned_before in [false, true] {
        let mut talk = Talk::start_with("default", patch, 100_000).await;
        talk.user("deploy").await;
        talk.say(vec![assistant(vec![call("c1", "ask_confirm", r#"{"what":"deploy"}"#)])]).await;
        talk.turns(4, 150).await;
        talk.user("go on").await;
        let plan = talk.prepare(1, 6).await.unwrap();
        let late = vec![results(vec![result("c1", "approved at last")])];
        let overlay = if was_planned_before {
            talk.say(late).await;
            talk.commit(&plan, "A deploy waits to be confirmed.").await.unwrap()
        } else {
            let overlay = talk.commit(&plan, "A deploy waits to be confirmed.").await.unwrap();
            talk.say(late).await;
            overlay
        };
        assert_eq!(overlay.covered, [range(1, 6)], "the late row is not among them");
        for format in FORMATS {
            let context = talk.context(format).await;
            let shown = joined(&context);
            assert_eq!(count(&shown, "approved at last"), 1, "{format:?}: {shown}");
            assert_eq!(count(&shown, "ask_confirm"), 0, "{format:?}: {shown}");
            let last = String::from_utf8_lossy(context.messages_json.last().unwrap());
            assert!(last.contains("approved at last"), "{format:?}: {last}");
            assert!(has(&context, "ORPHAN_RESULT_TO_TEXT"), "{format:?}");
        }
        // It stays where it is when others follow, and shows again at its call.
        talk.exchange("thanks", "you are welcome").await;
        for format in FORMATS {
            let shown = talk.shown(format).await;
            let at = |part: &str| shown.find(part).unwrap();
            assert!(at("go on") < at("approved at last"), "{format:?}");
            assert!(at("approved at last") < at("thanks"), "{format:?}");
        }
        talk.roll_back(&overlay.id).await;
        for format in FORMATS {
            let context = talk.context(format).await;
            assert_eq!(count(&joined(&context), "approved at last"), 1);
            assert!(answer_of(&context, "ask_confirm").contains("approved at last"), "{format:?}");
            assert!(!has(&context, "ORPHAN_RESULT_TO_TEXT"));
            assert!(!has(&context, "SYNTHETIC_RESULT"));
        }
    }
}
