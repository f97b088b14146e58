//! Views.

use std::sync::Arc;

use bytes::Bytes;
use concertina::{
    model::{ContextItem, Model, OverlayId, Placement, Revision, ViewName},
    store::{
        CommitOverlays, Entity, Error, ItemAt, NewPin, Page, Plan, PlanEnd, SessionFilter,
        SessionRef, SetItem, SetView, SetViewParts, Store,
    },
};

use super::support::{
    appended, at, collapse, commit, created, deletion, ids, model, parts, pin, pins, plan, prepare,
    revision, rollback, session, set, unpin, view_of, view_reduced_at,
};

type AnyStore = Arc<dyn Store>;

pub(super) async fn a_view_is_added_and_replaced(store: AnyStore) {
    let session = created(&*store, "s").await;
    let small = parts(Some(model("small")));
    let (view, at_revision) =
        store.set_view(set(&session, "another", small.clone())).await.unwrap();
    assert_eq!(at_revision, Revision(2));
    assert_eq!(view, view_of(ViewName::new("another"), small, 2));
    let bare = SetViewParts {
        preset: String::new(),
        overrides_json: Bytes::new(),
        policy_json: Bytes::from_static(b"{}"),
        model: Some(Model { output_reserve: None, ..model("") }),
    };
    let (main, at_revision) = store.set_view(set(&session, "main", bare.clone())).await.unwrap();
    assert_eq!(at_revision, Revision(3));
    let now = store.get_session(&session).await.unwrap();
    assert_eq!(now.views, [main.clone(), view], "`main` first, then by name");
    assert_eq!(main, view_of(ViewName::main(), bare, 3));
    assert_eq!(now.update_time, at(5_000));
}

pub(super) async fn setting_what_is_there_changes_nothing(store: AnyStore) {
    let session = created(&*store, "s").await;
    let (view, at_revision) = store.set_view(set(&session, "main", parts(None))).await.unwrap();
    assert_eq!((at_revision, view.reductions_revision), (Revision(1), Revision(1)));
    assert_eq!(revision(&*store, &session).await, 1);
    let spaced = SetViewParts { policy_json: Bytes::from_static(b"{ }"), ..parts(None) };
    assert_eq!(store.set_view(set(&session, "main", spaced)).await.unwrap().1, Revision(2));
}

pub(super) async fn a_view_takes_its_first_model_once(store: AnyStore) {
    let session = created(&*store, "s").await;
    let first = |name: &str| SetView {
        only_without_model: true,
        ..set(&session, "main", parts(Some(model(name))))
    };
    let (view, _) = store.set_view(first("a")).await.unwrap();
    assert_eq!(view.model, Some(model("a")));
    let (view, at_revision) = store.set_view(first("b")).await.unwrap();
    assert_eq!((view.model, at_revision), (Some(model("a")), Revision(2)));
    let err = store.set_view(set(&self::session("none"), "main", parts(None))).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::Session(_))));
}

pub(super) async fn views_are_listed_by_name_after_main(store: AnyStore) {
    let session = created(&*store, "s").await;
    for name in ["zoo", "a", "main", "Z", "mai"] {
        let parts = SetViewParts { preset: name.into(), ..parts(None) };
        store.set_view(set(&session, name, parts)).await.unwrap();
    }
    let filter = SessionFilter { namespace: "default".into(), ..SessionFilter::default() };
    let listed = store.list_sessions(&filter, Page { limit: 1, after: None }).await.unwrap();
    let got = store.get_session(&session).await.unwrap();
    let names: Vec<&str> = got.views.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["main", "Z", "a", "mai", "zoo"]);
    assert_eq!(listed, [got]);
}

/// A view with an overlay, a pin, a context item and a plan.
async fn filled(store: &AnyStore, session: &SessionRef, name: &str, ids: [&str; 3]) {
    let view = ViewName::new(name);
    store.set_view(set(session, name, parts(None))).await.unwrap();
    let planned_at = view_reduced_at(&**store, session, name).await;
    let overlay = CommitOverlays {
        view: view.clone(),
        ..commit(session, planned_at, vec![collapse(ids[0], 1, 4)])
    };
    store.commit_overlays(overlay).await.unwrap();
    let new = NewPin { view: view.clone(), ..pin(session, ids[1], 6, 6) };
    let (_, planned_at, _) = store.pin(new).await.unwrap();
    let item = item_of(Some(name), "text");
    let item = SetItem { session: session.clone(), item, author: String::new(), at: at(1) };
    store.set_item(item).await.unwrap();
    let plan = Plan { view, ..plan(ids[2], 7, 9) };
    store.prepare(prepare(session, planned_at.0, vec![plan])).await.unwrap();
}

fn item_of(view: Option<&str>, content: &str) -> ContextItem {
    ContextItem {
        name: "i".into(),
        placement: Placement::System,
        content: Bytes::copy_from_slice(content.as_bytes()),
        format: None,
        view: view.map(ViewName::new),
        tokens: 3,
    }
}

async fn overlays(store: &AnyStore, session: &SessionRef, view: &str, all: bool) -> Vec<String> {
    let found = store.list_overlays(session, &ViewName::new(view), all).await.unwrap();
    ids(&found).into_iter().map(Into::into).collect()
}

