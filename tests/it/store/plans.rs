//! Plans: leases on ranges, and commits that were planned so.

use std::sync::Arc;

use concertina::{
    model::{
        Overlay, OverlayId, OverlayKind, PinId, PlanId, Revision, RowSet, Timestamp, ViewName,
    },
    store::{CommitOverlays, Entity, Error, NewPlan, Plan, PlanEnd, Store},
};

use super::support::{
    appended, at, clear, collapse, committed, created, ids, parts, pin, plan, planned, prepare,
    prepared, reduced_at, request, revision, rollback, rows_of, session, set, unpin,
};

type AnyStore = Arc<dyn Store>;

async fn open_plans(store: &AnyStore, now: Timestamp) -> Vec<String> {
    let plans = store.list_plans(&session("s"), &ViewName::main(), now).await.unwrap();
    plans.iter().map(|it| it.id.to_string()).collect()
}

async fn end(store: &AnyStore, id: &str) -> Option<PlanEnd> {
    store.get_plan(&session("s"), &PlanId::new(id)).await.unwrap().end
}

pub(super) async fn a_plan_comes_back_as_it_was_made(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 30).await;
    committed(&*store, &session, vec![collapse("in", 2, 3), clear("clear", 4, 4)]).await.unwrap();
    store.pin(pin(&session, "p", 6, 7)).await.unwrap();
    let before = store.get_session(&session).await.unwrap();
    let rich = Plan {
        kind: OverlayKind::Compact,
        covered: rows_of(1, 5).union(&rows_of(8, 9)),
        kept: rows_of(6, 7),
        overlays: vec![OverlayId::new("in"), OverlayId::new("clear")],
        pins: vec![PinId::new("p")],
        source_digest: std::array::from_fn(|at| u8::try_from(at).unwrap()),
        stage: "auto_compact".into(),
        is_own: true,
        create_time: Timestamp { seconds: 8_000, nanos: 1_999 },
        end: Some(PlanEnd::Abandoned),
        ..plan("rich", 1, 1)
    };
    let plain = Plan { source_digest: [3; 32], ..plan("plain", 20, 25) };
    let made = prepared(&*store, &session, vec![rich.clone(), plain.clone()]).await.unwrap();
    let create_time = Timestamp { seconds: 8_000, nanos: 1_000 };
    let rich = Plan { create_time, end: None, ..rich };
    assert_eq!(made, [rich.clone(), plain.clone()]);
    assert_eq!(store.get_plan(&session, &rich.id).await.unwrap(), rich);
    let listed = store.list_plans(&session, &ViewName::main(), at(8_119)).await.unwrap();
    assert_eq!(listed, [rich, plain], "in the order in which they were made");
    assert_eq!(store.get_session(&session).await.unwrap(), before, "a plan is no revision");
    assert_eq!(prepared(&*store, &session, Vec::new()).await.unwrap(), []);
}

pub(super) async fn a_range_is_leased_once(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 40).await;
    let kept = Plan { kept: rows_of(16, 16), ..plan("b", 15, 15) };
    prepared(&*store, &session, vec![plan("a", 5, 10), kept]).await.unwrap();
    for (first, last, holder) in [(10, 12, "a"), (1, 5, "a"), (7, 7, "a"), (16, 20, "b")] {
        let late = vec![plan("x", 30, 31), plan("y", first, last)];
        let err = prepared(&*store, &session, late).await.unwrap_err();
        let Error::RangeLeased { plan, until } = err else { panic!("{err}") };
        assert_eq!((plan.as_str(), until), (holder, at(8_120)));
    }
    let keeping = Plan { kept: rows_of(8, 8), ..plan("x", 30, 31) };
    let err = prepared(&*store, &session, vec![keeping]).await.unwrap_err();
    assert!(matches!(err, Error::RangeLeased { plan, .. } if plan.as_str() == "a"));
    assert_eq!(open_plans(&store, at(8_001)).await, ["a", "b"], "all or none");
    prepared(&*store, &session, vec![plan("beside", 11, 14)]).await.unwrap();
    store.set_view(set(&session, "small", parts(None))).await.unwrap();
    let of_small = Plan { view: ViewName::new("small"), ..plan("small", 5, 10) };
    let planned_at = revision(&*store, &session).await;
    store.prepare(prepare(&session, planned_at, vec![of_small])).await.expect("another view");

    let later = |id: &str, seconds| Plan {
        create_time: at(seconds),
        expire_time: at(seconds + 60),
        ..plan(id, 5, 6)
    };
    let err = prepared(&*store, &session, vec![later("early", 8_119)]).await.unwrap_err();
    assert!(matches!(err, Error::RangeLeased { .. }));
    prepared(&*store, &session, vec![later("late", 8_120)]).await.expect("it expired");
    store.abandon_plans(&session, &[PlanId::new("late")]).await.unwrap();
    prepared(&*store, &session, vec![later("last", 8_121)]).await.expect("it was given back");
}

