//! Pins.

use std::sync::Arc;

use concertina::{
    model::{OverlayId, Pin, PinId, Revision, Seq, SeqRange, ViewName},
    store::{Entity, Error, NewPin, PinRows, RollbackOverlay, Store},
};

use super::support::{
    appended, at, clear, collapse, commit, committed, created, deletion, ids, parts, pin, pins,
    reduced_at, request, revision, rollback, session, set, unpin, view_reduced_at,
};

type AnyStore = Arc<dyn Store>;

pub(super) async fn a_pin_holds_until_it_is_taken_away(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 9).await;
    let (made, at_revision, replayed) = store.pin(pin(&session, "p", 2, 4)).await.unwrap();
    let expected = Pin {
        id: PinId::new("p"),
        view: ViewName::main(),
        rows: SeqRange { first: Seq(2), last: Seq(4) },
        reason: "matters".into(),
        author: "pia".into(),
        create_time: at(7_000),
        since: Revision(3),
        until: None,
    };
    assert_eq!((&made, at_revision, replayed), (&expected, Revision(3), false));
    assert_eq!(store.list_pins(&session, &ViewName::main()).await.unwrap(), [expected]);
    let now = store.get_session(&session).await.unwrap();
    assert_eq!((now.revision, now.update_time, now.next_seq), (Revision(3), at(7_000), Seq(10)));
    assert_eq!(reduced_at(&*store, &session).await, 3);
    store.pin(pin(&session, "a", 4, 5)).await.unwrap();
    assert_eq!(pins(&*store, &session, "main").await, ["p", "a"], "by revision");
    assert_eq!(store.unpin(unpin(&session, "p")).await.unwrap(), Revision(5));
    assert_eq!(reduced_at(&*store, &session).await, 5);
    assert_eq!(store.get_session(&session).await.unwrap().update_time, at(7_500));
    assert_eq!(pins(&*store, &session, "main").await, ["a"]);
    for gone in ["p", "none"] {
        let err = store.unpin(unpin(&session, gone)).await.unwrap_err();
        assert!(matches!(err, Error::NotFound(Entity::Pin(id)) if id == gone));
    }
    assert_eq!(revision(&*store, &session).await, 5);
}

pub(super) async fn pins_are_of_a_view(store: AnyStore) {
    let session = created(&*store, "s").await;
    let of_small = |id: &str| NewPin { view: ViewName::new("small"), ..pin(&session, id, 1, 1) };
    let err = store.pin(of_small("p")).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::View(name)) if name == "small"));
    store.set_view(set(&session, "small", parts(None))).await.unwrap();
    store.pin(of_small("p")).await.unwrap();
    store.pin(pin(&session, "q", 1, 1)).await.unwrap();
    assert_eq!(pins(&*store, &session, "small").await, ["p"]);
    assert_eq!(pins(&*store, &session, "main").await, ["q"]);
    assert_eq!(view_reduced_at(&*store, &session, "small").await, 3);
    assert_eq!(reduced_at(&*store, &session).await, 4);
    let nowhere = self::session("nowhere");
    let is_session = |err| matches!(err, Error::NotFound(Entity::Session(id)) if id == "nowhere");
    assert!(is_session(store.pin(pin(&nowhere, "p", 1, 1)).await.unwrap_err()));
    assert!(is_session(store.unpin(unpin(&nowhere, "p")).await.unwrap_err()));
    assert!(is_session(store.list_pins(&nowhere, &ViewName::main()).await.unwrap_err()));
}

pub(super) async fn a_pin_outdates_what_was_planned_on_the_view(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 9).await;
    let planned_at = reduced_at(&*store, &session).await;
    store.pin(pin(&session, "p", 8, 8)).await.unwrap();
    let late = commit(&session, planned_at, vec![collapse("a", 1, 2)]);
    let err = store.commit_overlays(late).await.unwrap_err();
    assert!(matches!(err, Error::PlanOutdated { overlay: None }));
}

