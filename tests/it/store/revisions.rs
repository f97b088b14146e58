//! What changed at each revision, and how things stood there.

use std::sync::Arc;

use bytes::Bytes;
use concertina::{
    model::{
        Change, ContextItem, OverlayId, PinId, Placement, Revision, RevisionEntry, Role, Seq,
        SeqRange, Timestamp, ViewName, WireFormat,
    },
    store::{
        Append, CommitOverlays, Entity, Error, Page, PinRows, RollbackOverlay, SessionRef, SetItem,
        Store, UpdateSession,
    },
};

use super::support::{
    append, appended, at, call, clear, collapse, commit, committed, created, deletion, ids,
    message, model, parts, pin, reduced_at, revision, rollback, row, session, set, unpin, view_of,
    words,
};

type AnyStore = Arc<dyn Store>;

async fn all(store: &AnyStore, session: &SessionRef) -> Vec<RevisionEntry> {
    store.list_revisions(session, Page { limit: usize::MAX, after: None }).await.unwrap()
}

fn entry(revision: i64, time: Timestamp, author: &str, change: Change) -> RevisionEntry {
    RevisionEntry { revision: Revision(revision), time, author: author.into(), change }
}

fn item(view: Option<&str>, content: &'static str) -> ContextItem {
    ContextItem {
        name: "tools".into(),
        placement: Placement::Tools,
        content: Bytes::from_static(content.as_bytes()),
        format: Some(WireFormat::AnthropicMessages),
        view: view.map(ViewName::new),
        tokens: 5,
    }
}

fn set_item(session: &SessionRef, item: ContextItem) -> SetItem {
    SetItem { session: session.clone(), item, author: "ida".into(), at: at(5_500) }
}

pub(super) async fn each_revision_tells_what_it_changed(store: AnyStore) {
    let session = created(&*store, "s").await;
    let rows = vec![
        row(message(Role::Assistant, "side", vec![call("a")])),
        row(message(Role::Assistant, "other", vec![call("b")])),
    ];
    store.append(append(&session, rows)).await.unwrap();
    appended(&*store, &session, 5).await;
    let (small, _) = store.set_view(set(&session, "small", parts(Some(model("m"))))).await.unwrap();
    committed(&*store, &session, vec![collapse("o", 1, 2), clear("c", 1, 1)]).await.unwrap();
    let rows = SeqRange { first: Seq(1), last: Seq(2) };
    let pinning = RollbackOverlay {
        pin: Some(PinRows { id: PinId::new("p"), rows }),
        ..rollback(&session, "o")
    };
    let rolled_back = store.rollback_overlay(pinning).await.unwrap();
    store.pin(pin(&session, "q", 3, 3)).await.unwrap();
    store.unpin(unpin(&session, "p")).await.unwrap();
    store.set_item(set_item(&session, item(Some("small"), "[]"))).await.unwrap();
    store.set_item(set_item(&session, item(None, "[]"))).await.unwrap();
    store.set_item(set_item(&session, item(None, "[1]"))).await.unwrap();
    let removal = ContextItem { tokens: 0, format: None, ..item(None, "") };
    store.set_item(set_item(&session, removal)).await.unwrap();
    store.delete_view(deletion(&session, "small")).await.unwrap();

    let clear = store.get_overlay(&session, &OverlayId::new("c")).await.unwrap();
    let pinned = rolled_back.pin.unwrap();
    let p = concertina::model::Pin { until: Some(Revision(10)), ..pinned };
    let q = store.list_pins(&session, &ViewName::main()).await.unwrap().remove(0);
    let appended = |first, last, lane: &str| Change::Appended {
        first: Seq(first),
        last: Seq(last),
        lane: lane.into(),
    };
    let was_set = |item| Change::ItemSet(Box::new(ContextItem { content: Bytes::new(), ..item }));
    let o = Box::new(rolled_back.overlay);
    let main = view_of(ViewName::main(), parts(None), 1);
    let expected = [
        entry(1, at(1_000), "", Change::ViewSet(Box::new(main))),
        entry(2, at(2_000), "ann", appended(1, 2, "side")),
        entry(3, at(2_000), "ann", appended(3, 7, "")),
        entry(4, at(5_000), "ann", Change::ViewSet(Box::new(small))),
        entry(5, at(3_000), "bob", Change::OverlayCommitted(o.clone())),
        entry(6, at(3_000), "bob", Change::OverlayCommitted(Box::new(clear))),
        entry(7, at(4_000), "eve", Change::OverlayRolledBack(o)),
        entry(8, at(4_000), "eve", Change::Pinned(p.clone())),
        entry(9, at(7_000), "pia", Change::Pinned(q)),
        entry(10, at(7_500), "", Change::Unpinned(p)),
        entry(11, at(5_500), "ida", was_set(item(Some("small"), ""))),
        entry(12, at(5_500), "ida", was_set(item(None, ""))),
        entry(13, at(5_500), "ida", was_set(item(None, ""))),
        entry(14, at(5_500), "ida", was_set(ContextItem { tokens: 0, ..item(None, "") })),
        entry(15, at(6_000), "", Change::ViewDeleted(ViewName::new("small"))),
    ];
    let found = all(&store, &session).await;
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
}