pub(super) async fn plans_of_one_call_share_nothing(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 9).await;
    prepared(&*store, &session, vec![plan("taken", 9, 9)]).await.unwrap();
    store.set_view(set(&session, "small", parts(None))).await.unwrap();
    let of_small = Plan { view: ViewName::new("small"), ..plan("b", 5, 6) };
    for wrong in [
        vec![plan("a", 1, 4), plan("b", 4, 6)],
        vec![plan("a", 1, 4), plan("a", 5, 6)],
        vec![plan("a", 1, 4), of_small],
        vec![plan("a", 1, 4), plan("taken", 5, 6)],
    ] {
        let err = prepared(&*store, &session, wrong).await.unwrap_err();
        assert!(matches!(err, Error::Backend(_)), "{err}");
    }
    assert_eq!(open_plans(&store, at(8_001)).await, ["taken"]);
    prepared(&*store, &session, vec![plan("a", 1, 4)]).await.expect("and all goes on");
}

pub(super) async fn a_plan_is_made_on_what_is_there(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 9).await;
    let late = || prepare(&session, 1, vec![plan("a", 5, 6)]);
    committed(&*store, &session, vec![collapse("o", 1, 2)]).await.unwrap();
    let err = store.prepare(late()).await.unwrap_err();
    assert!(matches!(err, Error::PlanOutdated { overlay: Some(id) } if id.as_str() == "o"));
    store.rollback_overlay(rollback(&session, "o")).await.unwrap();
    let err = store.prepare(late()).await.unwrap_err();
    assert!(matches!(err, Error::PlanOutdated { overlay: None }));
    let none = Plan { view: ViewName::new("none"), ..plan("a", 5, 6) };
    let err = store.prepare(prepare(&session, 1, vec![none])).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::View(name)) if name == "none"));
    let nowhere = self::session("nowhere");
    let is_session = |err| matches!(err, Error::NotFound(Entity::Session(id)) if id == "nowhere");
    let id = PlanId::new("a");
    assert!(is_session(store.prepare(prepare(&nowhere, 1, Vec::new())).await.unwrap_err()));
    assert!(is_session(store.get_plan(&nowhere, &id).await.unwrap_err()));
    let main = ViewName::main();
    assert!(is_session(store.list_plans(&nowhere, &main, at(1)).await.unwrap_err()));
    assert!(is_session(store.renew_plans(&nowhere, &[], at(1), at(2)).await.unwrap_err()));
    assert!(is_session(store.abandon_plans(&nowhere, &[]).await.unwrap_err()));
    let err = store.get_plan(&session, &id).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::Plan(id)) if id == "a"));
}

pub(super) async fn j5_a_repeated_preparation_prepares_once(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 9).await;
    let keyed = |ids: [&str; 2], digest| NewPlan {
        request: Some(request("k", digest)),
        ..prepare(&session, 1, vec![plan(ids[0], 1, 2), plan(ids[1], 3, 4)])
    };
    let first = store.prepare(keyed(["a", "b"], 1)).await.unwrap();
    store.abandon_plans(&session, &[PlanId::new("b")]).await.unwrap();
    committed(&*store, &session, vec![collapse("o", 8, 9)]).await.unwrap();
    let again = store.prepare(keyed(["c", "d"], 1)).await.unwrap();
    assert!(again.replayed && !first.replayed);
    assert_eq!(again.plans[0], first.plans[0]);
    assert_eq!(again.plans[1].end, Some(PlanEnd::Abandoned), "as it is now");
    assert!(matches!(store.prepare(keyed(["c", "d"], 2)).await, Err(Error::RequestIdReused)));
    assert_eq!(open_plans(&store, at(8_001)).await, ["a"]);
}

