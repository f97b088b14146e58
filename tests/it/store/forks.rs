//! Forks: sessions that share the rows of another up to a point.

mod disk;
mod life;
mod past;
mod rounds;
mod twin;

use std::sync::Arc;

use concertina::{
    model::{Revision, Role, Seq, Session, SessionId},
    store::{
        Append, Entity, Error, ForkSession, NewRow, NewSession, Page, RowsQuery, SessionFilter,
        SessionRef, Store, UpdateSession,
    },
};

use self::life::{held, live};
pub(super) use self::{past::*, rounds::*};
use super::support::{
    all_rows, append, appended, at, collapse, committed, created, everything, message, model,
    new_session, parts, pin, request, result, rollback, row, seqs, session, session_of, set, words,
};

type AnyStore = Arc<dyn Store>;

pub(super) fn fork(origin: &SessionRef, id: &str, seq: Option<i64>) -> ForkSession {
    ForkSession {
        origin: origin.clone(),
        id: SessionId::new(id),
        seq: seq.map(Seq),
        display_name: String::new(),
        at: at(9_000),
        request: None,
    }
}

pub(super) async fn forked(
    store: &dyn Store,
    origin: &SessionRef,
    id: &str,
    seq: Option<i64>,
) -> SessionRef {
    store.fork_session(fork(origin, id, seq)).await.unwrap();
    session(id)
}

/// A result of one call.
fn answer(id: &str) -> NewRow {
    row(message(Role::User, "", vec![result(id, "ok")]))
}

pub(super) async fn i1_a_fork_has_the_rows_up_to_its_point(store: AnyStore) {
    let origin = created(&*store, "s").await;
    live(&*store, &origin, 7, 40).await;
    let rows = all_rows(&*store, &origin).await;
    for last in 1..=rows.len() {
        let id = format!("f{last}");
        let fork = forked(&*store, &origin, &id, Some(i64::try_from(last).unwrap())).await;
        assert_eq!(all_rows(&*store, &fork).await, rows[..last]);
        let made = store.get_session(&fork).await.unwrap();
        assert_eq!(made.next_seq, rows[last - 1].seq.next());
        let tokens: i64 = rows[..last].iter().map(|it| it.tokens.total).sum();
        assert_eq!(made.tokens, tokens);
    }
    let whole = forked(&*store, &origin, "whole", None).await;
    assert_eq!(all_rows(&*store, &whole).await, rows);
    assert_eq!(all_rows(&*store, &origin).await, rows, "the origin is as it was");
}

pub(super) async fn a_fork_is_named_by_its_request_and_its_origin(store: AnyStore) {
    created(&*store, "parent").await;
    let new = NewSession {
        display_name: "old".into(),
        labels: [("k".to_owned(), "v".to_owned())].into(),
        parent_session_id: "parent".into(),
        main: parts(Some(model("m"))),
        ..new_session(session("s"))
    };
    store.create_session(new).await.unwrap();
    appended(&*store, &session("s"), 2).await;
    let named = ForkSession { display_name: "new".into(), ..fork(&session("s"), "f", None) };
    let (made, replayed) = store.fork_session(named).await.unwrap();
    let origin = store.get_session(&session("s")).await.unwrap();
    let expected = Session {
        id: SessionId::new("f"),
        display_name: "new".into(),
        create_time: at(9_000),
        update_time: at(9_000),
        fork_origin: made.fork_origin.clone(),
        ..origin
    };
    assert_eq!((&made, replayed), (&expected, false));
    assert_eq!(store.get_session(&session("f")).await.unwrap(), expected);
    let (unnamed, _) = store.fork_session(fork(&session("s"), "g", Some(1))).await.unwrap();
    assert_eq!(unnamed.display_name, "old");
}

