//! Looks at overlays: one, or those of a view.

use super::{
    Ctx, Error, ListOverlaysInput, ListOverlaysOutput, Result, fields::Fields, overlay_size, page,
};
use crate::{
    codec,
    model::{Overlay, OverlayId, Seq},
};

/// Gets one overlay, whole.
///
/// # Errors
///
/// [`Error::InvalidField`], [`Error::SessionNotFound`],
/// [`Error::OverlayNotFound`], [`Error::ResponseTooLarge`].
pub async fn get_overlay(ctx: &Ctx, session_id: &str, overlay: &str) -> Result<Overlay> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", session_id);
    let overlay = fields.overlay("overlay_id", overlay);
    fields.finish()?;
    let overlay = ctx.store.get_overlay(&session, &overlay).await?;
    let (size, limit) = (codec::overlay::size(&overlay, &session.id), ctx.limits.response_bytes);
    if size > limit {
        return Err(Error::ResponseTooLarge { size: size as u64, limit: limit as u64 });
    }
    Ok(overlay)
}

/// Lists a view's overlays in the order of what they cover.
///
/// # Errors
///
/// [`Error::InvalidField`], [`Error::InvalidPageToken`],
/// [`Error::SessionNotFound`], [`Error::ViewNotFound`].
pub async fn list_overlays(ctx: &Ctx, input: ListOverlaysInput) -> Result<ListOverlaysOutput> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", &input.session_id);
    let view = fields.view("view", &input.view);
    let size = page::size(&mut fields, input.page_size);
    fields.finish()?;
    let query = page::Query::new("list_overlays")
        .with(session.id.as_str())
        .with(view.as_str())
        .with(if input.include_rolled_back { "all" } else { "in_force" });
    let after: Option<(Seq, OverlayId)> = query
        .key(&input.page_token)?
        .map(|key| {
            let key = String::from_utf8(key).map_err(|_| Error::InvalidPageToken)?;
            let (seq, id) = key.split_once(' ').ok_or(Error::InvalidPageToken)?;
            let seq = seq.parse().map_err(|_| Error::InvalidPageToken)?;
            Ok::<_, Error>((Seq(seq), OverlayId::new(id)))
        })
        .transpose()?;
    let known = ctx.store.get_session(&session).await?;
    if known.views.iter().all(|it| it.name != view) {
        return Err(Error::ViewNotFound(view.to_string()));
    }
    let mut all = ctx.store.list_overlays(&session, &view, input.include_rolled_back).await?;
    all.sort_by_key(place);
    let mut room = page::Room::default();
    let (mut overlays, mut is_more) = (Vec::new(), false);
    for mut it in all.into_iter().filter(|it| after.as_ref().is_none_or(|at| place(it) > *at)) {
        overlay_size::bound(&mut it, &session.id);
        is_more = overlays.len() == size || !room.takes(codec::overlay::size(&it, &session.id));
        if is_more {
            break;
        }
        overlays.push(it);
    }
    let next = overlays.last().filter(|_| is_more).map(place);
    let next_page_token =
        next.map_or_else(String::new, |(seq, id)| query.token(format!("{seq} {id}").as_bytes()));
    Ok(ListOverlaysOutput { overlays, next_page_token })
}

fn place(overlay: &Overlay) -> (Seq, OverlayId) {
    let first = overlay.covered.ranges().first().map_or(Seq(0), |range| range.first);
    (first, overlay.id.clone())
}
