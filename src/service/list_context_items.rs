//! Lists what stands around the messages.

use super::{Ctx, Result, fields::Fields};
use crate::{
    model::{ContextItem, Revision},
    store::ItemAt,
};

/// Lists the context items in force, or those of an earlier revision, by name.
///
/// # Errors
///
/// [`super::Error::InvalidField`], [`super::Error::SessionNotFound`],
/// [`super::Error::RevisionNotFound`].
pub async fn list_context_items(
    ctx: &Ctx,
    session_id: &str,
    at_revision: Option<i64>,
) -> Result<Vec<ContextItem>> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", session_id);
    if at_revision.is_some_and(|it| it < 1) {
        fields.wrong("at_revision", "expected 1 or more");
    }
    fields.finish()?;
    let at = at_revision.map_or(ItemAt::Now, |it| ItemAt::Revision(Revision(it)));
    Ok(ctx.store.list_items(&session, at).await?)
}
