//! Sessions: making, finding, naming and erasing them.

use std::sync::Arc;

use concertina::{
    model::{Revision, Seq, Timestamp, ViewName},
    store::{
        Entity, Error, ItemAt, NewSession, Page, Readiness, SessionFilter, Store, UpdateSession,
    },
};

use super::support::{
    all_rows, append, appended, at, collapse, committed, created, everything, model, new_session,
    parts, request, revision, session, session_of, view_of, words,
};

type AnyStore = Arc<dyn Store>;

pub(super) async fn a_new_session_has_its_main_view_at_revision_1(store: AnyStore) {
    created(&*store, "parent").await;
    let new = NewSession {
        display_name: "Näme".into(),
        labels: [("k".to_owned(), "v".to_owned())].into(),
        parent_session_id: "parent".into(),
        main: parts(Some(model("m"))),
        at: Timestamp { seconds: 5, nanos: 1_999 },
        ..new_session(session("s"))
    };
    let (made, replayed) = store.create_session(new.clone()).await.unwrap();
    assert!(!replayed);
    assert_eq!((made.next_seq, made.revision, made.tokens), (Seq(1), Revision(1), 0));
    assert_eq!((made.display_name.as_str(), &made.labels), ("Näme", &new.labels));
    assert_eq!(made.parent_session_id, "parent");
    assert_eq!(made.create_time, Timestamp { seconds: 5, nanos: 1_000 }, "kept to the microsecond");
    assert_eq!(made.update_time, made.create_time);
    assert_eq!(made.views, [view_of(ViewName::main(), new.main, 1)]);
    assert_eq!(store.get_session(&session("s")).await.unwrap(), made);
}

pub(super) async fn an_id_is_taken_once(store: AnyStore) {
    created(&*store, "s").await;
    let err = store.create_session(new_session(session("s"))).await.unwrap_err();
    assert!(matches!(err, Error::AlreadyExists(id) if id == "s"));
    store.create_session(new_session(session_of("other", "s"))).await.unwrap();
}

pub(super) async fn a_parent_must_be_there(store: AnyStore) {
    created(&*store, "a").await;
    store.create_session(new_session(session_of("other", "b"))).await.unwrap();
    let child = |parent: &str| NewSession {
        parent_session_id: parent.into(),
        ..new_session(session("child"))
    };
    let err = store.create_session(child("b")).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::Session(id)) if id == "b"));
    store.create_session(child("a")).await.unwrap();
}

pub(super) async fn s2_ids_that_differ_only_in_case_are_two_sessions(store: AnyStore) {
    let ids = ["a", "A", "CON", "con", "é", "e\u{301}", "a_b", "a:b", "."];
    for (id, rows) in ids.iter().zip(1..) {
        let session = created(&*store, id).await;
        appended(&*store, &session, rows).await;
    }
    for (id, rows) in ids.iter().zip(1..) {
        assert_eq!(all_rows(&*store, &session(id)).await.len(), rows, "{id}");
    }
}

pub(super) async fn a_session_of_another_namespace_answers_as_an_absent_one(store: AnyStore) {
    created(&*store, "s").await;
    let other = session_of("other", "s");
    let absent = |err| matches!(err, Error::NotFound(Entity::Session(id)) if id == "s");
    assert!(absent(store.get_session(&other).await.unwrap_err()));
    assert!(absent(store.append(append(&other, vec![words("x")])).await.unwrap_err()));
    assert!(absent(store.read_rows(&other, everything()).await.unwrap_err()));
    assert!(absent(store.list_items(&other, ItemAt::Now).await.unwrap_err()));
    assert!(absent(store.list_overlays(&other, &ViewName::main(), true).await.unwrap_err()));
    assert!(absent(store.delete_session(&other).await.unwrap_err()));
    let filter = SessionFilter { namespace: "other".into(), ..SessionFilter::default() };
    assert_eq!(store.list_sessions(&filter, Page { limit: 9, after: None }).await.unwrap(), []);
}

pub(super) async fn sessions_are_listed_newest_first_in_pages(store: AnyStore) {
    for (id, seconds, label) in [("a", 3, "x"), ("b", 1, "x"), ("c", 2, "y"), ("d", 2, "x")] {
        let labels = [("l".to_owned(), label.to_owned()), ("other".to_owned(), "'\"".to_owned())];
        let parent_session_id = if id == "d" { "a".into() } else { String::new() };
        let new = NewSession {
            labels: labels.into(),
            parent_session_id,
            at: at(seconds),
            ..new_session(session(id))
        };
        store.create_session(new).await.unwrap();
    }
    store.create_session(new_session(session_of("other", "z"))).await.unwrap();
    let all = SessionFilter { namespace: "default".into(), ..SessionFilter::default() };
    assert_eq!(ids(&store, &all, 9).await, ["a", "d", "c", "b"]);
    assert_eq!(ids(&store, &all, 1).await, ["a", "d", "c", "b"]);
    assert_eq!(ids(&store, &all, 3).await, ["a", "d", "c", "b"]);
    let label = |key: &str, value: &str| [(key.to_owned(), value.to_owned())].into();
    let bearing = SessionFilter { labels: label("l", "x"), ..all.clone() };
    assert_eq!(ids(&store, &bearing, 2).await, ["a", "d", "b"]);
    let quoted = SessionFilter { labels: label("other", "'\""), ..all.clone() };
    assert_eq!(ids(&store, &quoted, 9).await.len(), 4);
    let none = SessionFilter { labels: label("l", "X"), ..all.clone() };
    assert_eq!(ids(&store, &none, 9).await, [""; 0]);
    let children = SessionFilter { parent_session_id: "a".into(), ..all };
    assert_eq!(ids(&store, &children, 9).await, ["d"]);
}

