//! Erases a session.

use std::sync::Arc;

use super::{Ctx, Result, changes, fields::Fields};
use crate::store;

/// Erases a session: rows, overlays, everything.
///
/// # Errors
///
/// * [`super::Error::InvalidField`], [`super::Error::SessionNotFound`].
/// * [`super::Error::SessionHasForks`] while forks share its rows.
pub async fn delete_session(ctx: &Ctx, session_id: &str) -> Result<()> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", session_id);
    fields.finish()?;
    let (store, live) = (Arc::clone(&ctx.store), Arc::clone(&ctx.live));
    let erase = async move {
        store.delete_session(&session).await?;
        live.forget(&session);
        Ok::<(), store::Error>(())
    };
    Ok(changes::to_the_end(erase).await?)
}
