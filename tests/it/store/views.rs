//! Views.

use std::sync::Arc;

use bytes::Bytes;
use concertina::{
    model::{Model, Revision, ViewName},
    store::{Entity, Error, SessionRef, SetView, SetViewParts, Store},
};

use super::support::{at, created, model, parts, revision, session, view_of};

type AnyStore = Arc<dyn Store>;

fn set(session: &SessionRef, name: &str, parts: SetViewParts) -> SetView {
    SetView {
        session: session.clone(),
        view: ViewName::new(name),
        parts,
        only_without_model: false,
        author: "ann".into(),
        at: at(5_000),
    }
}

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
