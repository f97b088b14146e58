//! The write path.

use concertina::proto::v1::{self as pb, Role, WireFormat, block::Kind};
use tonic::Code;

use super::support::{
    TestServer, append, appending, call, create, history, is_told, is_wrong, message, read, result,
    seqs, text, told, user, with_session,
};

#[tokio::test]
async fn what_is_appended_is_read_back_as_it_was() {
    let (_server, mut client) = with_session().await;
    let mut sent = message(
        Role::Assistant,
        vec![text("thinking aloud"), call("c1", r#"{"b":1,"a":{"z":0}}"#)],
    );
    sent.blocks[0].extra_json = r#"{"citations":[1.50]}"#.into();
    sent.model = "m".into();
    sent.provider_id = "msg_1".into();
    let sent = vec![user("go on"), sent, message(Role::User, vec![result("c1", "done")])];
    let appended = append(&mut client, sent.clone()).await;
    assert_eq!((appended.first_seq, appended.last_seq, appended.replayed), (1, 3, false));
    assert_eq!(appended.warnings, []);
    let rows: Vec<_> =
        history(&mut client).await.into_iter().map(|it| it.message.unwrap()).collect();
    let messages: Vec<_> = rows.iter().map(|it| it.message.clone().unwrap()).collect();
    assert_eq!(messages, sent);
    let places: Vec<_> = rows.iter().map(|it| (it.seq, it.turn, it.round)).collect();
    assert_eq!(places, [(1, 1, 1), (2, 1, 2), (3, 1, 2)]);
    assert!(rows.iter().all(|it| it.digest.len() == 32 && it.tokens > 0));
}

#[tokio::test]
async fn j5_a_retry_returns_the_first_answer_also_after_a_restart() {
    let (server, mut client) = with_session().await;
    let request = |words: &str| pb::AppendTurnRequest {
        request_id: "k1".into(),
        ..appending(vec![user(words)])
    };
    let first = client.append_turn(request("once")).await.unwrap().into_inner();
    let second = client.append_turn(request("once")).await.unwrap().into_inner();
    assert_eq!((second.first_seq, second.revision), (first.first_seq, first.revision));
    assert_eq!((first.replayed, second.replayed), (false, true));
    let other = client.append_turn(request("twice")).await;
    is_told(other, Code::AlreadyExists, "IDEMPOTENCY_KEY_REUSED", &[]);

    let server = server.restart().await;
    let mut client = server.client().await;
    let third = client.append_turn(request("once")).await.unwrap().into_inner();
    assert_eq!((third.first_seq, third.replayed), (first.first_seq, true));
    let other = client.append_turn(request("twice")).await;
    is_told(other, Code::AlreadyExists, "IDEMPOTENCY_KEY_REUSED", &[]);
    assert_eq!(seqs(&history(&mut client).await), [1]);

    create(&mut client, "t").await;
    let elsewhere = pb::AppendTurnRequest { session_id: "t".into(), ..request("twice") };
    let elsewhere = client.append_turn(elsewhere).await.unwrap().into_inner();
    assert_eq!((elsewhere.first_seq, elsewhere.replayed), (1, false));
}

#[tokio::test]
async fn j5_a_known_request_id_wins_over_the_expected_seq() {
    let (_server, mut client) = with_session().await;
    let request = pb::AppendTurnRequest {
        request_id: "k1".into(),
        expected_next_seq: Some(1),
        ..appending(vec![user("once")])
    };
    client.append_turn(request.clone()).await.unwrap();
    assert!(client.append_turn(request).await.unwrap().into_inner().replayed);
}

#[tokio::test]
async fn an_append_that_expects_another_seq_writes_nothing() {
    let (_server, mut client) = with_session().await;
    let request = |expected| pb::AppendTurnRequest {
        expected_next_seq: Some(expected),
        ..appending(vec![user("hi")])
    };
    client.append_turn(request(1)).await.unwrap();
    let late = client.append_turn(request(1)).await;
    is_told(late, Code::Aborted, "SEQ_CONFLICT", &[("expected", "1"), ("found", "2")]);
    assert_eq!(seqs(&history(&mut client).await), [1]);
}

#[tokio::test]
async fn one_bad_message_keeps_all_of_them_out() {
    let (_server, mut client) = with_session().await;
    let messages = vec![user("fine"), user("fine"), message(Role::User, vec![call("c", "{}")])];
    is_wrong(client.append_turn(appending(messages)).await, &["messages[2].blocks[0].tool_use"]);
    assert_eq!(seqs(&history(&mut client).await), [0; 0]);
}

#[tokio::test]
async fn messages_take_author_lane_and_fingerprint_of_the_request() {
    let (_server, mut client) = with_session().await;
    let named = pb::Message { author: "ann".into(), lane: "own".into(), ..user("mine") };
    let request = pb::AppendTurnRequest {
        author: "bob".into(),
        lane: "shared".into(),
        context_fingerprint: "f".into(),
        ..appending(vec![named, message(Role::Assistant, vec![text("yours")])])
    };
    client.append_turn(request).await.unwrap();
    let rows = history(&mut client).await;
    let of = |index: usize| rows[index].message.clone().unwrap().message.unwrap();
    let told = |it: pb::Message| (it.author, it.lane, it.context_fingerprint);
    assert_eq!(told(of(0)), ("ann".into(), "own".into(), String::new()));
    assert_eq!(told(of(1)), ("bob".into(), "shared".into(), "f".into()));
}

#[tokio::test]
async fn oddities_are_stored_and_warned_of() {
    let (_server, mut client) = with_session().await;
    let messages = vec![
        message(Role::Assistant, vec![call("c1", "not json"), call("", "{}")]),
        message(Role::User, vec![result("c1", "a")]),
        message(Role::User, vec![result("c1", "b")]),
        message(Role::User, vec![result("nobody", "c")]),
        message(Role::Assistant, vec![call("c1", "{}")]),
    ];
    let appended = append(&mut client, messages).await;
    let warnings: Vec<_> = appended.warnings.iter().map(|it| (it.seq, &*it.reason)).collect();
    let expected = [
        (1, "INVALID_TOOL_INPUT"),
        (1, "EMPTY_CALL_ID"),
        (3, "RESULT_SUPERSEDED"),
        (4, "ORPHAN_RESULT"),
        (5, "DUPLICATE_CALL_ID"),
    ];
    assert_eq!(warnings, expected);
}

#[tokio::test]
async fn a_payload_is_stored_as_messages() {
    let (_server, mut client) = with_session().await;
    let json = r#"{"role":"user","content":[{"type":"text","text":"hi"}]}"#;
    let payload =
        pb::ProviderPayload { format: WireFormat::AnthropicMessages.into(), json: json.into() };
    let request = pb::AppendTurnRequest { payload: Some(payload), ..appending(Vec::new()) };
    client.append_turn(request).await.unwrap();
    let row = history(&mut client).await.remove(0).message.unwrap().message.unwrap();
    assert_eq!(row.format, i32::from(WireFormat::AnthropicMessages));
    assert_eq!(row.blocks[0].kind, Some(text("hi")));
}

#[tokio::test]
async fn a_payload_that_is_not_json_is_refused_with_its_place() {
    let (_server, mut client) = with_session().await;
    for json in ["{\"role\":", "[]", "7"] {
        let payload =
            pb::ProviderPayload { format: WireFormat::OpenaiChat.into(), json: json.into() };
        let request = pb::AppendTurnRequest { payload: Some(payload), ..appending(Vec::new()) };
        let told = told(client.append_turn(request).await);
        assert_eq!((told.code, &*told.reason), (Code::InvalidArgument, "INVALID_PAYLOAD"));
        let keys: Vec<_> = told.metadata.keys().map(String::as_str).collect();
        assert_eq!(keys, ["detail", "format", "position"], "{json}");
        assert_eq!(told.metadata["format"], "OPENAI_CHAT");
    }
    assert_eq!(seqs(&history(&mut client).await), [0; 0]);
}

#[tokio::test]
async fn l1_half_a_character_is_stored_as_it_came() {
    let (_server, mut client) = with_session().await;
    let input = r#"{"q":"A\ud99c B"}"#;
    let wtf8 =
        Kind::Text(pb::Text { raw: b"a\xed\xa0\x80b".as_slice().into(), ..Default::default() });
    let sent = vec![
        message(Role::Assistant, vec![call("c1", input)]),
        message(Role::User, vec![result("c1", r#"{"a":"\udc00"}"#)]),
        message(Role::User, vec![wtf8]),
    ];
    let appended = append(&mut client, sent.clone()).await;
    let warnings: Vec<_> = appended.warnings.iter().map(|it| (it.seq, &*it.reason)).collect();
    assert_eq!(warnings, [(1, "INVALID_TEXT"), (3, "INVALID_TEXT")]);
    let rows = history(&mut client).await;
    let messages: Vec<_> =
        rows.into_iter().map(|it| it.message.unwrap().message.unwrap()).collect();
    assert_eq!(messages, sent);
}

#[tokio::test]
async fn l5_bytes_that_are_no_text_are_stored_as_they_came() {
    let (_server, mut client) = with_session().await;
    let odd = "\u{feff}a\u{2028}b\u{2029}c\r\nd\0".to_owned();
    let sent = vec![
        message(Role::Assistant, vec![call("c1", "{}"), call("c2", "{}")]),
        message(
            Role::User,
            vec![result("c1", b"\xff\xfe\x00\x0a\x80".as_slice()), result("c2", odd)],
        ),
    ];
    append(&mut client, sent.clone()).await;
    let rows = history(&mut client).await;
    assert_eq!(rows[1].message.clone().unwrap().message.unwrap(), sent[1]);
}

#[tokio::test]
async fn a_history_is_read_in_parts_and_from_the_end() {
    let (_server, mut client) = with_session().await;
    for _ in 0..3 {
        append(&mut client, (0..300).map(|it| user(&it.to_string())).collect()).await;
    }
    let request = |first, last, newest_first, limit| pb::ReadHistoryRequest {
        session_id: "s".into(),
        first_seq: first,
        last_seq: last,
        newest_first,
        limit,
        ..Default::default()
    };
    let all: Vec<i64> = (1..=900).collect();
    let ask = request(None, None, false, 0);
    assert_eq!(seqs(&read(&mut client, ask).await.unwrap()), all);
    let reversed: Vec<i64> = (1..=900).rev().collect();
    let ask = request(None, None, true, 0);
    assert_eq!(seqs(&read(&mut client, ask).await.unwrap()), reversed);
    let ask = request(Some(7), Some(9), false, 0);
    assert_eq!(seqs(&read(&mut client, ask).await.unwrap()), [7, 8, 9]);
    let ask = request(Some(10), None, true, 2);
    assert_eq!(seqs(&read(&mut client, ask).await.unwrap()), [900, 899]);
    let beyond = read(&mut client, request(Some(901), None, false, 0)).await;
    let metadata = [("first_seq", "901"), ("last_seq", "901"), ("newest_seq", "900")];
    is_told(beyond, Code::NotFound, "RANGE_NOT_FOUND", &metadata);
}

#[tokio::test]
async fn i10_appends_of_many_callers_interleave_between_requests_only() {
    let (server, mut client) = with_session().await;
    let mut tasks = Vec::new();
    for writer in 0..8 {
        let mut client = server.client().await;
        tasks.push(tokio::spawn(async move {
            for _ in 0..10 {
                let words = format!("writer {writer}");
                append(&mut client, vec![user(&words), user(&words), user(&words)]).await;
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let rows = history(&mut client).await;
    assert_eq!(seqs(&rows), (1..=240).collect::<Vec<_>>());
    let messages: Vec<_> =
        rows.into_iter().map(|it| it.message.unwrap().message.unwrap()).collect();
    assert!(messages.chunks(3).all(|it| it[0] == it[1] && it[1] == it[2]));
}

#[tokio::test]
async fn q1_many_clients_append_without_an_error_while_one_reads() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    create(&mut client, "s").await;
    append(&mut client, vec![user("first")]).await;
    let writers: Vec<_> = (0..64)
        .map(|_| {
            let mut client = client.clone();
            tokio::spawn(async move { append(&mut client, vec![user("more")]).await.first_seq })
        })
        .collect();
    assert_eq!(seqs(&history(&mut client).await)[0], 1);
    let mut taken = Vec::new();
    for writer in writers {
        taken.push(writer.await.unwrap());
    }
    taken.sort_unstable();
    assert_eq!(taken, (2..=65).collect::<Vec<_>>());
}

#[tokio::test]
async fn r3_a_caller_that_goes_away_leaves_whole_appends_or_none() {
    let (_server, mut client) = with_session().await;
    let impatient: Vec<_> = (0..100)
        .map(|number: u64| {
            let mut client = client.clone();
            let words = number.to_string();
            tokio::spawn(async move {
                let request = appending(vec![user(&words), user(&words), user(&words)]);
                let patience = std::time::Duration::from_micros(number * 50);
                let outcome = tokio::time::timeout(patience, client.append_turn(request)).await;
                outcome.ok().map(|answer| answer.unwrap().into_inner().first_seq).is_some()
            })
        })
        .collect();
    let mut acknowledged = 0;
    for task in impatient {
        acknowledged += usize::from(task.await.unwrap());
    }
    // What is answered now comes after everything that was taken before.
    append(&mut client, vec![user("last"), user("last"), user("last")]).await;
    let rows = history(&mut client).await;
    let messages: Vec<_> =
        rows.iter().map(|it| it.message.clone().unwrap().message.unwrap()).collect();
    assert!(messages.len() >= 3 * (acknowledged + 1));
    assert_eq!(messages.len() % 3, 0);
    assert!(messages.chunks(3).all(|it| it[0] == it[1] && it[1] == it[2]));
    assert_eq!(seqs(&rows), (1..=i64::try_from(rows.len()).unwrap()).collect::<Vec<_>>());
}
