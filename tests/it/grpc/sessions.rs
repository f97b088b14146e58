//! Sessions: made, found, renamed, erased.

use std::collections::{BTreeSet, HashMap};

use concertina::proto::v1::{self as pb};
use prost_types::FieldMask;
use tonic::Code;

use super::support::{
    Sessions, TestServer, append, appending, create, is_told, is_wrong, user, with_session,
};

async fn get(client: &mut Sessions, id: &str) -> Result<pb::Session, tonic::Status> {
    let request = pb::GetSessionRequest { session_id: id.into(), ..Default::default() };
    Ok(client.get_session(request).await?.into_inner().session.unwrap())
}

#[tokio::test]
async fn a_session_without_a_name_gets_one_and_a_warning_about_its_model() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let request = pb::CreateSessionRequest::default();
    let created = client.create_session(request).await.unwrap().into_inner();
    let session = created.session.unwrap();
    assert_eq!(session.id.len(), 36);
    assert_eq!((session.next_seq, session.revision), (1, 1));
    assert_eq!(session.views[0].name, "main");
    assert!(created.warnings[0].contains("128000"), "{:?}", created.warnings);
    assert_eq!(get(&mut client, &session.id).await.unwrap(), session);
}

#[tokio::test]
async fn a_taken_id_is_refused_and_a_retry_is_not() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let request = |name: &str| pb::CreateSessionRequest {
        session_id: "s".into(),
        display_name: name.into(),
        request_id: "k".into(),
        ..Default::default()
    };
    let first = client.create_session(request("a")).await.unwrap().into_inner().session;
    let again = client.create_session(request("a")).await.unwrap().into_inner().session;
    assert_eq!(first, again);
    let other = client.create_session(request("b")).await;
    is_told(other, Code::AlreadyExists, "IDEMPOTENCY_KEY_REUSED", &[]);
    let taken = pb::CreateSessionRequest { request_id: String::new(), ..request("a") };
    let taken = client.create_session(taken).await;
    is_told(taken, Code::AlreadyExists, "SESSION_EXISTS", &[("session_id", "s")]);
}

#[tokio::test]
async fn a_view_that_is_not_there_is_not_found() {
    let (_server, mut client) = with_session().await;
    let request = pb::GetSessionRequest { session_id: "s".into(), view: "wide".into() };
    let answer = client.get_session(request).await;
    is_told(answer, Code::NotFound, "VIEW_NOT_FOUND", &[("view", "wide")]);
}

#[tokio::test]
async fn a_parent_must_be_there() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let request =
        pb::CreateSessionRequest { parent_session_id: "nobody".into(), ..Default::default() };
    let answer = client.create_session(request).await;
    is_told(answer, Code::NotFound, "SESSION_NOT_FOUND", &[("session_id", "nobody")]);
}

#[tokio::test]
async fn names_and_labels_are_bounded() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let labels = |count: usize| (0..count).map(|it| (it.to_string(), String::new())).collect();
    let base = pb::CreateSessionRequest::default;
    let many = pb::CreateSessionRequest { labels: labels(65), ..base() };
    is_wrong(client.create_session(many).await, &["labels"]);
    let long = HashMap::from([("k".to_owned(), "x".repeat(1025))]);
    let long = pb::CreateSessionRequest { labels: long, ..base() };
    is_wrong(client.create_session(long).await, &["labels[`k`]"]);
    let name = pb::CreateSessionRequest { display_name: "x".repeat(1025), ..base() };
    is_wrong(client.create_session(name).await, &["display_name"]);
    let enough = pb::CreateSessionRequest { labels: labels(64), ..base() };
    assert!(client.create_session(enough).await.is_ok());
}

#[tokio::test]
async fn s2_bad_ids_are_refused_and_ids_that_differ_stay_apart() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    let long = "x".repeat(5000);
    for id in ["../../x", "a/b", "a:b", "é", "e\u{301}", "a b", &long] {
        let request = pb::CreateSessionRequest { session_id: id.into(), ..Default::default() };
        is_wrong(client.create_session(request).await, &["session_id"]);
    }
    let ids = [".", "..", "CON", "a_b", "a.b", "a-b", "A", "a"];
    for id in ids {
        create(&mut client, id).await;
        let request = pb::AppendTurnRequest { session_id: id.into(), ..appending(vec![user(id)]) };
        assert_eq!(client.append_turn(request).await.unwrap().into_inner().first_seq, 1);
    }
    for id in ids {
        assert_eq!(get(&mut client, id).await.unwrap().next_seq, 2, "{id}");
    }
}

