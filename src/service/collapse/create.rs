//! A segment collapsed now, by the server's summarizer.

use super::{
    CreateCollapseInput, leases,
    work::{self, Order},
};
use crate::{
    model::{RowSet, SeqRange},
    projection::{self, Refusal, Segment},
    service::{
        Ctx, Error, OverlayOutput, Result, changes, digest_of,
        fields::{Fields, request_key},
        live::{self, State},
        overlays::{MOST_SHOWN_BYTES, replay},
    },
};

/// A race with another change of the view is run so many times.
const MOST_ATTEMPTS: usize = 3;

/// Collapses a segment now, with the server's summarizer. Goes on to its end
/// where the caller goes away.
///
/// # Errors
///
/// * [`Error::InvalidField`].
/// * [`Error::SessionNotFound`], [`Error::ViewNotFound`], [`Error::RangeNotFound`].
/// * [`Error::NothingToCollapse`] where everything there is covered already, or
///   too new.
/// * [`Error::RangePinned`], [`Error::RangeHoldsNewestRequest`],
///   [`Error::RangeLeased`].
/// * [`Error::SummaryNotSmaller`] where the view would not get smaller,
///   [`Error::SummaryRejected`], [`Error::SummaryTooLong`],
///   [`Error::SummarizerUnavailable`].
/// * [`Error::IdempotencyKeyReused`], [`Error::OverlayConflict`].
pub async fn create_collapse(ctx: &Ctx, input: CreateCollapseInput) -> Result<OverlayOutput> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", &input.session_id);
    let view = fields.view("view", &input.view);
    fields.name("author", &input.author);
    fields.request_id(&input.request_id);
    fields.text("instructions", &input.instructions, MOST_SHOWN_BYTES);
    let rows = input.rows.map(|rows| fields.rows("rows", Some(rows)));
    fields.finish()?;
    let request = request_key(&input.request_id, || {
        let (first, last) = input.rows.unwrap_or_default();
        digest_of(&[
            b"create_collapse",
            view.as_str().as_bytes(),
            &first.to_le_bytes(),
            &last.to_le_bytes(),
            input.instructions.as_bytes(),
            input.author.as_bytes(),
        ])
    });
    let order = Order {
        session,
        view,
        instructions: input.instructions,
        author: input.author,
        is_stage: false,
        request,
    };
    let ctx = ctx.clone();
    changes::to_the_end(async move {
        let _turn = match &order.request {
            Some(request) => Some(ctx.in_flight.turn(&order.session, request).await),
            None => None,
        };
        let request = order.request.as_ref();
        if let Some(known) = replay(&ctx, &order.session, &order.view, request).await? {
            return Ok(known);
        }
        let mut attempt = 1;
        loop {
            match once(&ctx, &order, rows).await {
                Err(Error::OverlayConflict(_) | Error::PinConflict(_))
                    if attempt < MOST_ATTEMPTS =>
                {
                    attempt += 1;
                }
                outcome => return outcome,
            }
        }
    })
    .await
}

async fn once(ctx: &Ctx, order: &Order, rows: Option<SeqRange>) -> Result<OverlayOutput> {
    let leased = {
        let mut state = live::loaded(ctx, &order.session).await?;
        let segment = segment(ctx, &mut state, order, rows, None).await?;
        work::lease(ctx, &mut state, order, vec![segment]).await?
    };
    let live = ctx.live.get(&order.session);
    let done = work::carry_out(ctx, &live, order, leased).await?;
    if let Some((_, why)) = done.refused.into_iter().next() {
        return Err(why);
    }
    let committed = done.committed.ok_or(Error::NothingToCollapse)?;
    let revision = committed.revision;
    let overlay = committed.overlays.into_iter().next().ok_or(Error::NothingToCollapse)?;
    Ok(OverlayOutput { overlay, revision })
}

/// The segment that rows come to, or the policy's next one.
pub(super) async fn segment(
    ctx: &Ctx,
    state: &mut State,
    order: &Order,
    rows: Option<SeqRange>,
    most_tokens: Option<i64>,
) -> Result<Segment> {
    let newest = state.history.newest();
    if let Some(rows) = rows
        && rows.last > newest
    {
        return Err(Error::RangeNotFound { first: rows.first, last: rows.last, newest });
    }
    let facts = work::facts(ctx, state, &order.session, &order.view).await?;
    let pins = work::view_of(state, &order.view)?.pins.clone();
    let found = facts.look(state, |lens, facts, in_force, memo| match rows {
        Some(rows) => projection::named_segment(lens, facts, in_force, memo, rows, most_tokens),
        None => projection::oldest_segment(lens, facts, in_force, memo, most_tokens)
            .ok_or(Refusal::Nothing),
    })?;
    let view = work::view_of(state, &order.view)?;
    let segment = found.map_err(|refusal| match refusal {
        Refusal::Nothing => {
            // What nobody named may be there again once its lease has ended.
            let holder = rows.is_none().then(|| leases::holder(view, ctx.clock.now())).flatten();
            holder.as_ref().map_or(Error::NothingToCollapse, Error::range_leased)
        }
        Refusal::Covered(overlay) => Error::RangeCovered(overlay),
        Refusal::NewestRequest(seq) => Error::RangeHoldsNewestRequest(seq),
        Refusal::Pinned(at) => {
            let rows = facts.pins.get(at).copied();
            let set = rows.map(|rows| RowSet::of_ranges(vec![rows])).unwrap_or_default();
            let pin = pins.iter().find(|pin| RowSet::of_ranges(vec![pin.rows]).intersects(&set));
            Error::RangePinned(pin.map(|pin| pin.id.to_string()).unwrap_or_default())
        }
    })?;
    Ok(segment)
}