pub(super) async fn names_are_told_as_they_were_set(store: AnyStore) {
    let session = created(&*store, "s").await;
    let update = |name: Option<&str>, label: Option<&str>| UpdateSession {
        session: session.clone(),
        display_name: name.map(Into::into),
        labels: label.map(|it| [(it.to_owned(), "v".to_owned())].into()),
        at: at(9_000),
    };
    for (name, label) in
        [(Some("n"), None), (None, Some("l")), (Some("n"), None), (Some("m"), Some("k"))]
    {
        store.update_session(update(name, label)).await.unwrap();
    }
    let updated = |name: &str, labels: &[&str]| Change::SessionUpdated {
        display_name: name.into(),
        labels: labels.iter().map(|it| ((*it).to_owned(), "v".to_owned())).collect(),
    };
    let found = all(&store, &session).await;
    let expected = [
        entry(2, at(9_000), "", updated("n", &[])),
        entry(3, at(9_000), "", updated("n", &["l"])),
        entry(4, at(9_000), "", updated("m", &["k"])),
    ];
    assert_eq!(found[1..], expected);
}

pub(super) async fn revisions_come_in_pages(store: AnyStore) {
    let session = created(&*store, "s").await;
    for n in 0..12 {
        appended(&*store, &session, n % 3 + 1).await;
        if n % 4 == 0 {
            let id = n.to_string();
            store.pin(pin(&session, &id, 1, 1)).await.unwrap();
        }
    }
    let whole = all(&store, &session).await;
    assert_eq!(whole.len(), 16);
    for limit in [1, 3, 16, 100] {
        let mut pages = Vec::new();
        let mut after = None;
        loop {
            let page = store.list_revisions(&session, Page { limit, after }).await.unwrap();
            assert!(page.len() <= limit);
            let Some(last) = page.last() else { break };
            after = Some(last.revision);
            pages.extend(page);
        }
        assert_eq!(pages, whole, "{limit} at a time");
    }
    let past = Page { limit: 9, after: Some(Revision(99)) };
    assert_eq!(store.list_revisions(&session, past).await.unwrap(), []);
    let none = Page { limit: 0, after: None };
    assert_eq!(store.list_revisions(&session, none).await.unwrap(), []);
    let nowhere = self::session("none");
    let page = Page { limit: 1, after: None };
    let err = store.list_revisions(&nowhere, page).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::Session(_))));
}

