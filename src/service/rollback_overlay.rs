//! Takes overlays out of a view again.

use std::sync::Arc;

use super::{
    Ctx, Error, Result, RollbackInput, RollbackOutput, changes, fields::Fields,
    limits::REASON_BYTES, live, overlay_size, pins,
};
use crate::{
    model::{Overlay, OverlayId},
    store::{RollbackOverlay, RolledBack, SessionRef, Store},
};

/// Takes one overlay out of the view, at any depth.
///
/// # Errors
///
/// * [`Error::InvalidField`].
/// * [`Error::SessionNotFound`], [`Error::OverlayNotFound`].
/// * [`Error::AlreadyRolledBack`].
/// * [`Error::PinTooLarge`] where its rows cannot be pinned: then nothing
///   changed.
pub async fn rollback_overlay(ctx: &Ctx, input: RollbackInput) -> Result<RollbackOutput> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", &input.session_id);
    let overlay = fields.overlay("overlay_id", &input.overlay_id);
    fields.name("author", &input.author);
    fields.text("reason", &input.reason, REASON_BYTES);
    fields.finish()?;
    // Held until it is written: what may be pinned is judged by it.
    let (_state, pin) = if input.pin {
        let known = in_force(ctx, &session, &overlay).await?;
        let state = live::loaded(ctx, &session).await?;
        let pin = pins::beside_rollback(ctx, &state, &session, &known).await?;
        (Some(state), Some(pin))
    } else {
        (None, None)
    };
    let rollback = RollbackOverlay {
        session: session.clone(),
        overlay,
        clears_too: input.clears_too,
        pin,
        reason: input.reason,
        author: input.author,
        at: ctx.clock.now(),
    };
    let work = |store: Arc<dyn Store>| async move { store.rollback_overlay(rollback).await };
    let mut rolled_back =
        changes::write(ctx, &session, work, |done: &RolledBack| done.revision).await?;
    overlay_size::bound(&mut rolled_back.overlay, &session.id);
    Ok(RollbackOutput {
        overlay: rolled_back.overlay,
        revision: rolled_back.revision,
        hidden_by: rolled_back.hidden_by,
        pin: rolled_back.pin,
    })
}

/// The overlay, where it is in force.
async fn in_force(ctx: &Ctx, session: &SessionRef, id: &OverlayId) -> Result<Overlay> {
    let overlay = ctx.store.get_overlay(session, id).await?;
    match &overlay.rollback {
        Some(end) => Err(Error::AlreadyRolledBack(end.revision)),
        None => Ok(overlay),
    }
}
