//! Renames and relabels a session.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Ctx, Result, changes,
    fields::{Fields, excerpt},
    limits::TEXT_BYTES,
};
use crate::{
    model::Session,
    store::{Store, UpdateSession as Update},
};

/// New names for a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UpdateSession {
    /// Which.
    pub session_id: String,
    /// Free text.
    pub display_name: String,
    /// Free pairs.
    pub labels: BTreeMap<String, String>,
    /// The fields to set. Empty: those that hold something.
    pub mask: Vec<String>,
}

/// Sets what the mask names.
///
/// # Errors
///
/// [`super::Error::InvalidField`], [`super::Error::SessionNotFound`].
pub async fn update_session(ctx: &Ctx, input: UpdateSession) -> Result<Session> {
    let mut fields = Fields::new();
    let session = fields.session("session.id", &input.session_id);
    fields.text("session.display_name", &input.display_name, TEXT_BYTES);
    fields.labels("session.labels", &input.labels, ctx.limits.labels);
    for (index, path) in input.mask.iter().enumerate() {
        if path != "display_name" && path != "labels" {
            fields.wrong(
                format!("update_mask.paths[{index}]"),
                format!("expected `display_name` or `labels`, found {}", excerpt(path)),
            );
        }
    }
    fields.finish()?;
    let names = |path: &str, holds_something: bool| {
        if input.mask.is_empty() { holds_something } else { input.mask.iter().any(|it| it == path) }
    };
    let sets_name = names("display_name", !input.display_name.is_empty());
    let sets_labels = names("labels", !input.labels.is_empty());
    let update = Update {
        session,
        display_name: sets_name.then_some(input.display_name),
        labels: sets_labels.then_some(input.labels),
        at: ctx.clock.now(),
    };
    let id = update.session.clone();
    let work = |store: Arc<dyn Store>| async move { store.update_session(update).await };
    Ok(changes::write(ctx, &id, work, |updated: &Session| updated.revision).await?)
}
