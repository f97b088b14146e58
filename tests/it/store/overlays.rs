//! Overlays: committing them and rolling them back.

use std::sync::Arc;

use concertina::{
    model::{Cause, Overlay, OverlayId, OverlayKind, Revision, Seq, ViewName, overlay::Rollback},
    store::{CommitOverlays, Entity, Error, RollbackOverlay, SetView, SetViewParts, Store},
};

use super::support::{
    all_rows, appended, at, clear, collapse, commit, committed, created, ids, model, parts,
    reduced_at, request, revision, rollback, rows_of, session, set,
};

type AnyStore = Arc<dyn Store>;

pub(super) async fn h5_an_overlay_comes_back_as_it_was(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 20).await;
    let rich = Overlay {
        kind: OverlayKind::Compact,
        covered: rows_of(1, 4).union(&rows_of(6, 9)),
        kept: rows_of(5, 5),
        summary: "a long summary\0 ".repeat(300),
        cause: Cause::Refused,
        stage: "auto_compact".into(),
        transcript_id: "t-1".into(),
        covered_overlays: vec![OverlayId::new("p"), OverlayId::new("q")],
        ..collapse("rich", 1, 1)
    };
    let snip = Overlay {
        kind: OverlayKind::Snip,
        summary: String::new(),
        cause: Cause::Pressure,
        ..collapse("snip", 12, 13)
    };
    let new = vec![rich.clone(), snip.clone(), clear("clear", 10, 14)];
    let done = committed(&*store, &session, new.clone()).await.unwrap();
    for ((new, done), revision) in new.iter().zip(&done.overlays).zip(3..) {
        let expected = Overlay {
            author: "bob".into(),
            commit_revision: Revision(revision),
            commit_time: at(3_000),
            ..new.clone()
        };
        assert_eq!(*done, expected);
        assert_eq!(store.get_overlay(&session, &new.id).await.unwrap(), expected);
    }
    let listed = store.list_overlays(&session, &ViewName::main(), false).await.unwrap();
    assert_eq!(listed, done.overlays);
}

pub(super) async fn each_overlay_is_a_revision_of_its_own(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 9).await;
    let done = committed(&*store, &session, vec![collapse("a", 1, 2), collapse("b", 3, 4)]).await;
    assert_eq!(done.unwrap().revision, Revision(4));
    assert_eq!(revision(&*store, &session).await, 4);
    assert_eq!(reduced_at(&*store, &session).await, 4);
    let rolled_back = store.rollback_overlay(rollback(&session, "a")).await.unwrap();
    assert_eq!(rolled_back.revision, Revision(5));
    assert_eq!(reduced_at(&*store, &session).await, 5);
    let nothing = committed(&*store, &session, Vec::new()).await.unwrap();
    assert_eq!((nothing.revision, nothing.overlays.len()), (Revision(5), 0));
}

pub(super) async fn a_plan_holds_until_the_view_changes(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 9).await;
    let planned_at = reduced_at(&*store, &session).await;
    appended(&*store, &session, 1).await;
    let plan = |id: &str, seq| commit(&session, planned_at, vec![collapse(id, seq, seq)]);
    store.commit_overlays(plan("a", 1)).await.expect("appends do not count");
    let err = store.commit_overlays(plan("b", 2)).await.unwrap_err();
    let came = OverlayId::new("a");
    assert!(matches!(err, Error::PlanOutdated { overlay: Some(id) } if id == came));
    store.rollback_overlay(rollback(&session, "a")).await.unwrap();
    let err = store.commit_overlays(plan("b", 2)).await.unwrap_err();
    assert!(matches!(err, Error::PlanOutdated { overlay: None }));
    let planned_at = reduced_at(&*store, &session).await;
    let set = SetView {
        session: session.clone(),
        view: ViewName::main(),
        parts: SetViewParts { model: Some(model("m")), ..parts(None) },
        only_without_model: false,
        author: String::new(),
        at: at(1),
    };
    store.set_view(set).await.unwrap();
    let late = commit(&session, planned_at, vec![collapse("c", 1, 1)]);
    let err = store.commit_overlays(late).await.unwrap_err();
    assert!(matches!(err, Error::PlanOutdated { overlay: None }));
}

pub(super) async fn i2_a_range_that_crosses_another_is_refused(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 30).await;
    committed(&*store, &session, vec![collapse("a", 5, 10)]).await.unwrap();
    let before = store.get_session(&session).await.unwrap();
    for (first, last) in [(1, 5), (10, 12), (1, 7)] {
        let crossing = vec![collapse("x", 20, 21), collapse("b", first, last)];
        let err = committed(&*store, &session, crossing).await.unwrap_err();
        assert!(matches!(err, Error::Overlaps(id) if id == OverlayId::new("a")));
    }
    let among_themselves = vec![collapse("b", 20, 25), collapse("c", 24, 26)];
    let err = committed(&*store, &session, among_themselves).await.unwrap_err();
    assert!(matches!(err, Error::Overlaps(id) if id == OverlayId::new("b")));
    assert_eq!(store.get_session(&session).await.unwrap(), before, "nothing happened");
    let fine = vec![
        collapse("inner", 6, 7),
        collapse("outer", 1, 15),
        collapse("beside", 16, 20),
        clear("clear", 9, 18),
    ];
    committed(&*store, &session, fine).await.unwrap();
    let all = store.list_overlays(&session, &ViewName::main(), true).await.unwrap();
    assert_eq!(ids(&all), ["a", "inner", "outer", "beside", "clear"]);
}

