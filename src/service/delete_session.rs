//! Erases a session.

use super::{Ctx, Result, fields::Fields};

/// Erases a session: rows, overlays, everything.
///
/// # Errors
///
/// [`super::Error::InvalidField`], [`super::Error::SessionNotFound`].
pub async fn delete_session(ctx: &Ctx, session_id: &str) -> Result<()> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", session_id);
    fields.finish()?;
    ctx.store.delete_session(&session).await?;
    ctx.live.forget(&session);
    Ok(())
}
