//! J5, K1, Q1, S2, I8 of appends: order, retries, names.

use std::sync::Arc;

use concertina::{
    clock::ManualClock,
    config::Config,
    grpc,
    proto::v1::{self as pb, WireFormat, session_service_client::SessionServiceClient},
    service::Ctx,
    store::memory::MemoryStore,
};
use tonic::Code;

use super::support::{Talk, assistant, call, creating, joined, result, results, told, user};

#[tokio::test]
async fn k1_a_clock_that_steps_back_changes_no_order() {
    let clock = Arc::new(ManualClock::at(100_484_000));
    let store = Arc::new(MemoryStore::new());
    let ctx = Ctx { clock: Arc::<ManualClock>::clone(&clock), ..Ctx::new(store) };
    let config = Config { listen: "127.0.0.1:0".parse().unwrap(), ..Config::default() };
    let running = grpc::start_with(Arc::new(ctx), &config).await.unwrap();
    let address = format!("http://{}", running.address());
    let mut client = SessionServiceClient::connect(address).await.unwrap();
    client.create_session(creating("s", "default", "", 100_000)).await.unwrap();
    let messages = [
        user("go"),
        assistant(vec![call("c1", "bash", "{}")]),
        results(vec![result("c1", "one")]),
        assistant(vec![call("c2", "bash", "{}")]),
        results(vec![result("c2", "two")]),
    ];
    for message in messages {
        let request = pb::AppendTurnRequest {
            session_id: "s".into(),
            messages: vec![message],
            ..Default::default()
        };
        client.append_turn(request).await.unwrap();
        clock.advance(-3600);
    }
    let rows = crate::grpc::support::history(&mut client).await;
    assert_eq!(crate::grpc::support::seqs(&rows), [1, 2, 3, 4, 5]);
    let asked = super::support::asking(WireFormat::OpenaiChat);
    let context = client.get_context(asked).await.unwrap().into_inner().context.unwrap();
    let shown = joined(&context);
    assert!(shown.find("one").unwrap() < shown.find("c2").unwrap());
    assert!(context.repairs.is_empty());
    running.stop().await.unwrap();
}

#[tokio::test]
async fn j5_a_key_is_of_one_session_and_one_content() {
    let mut talk = Talk::start("default", 100_000).await;
    talk.client.create_session(creating("t", "default", "", 100_000)).await.unwrap();
    let request = |session: &str, words: &str| pb::AppendTurnRequest {
        session_id: session.into(),
        messages: vec![user(words)],
        request_id: "k1".into(),
        ..Default::default()
    };
    let first = talk.client.append_turn(request("s", "once")).await.unwrap().into_inner();
    let again = talk.client.append_turn(request("s", "once")).await.unwrap().into_inner();
    assert_eq!((again.first_seq, again.replayed), (first.first_seq, true));
    let other = told(talk.client.append_turn(request("s", "other")).await);
    assert_eq!(other.reason, "IDEMPOTENCY_KEY_REUSED");
    let elsewhere = talk.client.append_turn(request("t", "other")).await.unwrap().into_inner();
    assert!(!elsewhere.replayed);
    let mut talk = talk.restart().await;
    let later = talk.client.append_turn(request("s", "once")).await.unwrap().into_inner();
    assert!(later.replayed);
    let rows = talk.history().await;
    assert_eq!(rows.len(), 1);
    assert_eq!(talk.values(WireFormat::OpenaiChat).await.len(), 1);
}

#[tokio::test]
async fn q1_i10_many_writers_leave_no_gap_and_every_context_stands() {
    let talk = Talk::start("default", 30_000).await;
    let writers = (0..16).map(|writer| {
        let mut client = talk.client.clone();
        tokio::spawn(async move {
            for nth in 0..6 {
                let lane = format!("w{writer}");
                let id = format!("{lane}-{nth}");
                for message in [
                    assistant(vec![call(&id, "bash", "{}")]),
                    results(vec![result(&id, format!("out {id} {}", "x ".repeat(150)))]),
                ] {
                    let request = pb::AppendTurnRequest {
                        session_id: "s".into(),
                        messages: vec![message],
                        lane: lane.clone(),
                        ..Default::default()
                    };
                    client.append_turn(request).await.unwrap();
                }
                let request = pb::GetContextRequest {
                    lane,
                    ..super::support::asking(WireFormat::AnthropicMessages)
                };
                let context = client.get_context(request).await.unwrap().into_inner();
                let shown = joined(&context.context.unwrap());
                assert!(shown.contains(&format!("out {id} ")), "its own newest result is there");
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let mut talk = talk;
    let seqs: Vec<i64> = talk.history().await.iter().map(|row| row.seq).collect();
    assert_eq!(seqs, (1..=192).collect::<Vec<_>>());
    talk.context(WireFormat::AnthropicMessages).await;
}

#[tokio::test]
async fn s2_names_that_look_alike_are_sessions_of_their_own() {
    let mut talk = Talk::start("default", 100_000).await;
    let bad = ["../../x", "a/b", "a:b", "", "é", "e\u{301}", "a b", "a\0b"];
    for id in bad.into_iter().filter(|id| !id.is_empty()) {
        let told = told(talk.client.create_session(creating(id, "default", "", 9000)).await);
        assert_eq!(told.code, Code::InvalidArgument, "{id:?}");
    }
    let long = "a".repeat(5000);
    let told = told(talk.client.create_session(creating(&long, "default", "", 9000)).await);
    assert_eq!(told.code, Code::InvalidArgument);
    for id in ["A", "a", "a_b", "a-b", "a.b", "CON"] {
        talk.client.create_session(creating(id, "default", "", 9000)).await.unwrap();
        let request = pb::AppendTurnRequest {
            session_id: id.into(),
            messages: vec![user(&format!("I am {id}"))],
            ..Default::default()
        };
        talk.client.append_turn(request).await.unwrap();
    }
    for id in ["A", "a", "a_b", "a-b", "a.b", "CON"] {
        let request = pb::GetContextRequest {
            session_id: id.into(),
            ..super::support::asking(WireFormat::OpenaiChat)
        };
        let context = talk.client.get_context(request).await.unwrap().into_inner();
        assert!(joined(&context.context.unwrap()).contains(&format!("\"I am {id}\"")));
    }
}
