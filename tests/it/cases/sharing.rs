//! J. Many writers, several views, and collapses in the middle of it.

use std::collections::BTreeMap;

use concertina::proto::v1::{self as pb, WireFormat};

use super::{
    reducing::range,
    support::{
        FORMATS, Talk, asking, assistant, call, count, creating, joined, message, prose, result,
        text, user,
    },
};
use crate::grpc::{
    summarizers::Scripted,
    support::{Sessions, TestServer},
};

fn in_view(view: &str, format: WireFormat) -> pb::GetContextRequest {
    pb::GetContextRequest { view: view.into(), ..asking(format) }
}

async fn set_view(client: &mut Sessions, name: &str, preset: &str, window: i64) {
    let as_created = creating("s", preset, "", window);
    let view = pb::View { name: name.into(), policy: as_created.policy, model: as_created.model };
    let request =
        pb::SetViewRequest { session_id: "s".into(), view: Some(view), ..Default::default() };
    client.set_view(request).await.unwrap();
}

/// An agent in a lane of its own: calls, results in appends of their own, and
/// its context before each call.
async fn works(mut client: Sessions, lane: String, view: &'static str, rounds: usize) {
    let said = async |client: &mut Sessions, message: pb::Message| {
        let request = pb::AppendTurnRequest {
            session_id: "s".into(),
            messages: vec![message],
            lane: lane.clone(),
            ..Default::default()
        };
        client.append_turn(request).await.unwrap();
    };
    said(&mut client, user(&format!("{lane} begins"))).await;
    for nth in 0..rounds {
        let request = pb::GetContextRequest {
            lane: lane.clone(),
            ..in_view(view, WireFormat::AnthropicMessages)
        };
        client.get_context(request).await.unwrap();
        // Ids that other lanes use too.
        let id = format!("c{nth}");
        let input = format!(r#"{{"of":"{lane}-{nth}-in"}}"#);
        said(&mut client, assistant(vec![call(&id, "bash", &input)])).await;
        let output = format!("{lane}-{nth}-out");
        said(&mut client, message(pb::Role::User, vec![result(&id, output)])).await;
    }
    said(&mut client, assistant(vec![text("done")])).await;
}

#[tokio::test]
async fn j1_j3_four_agents_in_lanes_lose_nothing_while_two_views_collapse_at_once() {
    let held = Scripted::saying("Ten parts were done.");
    let server = TestServer::start_with(held.clone(), |_| {}).await;
    let patch = r#"{"collapse":{"template":"span"}}"#;
    let mut talk = Talk::over(server, creating("s", "default", patch, 100_000)).await;
    let as_created = creating("s", "default", patch, 1_000_000);
    let wide = pb::View { name: "wide".into(), policy: as_created.policy, model: as_created.model };
    let request =
        pb::SetViewRequest { session_id: "s".into(), view: Some(wide), ..Default::default() };
    talk.client.set_view(request).await.unwrap();
    talk.turns(12, 100).await;

    let mut collapses = Vec::new();
    for view in ["main", "wide"] {
        let mut client = talk.server.collapses().await;
        collapses.push(tokio::spawn(async move {
            let request = pb::CreateCollapseRequest {
                session_id: "s".into(),
                view: view.into(),
                rows: Some(range(1, 20)),
                ..Default::default()
            };
            client.create_collapse(request).await.unwrap().into_inner().overlay.unwrap()
        }));
        held.was_asked().await;
    }
    let mut agents = Vec::new();
    for nth in 0..4 {
        let view = if nth % 2 == 0 { "main" } else { "wide" };
        agents.push(tokio::spawn(works(
            talk.server.client().await,
            format!("lane{nth}"),
            view,
            10,
        )));
    }
    for agent in agents {
        agent.await.unwrap();
    }
    held.release();
    let mut made = BTreeMap::new();
    for collapse in collapses {
        let overlay = collapse.await.unwrap();
        assert_eq!(overlay.covered, [range(1, 20)]);
        made.insert(overlay.view.clone(), overlay);
    }
    let rows = talk.history().await;
    assert_eq!(rows.len(), 24 + 4 * 22);
    let seqs: Vec<i64> = rows.iter().map(|it| it.seq).collect();
    assert_eq!(seqs, (1..=24 + 4 * 22).collect::<Vec<i64>>());
    for view in ["main", "wide"] {
        for format in FORMATS {
            let context = talk.try_context(in_view(view, format)).await.unwrap();
            assert_eq!(context.overlays.len(), 1, "{view}");
            assert_eq!(context.overlays[0].id, made[view].id, "its own");
            let shown = joined(&context);
            for (lane, nth) in (0..4).flat_map(|lane| (0..10).map(move |nth| (lane, nth))) {
                assert_eq!(count(&shown, &format!("lane{lane}-{nth}-in")), 1, "{view} {format:?}");
                assert_eq!(count(&shown, &format!("lane{lane}-{nth}-out")), 1, "{view} {format:?}");
            }
        }
    }
}

#[tokio::test]
async fn j3_no_change_of_a_view_moves_the_number_that_appends_expect() {
    let mut talk = Talk::start("default", 100_000).await;
    talk.turns(12, 150).await;
    let mut next = talk.newest + 1;
    let mut append = async |talk: &mut Talk, after: &str| {
        let request = pb::AppendTurnRequest {
            session_id: "s".into(),
            messages: vec![user("and now?")],
            expected_next_seq: Some(next),
            ..Default::default()
        };
        let answer = talk.client.append_turn(request).await;
        assert_eq!(answer.unwrap().into_inner().first_seq, next, "after {after}");
        next += 1;
    };
    let collapse = talk.collapse(1, 8).await.unwrap();
    append(&mut talk, "a collapse").await;
    let plan = talk.prepare(9, 12).await.unwrap();
    append(&mut talk, "a plan").await;
    talk.commit(&plan, "Two parts were done.").await.unwrap();
    append(&mut talk, "its commit").await;
    talk.roll_back(&collapse.id).await;
    append(&mut talk, "a rollback").await;
    talk.snip(13, 14).await.unwrap();
    append(&mut talk, "a snip").await;
    let pin = pb::PinMessagesRequest {
        session_id: "s".into(),
        rows: Some(range(15, 15)),
        ..Default::default()
    };
    talk.overlays.pin_messages(pin).await.unwrap();
    append(&mut talk, "a pin").await;
    set_view(&mut talk.client, "side", "off", 9_000).await;
    append(&mut talk, "another view").await;
}

#[tokio::test]
async fn a_view_of_32k_and_one_of_a_million_share_a_history_and_no_reduction() {
    let mut talk = Talk::start("default", 32_000).await;
    set_view(&mut talk.client, "wide", "default", 1_000_000).await;
    let (mut last, mut collapses) = (Vec::new(), 0);
    for nth in 0..60 {
        talk.exchange(&format!("question {nth} {}", prose(2000)), &prose(2000)).await;
        if nth % 5 == 4 {
            let wide = talk.try_context(in_view("wide", WireFormat::OpenaiChat)).await.unwrap();
            assert!(wide.messages_json.starts_with(&last), "nothing above has moved");
            let narrow = talk.at_rest().await;
            collapses = narrow.overlays.len().max(collapses);
            let again = talk.try_context(in_view("wide", WireFormat::OpenaiChat)).await.unwrap();
            assert_eq!(again.messages_json, wide.messages_json);
            last = wide.messages_json;
        }
    }
    assert!(collapses > 1, "{collapses}");
    assert_eq!((last.len(), talk.ever("wide").await.len()), (120, 0));

    // The other way round.
    let narrow = talk.at_rest().await;
    let request = pb::CreateCollapseRequest {
        session_id: "s".into(),
        view: "wide".into(),
        rows: Some(range(1, 40)),
        ..Default::default()
    };
    let made = talk.overlays.create_collapse(request).await.unwrap().into_inner().overlay.unwrap();
    assert_eq!(talk.at_rest().await.messages_json, narrow.messages_json);
    let wide = talk.try_context(in_view("wide", WireFormat::OpenaiChat)).await.unwrap();
    assert_eq!(wide.messages_json.len(), 1 + 80);
    let in_narrow: Vec<_> = talk.ever("main").await;
    talk.roll_back(&made.id).await;
    assert_eq!(talk.ever("main").await, in_narrow);
    let wide = talk.try_context(in_view("wide", WireFormat::OpenaiChat)).await.unwrap();
    assert_eq!(wide.messages_json, last);
}
