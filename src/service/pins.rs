//! Pins: rows that no automatic reduction of a view takes.

use std::sync::Arc;

use super::{
    Ctx, Error, Result, changes, digest_of,
    fields::{Fields, request_key},
    get_context::view_window,
    limits::REASON_BYTES,
    live::{self, State},
};
use crate::{
    model::{Overlay, Pin, PinId, Revision, RowSet, SeqRange, ViewName},
    projection::{Lens, report},
    store::{self, Entity, NewPin, PinRows, SessionRef, Store, Unpin},
    tokens,
};

/// Rows to pin.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PinInput {
    /// The session's id.
    pub session_id: String,
    /// The view's name; empty: `main`.
    pub view: String,
    /// First and last row; `None` where the caller named none.
    pub rows: Option<(i64, i64)>,
    /// Why.
    pub reason: String,
    /// Who asks.
    pub author: String,
    /// For retries; empty: none.
    pub request_id: String,
}

/// A pin that was set.
#[derive(Debug, Clone, PartialEq)]
pub struct PinOutput {
    /// The pin.
    pub pin: Pin,
    /// The session's revision afterwards.
    pub revision: Revision,
}

/// Keeps rows out of every automatic reduction of a view until they are
/// unpinned. What covers them already goes on to.
///
/// # Errors
///
/// * [`Error::InvalidField`], also where the view has all the pins it may have.
/// * [`Error::SessionNotFound`], [`Error::ViewNotFound`],
///   [`Error::RangeNotFound`].
/// * [`Error::PinTooLarge`] where the view's pins would hold more than half of
///   what its messages may be.
/// * [`Error::IdempotencyKeyReused`].
pub async fn pin_messages(ctx: &Ctx, input: PinInput) -> Result<PinOutput> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", &input.session_id);
    let view = fields.view("view", &input.view);
    let rows = fields.rows("rows", input.rows);
    fields.name("author", &input.author);
    fields.text("reason", &input.reason, REASON_BYTES);
    fields.request_id(&input.request_id);
    fields.finish()?;
    let new = NewPin {
        request: request_key(&input.request_id, || digest(&input, &view)),
        session,
        view,
        id: PinId::new(&ctx.ids.next()),
        rows,
        reason: input.reason,
        author: input.author,
        at: ctx.clock.now(),
    };
    if let Some(known) = replay(ctx, &new).await? {
        return Ok(known);
    }
    let state = live::loaded(ctx, &new.session).await?;
    check_room(ctx, &state, &new.session, &new.view, rows, "rows").await?;
    let session = new.session.clone();
    let work = |store: Arc<dyn Store>| async move { store.pin(new).await };
    let (pin, revision, _) = changes::write(ctx, &session, work, |(_, revision, _)| *revision)
        .await
        .map_err(Error::from)?;
    Ok(PinOutput { pin, revision })
}

/// Takes a pin away. Returns the session's revision afterwards.
///
/// # Errors
///
/// [`Error::InvalidField`], [`Error::SessionNotFound`], [`Error::PinNotFound`].
pub async fn unpin_messages(ctx: &Ctx, session_id: &str, pin_id: &str) -> Result<Revision> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", session_id);
    let pin = fields.pin("pin_id", pin_id);
    fields.finish()?;
    let unpin = Unpin { session: session.clone(), pin, at: ctx.clock.now() };
    let work = |store: Arc<dyn Store>| async move { store.unpin(unpin).await };
    Ok(changes::write(ctx, &session, work, |revision| *revision).await?)
}

/// Lists the pins of a view, oldest first.
///
/// # Errors
///
/// [`Error::InvalidField`], [`Error::SessionNotFound`], [`Error::ViewNotFound`].
pub async fn list_pins(ctx: &Ctx, session_id: &str, view: &str) -> Result<Vec<Pin>> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", session_id);
    let view = fields.view("view", view);
    fields.finish()?;
    let known = ctx.store.get_session(&session).await?;
    if known.views.iter().all(|it| it.name != view) {
        return Err(Error::ViewNotFound(view.to_string()));
    }
    Ok(ctx.store.list_pins(&session, &view).await?)
}

/// The pin that goes with the rollback of `overlay`: from the first to the last
/// of the rows that it covers, or whose content it shows otherwise.
pub(super) async fn beside_rollback(
    ctx: &Ctx,
    state: &State,
    session: &SessionRef,
    overlay: &Overlay,
) -> Result<PinRows> {
    let (Some(first), Some(last)) =
        (overlay.covered.ranges().first(), overlay.covered.ranges().last())
    else {
        return Err(Error::field("pin", "expected an overlay that covers a row"));
    };
    let rows = SeqRange { first: first.first, last: last.last };
    check_room(ctx, state, session, &overlay.view, rows, "pin").await?;
    Ok(PinRows { id: PinId::new(&ctx.ids.next()), rows })
}

/// Checks that `rows` are there and may be pinned beside what is. `field` is
/// told where the view has all the pins it may have.
async fn check_room(
    ctx: &Ctx,
    state: &State,
    session: &SessionRef,
    view: &ViewName,
    rows: SeqRange,
    field: &str,
) -> Result<()> {
    let known = state.views.get(view).ok_or_else(|| Error::ViewNotFound(view.to_string()))?;
    let newest = state.history.newest();
    if rows.last > newest {
        return Err(Error::RangeNotFound { first: rows.first, last: rows.last, newest });
    }
    let most = ctx.limits.pins;
    if known.pins.len() >= most {
        return Err(Error::field(field, format!("expected at most {most} pins in a view")));
    }
    let window = view_window(ctx, state, session, view).await?;
    let all = known.pins.iter().map(|pin| pin.rows).chain([rows]);
    let all = RowSet::of_ranges(all.collect());
    let (history, sight) = (&state.history, &known.sight);
    let lens = Lens { history, sight, shown: history.order().len() };
    let held = report::tokens_within(lens, all.ranges());
    let (tokens, max_tokens) = (tokens::calibrate(held, window.factor), window.room() / 2);
    if tokens > max_tokens {
        return Err(Error::PinTooLarge { tokens, max_tokens });
    }
    Ok(())
}

/// The answer of an earlier request of that id, before anything is checked
/// against a state that has changed since.
async fn replay(ctx: &Ctx, new: &NewPin) -> Result<Option<PinOutput>> {
    if new.request.is_none() {
        return Ok(None);
    }
    // A pin in a view that can never be: a known request wins over that, and of
    // an unknown one nothing is kept.
    let ask = NewPin { view: ViewName::new(""), ..new.clone() };
    match ctx.store.pin(ask).await {
        Ok((pin, revision, _)) => Ok(Some(PinOutput { pin, revision })),
        Err(store::Error::NotFound(Entity::View(_))) => Ok(None),
        Err(err) => Err(err.into()),
    }
}

fn digest(input: &PinInput, view: &ViewName) -> [u8; 32] {
    let (first, last) = input.rows.unwrap_or_default();
    digest_of(&[
        b"pin_messages",
        view.as_str().as_bytes(),
        &first.to_le_bytes(),
        &last.to_le_bytes(),
        input.reason.as_bytes(),
        input.author.as_bytes(),
    ])
}
