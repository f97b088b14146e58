//! Pins: what pressure may not take, and how much of it there may be.

use std::sync::Arc;

use concertina::{
    model::{Role, WireFormat},
    service::{
        AppendTurn, ContextInput, ContextOutput, Ctx, Error, Limits, PinInput, RollbackInput,
        append_turn, get_context, get_session, list_pins, pin_messages, rollback_overlay,
        unpin_messages,
    },
    store::memory::MemoryStore,
};

use super::life::{Life, SESSION, asking, in_force};
use crate::projection::support::{message, of_tokens};

/// A turn of 300 tokens.
const TURN: i64 = 300;

/// A window of 4,000, of which messages may be 3,000.
async fn cascade() -> Ctx {
    Life::start(Arc::new(MemoryStore::new()), "cascade", 4000).await.ctx
}

async fn turns(ctx: &Ctx, count: i64) {
    for _ in 0..count {
        let half = || concertina::model::Block::text(of_tokens(TURN / 2 - 4));
        let input = AppendTurn {
            session_id: SESSION.into(),
            messages: vec![
                message(Role::User, vec![half()]),
                message(Role::Assistant, vec![half()]),
            ],
            ..AppendTurn::default()
        };
        append_turn(ctx, input).await.unwrap();
    }
}

fn pinning(first: i64, last: i64) -> PinInput {
    PinInput { session_id: SESSION.into(), rows: Some((first, last)), ..PinInput::default() }
}

async fn context(ctx: &Ctx) -> Arc<ContextOutput> {
    get_context(ctx, asking(WireFormat::OpenAiChat)).await.unwrap()
}

async fn revision(ctx: &Ctx) -> i64 {
    get_session(ctx, SESSION, "").await.unwrap().session.revision.0
}

/// The rows that a context shows.
fn rows(context: &Arc<ContextOutput>) -> Vec<i64> {
    context.origins.iter().flat_map(|it| it.rows.iter().map(|seq| seq.0)).collect()
}

#[tokio::test]
async fn pressure_takes_what_is_not_pinned() {
    let ctx = cascade().await;
    turns(&ctx, 8).await;
    let before = context(&ctx).await;
    assert_eq!(rows(&before).len(), 16, "no pressure yet");
    let set = pin_messages(&ctx, PinInput { reason: "why".into(), ..pinning(3, 3) }).await.unwrap();
    assert_eq!((set.revision.0, set.pin.since), (revision(&ctx).await, set.revision));
    turns(&ctx, 4).await;
    let after = context(&ctx).await;
    // The whole round of row 3 is row 3; its turn's answer may go.
    let shown = rows(&after);
    assert!(shown.contains(&3) && !shown.contains(&1) && !shown.contains(&4), "{shown:?}");
    unpin_messages(&ctx, SESSION, set.pin.id.as_str()).await.unwrap();
    turns(&ctx, 1).await;
    assert!(!rows(&context(&ctx).await).contains(&3));
    let again = unpin_messages(&ctx, SESSION, set.pin.id.as_str()).await;
    assert!(matches!(again, Err(Error::PinNotFound(_))));
}

#[tokio::test]
async fn a_pin_changes_nothing_under_an_overlay() {
    let ctx = cascade().await;
    turns(&ctx, 12).await;
    let before = context(&ctx).await;
    assert!(!rows(&before).contains(&1));
    pin_messages(&ctx, pinning(1, 1)).await.unwrap();
    assert_eq!(context(&ctx).await.body, before.body);
}

#[tokio::test]
async fn what_is_rolled_back_and_pinned_stays() {
    let ctx = cascade().await;
    turns(&ctx, 12).await;
    let reduced = rows(&context(&ctx).await);
    let back = |pin| RollbackInput { session_id: SESSION.into(), pin, ..RollbackInput::default() };
    let overlay = in_force(&ctx, "main").await.unwrap().remove(0).to_string();
    let plain = RollbackInput { overlay_id: overlay, ..back(false) };
    assert_eq!(rollback_overlay(&ctx, plain).await.unwrap().pin, None);
    assert_eq!(rows(&context(&ctx).await), reduced, "pressure takes it again");
    let overlay = in_force(&ctx, "main").await.unwrap().remove(0).to_string();
    let pinned = RollbackInput { overlay_id: overlay, reason: "needed".into(), ..back(true) };
    let ended = rollback_overlay(&ctx, pinned).await.unwrap();
    let pin = ended.pin.unwrap();
    assert_eq!((pin.rows.first.0, &*pin.reason), (1, "needed"));
    assert_eq!(list_pins(&ctx, SESSION, "").await.unwrap(), [pin]);
    let shown = rows(&context(&ctx).await);
    assert!(shown.contains(&1), "{shown:?}");
}

