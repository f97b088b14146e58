//! The embedded presets.

use std::{collections::BTreeMap, sync::LazyLock};

use bytes::Bytes;
use serde_json::Value;

use super::{PolicyError, check, patch};
use crate::model::Policy;

const FILES: [(&str, &str); 7] = [
    ("default", include_str!("../../policies/default.toml")),
    ("four-level", include_str!("../../policies/four-level.toml")),
    ("cascade", include_str!("../../policies/cascade.toml")),
    ("teaching", include_str!("../../policies/teaching.toml")),
    ("teaching-collapse", include_str!("../../policies/teaching-collapse.toml")),
    ("claude-code", include_str!("../../policies/claude-code.toml")),
    ("off", include_str!("../../policies/off.toml")),
];

static EMBEDDED: LazyLock<Presets> = LazyLock::new(Presets::load);

/// The presets of this release.
#[derive(Debug)]
pub struct Presets {
    /// Each as JSON, which is what patches apply to. Its keys are the schema:
    /// a preset spells every parameter.
    by_name: BTreeMap<&'static str, Value>,
}

/// A policy as a view stores it.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// The policy.
    pub policy: Policy,
    /// The same as JSON: every key, in the order of the fields, so that equal
    /// policies are equal bytes.
    pub json: Bytes,
}

impl Presets {
    /// The ones that are compiled in.
    #[must_use]
    pub fn embedded() -> &'static Self {
        &EMBEDDED
    }

    /// Their names, `default` first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        FILES.into_iter().map(|(name, _)| name).filter(|name| self.by_name.contains_key(name))
    }

    /// A preset as its file: every parameter with its unit and what it does.
    #[must_use]
    pub fn file(&self, preset: &str) -> Option<&'static str> {
        FILES.into_iter().find(|(name, _)| *name == preset).map(|(_, text)| text)
    }

    /// Applies a JSON merge patch (RFC 7396) to a preset and checks the whole.
    /// An empty patch is none.
    ///
    /// # Errors
    ///
    /// [`PolicyError`] names the first parameter that is unknown, of a wrong
    /// type or impossible; `preset` where there is none of that name;
    /// `overrides_json` where the patch is no JSON object.
    pub fn resolve(&self, preset: &str, overrides_json: &[u8]) -> Result<Resolved, PolicyError> {
        self.patched(self.find(preset)?.clone(), overrides_json)
    }

    /// Applies a merge patch to a policy that was stored resolved.
    ///
    /// # Errors
    ///
    /// As [`Presets::resolve`] and [`Presets::from_resolved`].
    pub fn patch(
        &self,
        resolved_json: &[u8],
        overrides_json: &[u8],
    ) -> Result<Resolved, PolicyError> {
        let stored = self.from_resolved(resolved_json)?;
        let value = serde_json::to_value(stored)
            .map_err(|err| PolicyError::new("policy_json", "a stored policy", err))?;
        self.patched(value, overrides_json)
    }

    fn patched(&self, mut value: Value, overrides_json: &[u8]) -> Result<Resolved, PolicyError> {
        if !overrides_json.is_empty() {
            patch::apply(&mut value, patch::parse(overrides_json)?)?;
        }
        let policy = patch::to_policy(value)?;
        check::check(&policy)?;
        let json = to_json(&policy)?;
        // Read back: the last bit of an odd number may be lost in JSON, and this
        // process must not act on another policy than one that reads it later.
        Ok(Resolved { policy: self.from_resolved(&json)?, json })
    }

    /// Reads a policy that was stored resolved, by this release or any other.
    ///
    /// Keys that this release does not know are passed over; parameters that
    /// the storing release did not know have their value of this release's
    /// `default`. Values are not judged again: a rule that became stricter must
    /// not make a session unreadable.
    ///
    /// # Errors
    ///
    /// [`PolicyError`] where the JSON is damaged or a value has a type that
    /// this release cannot take.
    pub fn from_resolved(&self, json: &[u8]) -> Result<Policy, PolicyError> {
        if let Ok(policy) = serde_json::from_slice(json) {
            return Ok(policy);
        }
        let stored: Value = serde_json::from_slice(json)
            .map_err(|err| PolicyError::new("policy_json", "a stored policy", err))?;
        let mut value = self.find("default")?.clone();
        patch::fill(&mut value, stored);
        patch::to_policy(value)
    }

    fn find(&self, preset: &str) -> Result<&Value, PolicyError> {
        self.by_name.get(preset).ok_or_else(|| {
            let names: Vec<_> = self.names().collect();
            let expected = format!("one of {}", names.join(", "));
            PolicyError::new("preset", expected, format_args!("`{preset}`"))
        })
    }

    /// Leaves out what cannot be read; a test holds that nothing is.
    fn load() -> Self {
        let read = |text| {
            toml::from_str::<Policy>(text).ok().and_then(|policy| serde_json::to_value(policy).ok())
        };
        let by_name = FILES.into_iter().filter_map(|(name, text)| Some((name, read(text)?)));
        Self { by_name: by_name.collect() }
    }
}

fn to_json(policy: &Policy) -> Result<Bytes, PolicyError> {
    // No policy that passed the checks fails here: it has no map keys but
    // strings and no number that JSON lacks.
    serde_json::to_vec(policy)
        .map(Bytes::from)
        .map_err(|err| PolicyError::new("overrides_json", "a policy that JSON can hold", err))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_file_is_a_policy_that_passes_its_own_checks() {
        for (name, text) in FILES {
            let policy: Policy = toml::from_str(text).unwrap_or_else(|err| panic!("{name}: {err}"));
            check::check(&policy).unwrap_or_else(|err| panic!("{name}: {err}"));
        }
        assert_eq!(Presets::embedded().names().count(), FILES.len());
    }

    #[test]
    fn equal_policies_are_equal_bytes() {
        let presets = Presets::embedded();
        let plain = presets.resolve("default", b"").unwrap();
        let same =
            presets.resolve("default", br#"{"fit":{"until_ratio":0.80},"window":{}}"#).unwrap();
        assert_eq!(plain, same);
        assert_eq!(presets.from_resolved(&plain.json).unwrap(), plain.policy);
    }

    #[test]
    fn a_policy_stored_by_another_release_is_read() {
        let presets = Presets::embedded();
        let stored = presets.resolve("cascade", b"").unwrap();
        let mut value: Value = serde_json::from_slice(&stored.json).unwrap();
        value["fit"]["until_ratio"] = 0.6.into();
        value["fit"]["of_a_later_release"] = 1.into();
        value["of_a_later_release"] = serde_json::json!({"a": []});
        value["micro_clear"].as_object_mut().unwrap().remove("clear_images");
        value.as_object_mut().unwrap().remove("recovery");

        let read = presets.from_resolved(value.to_string().as_bytes()).unwrap();
        let default = presets.resolve("default", b"").unwrap().policy;
        let mut expected = stored.policy;
        expected.fit.until_ratio = 0.6;
        expected.micro_clear.clear_images = default.micro_clear.clear_images;
        expected.recovery = default.recovery;
        assert_eq!(read, expected);
    }

    #[test]
    fn a_damaged_stored_policy_is_an_error() {
        let presets = Presets::embedded();
        assert_eq!(presets.from_resolved(b"{\"fit\":").unwrap_err().key, "policy_json");
        assert_eq!(presets.from_resolved(br#"{"fit":7}"#).unwrap_err().key, "fit");
        assert_eq!(presets.from_resolved(b"[]").unwrap(), presets.from_resolved(b"{}").unwrap());
    }
}
