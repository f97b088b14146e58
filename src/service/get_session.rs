//! Tells a session, and how full one of its views is.

use super::{Ctx, Error, Result, fields::Fields};
use crate::model::{Session, TokenBudget};

/// A session, and the budget of the view that was asked about.
#[derive(Debug, Clone, PartialEq)]
pub struct GotSession {
    /// The session.
    pub session: Session,
    /// `None` where it cannot be told.
    pub budget: Option<TokenBudget>,
}

/// Gets a session.
///
/// # Errors
///
/// [`Error::InvalidField`], [`Error::SessionNotFound`], [`Error::ViewNotFound`].
pub async fn get_session(ctx: &Ctx, session_id: &str, view: &str) -> Result<GotSession> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", session_id);
    let view = fields.view("view", view);
    fields.finish()?;
    let session = ctx.store.get_session(&session).await?;
    let looked_at = session.views.iter().find(|it| it.name == view);
    let looked_at = looked_at.ok_or_else(|| Error::ViewNotFound(view.to_string()))?;
    let budget = super::get_context::view_budget(ctx, &session, looked_at).await?;
    Ok(GotSession { session, budget })
}