pub(super) async fn j5_a_repeated_pin_pins_once(store: AnyStore) {
    let session = created(&*store, "s").await;
    store.set_view(set(&session, "small", parts(None))).await.unwrap();
    let keyed = |id: &str, digest| NewPin {
        view: ViewName::new("small"),
        request: Some(request("k", digest)),
        ..pin(&session, id, 1, 1)
    };
    let (first, at_revision, _) = store.pin(keyed("p", 1)).await.unwrap();
    let again = store.pin(keyed("q", 1)).await.unwrap();
    assert_eq!(again, (first.clone(), at_revision, true), "an id that the server makes differs");
    assert!(matches!(store.pin(keyed("q", 2)).await.unwrap_err(), Error::RequestIdReused));
    let until = store.unpin(unpin(&session, "p")).await.unwrap();
    store.delete_view(deletion(&session, "small")).await.unwrap();
    let (pin, known_at, replayed) = store.pin(keyed("q", 1)).await.unwrap();
    assert_eq!((pin.until, known_at, replayed), (Some(until), at_revision, true), "as it is now");
    let other = created(&*store, "other").await;
    let elsewhere = NewPin { session: other, view: ViewName::main(), ..keyed("p", 2) };
    assert!(!store.pin(elsewhere).await.unwrap().2, "an id's scope is its session");
}

pub(super) async fn a_pin_id_is_given_once(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 9).await;
    store.pin(pin(&session, "p", 1, 1)).await.unwrap();
    store.unpin(unpin(&session, "p")).await.unwrap();
    committed(&*store, &session, vec![collapse("o", 1, 2)]).await.unwrap();
    let before = store.get_session(&session).await.unwrap();
    let err = store.pin(pin(&session, "p", 2, 2)).await.unwrap_err();
    assert!(matches!(err, Error::Backend(_)));
    let rows = SeqRange { first: Seq(1), last: Seq(2) };
    let pinning = RollbackOverlay {
        pin: Some(PinRows { id: PinId::new("p"), rows }),
        ..rollback(&session, "o")
    };
    let err = store.rollback_overlay(pinning).await.unwrap_err();
    assert!(matches!(err, Error::Backend(_)));
    assert_eq!(store.get_session(&session).await.unwrap(), before, "nothing happened");
    let overlay = store.get_overlay(&session, &OverlayId::new("o")).await.unwrap();
    assert_eq!(overlay.rollback, None);
    store.pin(pin(&session, "q", 2, 2)).await.expect("and all goes on");
}

pub(super) async fn a_rollback_pins_what_it_shows_again(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 9).await;
    let new = vec![clear("inside", 2, 3), collapse("o", 1, 4)];
    committed(&*store, &session, new).await.unwrap();
    let rows = SeqRange { first: Seq(1), last: Seq(4) };
    let pinning = RollbackOverlay {
        clears_too: true,
        pin: Some(PinRows { id: PinId::new("p"), rows }),
        ..rollback(&session, "o")
    };
    let done = store.rollback_overlay(pinning).await.unwrap();
    let expected = Pin {
        id: PinId::new("p"),
        view: ViewName::main(),
        rows,
        reason: "wrong".into(),
        author: "eve".into(),
        create_time: at(4_000),
        since: Revision(7),
        until: None,
    };
    assert_eq!(done.overlay.rollback.map(|it| it.revision), Some(Revision(5)));
    assert_eq!((done.revision, done.pin.as_ref()), (Revision(7), Some(&expected)));
    assert_eq!(store.list_pins(&session, &ViewName::main()).await.unwrap(), [expected]);
    assert_eq!(revision(&*store, &session).await, 7);
    assert_eq!(reduced_at(&*store, &session).await, 7);
    let left = store.list_overlays(&session, &ViewName::main(), false).await.unwrap();
    assert_eq!(ids(&left), [""; 0]);
}