#[tokio::test]
async fn pins_hold_at_most_half_of_the_room() {
    let ctx = cascade().await;
    turns(&ctx, 9).await;
    // 1,500 of 3,000: each row once, however often it is pinned.
    pin_messages(&ctx, pinning(1, 9)).await.unwrap();
    pin_messages(&ctx, pinning(2, 9)).await.unwrap();
    pin_messages(&ctx, pinning(1, 10)).await.unwrap();
    let before = revision(&ctx).await;
    let refused = pin_messages(&ctx, pinning(11, 11)).await;
    let Err(Error::PinTooLarge { tokens, max_tokens }) = refused else { panic!("{refused:?}") };
    assert_eq!((tokens, max_tokens), (TURN * 5 + TURN / 2, 1500));
    assert_eq!(revision(&ctx).await, before);
    assert_eq!(list_pins(&ctx, SESSION, "main").await.unwrap().len(), 3);
}

#[tokio::test]
async fn a_rollback_whose_rows_are_too_many_to_pin_changes_nothing() {
    let ctx = cascade().await;
    turns(&ctx, 16).await;
    let before = context(&ctx).await;
    let overlay = in_force(&ctx, "main").await.unwrap().remove(0).to_string();
    let back = RollbackInput {
        session_id: SESSION.into(),
        overlay_id: overlay.clone(),
        pin: true,
        ..RollbackInput::default()
    };
    let refused = rollback_overlay(&ctx, back.clone()).await;
    assert!(matches!(refused, Err(Error::PinTooLarge { .. })), "{refused:?}");
    assert_eq!(context(&ctx).await.body, before.body);
    assert_eq!(revision(&ctx).await, before.revision.0);
    rollback_overlay(&ctx, RollbackInput { pin: false, ..back.clone() }).await.unwrap();
    let twice = rollback_overlay(&ctx, back).await;
    assert!(matches!(twice, Err(Error::AlreadyRolledBack(_))), "before its size: {twice:?}");
}

#[tokio::test]
async fn j5_a_repeated_pin_is_set_once_whatever_came_since() {
    let ctx = cascade().await;
    turns(&ctx, 9).await;
    let asked = PinInput { request_id: "k".into(), ..pinning(1, 2) };
    let first = pin_messages(&ctx, asked.clone()).await.unwrap();
    pin_messages(&ctx, pinning(3, 10)).await.unwrap();
    let ctx = Ctx { limits: Limits { pins: 2, ..Limits::default() }, ..ctx };
    assert_eq!(pin_messages(&ctx, asked.clone()).await.unwrap(), first);
    assert_eq!(list_pins(&ctx, SESSION, "").await.unwrap().len(), 2);
    let other = PinInput { rows: Some((2, 2)), ..asked };
    let reused = pin_messages(&ctx, other).await;
    assert!(matches!(reused, Err(Error::IdempotencyKeyReused)), "{reused:?}");
    let third = pin_messages(&ctx, pinning(1, 1)).await;
    assert!(matches!(third, Err(Error::InvalidField(_))), "{third:?}");
}

#[tokio::test]
async fn what_a_preview_opens_stays_open_in_it() {
    let ctx = cascade().await;
    turns(&ctx, 12).await;
    let before = context(&ctx).await;
    let overlays = in_force(&ctx, "main").await.unwrap();
    let expand_overlay_ids = overlays.iter().map(ToString::to_string).collect();
    let opened =
        ContextInput { preview: true, expand_overlay_ids, ..asking(WireFormat::OpenAiChat) };
    let opened = get_context(&ctx, opened).await.unwrap();
    let shown = rows(&opened);
    assert!(shown.contains(&1), "what was opened is shown: {shown:?}");
    assert!(shown.len() < 24, "and something else gives way: {shown:?}");
    assert!(opened.budget.available() >= 0 && opened.preview);
    assert_eq!(context(&ctx).await.body, before.body, "nothing was committed");
    assert_eq!(revision(&ctx).await, before.revision.0);
}
