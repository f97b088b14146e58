//! Views side by side: own policies, models and overlays over the same rows.

use std::sync::Arc;

use concertina::{
    model::WireFormat,
    service::{
        ContextInput, Ctx, Error, Limits, SetViewInput, delete_view, get_context, get_session,
        set_view,
    },
    store::memory::MemoryStore,
};

use super::life::{Deed, Life, SESSION, asking, in_force, of_window};
use crate::projection::{
    generate::Event,
    support::{message, of_tokens},
};

async fn life() -> Life {
    Life::start(Arc::new(MemoryStore::new()), "cascade", 4000).await
}

fn setting(name: &str, preset: &str, window: i64) -> SetViewInput {
    SetViewInput {
        session_id: SESSION.into(),
        name: name.into(),
        preset: preset.into(),
        model: of_window(window),
        ..SetViewInput::default()
    }
}

async fn say(life: &mut Life, tokens: i64) {
    let words = concertina::model::Block::text(of_tokens(tokens - 4));
    let message = message(concertina::model::Role::User, vec![words]);
    life.live(Deed::Event(Event::Append(Box::new(message)))).await;
}

async fn shown(ctx: &Ctx, view: &str) -> usize {
    let input = ContextInput { view: view.into(), ..asking(WireFormat::OpenAiChat) };
    get_context(ctx, input).await.unwrap().origins.len()
}

async fn views(ctx: &Ctx) -> Vec<String> {
    let session = get_session(ctx, SESSION, "").await.unwrap().session;
    session.views.iter().map(|it| it.name.to_string()).collect()
}

#[tokio::test]
async fn a_session_has_at_most_so_many_views() {
    let life = life().await;
    let ctx = Ctx { limits: Limits { views: 3, ..Limits::default() }, ..life.ctx };
    set_view(&ctx, setting("b", "", 0)).await.unwrap();
    set_view(&ctx, setting("a", "", 0)).await.unwrap();
    let Err(Error::InvalidField(wrong)) = set_view(&ctx, setting("c", "", 0)).await else {
        panic!("it was taken")
    };
    assert_eq!(wrong[0].field, "view");
    assert!(wrong[0].description.contains("at most 3 views"), "{wrong:?}");
    set_view(&ctx, setting("a", "off", 0)).await.unwrap();
    delete_view(&ctx, SESSION, "b").await.unwrap();
    set_view(&ctx, setting("c", "", 0)).await.unwrap();
    assert_eq!(views(&ctx).await, ["main", "a", "c"]);
}

#[tokio::test]
async fn a_new_policy_rebuilds_what_depends_on_it() {
    let mut life = life().await;
    for _ in 0..12 {
        say(&mut life, 300).await;
    }
    assert!(shown(&life.ctx, "main").await < 12);
    let overlays = in_force(&life.ctx, "main").await.unwrap();
    assert_eq!(overlays.len(), 1);
    set_view(&life.ctx, setting("main", "off", 1_000_000)).await.unwrap();
    assert!(shown(&life.ctx, "main").await < 12, "overlays that are in force stay so");
    set_view(&life.ctx, setting("wide", "off", 1_000_000)).await.unwrap();
    assert_eq!(shown(&life.ctx, "wide").await, 12);
    set_view(&life.ctx, setting("wide", "cascade", 4000)).await.unwrap();
    assert!(shown(&life.ctx, "wide").await < 12);
    assert_eq!(in_force(&life.ctx, "main").await.unwrap(), overlays);
}

#[tokio::test]
async fn a_view_that_was_deleted_starts_anew() {
    let mut life = life().await;
    for _ in 0..12 {
        say(&mut life, 300).await;
    }
    set_view(&life.ctx, setting("side", "cascade", 4000)).await.unwrap();
    let reduced = shown(&life.ctx, "side").await;
    assert!(reduced < 12);
    let at = get_session(&life.ctx, SESSION, "side").await.unwrap().session.revision.0;
    delete_view(&life.ctx, SESSION, "side").await.unwrap();
    let input = ContextInput { view: "side".into(), ..asking(WireFormat::OpenAiChat) };
    let gone = get_context(&life.ctx, input.clone()).await;
    assert!(matches!(gone, Err(Error::ViewNotFound(name)) if name == "side"));
    set_view(&life.ctx, setting("side", "off", 1_000_000)).await.unwrap();
    assert_eq!(shown(&life.ctx, "side").await, 12);
    let past = ContextInput { at_revision: Some(at), ..input };
    assert_eq!(get_context(&life.ctx, past).await.unwrap().origins.len(), reduced);
}