/// The ids of all pages of `limit` sessions.
async fn ids(store: &AnyStore, filter: &SessionFilter, limit: usize) -> Vec<String> {
    let mut ids = Vec::new();
    let mut after = None;
    loop {
        let found = store.list_sessions(filter, Page { limit, after }).await.unwrap();
        assert!(found.len() <= limit);
        assert!(found.iter().all(|it| it.views.len() == 1));
        let Some(last) = found.last() else { return ids };
        after = Some((last.create_time, last.id.to_string()));
        ids.extend(found.iter().map(|it| it.id.to_string()));
    }
}

pub(super) async fn names_change_as_far_as_they_are_given(store: AnyStore) {
    let session = created(&*store, "s").await;
    let update = |name: Option<&str>, label: Option<&str>| UpdateSession {
        session: session.clone(),
        display_name: name.map(Into::into),
        labels: label.map(|it| [(it.to_owned(), String::new())].into()),
        at: at(9_000),
    };
    let named = store.update_session(update(Some("n"), None)).await.unwrap();
    assert_eq!((named.display_name.as_str(), named.labels.len()), ("n", 0));
    assert_eq!((named.revision, named.update_time), (Revision(2), at(9_000)));
    let labelled = store.update_session(update(None, Some("l"))).await.unwrap();
    assert_eq!((labelled.display_name.as_str(), labelled.revision), ("n", Revision(3)));
    assert!(labelled.labels.contains_key("l"));
    let same = store.update_session(update(Some("n"), Some("l"))).await.unwrap();
    assert_eq!(same, labelled, "setting what is there changes nothing");
    assert_eq!(store.get_session(&session).await.unwrap(), labelled);
    assert_eq!(labelled.create_time, at(1_000));
}

pub(super) async fn j5_a_repeated_creation_creates_once(store: AnyStore) {
    let new = |id: &str, digest| NewSession {
        request: Some(request("k", digest)),
        ..new_session(session(id))
    };
    let (first, _) = store.create_session(new("s", 1)).await.unwrap();
    let (again, replayed) = store.create_session(new("t", 1)).await.unwrap();
    assert_eq!((&again, replayed), (&first, true), "an id that the server makes differs");
    let err = store.create_session(new("u", 2)).await.unwrap_err();
    assert!(matches!(err, Error::RequestIdReused));
    let elsewhere =
        NewSession { request: Some(request("k", 2)), ..new_session(session_of("other", "s")) };
    assert!(!store.create_session(elsewhere).await.unwrap().1, "an id's scope is its namespace");
    let err = store.get_session(&session("t")).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(_)));
}

pub(super) async fn a_deleted_session_is_gone_and_its_id_is_free(store: AnyStore) {
    let new = NewSession { request: Some(request("k", 1)), ..new_session(session("s")) };
    store.create_session(new.clone()).await.unwrap();
    created(&*store, "t").await;
    let s = session("s");
    for _ in 0..3 {
        appended(&*store, &s, 200).await;
        appended(&*store, &session("t"), 1).await;
    }
    committed(&*store, &s, vec![collapse("o", 1, 9)]).await.unwrap();
    store.delete_session(&s).await.unwrap();
    assert!(matches!(store.get_session(&s).await.unwrap_err(), Error::NotFound(_)));
    assert!(matches!(store.delete_session(&s).await.unwrap_err(), Error::NotFound(_)));
    let err = store.append(append(&s, vec![words("x")])).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(_)));

    let (_, replayed) = store.create_session(new).await.unwrap();
    assert!(!replayed, "its request id went with it");
    assert_eq!(all_rows(&*store, &s).await, []);
    assert_eq!(store.list_overlays(&s, &ViewName::main(), true).await.unwrap(), []);
    assert_eq!(appended(&*store, &s, 1).await.first_seq, Seq(1));
    assert_eq!(all_rows(&*store, &session("t")).await.len(), 3);
    assert_eq!(revision(&*store, &session("t")).await, 4);
}

pub(super) async fn a_closed_store_refuses(store: AnyStore) {
    let session = created(&*store, "s").await;
    assert_eq!(store.readiness().await, Readiness::Ready);
    store.close().await;
    store.close().await;
    assert!(matches!(store.readiness().await, Readiness::NotReady(_)));
    let err = store.append(append(&session, vec![words("x")])).await.unwrap_err();
    assert!(matches!(err, Error::Closed));
    assert!(matches!(store.get_session(&session).await.unwrap_err(), Error::Closed));
    assert!(matches!(store.read_rows(&session, everything()).await.unwrap_err(), Error::Closed));
    assert!(matches!(store.expire(at(1)).await.unwrap_err(), Error::Closed));
}