pub(super) async fn neither_session_shows_what_the_other_does(store: AnyStore) {
    let origin = created(&*store, "s").await;
    appended(&*store, &origin, 9).await;
    committed(&*store, &origin, vec![collapse("a", 1, 2), collapse("b", 3, 4)]).await.unwrap();
    let fork = forked(&*store, &origin, "f", None).await;
    let (rows, before) = (all_rows(&*store, &origin).await, held(&*store, &origin).await);
    assert_eq!(held(&*store, &fork).await, before);

    store.rollback_overlay(rollback(&fork, "a")).await.unwrap();
    committed(&*store, &fork, vec![collapse("mine", 1, 9)]).await.unwrap();
    store.set_view(set(&fork, "small", parts(Some(model("m"))))).await.unwrap();
    store.pin(pin(&fork, "mine", 5, 6)).await.unwrap();
    let done = store.append(append(&fork, vec![words("mine")])).await.unwrap();
    assert_eq!((done.first_seq, done.revision), (Seq(10), Revision(9)), "both go on");
    assert_eq!(held(&*store, &origin).await, before);
    assert_eq!(all_rows(&*store, &origin).await, rows);

    let after = held(&*store, &fork).await;
    appended(&*store, &origin, 3).await;
    store.rollback_overlay(rollback(&origin, "b")).await.unwrap();
    committed(&*store, &origin, vec![collapse("mine", 1, 9)]).await.unwrap();
    store.pin(pin(&origin, "mine", 1, 2)).await.unwrap();
    let name = UpdateSession {
        session: origin.clone(),
        display_name: Some("x".into()),
        labels: None,
        at: at(1),
    };
    store.update_session(name).await.unwrap();
    assert_eq!(held(&*store, &fork).await, after);
    let shown = all_rows(&*store, &fork).await;
    assert_eq!((seqs(&shown).len(), &shown[..9]), (10, &rows[..]));
    assert_eq!(shown[9].message, words("mine").message);
    assert_eq!(store.get_session(&fork).await.unwrap().display_name, "");
}

pub(super) async fn a_fork_reads_in_pages_over_its_border(store: AnyStore) {
    let origin = created(&*store, "s").await;
    appended(&*store, &origin, 6).await;
    let middle = forked(&*store, &origin, "f", Some(4)).await;
    appended(&*store, &middle, 3).await;
    let fork = forked(&*store, &middle, "g", Some(6)).await;
    appended(&*store, &fork, 3).await;
    appended(&*store, &origin, 5).await;
    appended(&*store, &middle, 5).await;
    let whole = all_rows(&*store, &fork).await;
    assert_eq!(seqs(&whole), (1..=9).collect::<Vec<_>>());
    for first in -1..=10 {
        for last in first..=10 {
            for (limit, newest_first) in [(1, false), (3, true), (3, false), (99, true)] {
                let (first, last) = (Seq(first), Seq(last));
                let query = RowsQuery { first, last, newest_first, limit, ..everything() };
                let mut expected: Vec<_> =
                    whole.iter().filter(|it| first <= it.seq && it.seq <= last).cloned().collect();
                if newest_first {
                    expected.reverse();
                }
                expected.truncate(limit);
                assert_eq!(store.read_rows(&fork, query).await.unwrap(), expected, "{query:?}");
            }
        }
    }
    let size = words("message 0").encoded.len();
    for (newest_first, expected) in [(false, [1, 2, 3]), (true, [9, 8, 7])] {
        let query = RowsQuery { newest_first, limit_bytes: 2 * size + 1, ..everything() };
        assert_eq!(seqs(&store.read_rows(&fork, query).await.unwrap()), expected);
    }
}

pub(super) async fn what_cannot_be_forked_is_told(store: AnyStore) {
    let origin = created(&*store, "s").await;
    appended(&*store, &origin, 3).await;
    store.create_session(new_session(session_of("other", "t"))).await.unwrap();
    let err = store.fork_session(fork(&session("t"), "f", None)).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::Session(id)) if id == "t"));
    for seq in [-1, 0, 4, i64::MAX] {
        let err = store.fork_session(fork(&origin, "f", Some(seq))).await.unwrap_err();
        assert!(matches!(err, Error::NotFound(Entity::Row(Seq(it))) if it == seq), "{err}");
    }
    let err = store.fork_session(fork(&origin, "s", Some(1))).await.unwrap_err();
    assert!(matches!(err, Error::AlreadyExists(id) if id == "s"));
    assert!(matches!(store.get_session(&session("f")).await.unwrap_err(), Error::NotFound(_)));
    assert_eq!(appended(&*store, &origin, 1).await.first_seq, Seq(4), "and all goes on");
}

pub(super) async fn an_empty_session_can_be_forked(store: AnyStore) {
    let origin = created(&*store, "s").await;
    let fork = forked(&*store, &origin, "f", None).await;
    let made = store.get_session(&fork).await.unwrap();
    assert_eq!((made.next_seq, made.revision, made.tokens), (Seq(1), Revision(1), 0));
    assert_eq!(made.fork_origin.map(|it| it.seq), Some(Seq(0)));
    assert_eq!(all_rows(&*store, &fork).await, []);
    appended(&*store, &origin, 2).await;
    let done = appended(&*store, &fork, 1).await;
    assert_eq!((done.first_seq, done.revision), (Seq(1), Revision(2)));
    assert_eq!(all_rows(&*store, &fork).await.len(), 1);
}

