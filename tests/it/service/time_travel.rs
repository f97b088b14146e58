//! I8: what a view showed at a revision is shown again, byte for byte.

use std::sync::Arc;

use concertina::{
    model::{Block, Overlay, Placement, Role},
    service::{
        ContextInput, ContextItemInput, ContextOutput, Ctx, ForkSession, RollbackInput,
        fork_session, get_context, rollback_overlay, set_context_item,
    },
    store::{
        Store,
        memory::MemoryStore,
        sqlite::{Options, SqliteStore},
    },
};
use proptest::{prelude::*, sample::select};

use super::{
    between::Between,
    life::{Deed, Life, SESSION, Seen, deeds, in_force},
};
use crate::projection::{generate::Event, support::message};

/// Asks for the revision of each context that was seen, and compares.
pub(super) async fn shows_again(ctx: &Ctx, seen: &[Seen]) {
    for Seen { input, output } in seen {
        let input = ContextInput { at_revision: Some(output.revision.0), ..input.clone() };
        let past = get_context(ctx, input).await.unwrap();
        assert_same(&past, output);
    }
}

#[track_caller]
fn assert_same(past: &ContextOutput, then: &ContextOutput) {
    let at = format!("{} at {} ({})", then.view, then.revision, then.fingerprint);
    assert!(past.body == then.body, "other bytes: {at}\n{:?}\n{:?}", past.body, then.body);
    assert_eq!(past.revision, then.revision, "{at}");
    assert_eq!(past.origins, then.origins, "{at}");
    assert_eq!(past.budget, then.budget, "{at}");
    assert_eq!(past.repairs, then.repairs, "{at}");
    assert_eq!(past.rounds_in_flight, then.rounds_in_flight, "{at}");
    let overlays = |of: &ContextOutput| -> Vec<Overlay> {
        of.overlays.iter().map(|it| Overlay::clone(it)).collect()
    };
    assert_eq!(overlays(past), overlays(then), "{at}");
    let sizes = |of: &ContextOutput| -> Vec<_> {
        let stages = of.stages.iter();
        stages.map(|it| (it.stage.clone(), it.tokens_before, it.tokens_after)).collect()
    };
    assert_eq!(sizes(past), sizes(then), "{at}");
    assert!(past.preview, "nothing was committed for it");
    let digest = |of: &ContextOutput| of.fingerprint.rsplit(':').next().unwrap().to_owned();
    assert_eq!(digest(past), digest(then), "{at}");
    assert!(past.fingerprint.starts_with("1p:"), "its usage does not calibrate");
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Lives over a store. Returns what was seen, which is shown again already.
async fn lives(store: Arc<dyn Store>, preset: &str, window: i64, deeds: Vec<Deed>) -> Vec<Seen> {
    let mut life = Life::start(store, preset, window).await;
    for deed in deeds {
        life.live(deed).await;
    }
    shows_again(&life.ctx, &life.seen).await;
    for (name, share) in [("early", 300), ("late", 999)] {
        in_a_fork(&life, name, share).await;
    }
    life.seen
}

/// What was seen before a fork was made is shown in the fork too.
async fn in_a_fork(life: &Life, name: &str, share: i64) {
    let seq = life.row_at(share).await;
    let fork = ForkSession {
        session_id: SESSION.into(),
        new_session_id: name.into(),
        seq: Some(seq),
        ..ForkSession::default()
    };
    let Ok(fork) = fork_session(&life.ctx, fork).await else {
        assert!(life.seen.is_empty(), "there are messages");
        return;
    };
    let shared = fork.fork_origin.unwrap().revision;
    for Seen { input, output } in life.seen.iter().filter(|it| it.output.revision <= shared) {
        let at_revision = Some(output.revision.0);
        let input = ContextInput { session_id: name.into(), at_revision, ..input.clone() };
        assert_same(&get_context(&life.ctx, input).await.unwrap(), output);
    }
}

async fn in_memory(preset: &str, window: i64, deeds: Vec<Deed>) {
    let store = Arc::new(MemoryStore::new());
    let seen = lives(store.clone(), preset, window, deeds).await;
    // Nothing that is kept of the session beside the store is needed for it.
    shows_again(&Ctx::new(store), &seen).await;
}

async fn on_disk(preset: &str, window: i64, deeds: Vec<Deed>) {
    let dir = tempfile::tempdir().unwrap();
    let open = || async { SqliteStore::open(dir.path(), Options::default()).await.unwrap() };
    let store = Arc::new(open().await);
    let seen = lives(store.clone(), preset, window, deeds).await;
    store.close().await;
    let store = Arc::new(open().await);
    shows_again(&Ctx::new(store.clone()), &seen).await;
    store.close().await;
}

fn words() -> Deed {
    let message = message(Role::User, vec![Block::text("some words")]);
    Deed::Event(Event::Append(Box::new(message)))
}

fn item(words: usize) -> Deed {
    Deed::SetItem { name: "rules", placement: Placement::UserContext, words, view: "" }
}

/// What is written while a context is put together is in the next one: else its
/// revision would show something else later.
#[tokio::test]
async fn i8_a_context_holds_nothing_that_came_after_its_revision() {
    let store = Arc::new(Between::default());
    let mut life = Life::start(store.clone(), "off", 100_000).await;
    // Somebody of whom the first one is not told.
    let other = Ctx::new(store.inner.clone());
    for deed in [words(), words(), words(), Deed::Event(Event::Snip(0, 0))] {
        life.live(deed).await;
    }
    let snip = in_force(&other, "main").await.unwrap().remove(0).to_string();
    let ask = || Deed::Ask { view: 0, format: 1, lane: "" };

    life.live(item(1)).await;
    let ctx = other.clone();
    store.then(Box::new(move || Box::pin(set_rules(ctx))));
    life.live(ask()).await;

    life.live(Deed::Pin { view: 0, at: 999, rows: 1 }).await;
    let ctx = other.clone();
    store.then(Box::new(move || Box::pin(roll_back(ctx, snip))));
    life.live(ask()).await;

    assert_eq!((life.seen.len(), life.done), (2, 8));
    assert_eq!(in_force(&other, "main").await.unwrap(), [], "it was rolled back meanwhile");
    shows_again(&other, &life.seen).await;
}

async fn set_rules(ctx: Ctx) {
    let item = ContextItemInput {
        name: "rules".into(),
        placement: Some(Placement::UserContext),
        content: "others".into(),
        ..ContextItemInput::default()
    };
    set_context_item(&ctx, SESSION, item, String::new()).await.unwrap();
}

async fn roll_back(ctx: Ctx, overlay_id: String) {
    let input =
        RollbackInput { session_id: SESSION.into(), overlay_id, ..RollbackInput::default() };
    rollback_overlay(&ctx, input).await.unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 40,
        max_shrink_iters: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn i8_every_revision_shows_what_it_showed(
        preset in select(vec!["default", "cascade", "teaching"]),
        window in select(vec![1500, 3000, 8000]),
        deeds in deeds(24),
    ) {
        block_on(in_memory(preset, window, deeds));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 10,
        max_shrink_iters: 100,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn i8_every_revision_shows_what_it_showed_after_a_restart(
        preset in select(vec!["default", "cascade", "teaching"]),
        window in select(vec![1500, 3000, 8000]),
        deeds in deeds(24),
    ) {
        block_on(on_disk(preset, window, deeds));
    }
}
