//! Makes a session and its `main` view.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{
    Ctx, Error, Result,
    fields::{Fields, request_key},
    limits::TEXT_BYTES,
    model_choice::{DEFAULT_WINDOW, ModelInput},
    policy_choice::view_parts,
};
use crate::{
    model::Session,
    store::{NewSession, SetViewParts},
};

/// A session to make; everything may be empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CreateSession {
    /// Empty: the server makes one.
    pub session_id: String,
    /// Free text.
    pub display_name: String,
    /// Free pairs.
    pub labels: BTreeMap<String, String>,
    /// The preset of the `main` view; empty: the server's default.
    pub preset: String,
    /// A merge patch over the preset; empty: none.
    pub overrides_json: Bytes,
    /// The model of the `main` view.
    pub model: ModelInput,
    /// The session whose agent starts this one; empty: none.
    pub parent_session_id: String,
    /// For retries; empty: none.
    pub request_id: String,
}

/// The session, and what its caller should know about it.
#[derive(Debug, Clone, PartialEq)]
pub struct CreatedSession {
    /// As it was made.
    pub session: Session,
    /// Sentences for a person.
    pub warnings: Vec<String>,
}

/// Creates a session.
///
/// # Errors
///
/// * [`Error::InvalidField`], [`Error::InvalidPolicy`], [`Error::UnknownModel`].
/// * [`Error::SessionExists`] where the id is taken.
/// * [`Error::SessionNotFound`] where the parent is not there.
/// * [`Error::IdempotencyKeyReused`].
pub async fn create_session(ctx: &Ctx, input: CreateSession) -> Result<CreatedSession> {
    let mut fields = Fields::new();
    check(ctx, &input, &mut fields);
    let id = if input.session_id.is_empty() { ctx.ids.next() } else { input.session_id.clone() };
    let session = fields.session("session_id", &id);
    fields.finish()?;
    let parts = SetViewParts {
        model: input.model.resolve(ctx, "model")?,
        ..view_parts(ctx, &input.preset, &input.overrides_json)?
    };
    let mut warnings = Vec::new();
    if parts.model.is_none() {
        warnings.push(format!(
            "no model was named: a window of {DEFAULT_WINDOW} tokens is assumed until a \
             GetContext names one"
        ));
    }
    let new = NewSession {
        session,
        request: request_key(&input.request_id, || digest(&input)),
        display_name: input.display_name,
        labels: input.labels,
        parent_session_id: input.parent_session_id,
        main: parts,
        at: ctx.clock.now(),
    };
    let (session, _) = ctx.store.create_session(new).await.map_err(Error::from)?;
    Ok(CreatedSession { session, warnings })
}

fn check(ctx: &Ctx, input: &CreateSession, fields: &mut Fields) {
    fields.request_id(&input.request_id);
    fields.text("display_name", &input.display_name, TEXT_BYTES);
    fields.labels("labels", &input.labels, ctx.limits.labels);
    if !input.parent_session_id.is_empty() {
        fields.session("parent_session_id", &input.parent_session_id);
    }
    input.model.check(fields, "model");
}

/// Over what the caller sent, not over what the server made of it: a retry is
/// the same although a model's window became known meanwhile.
fn digest(input: &CreateSession) -> [u8; 32] {
    let mut parts: Vec<&[u8]> = vec![
        b"create_session",
        input.session_id.as_bytes(),
        input.display_name.as_bytes(),
        input.preset.as_bytes(),
        &input.overrides_json,
        input.parent_session_id.as_bytes(),
        input.model.name.as_bytes(),
    ];
    for (key, value) in &input.labels {
        parts.extend([key.as_bytes(), value.as_bytes()]);
    }
    let numbers = [
        input.model.context_window,
        input.model.output_reserve.unwrap_or(-1),
        input.model.request_bytes_limit,
        input.model.caller_fixed_tokens,
    ]
    .map(i64::to_le_bytes);
    parts.extend(numbers.iter().map(<[u8; 8]>::as_slice));
    super::digest_of(&parts)
}
