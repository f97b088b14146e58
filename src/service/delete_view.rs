//! Deletes a view.

use std::sync::Arc;

use super::{Ctx, Error, Result, changes, fields::Fields, live};
use crate::{
    model::{Revision, ViewName},
    store::DeleteView,
};

/// Deletes a view, any but `main`. What it showed can still be asked for by
/// revision. Returns the session's revision afterwards.
///
/// # Errors
///
/// [`Error::InvalidField`], [`Error::SessionNotFound`], [`Error::ViewNotFound`].
pub async fn delete_view(ctx: &Ctx, session_id: &str, view: &str) -> Result<Revision> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", session_id);
    let view = fields.view("view", view);
    if view == ViewName::main() {
        fields.wrong("view", "expected any view but `main`");
    }
    fields.finish()?;
    let (mut state, _) = live::locked(ctx, &session).await?;
    let delete = DeleteView { session: session.clone(), view: view.clone(), at: ctx.clock.now() };
    let (store, live) = (Arc::clone(&ctx.store), Arc::clone(&ctx.live));
    let work = async move {
        let revision = store.delete_view(delete).await?;
        live.note(&session, revision);
        state.views.remove(&view);
        Ok::<_, Error>(revision)
    };
    changes::to_the_end(work).await
}