pub(super) async fn views_have_overlays_of_their_own(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 9).await;
    let small = ViewName::new("small");
    let of_small = |planned_at| CommitOverlays {
        view: small.clone(),
        ..commit(&session, planned_at, vec![collapse("b", 4, 8)])
    };
    let err = store.commit_overlays(of_small(2)).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::View(name)) if name == "small"));
    let set = SetView {
        session: session.clone(),
        view: small.clone(),
        parts: parts(None),
        only_without_model: false,
        author: String::new(),
        at: at(1),
    };
    store.set_view(set).await.unwrap();
    committed(&*store, &session, vec![collapse("a", 1, 5)]).await.unwrap();
    let done = store.commit_overlays(of_small(3)).await.unwrap();
    assert_eq!(done.overlays[0].view, small);
    assert_eq!(reduced_at(&*store, &session).await, 4, "`main` did not change");
    let listed = store.list_overlays(&session, &small, false).await.unwrap();
    assert_eq!(ids(&listed), ["b"]);
}

pub(super) async fn a_wider_snip_supersedes(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 30).await;
    committed(&*store, &session, vec![collapse("old", 1, 9)]).await.unwrap();
    let wider = CommitOverlays {
        supersedes: vec![OverlayId::new("old")],
        ..commit(&session, 3, vec![collapse("new", 3, 20)])
    };
    let done = store.commit_overlays(wider).await.unwrap();
    assert_eq!((done.overlays[0].commit_revision, done.revision), (Revision(4), Revision(5)));
    let old = store.get_overlay(&session, &OverlayId::new("old")).await.unwrap();
    let expected = Rollback {
        revision: Revision(5),
        time: at(3_000),
        author: "bob".into(),
        reason: Rollback::SUPERSEDED.into(),
    };
    assert_eq!(old.rollback, Some(expected));
    assert!(old.holds_at(Revision(4)) && !old.holds_at(Revision(5)));
    assert_eq!(reduced_at(&*store, &session).await, 5);
    let twice = CommitOverlays {
        supersedes: vec![OverlayId::new("old")],
        ..commit(&session, 5, vec![collapse("newer", 1, 25)])
    };
    let err = store.commit_overlays(twice).await.unwrap_err();
    assert!(matches!(err, Error::AlreadyRolledBack(Revision(5))));
    let repeated = CommitOverlays {
        supersedes: vec![OverlayId::new("new"); 2],
        ..commit(&session, 5, vec![collapse("newer", 1, 25)])
    };
    assert!(matches!(store.commit_overlays(repeated).await.unwrap_err(), Error::Backend(_)));
    store.set_view(set(&session, "small", parts(None))).await.unwrap();
    let of_another_view = CommitOverlays {
        view: ViewName::new("small"),
        supersedes: vec![OverlayId::new("new")],
        ..commit(&session, 6, vec![collapse("newer", 1, 25)])
    };
    let err = store.commit_overlays(of_another_view).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::Overlay(id)) if id == "new"));
    assert_eq!(revision(&*store, &session).await, 6, "nothing happened");
}

pub(super) async fn a_rollback_ends_one_overlay(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 9).await;
    committed(&*store, &session, vec![collapse("a", 1, 2), clear("b", 3, 4)]).await.unwrap();
    let done = store.rollback_overlay(rollback(&session, "a")).await.unwrap();
    let end = Rollback {
        revision: Revision(5),
        time: at(4_000),
        author: "eve".into(),
        reason: "wrong".into(),
    };
    assert_eq!(done.overlay.rollback, Some(end));
    assert_eq!((done.revision, done.hidden_by), (Revision(5), None));
    let stored = store.get_overlay(&session, &OverlayId::new("a")).await.unwrap();
    assert_eq!(stored, done.overlay);
    let err = store.rollback_overlay(rollback(&session, "a")).await.unwrap_err();
    assert!(matches!(err, Error::AlreadyRolledBack(Revision(5))));
    assert_eq!(revision(&*store, &session).await, 5);
    committed(&*store, &session, vec![collapse("c", 2, 5)]).await.expect("the rows are free");
}

pub(super) async fn a_rollback_tells_what_still_hides(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 30).await;
    for overlay in [collapse("in", 5, 6), collapse("mid", 4, 10), collapse("out", 1, 20)] {
        committed(&*store, &session, vec![overlay]).await.unwrap();
    }
    committed(&*store, &session, vec![clear("clear", 7, 8)]).await.unwrap();
    let hidden_by = async |id: &str| {
        let done = store.rollback_overlay(rollback(&session, id)).await.unwrap();
        done.hidden_by.map(|it| it.to_string())
    };
    assert_eq!(hidden_by("in").await.as_deref(), Some("out"));
    assert_eq!(hidden_by("out").await, None);
    assert_eq!(hidden_by("clear").await.as_deref(), Some("mid"));
    assert_eq!(hidden_by("mid").await, None);
}