pub(super) async fn a_deleted_view_takes_nothing_of_main_with_it(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 20).await;
    filled(&store, &session, "main", ["o", "p", "l"]).await;
    filled(&store, &session, "small", ["o2", "p2", "l2"]).await;
    let before = store.get_session(&session).await.unwrap();
    let at_revision = store.delete_view(deletion(&session, "small")).await.unwrap();
    assert_eq!(at_revision, before.revision.next());
    let after = store.get_session(&session).await.unwrap();
    assert_eq!(after.views, before.views[..1]);
    assert_eq!((after.revision, after.update_time), (at_revision, at(6_000)));
    assert_eq!(overlays(&store, &session, "main", true).await, ["o"]);
    assert_eq!(pins(&*store, &session, "main").await, ["p"]);
    let items = store.list_items(&session, ItemAt::Now).await.unwrap();
    assert_eq!(items, [item_of(Some("main"), "text")]);
    let left = store.list_plans(&session, &ViewName::main(), at(8_001)).await.unwrap();
    assert_eq!(left.len(), 1);
}

pub(super) async fn nothing_of_a_deleted_view_is_in_force(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 20).await;
    filled(&store, &session, "small", ["o", "p", "l"]).await;
    let before = revision(&*store, &session).await;
    store.delete_view(deletion(&session, "small")).await.unwrap();
    let small = ViewName::new("small");
    for all in [false, true] {
        assert_eq!(overlays(&store, &session, "small", all).await, [""; 0]);
    }
    assert_eq!(pins(&*store, &session, "small").await, [""; 0]);
    assert_eq!(store.list_items(&session, ItemAt::Now).await.unwrap(), []);
    let of_then = store.list_items(&session, ItemAt::Revision(Revision(before))).await.unwrap();
    assert_eq!(of_then, [item_of(Some("small"), "text")], "it stays on record");
    assert_eq!(store.list_plans(&session, &small, at(8_001)).await.unwrap(), []);
    let plan = store.get_plan(&session, &plan("l", 1, 1).id).await.unwrap();
    assert_eq!(plan.end, Some(PlanEnd::Abandoned));
    let on_record = store.get_overlay(&session, &OverlayId::new("o")).await.unwrap();
    assert_eq!(on_record.rollback, None);

    let is_view = |err| matches!(err, Error::NotFound(Entity::View(name)) if name == "small");
    let newest = before + 1;
    assert!(is_view(store.rollback_overlay(rollback(&session, "o")).await.unwrap_err()));
    let late = CommitOverlays { view: small.clone(), ..commit(&session, newest, Vec::new()) };
    assert!(is_view(store.commit_overlays(late).await.unwrap_err()));
    let late = NewPin { view: small.clone(), ..pin(&session, "p3", 1, 1) };
    assert!(is_view(store.pin(late).await.unwrap_err()));
    let late = Plan { view: small.clone(), ..super::support::plan("l3", 1, 1) };
    assert!(is_view(store.prepare(prepare(&session, newest, vec![late])).await.unwrap_err()));
    let item = item_of(Some("small"), "x");
    let late = SetItem { session: session.clone(), item, author: String::new(), at: at(1) };
    assert!(is_view(store.set_item(late).await.unwrap_err()));
    assert!(is_view(store.delete_view(deletion(&session, "small")).await.unwrap_err()));
    let late = SetView { only_without_model: true, ..set(&session, "small", parts(None)) };
    assert!(is_view(store.set_view(late).await.unwrap_err()), "it is not added by the way");
    let err = store.unpin(unpin(&session, "p")).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::Pin(id)) if id == "p"));
    assert_eq!(revision(&*store, &session).await, newest, "nothing happened");
}

pub(super) async fn a_new_view_of_a_deleted_name_starts_without_any(store: AnyStore) {
    let session = created(&*store, "s").await;
    appended(&*store, &session, 20).await;
    for ids in [["o", "p", "l"], ["o2", "p2", "l2"]] {
        filled(&store, &session, "small", ids).await;
        store.delete_view(deletion(&session, "small")).await.unwrap();
    }
    let (view, at_revision) = store.set_view(set(&session, "small", parts(None))).await.unwrap();
    assert_eq!(view.reductions_revision, at_revision);
    assert_eq!(overlays(&store, &session, "small", true).await, [""; 0]);
    assert_eq!(pins(&*store, &session, "small").await, [""; 0]);
    assert_eq!(store.list_items(&session, ItemAt::Now).await.unwrap(), []);
    let err = store.rollback_overlay(rollback(&session, "o2")).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::View(name)) if name == "small"));
    let superseding = CommitOverlays {
        view: ViewName::new("small"),
        supersedes: vec![OverlayId::new("o")],
        ..commit(&session, at_revision.0, vec![collapse("x", 1, 2)])
    };
    let err = store.commit_overlays(superseding).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::View(name)) if name == "small"));
    let err = store.unpin(unpin(&session, "p2")).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::Pin(_))));
    // It crosses what the earlier ones covered, and that is nothing to it.
    let across = CommitOverlays {
        view: ViewName::new("small"),
        ..commit(&session, at_revision.0, vec![collapse("across", 3, 9)])
    };
    store.commit_overlays(across).await.unwrap();
    assert_eq!(overlays(&store, &session, "small", true).await, ["across"]);
    let done = store.rollback_overlay(rollback(&session, "across")).await.unwrap();
    assert_eq!(done.hidden_by, None);
    assert_eq!(overlays(&store, &session, "small", false).await, [""; 0]);
}

pub(super) async fn main_is_never_deleted(store: AnyStore) {
    let session = created(&*store, "s").await;
    let err = store.delete_view(deletion(&session, "main")).await.unwrap_err();
    assert!(matches!(err, Error::Backend(_)));
    let err = store.delete_view(deletion(&session, "none")).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::View(name)) if name == "none"));
    let err = store.delete_view(deletion(&self::session("none"), "main")).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::Session(_))));
    assert_eq!(revision(&*store, &session).await, 1);
}