pub(super) async fn a_commit_ends_its_plans(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 20).await;
    let plans = vec![plan("a", 1, 4), plan("b", 5, 9), plan("c", 12, 14)];
    prepared(&*store, &session, plans).await.unwrap();
    let both = CommitOverlays {
        request: Some(request("k", 1)),
        ..planned(&session, &["a", "b"], vec![collapse("oa", 1, 4), collapse("ob", 5, 9)])
    };
    let done = store.commit_overlays(both.clone()).await.unwrap();
    assert_eq!((ids(&done.overlays), done.revision), (vec!["oa", "ob"], Revision(4)));
    for (id, overlay) in [("a", "oa"), ("b", "ob")] {
        assert_eq!(end(&store, id).await, Some(PlanEnd::Committed(OverlayId::new(overlay))));
    }
    assert_eq!(open_plans(&store, at(8_050)).await, ["c"]);
    let again = planned(&session, &["a"], vec![collapse("twice", 1, 4)]);
    let err = store.commit_overlays(again).await.unwrap_err();
    let Error::PlanEnded { plan: id, end } = err else { panic!("{err}") };
    assert_eq!((id.as_str(), end), ("a", PlanEnd::Committed(OverlayId::new("oa"))));
    assert!(store.commit_overlays(both).await.unwrap().replayed, "a known request wins");
    let wider =
        Plan { overlays: vec![OverlayId::new("oa"), OverlayId::new("ob")], ..plan("wider", 1, 10) };
    prepared(&*store, &session, vec![wider]).await.expect("the rows are free");
    let wider = planned(&session, &["wider"], vec![collapse("w", 1, 10)]);
    assert_eq!(store.commit_overlays(wider).await.unwrap().revision, Revision(5));
    assert_eq!(reduced_at(&*store, &session).await, 5);
}

pub(super) async fn j1_what_happens_elsewhere_does_not_outdate_a_plan(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 30).await;
    committed(&*store, &session, vec![collapse("far", 20, 25)]).await.unwrap();
    store.pin(pin(&session, "far", 26, 27)).await.unwrap();
    prepared(&*store, &session, vec![plan("a", 5, 10)]).await.unwrap();
    appended(&*store, &session, 5).await;
    committed(&*store, &session, vec![collapse("o", 1, 4), clear("c", 11, 12)]).await.unwrap();
    store.rollback_overlay(rollback(&session, "far")).await.unwrap();
    store.pin(pin(&session, "p", 11, 30)).await.unwrap();
    store.unpin(unpin(&session, "far")).await.unwrap();
    store.set_view(set(&session, "main", parts(None))).await.unwrap();
    let done = store.commit_overlays(planned(&session, &["a"], vec![collapse("x", 5, 10)])).await;
    assert_eq!(ids(&done.unwrap().overlays), ["x"]);
}

/// Says how a commit of what plan `id` planned on rows 5 to 10 ends.
async fn outcome(store: &AnyStore, id: &str, kept: RowSet) -> Option<String> {
    let overlay = Overlay { kept, ..collapse(&format!("of-{id}"), 5, 10) };
    let before = revision(&**store, &session("s")).await;
    match store.commit_overlays(planned(&session("s"), &[id], vec![overlay])).await {
        Err(Error::PlanOutdated { overlay }) => {
            assert_eq!(revision(&**store, &session("s")).await, before, "nothing happened");
            assert_eq!(end(store, id).await, None);
            store.abandon_plans(&session("s"), &[PlanId::new(id)]).await.unwrap();
            overlay.map(|it| it.to_string())
        }
        Err(Error::PinMoved(pin)) => {
            assert_eq!(revision(&**store, &session("s")).await, before, "nothing happened");
            store.abandon_plans(&session("s"), &[PlanId::new(id)]).await.unwrap();
            Some(pin.to_string())
        }
        other => panic!("{other:?}"),
    }
}