pub(super) async fn a_rollback_takes_the_clears_inside_where_asked(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 30).await;
    let new = vec![
        clear("inside", 2, 3),
        clear("across", 8, 12),
        clear("whole", 1, 10),
        collapse("nested", 4, 5),
        collapse("a", 1, 10),
    ];
    committed(&*store, &session, new).await.unwrap();
    let with_clears = RollbackOverlay { clears_too: true, ..rollback(&session, "a") };
    let done = store.rollback_overlay(with_clears).await.unwrap();
    assert_eq!(done.overlay.rollback.map(|it| it.revision), Some(Revision(8)));
    assert_eq!(done.revision, Revision(10), "a revision each");
    let left = store.list_overlays(&session, &ViewName::main(), false).await.unwrap();
    assert_eq!(ids(&left), ["across", "nested"]);
    assert_eq!(reduced_at(&*store, &session).await, 10);
}

pub(super) async fn h3_rolled_back_overlays_stay_on_record(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 100).await;
    let before = all_rows(&*store, &session).await;
    for (id, last) in [("a", 90), ("b", 95)] {
        committed(&*store, &session, vec![collapse(id, 1, last)]).await.unwrap();
        assert_eq!(all_rows(&*store, &session).await, before);
    }
    for id in ["b", "a"] {
        store.rollback_overlay(rollback(&session, id)).await.unwrap();
        assert_eq!(all_rows(&*store, &session).await, before);
    }
    let all = store.list_overlays(&session, &ViewName::main(), true).await.unwrap();
    assert_eq!(ids(&all), ["a", "b"]);
    assert!(all.iter().all(|it| !it.summary.is_empty() && it.rollback.is_some()));
    assert_eq!(store.list_overlays(&session, &ViewName::main(), false).await.unwrap(), []);
}

pub(super) async fn j5_a_repeated_commit_commits_once(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 9).await;
    let keyed = |digest| CommitOverlays {
        request: Some(request("k", digest)),
        ..commit(&session, 1, vec![collapse("a", 1, 2), collapse("b", 3, 4)])
    };
    let first = store.commit_overlays(keyed(1)).await.unwrap();
    store.rollback_overlay(rollback(&session, "b")).await.unwrap();
    let again = store.commit_overlays(keyed(1)).await.unwrap();
    assert!(again.replayed && !first.replayed);
    assert_eq!((again.revision, ids(&again.overlays)), (first.revision, vec!["a", "b"]));
    assert!(again.overlays[1].rollback.is_some(), "as they are now");
    assert!(matches!(store.commit_overlays(keyed(2)).await.unwrap_err(), Error::RequestIdReused));
    assert_eq!(revision(&*store, &session).await, 5);
}

pub(super) async fn what_is_not_there_is_named(store: AnyStore) {
    let session = created(&*store, "s").await;
    let none = OverlayId::new("none");
    let is_overlay = |err| matches!(err, Error::NotFound(Entity::Overlay(id)) if id == "none");
    assert!(is_overlay(store.get_overlay(&session, &none).await.unwrap_err()));
    assert!(is_overlay(store.rollback_overlay(rollback(&session, "none")).await.unwrap_err()));
    let superseding =
        CommitOverlays { supersedes: vec![none.clone()], ..commit(&session, 1, Vec::new()) };
    assert!(is_overlay(store.commit_overlays(superseding).await.unwrap_err()));
    let nowhere = self::session("nowhere");
    let is_session = |err| matches!(err, Error::NotFound(Entity::Session(id)) if id == "nowhere");
    assert!(is_session(store.get_overlay(&nowhere, &none).await.unwrap_err()));
    assert!(is_session(store.rollback_overlay(rollback(&nowhere, "none")).await.unwrap_err()));
    assert!(is_session(store.commit_overlays(commit(&nowhere, 1, Vec::new())).await.unwrap_err()));
}

pub(super) async fn an_overlay_id_is_given_once(store: AnyStore) {
    let session = created(&*store, "s").await;
    let other = created(&*store, "t").await;
    appended(&*store, &session, 9).await;
    committed(&*store, &session, vec![collapse("o", 1, 2)]).await.unwrap();
    let before = store.get_session(&session).await.unwrap();
    let twice = vec![collapse("p", 3, 4), collapse("o", 5, 6)];
    let err = committed(&*store, &session, twice).await.unwrap_err();
    assert!(matches!(err, Error::Backend(_)));
    assert_eq!(store.get_session(&session).await.unwrap(), before, "nothing happened");
    assert_eq!(appended(&*store, &session, 1).await.first_seq, Seq(10), "and all goes on");
    committed(&*store, &other, vec![collapse("o", 1, 2)]).await.unwrap();
}
