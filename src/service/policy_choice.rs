//! From the policy that a caller names to one with nothing left to look up.

use bytes::Bytes;

use super::{Ctx, Error, Result};
use crate::{policies::PolicyError, store::SetViewParts};

/// What a view is set to: the policy resolved, no model yet. An empty preset is
/// the server's default.
///
/// # Errors
///
/// [`Error::InvalidPolicy`] names the key that cannot be.
pub(super) fn view_parts(ctx: &Ctx, preset: &str, overrides_json: &Bytes) -> Result<SetViewParts> {
    let named = if preset.is_empty() { &ctx.default_preset } else { preset };
    let resolved = ctx.presets.resolve(named, overrides_json)?;
    Ok(SetViewParts {
        preset: preset.to_owned(),
        overrides_json: overrides_json.clone(),
        policy_json: resolved.json,
        model: None,
    })
}

impl From<PolicyError> for Error {
    fn from(err: PolicyError) -> Self {
        Self::InvalidPolicy { key: err.key, expected: err.expected, found: err.found }
    }
}