pub(super) async fn i8_an_earlier_state_is_what_was_there_then(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 9).await; // 2
    committed(&*store, &session, vec![collapse("a", 1, 2), collapse("b", 3, 4)]).await.unwrap(); // 4
    appended(&*store, &session, 1).await; // 5
    let superseding = CommitOverlays {
        supersedes: vec![OverlayId::new("b")],
        ..commit(&session, reduced_at(&*store, &session).await, vec![collapse("c", 3, 6)])
    };
    store.commit_overlays(superseding).await.unwrap(); // 6, 7
    store.rollback_overlay(rollback(&session, "a")).await.unwrap(); // 8
    let policy = parts(Some(model("m")));
    store.set_view(set(&session, "main", policy.clone())).await.unwrap(); // 9
    store.pin(pin(&session, "p", 1, 1)).await.unwrap(); // 10
    store.unpin(unpin(&session, "p")).await.unwrap(); // 11
    appended(&*store, &session, 2).await; // 12

    let main = ViewName::main();
    let expected: [(i64, &[&str], i64); 12] = [
        (1, &[], 1),
        (1, &[], 10),
        (3, &["a"], 10),
        (4, &["a", "b"], 10),
        (4, &["a", "b"], 11),
        (6, &["a", "b", "c"], 11),
        (7, &["a", "c"], 11),
        (8, &["c"], 11),
        (9, &["c"], 11),
        (10, &["c"], 11),
        (11, &["c"], 11),
        (11, &["c"], 13),
    ];
    for ((reduced_at, overlays, next_seq), at_revision) in expected.into_iter().zip(1..) {
        let state = store.state_at(&session, &main, Revision(at_revision)).await.unwrap();
        assert_eq!(ids(&state.overlays), overlays, "at {at_revision}");
        assert_eq!(state.next_seq, Seq(next_seq), "at {at_revision}");
        let set_to = if at_revision < 9 { parts(None) } else { policy.clone() };
        assert_eq!(state.view, view_of(main.clone(), set_to, reduced_at), "at {at_revision}");
    }
    let of_then = store.state_at(&session, &main, Revision(4)).await.unwrap();
    let a = store.get_overlay(&session, &OverlayId::new("a")).await.unwrap();
    assert_eq!(of_then.overlays[0], a, "as it is now");
}

pub(super) async fn a_deleted_view_is_there_at_its_revisions(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 9).await; // 2
    let small = ViewName::new("small");
    for (id, at_revision) in [("a", 3), ("b", 6)] {
        store.set_view(set(&session, "small", parts(None))).await.unwrap(); // 3, 6
        let overlay = CommitOverlays {
            view: small.clone(),
            ..commit(&session, at_revision, vec![collapse(id, 1, 2)])
        };
        store.commit_overlays(overlay).await.unwrap(); // 4, 7
        store.delete_view(deletion(&session, "small")).await.unwrap(); // 5, 8
    }
    store.set_view(set(&session, "small", parts(None))).await.unwrap(); // 9
    for (at_revision, expected) in [
        (1, None),
        (2, None),
        (3, Some(vec![])),
        (4, Some(vec!["a"])),
        (5, None),
        (6, Some(vec![])),
        (7, Some(vec!["b"])),
        (8, None),
        (9, Some(vec![])),
    ] {
        match (store.state_at(&session, &small, Revision(at_revision)).await, expected) {
            (Ok(state), Some(expected)) => assert_eq!(ids(&state.overlays), expected),
            (Err(Error::NotFound(Entity::View(name))), None) => assert_eq!(name, "small"),
            (found, _) => panic!("at {at_revision}: {found:?}"),
        }
    }
}

pub(super) async fn a_revision_that_is_not_there_is_told(store: AnyStore) {
    let session = created(&*store, "s").await;
    let keyed = Append { at: at(2_500), ..append(&session, vec![words("x")]) };
    store.append(keyed).await.unwrap();
    let main = ViewName::main();
    for asked in [i64::MIN, -1, 0, 3, i64::MAX] {
        let err = store.state_at(&session, &main, Revision(asked)).await.unwrap_err();
        let Error::RevisionNotFound { revision, newest } = err else { panic!("{err}") };
        assert_eq!((revision, newest), (Revision(asked), Revision(2)));
    }
    let nowhere = store.state_at(&self::session("none"), &main, Revision(1)).await;
    assert!(matches!(nowhere.unwrap_err(), Error::NotFound(Entity::Session(_))));
    let none = store.state_at(&session, &ViewName::new("none"), Revision(2)).await;
    assert!(matches!(none.unwrap_err(), Error::NotFound(Entity::View(_))));
    assert_eq!(revision(&*store, &session).await, 2);
}
