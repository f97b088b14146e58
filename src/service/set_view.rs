//! Adds a view, or replaces its policy and model.

use std::sync::Arc;

use bytes::Bytes;

use super::{
    Ctx, Error, Result, changes, fields::Fields, live, model_choice::ModelInput,
    policy_choice::view_parts,
};
use crate::{
    model::{Revision, Session, View, ViewName},
    store::{SetView, SetViewParts},
};

/// What a view is to be; policy and model may be empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SetViewInput {
    /// The session's id.
    pub session_id: String,
    /// The view's name.
    pub name: String,
    /// The preset; empty: the server's default.
    pub preset: String,
    /// A merge patch over the preset; empty: none.
    pub overrides_json: Bytes,
    /// The model; empty: the first that a `GetContext` names.
    pub model: ModelInput,
    /// Who asks.
    pub author: String,
}

/// A view that was set.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewOutput {
    /// As it is now.
    pub view: View,
    /// The session's revision afterwards.
    pub revision: Revision,
}

/// Sets a view, `main` or another. Overlays and pins stay as they are. Setting
/// what is there already changes nothing and makes no revision.
///
/// # Errors
///
/// * [`Error::InvalidField`], also where the session has all the views it may
///   have; [`Error::InvalidPolicy`], [`Error::UnknownModel`].
/// * [`Error::SessionNotFound`].
pub async fn set_view(ctx: &Ctx, input: SetViewInput) -> Result<ViewOutput> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", &input.session_id);
    if input.name.is_empty() {
        // Elsewhere an empty name is `main`; a policy is not replaced by
        // somebody who forgot to say whose.
        fields.wrong("view.name", "expected a name, found nothing");
    }
    let name = fields.view("view.name", &input.name);
    fields.name("author", &input.author);
    input.model.check(&mut fields, "view.model");
    fields.finish()?;
    let parts = SetViewParts {
        model: input.model.resolve(ctx, "view.model")?,
        ..view_parts(ctx, &input.preset, &input.overrides_json)?
    };
    let (mut state, known) = live::locked(ctx, &session).await?;
    check_room(ctx, &known, &name)?;
    let set = SetView {
        session: session.clone(),
        view: name.clone(),
        parts,
        only_without_model: false,
        author: input.author,
        at: ctx.clock.now(),
    };
    let (store, live) = (Arc::clone(&ctx.store), Arc::clone(&ctx.live));
    let work = async move {
        let (view, revision) = store.set_view(set).await?;
        live.note(&session, revision);
        // Told of another window, or not told at all.
        if let Some(known) = state.views.get_mut(&name) {
            known.budget = None;
        }
        Ok::<_, Error>(ViewOutput { view, revision })
    };
    changes::to_the_end(work).await
}

fn check_room(ctx: &Ctx, session: &Session, name: &ViewName) -> Result<()> {
    let most = ctx.limits.views;
    if session.views.len() < most || session.views.iter().any(|view| view.name == *name) {
        return Ok(());
    }
    Err(Error::field("view", format!("expected at most {most} views in a session")))
}