pub(super) async fn j5_a_repeated_fork_forks_once(store: AnyStore) {
    let origin = created(&*store, "s").await;
    let keyed = Append { request: Some(request("a", 1)), ..append(&origin, vec![words("x")]) };
    store.append(keyed.clone()).await.unwrap();
    let forking = |id: &str, digest| ForkSession {
        request: Some(request("k", digest)),
        ..fork(&origin, id, Some(1))
    };
    let (first, replayed) = store.fork_session(forking("f", 1)).await.unwrap();
    assert!(!replayed);
    appended(&*store, &origin, 1).await;
    let (again, replayed) = store.fork_session(forking("g", 1)).await.unwrap();
    assert_eq!((&again, replayed), (&first, true), "an id that the server makes differs");
    let err = store.fork_session(forking("g", 2)).await.unwrap_err();
    assert!(matches!(err, Error::RequestIdReused));
    let creating = NewSession { request: Some(request("k", 2)), ..new_session(session("g")) };
    let err = store.create_session(creating).await.unwrap_err();
    assert!(matches!(err, Error::RequestIdReused), "the scope is the namespace");
    let nowhere = ForkSession { origin: session("none"), ..forking("g", 1) };
    assert!(store.fork_session(nowhere).await.unwrap().1, "it wins over every other check");
    let own = Append { session: session("f"), ..keyed };
    assert!(!store.append(own).await.unwrap().replayed, "the origin's retries are not the fork's");
    store.delete_session(&session("f")).await.unwrap();
    assert!(!store.fork_session(forking("f", 1)).await.unwrap().1, "it went with the fork");
}

pub(super) async fn a_session_is_kept_while_forks_share_its_rows(store: AnyStore) {
    let origin = created(&*store, "s").await;
    appended(&*store, &origin, 3).await;
    committed(&*store, &origin, vec![collapse("o", 1, 2)]).await.unwrap();
    appended(&*store, &origin, 1).await;
    let middle = forked(&*store, &origin, "m", Some(3)).await;
    committed(&*store, &middle, vec![collapse("p", 1, 3)]).await.unwrap();
    let last = forked(&*store, &middle, "l", None).await;
    for number in 10..22 {
        forked(&*store, &last, &format!("x{number}"), None).await;
    }
    let shared = (all_rows(&*store, &last).await, held(&*store, &last).await);
    let refused = async |session: &SessionRef| match store.delete_session(session).await {
        Err(Error::HasForks(ids)) => ids,
        other => panic!("{other:?}"),
    };
    let ten: Vec<String> = (10..20).map(|number| format!("x{number}")).collect();
    assert_eq!(refused(&last).await, ten);
    assert_eq!(refused(&middle).await, ["l"]);
    assert_eq!(refused(&origin).await, ["m"]);
    for number in 10..22 {
        store.delete_session(&session(&format!("x{number}"))).await.unwrap();
    }
    assert_eq!((all_rows(&*store, &last).await, held(&*store, &last).await), shared);
    assert_eq!(all_rows(&*store, &origin).await.len(), 4);
    store.delete_session(&last).await.unwrap();
    assert_eq!(held(&*store, &middle).await.overlays[0].summary, "what 1 to 2 came to");
    assert_eq!(held(&*store, &middle).await.overlays[1].summary, "what 1 to 3 came to");
    store.delete_session(&middle).await.unwrap();
    assert_eq!(held(&*store, &origin).await.overlays[0].summary, "what 1 to 2 came to");
    store.delete_session(&origin).await.unwrap();
    assert!(matches!(store.get_session(&origin).await.unwrap_err(), Error::NotFound(_)));
}

pub(super) async fn forks_are_listed_by_their_origin(store: AnyStore) {
    let origin = created(&*store, "s").await;
    appended(&*store, &origin, 2).await;
    let other = created(&*store, "t").await;
    for (id, of) in [("a", &origin), ("b", &other), ("c", &origin)] {
        forked(&*store, of, id, None).await;
    }
    forked(&*store, &session("a"), "of-a", None).await;
    let list = async |of: &str| {
        let filter = SessionFilter {
            namespace: "default".into(),
            fork_origin_session_id: of.into(),
            ..SessionFilter::default()
        };
        let listed = store.list_sessions(&filter, Page { limit: 9, after: None }).await.unwrap();
        listed.iter().map(|it| it.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(list("s").await, ["c", "a"]);
    assert_eq!(list("a").await, ["of-a"]);
    assert_eq!(list("none").await, [""; 0]);
    assert_eq!(list("").await.len(), 6);
}