pub(super) async fn i11_what_happens_in_its_range_outdates_a_plan(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 30).await;
    let lease = async |id: &str, overlays: &[&str], pins: &[&str], kept: RowSet| {
        let new = Plan {
            kept,
            overlays: overlays.iter().map(|id| OverlayId::new(id)).collect(),
            pins: pins.iter().map(|id| PinId::new(id)).collect(),
            ..plan(id, 5, 10)
        };
        prepared(&*store, &session, vec![new]).await.unwrap();
    };
    let none = RowSet::default();
    lease("inner", &[], &[], none.clone()).await;
    committed(&*store, &session, vec![collapse("o", 6, 7)]).await.unwrap();
    assert_eq!(outcome(&store, "inner", none.clone()).await.as_deref(), Some("o"));
    lease("gone", &["o"], &[], none.clone()).await;
    store.rollback_overlay(rollback(&session, "o")).await.unwrap();
    assert_eq!(outcome(&store, "gone", none.clone()).await.as_deref(), Some("o"));
    lease("cleared", &[], &[], none.clone()).await;
    committed(&*store, &session, vec![clear("c", 10, 12), collapse("after", 20, 21)])
        .await
        .unwrap();
    assert_eq!(outcome(&store, "cleared", none.clone()).await.as_deref(), Some("c"));
    lease("pinned", &["c"], &[], none.clone()).await;
    store.pin(pin(&session, "p", 1, 5)).await.unwrap();
    assert_eq!(outcome(&store, "pinned", none.clone()).await.as_deref(), Some("p"));
    lease("unpinned", &["c"], &["p"], none.clone()).await;
    store.unpin(unpin(&session, "p")).await.unwrap();
    assert_eq!(outcome(&store, "unpinned", none.clone()).await.as_deref(), Some("p"));
    let kept = rows_of(14, 15);
    lease("kept", &["c"], &[], kept.clone()).await;
    committed(&*store, &session, vec![clear("k", 15, 16)]).await.unwrap();
    assert_eq!(outcome(&store, "kept", kept).await.as_deref(), Some("k"));
    lease("around", &["c"], &[], none.clone()).await;
    committed(&*store, &session, vec![collapse("wide", 1, 18)]).await.unwrap();
    assert_eq!(outcome(&store, "around", none).await.as_deref(), Some("wide"));
}

pub(super) async fn i2_a_planned_range_may_not_cross_either(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 30).await;
    committed(&*store, &session, vec![collapse("o", 8, 12)]).await.unwrap();
    let crossing = Plan { overlays: vec![OverlayId::new("o")], ..plan("a", 5, 10) };
    prepared(&*store, &session, vec![crossing]).await.unwrap();
    let err = store.commit_overlays(planned(&session, &["a"], vec![collapse("x", 5, 10)])).await;
    assert!(matches!(err, Err(Error::Overlaps(id)) if id.as_str() == "o"));
    assert_eq!(end(&store, "a").await, None);
    let superseding = CommitOverlays {
        supersedes: vec![OverlayId::new("o")],
        ..planned(&session, &["a"], vec![collapse("x", 5, 10)])
    };
    let done = store.commit_overlays(superseding).await.unwrap();
    assert_eq!(done.revision, Revision(5), "committed, then rolled back");
}

pub(super) async fn i11_an_overlay_is_what_was_planned(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 9).await;
    prepared(&*store, &session, vec![plan("a", 1, 4)]).await.unwrap();
    let other = Overlay { source_digest: [8; 32], ..collapse("o", 1, 4) };
    let keeping = Overlay { kept: rows_of(5, 5), ..collapse("o", 1, 4) };
    for (plans, overlays) in [
        (vec!["a"], vec![collapse("o", 1, 5)]),
        (vec!["a"], vec![other]),
        (vec!["a"], vec![keeping]),
        (vec!["a"], vec![]),
        (vec![], vec![collapse("o", 1, 4)]),
        (vec!["a", "a"], vec![collapse("o", 1, 4), collapse("p", 1, 4)]),
    ] {
        let err = store.commit_overlays(planned(&session, &plans, overlays)).await.unwrap_err();
        assert!(matches!(err, Error::Backend(_)), "{err}");
    }
    assert_eq!(end(&store, "a").await, None);
    assert_eq!(revision(&*store, &session).await, 2, "nothing happened");
    let err = store.commit_overlays(planned(&session, &["none"], vec![collapse("o", 1, 4)])).await;
    assert!(matches!(err, Err(Error::NotFound(Entity::Plan(id))) if id == "none"));
}