#[tokio::test]
async fn an_update_sets_what_its_mask_names() {
    let (_server, mut client) = with_session().await;
    let update = |name: &str, mask: &[&str]| pb::UpdateSessionRequest {
        session: Some(pb::Session {
            id: "s".into(),
            display_name: name.into(),
            labels: HashMap::from([("team".into(), name.into())]),
            ..Default::default()
        }),
        update_mask: Some(FieldMask { paths: mask.iter().map(|it| (*it).into()).collect() }),
    };
    let updated = client.update_session(update("one", &["display_name"])).await.unwrap();
    let session = updated.into_inner().session.unwrap();
    assert_eq!((&*session.display_name, session.labels.len()), ("one", 0));
    let updated = client.update_session(update("two", &[])).await.unwrap();
    let session = updated.into_inner().session.unwrap();
    assert_eq!((&*session.display_name, &*session.labels["team"]), ("two", "two"));
    let wrong = client.update_session(update("x", &["labels", "revision"])).await;
    is_wrong(wrong, &["update_mask.paths[1]"]);
}

#[tokio::test]
async fn a_deleted_session_is_gone() {
    let (_server, mut client) = with_session().await;
    append(&mut client, vec![user("x")]).await;
    client.delete_session(pb::DeleteSessionRequest { session_id: "s".into() }).await.unwrap();
    let gone = get(&mut client, "s").await;
    is_told(gone, Code::NotFound, "SESSION_NOT_FOUND", &[("session_id", "s")]);
    assert_eq!(create(&mut client, "s").await.next_seq, 1, "the id is free again");
}

async fn list(client: &mut Sessions, request: pb::ListSessionsRequest) -> (Vec<String>, String) {
    let listed = client.list_sessions(request).await.unwrap().into_inner();
    let ids = listed.sessions.into_iter().map(|it| it.id).collect();
    (ids, listed.next_page_token)
}

#[tokio::test]
async fn pages_hold_every_session_once() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    for number in 0..23 {
        create(&mut client, &format!("s{number}")).await;
    }
    let (mut seen, mut token) = (Vec::new(), String::new());
    loop {
        let request =
            pb::ListSessionsRequest { page_size: 5, page_token: token, ..Default::default() };
        let (ids, next) = list(&mut client, request).await;
        assert!(ids.len() <= 5);
        // What is made while somebody pages stands before the first page.
        create(&mut client, &format!("later{}", seen.len())).await;
        seen.extend(ids);
        token = next;
        if token.is_empty() {
            break;
        }
    }
    let unique: BTreeSet<_> = seen.iter().collect();
    assert_eq!((seen.len(), unique.len()), (23, 23));
    assert_eq!(seen[0], "s22", "newest first");
}

#[tokio::test]
async fn a_page_token_of_another_query_is_refused() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    for number in 0..3 {
        create(&mut client, &format!("s{number}")).await;
    }
    let request = pb::ListSessionsRequest { page_size: 1, ..Default::default() };
    let (_, token) = list(&mut client, request).await;
    assert_ne!(token, "");
    let other = pb::ListSessionsRequest {
        page_token: token,
        labels: HashMap::from([("a".into(), "b".into())]),
        ..Default::default()
    };
    let answer = client.list_sessions(other).await;
    is_told(answer, Code::InvalidArgument, "INVALID_PAGE_TOKEN", &[]);
    let damaged = pb::ListSessionsRequest { page_token: "x".into(), ..Default::default() };
    let answer = client.list_sessions(damaged).await;
    is_told(answer, Code::InvalidArgument, "INVALID_PAGE_TOKEN", &[]);
    let negative = pb::ListSessionsRequest { page_size: -1, ..Default::default() };
    is_wrong(client.list_sessions(negative).await, &["page_size"]);
}

#[tokio::test]
async fn lists_are_filtered_by_labels_and_parent() {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    for (id, label, parent) in [("p", "x", ""), ("c1", "x", "p"), ("c2", "y", "p")] {
        let request = pb::CreateSessionRequest {
            session_id: id.into(),
            labels: HashMap::from([("l".into(), label.into())]),
            parent_session_id: parent.into(),
            ..Default::default()
        };
        client.create_session(request).await.unwrap();
    }
    let labels = HashMap::from([("l".into(), "x".into())]);
    let by_label = pb::ListSessionsRequest { labels: labels.clone(), ..Default::default() };
    assert_eq!(list(&mut client, by_label).await.0, ["c1", "p"]);
    let by_parent = pb::ListSessionsRequest { parent_session_id: "p".into(), ..Default::default() };
    assert_eq!(list(&mut client, by_parent).await.0, ["c2", "c1"]);
    let both =
        pb::ListSessionsRequest { labels, parent_session_id: "p".into(), ..Default::default() };
    assert_eq!(list(&mut client, both).await.0, ["c1"]);
    let forks =
        pb::ListSessionsRequest { fork_origin_session_id: "p".into(), ..Default::default() };
    assert_eq!(list(&mut client, forks).await.0, [""; 0]);
}
