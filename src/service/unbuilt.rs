//! Use cases that are declared and not built yet, and the places where what is
//! kept of views in memory will be told of changes.

use super::{
    ClearInput, ContextInput, ContextOutput, Ctx, Error, ListOverlaysInput, ListOverlaysOutput,
    OverlayOutput, Result, RollbackInput, RollbackOutput, SnipInput,
};
use crate::{
    model::{Overlay, Revision, Session, TokenBudget, View, ViewName},
    store::{Appended, NewRow, SessionRef},
};

/// The projected context of a view.
///
/// # Errors
///
/// [`Error::Unimplemented`].
pub async fn get_context(_ctx: &Ctx, _input: ContextInput) -> Result<ContextOutput> {
    Err(Error::Unimplemented)
}

/// Shows content shorter, by hand.
///
/// # Errors
///
/// [`Error::Unimplemented`].
pub async fn create_clear(_ctx: &Ctx, _input: ClearInput) -> Result<OverlayOutput> {
    Err(Error::Unimplemented)
}

/// Hides rounds, by hand.
///
/// # Errors
///
/// [`Error::Unimplemented`].
pub async fn create_snip(_ctx: &Ctx, _input: SnipInput) -> Result<OverlayOutput> {
    Err(Error::Unimplemented)
}

/// Takes one overlay out of the view.
///
/// # Errors
///
/// [`Error::Unimplemented`].
pub async fn rollback_overlay(_ctx: &Ctx, _input: RollbackInput) -> Result<RollbackOutput> {
    Err(Error::Unimplemented)
}

/// Gets one overlay.
///
/// # Errors
///
/// [`Error::Unimplemented`].
pub async fn get_overlay(_ctx: &Ctx, _session_id: &str, _overlay_id: &str) -> Result<Overlay> {
    Err(Error::Unimplemented)
}

/// Lists a view's overlays.
///
/// # Errors
///
/// [`Error::Unimplemented`].
pub async fn list_overlays(_ctx: &Ctx, _input: ListOverlaysInput) -> Result<ListOverlaysOutput> {
    Err(Error::Unimplemented)
}

/// How full a view is; `None` where it cannot be told.
pub(super) async fn view_budget(
    _ctx: &Ctx,
    _session: &Session,
    _view: &View,
) -> Result<Option<TokenBudget>> {
    Ok(None)
}

/// Rows came. Returns how full the view is now, where it is in memory.
pub(super) async fn rows_appended(
    _ctx: &Ctx,
    _session: &SessionRef,
    _view: &ViewName,
    _rows: &[NewRow],
    _appended: &Appended,
) -> Option<TokenBudget> {
    None
}

/// Context items changed.
pub(super) fn items_changed(_ctx: &Ctx, _session: &SessionRef, _revision: Revision) {}

/// The session is gone.
pub(super) fn session_deleted(_ctx: &Ctx, _session: &SessionRef) {}

/// Says whether a context of the session could have had this fingerprint.
pub(super) fn knows_fingerprint(_ctx: &Ctx, _session: &SessionRef, _fingerprint: &str) -> bool {
    true
}