pub(super) async fn a_plan_expires_unless_it_is_renewed(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 9).await;
    prepared(&*store, &session, vec![plan("a", 1, 2), plan("b", 3, 4)]).await.unwrap();
    let late = |plan: &str, first, seconds| CommitOverlays {
        at: at(seconds),
        ..planned(&session, &[plan], vec![collapse(plan, first, first + 1)])
    };
    let a = [PlanId::new("a")];
    store.renew_plans(&session, &a, at(8_119), at(8_200)).await.unwrap();
    store.renew_plans(&session, &a, at(8_119), at(8_150)).await.expect("it is not cut short");
    let err = store.commit_overlays(late("b", 3, 8_120)).await.unwrap_err();
    let Error::PlanExpired { plan: id, expire_time } = err else { panic!("{err}") };
    assert_eq!((id.as_str(), expire_time), ("b", at(8_120)));
    assert_eq!(open_plans(&store, at(8_120)).await, ["a"]);
    let both = [PlanId::new("b"), PlanId::new("a")];
    store.renew_plans(&session, &both, at(8_130), at(8_300)).await.unwrap();
    assert_eq!(open_plans(&store, at(8_130)).await, ["a"], "what expired stays so");
    store.commit_overlays(late("a", 1, 8_299)).await.unwrap();
    store.renew_plans(&session, &a, at(8_299), at(9_000)).await.expect("and what ended");
    let ended = store.get_plan(&session, &a[0]).await.unwrap();
    assert_eq!(ended.expire_time, at(8_300));
    let unknown = [PlanId::new("b"), PlanId::new("none")];
    let err = store.renew_plans(&session, &unknown, at(1), at(9_000)).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::Plan(id)) if id == "none"));
    let b = store.get_plan(&session, &unknown[0]).await.unwrap();
    assert_eq!(b.expire_time, at(8_120), "all or none");
}

pub(super) async fn a_plan_that_was_given_back_has_ended(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 9).await;
    prepared(&*store, &session, vec![plan("a", 1, 2), plan("b", 3, 4)]).await.unwrap();
    let (a, b) = (PlanId::new("a"), PlanId::new("b"));
    let unknown = [a.clone(), PlanId::new("none")];
    let err = store.abandon_plans(&session, &unknown).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::Plan(id)) if id == "none"));
    assert_eq!(end(&store, "a").await, None, "all or none");
    for _ in 0..2 {
        store.abandon_plans(&session, std::slice::from_ref(&a)).await.unwrap();
        assert_eq!(end(&store, "a").await, Some(PlanEnd::Abandoned));
    }
    let err = store.commit_overlays(planned(&session, &["a"], vec![collapse("o", 1, 2)])).await;
    assert!(matches!(err, Err(Error::PlanEnded { end: PlanEnd::Abandoned, .. })));
    store.commit_overlays(planned(&session, &["b"], vec![collapse("o", 3, 4)])).await.unwrap();
    store.abandon_plans(&session, &[b, a]).await.unwrap();
    let committed = PlanEnd::Committed(OverlayId::new("o"));
    assert_eq!(end(&store, "b").await, Some(committed), "it stays committed");
}

pub(super) async fn plans_are_remembered_for_24_hours(store: AnyStore) {
    const DAY: i64 = 24 * 60 * 60;
    let session = created(&*store, "s").await;
    let other = created(&*store, "other").await;
    appended(&*store, &session, 9).await;
    let half = Timestamp { seconds: 8_120, nanos: 500_000_000 };
    let halves = Plan { expire_time: half, ..plan("b", 3, 4) };
    prepared(&*store, &session, vec![plan("a", 1, 2), halves]).await.unwrap();
    prepared(&*store, &other, (1..=200).map(|n| plan(&n.to_string(), n, n)).collect())
        .await
        .unwrap();
    store.abandon_plans(&session, &[PlanId::new("a")]).await.unwrap();
    store.expire(at(8_119 + DAY)).await.unwrap();
    assert_eq!(end(&store, "a").await, Some(PlanEnd::Abandoned));
    store.expire(at(8_120 + DAY)).await.unwrap();
    let err = store.get_plan(&session, &PlanId::new("a")).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::Plan(_))));
    assert_eq!(end(&store, "b").await, None, "to the microsecond");
    for id in ["1", "100", "200"] {
        let found = store.get_plan(&other, &PlanId::new(id)).await;
        assert!(matches!(found, Err(Error::NotFound(Entity::Plan(_)))), "{id}");
    }
    store.expire(at(8_121 + DAY)).await.unwrap();
    let err = store.get_plan(&session, &PlanId::new("b")).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::Plan(_))));
}
