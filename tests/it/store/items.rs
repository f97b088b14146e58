//! Context items and calibrations.

use std::sync::Arc;

use bytes::Bytes;
use concertina::{
    model::{ContextItem, Placement, Revision, ViewName, WireFormat},
    store::{Entity, Error, ItemAt, SessionRef, SetItem, SetView, Store},
};

use super::support::{at, created, parts, revision, session};

type AnyStore = Arc<dyn Store>;

fn item(name: &str, content: &str) -> ContextItem {
    ContextItem {
        name: name.into(),
        placement: Placement::System,
        content: Bytes::copy_from_slice(content.as_bytes()),
        format: None,
        view: None,
        tokens: 7,
    }
}

fn set(session: &SessionRef, item: ContextItem) -> SetItem {
    SetItem { session: session.clone(), item, author: "ann".into(), at: at(5_000) }
}

pub(super) async fn an_item_is_set_replaced_and_removed(store: AnyStore) {
    let session = created(&*store, "s").await;
    let tools = ContextItem {
        placement: Placement::Tools,
        format: Some(WireFormat::OpenAiResponses),
        content: Bytes::from("[{\"name\":\"x\"}]".repeat(500)),
        tokens: 0,
        ..item("b", "")
    };
    for (item, expected) in [
        (item("c", "\0\u{2028}"), 2),
        (tools.clone(), 3),
        (tools.clone(), 3),
        (item("a", "old"), 4),
        (item("a", "new"), 5),
        (item("never there", ""), 5),
        (item("c", ""), 6),
    ] {
        assert_eq!(store.set_item(set(&session, item)).await.unwrap(), Revision(expected));
    }
    let items = store.list_items(&session, ItemAt::Now).await.unwrap();
    assert_eq!(items, [item("a", "new"), tools]);
    assert_eq!(revision(&*store, &session).await, 6);
}

pub(super) async fn items_at_a_revision_are_those_of_then(store: AnyStore) {
    let session = created(&*store, "s").await;
    for (name, content) in [("a", "1"), ("b", "1"), ("a", "2"), ("a", ""), ("a", "3")] {
        store.set_item(set(&session, item(name, content))).await.unwrap();
    }
    let mut texts = Vec::new();
    for revision in 1..=6 {
        let at = ItemAt::Revision(Revision(revision));
        let items = store.list_items(&session, at).await.unwrap();
        let text = |it: &ContextItem| it.name.clone() + std::str::from_utf8(&it.content).unwrap();
        texts.push(items.iter().map(text).collect::<Vec<_>>().join(" "));
    }
    assert_eq!(texts, ["", "a1", "a1 b1", "a2 b1", "b1", "a3 b1"]);
    let err = store.list_items(&session, ItemAt::Revision(Revision(7))).await.unwrap_err();
    assert!(matches!(err, Error::RevisionNotFound { revision: Revision(7), newest: Revision(6) }));
}

pub(super) async fn an_item_is_named_within_its_view(store: AnyStore) {
    let session = created(&*store, "s").await;
    let small = ViewName::new("small");
    let of_view = |content: &str| ContextItem { view: Some(small.clone()), ..item("a", content) };
    let err = store.set_item(set(&session, of_view("x"))).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::View(name)) if name == "small"));
    let view = SetView {
        session: session.clone(),
        view: small.clone(),
        parts: parts(None),
        only_without_model: false,
        author: String::new(),
        at: at(1),
    };
    store.set_view(view).await.unwrap();
    store.set_item(set(&session, of_view("x"))).await.unwrap();
    store.set_item(set(&session, item("a", "y"))).await.unwrap();
    let items = store.list_items(&session, ItemAt::Now).await.unwrap();
    assert_eq!(items, [item("a", "y"), of_view("x")]);
    let err = store.set_item(set(&self::session("none"), item("a", "x"))).await.unwrap_err();
    assert!(matches!(err, Error::NotFound(Entity::Session(_))));
}

pub(super) async fn calibrations_are_of_a_namespace(store: AnyStore) {
    for (namespace, model, factor) in
        [("n", "b", 1.5), ("n", "a", 1.0), ("m", "b", 2.0), ("n", "b", 1.25), ("n", "B", 3.0)]
    {
        store.set_calibration(namespace, model, factor).await.unwrap();
    }
    let known = store.calibrations("n").await.unwrap();
    assert_eq!(known, [("B".to_owned(), 3.0), ("a".to_owned(), 1.0), ("b".to_owned(), 1.25)]);
    assert_eq!(store.calibrations("none").await.unwrap(), []);
}
