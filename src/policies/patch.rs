//! JSON merge patches over a policy.
//!
//! A preset's JSON has every key there is, so a key that it lacks is unknown;
//! the one exception is a map whose keys are the caller's own.

use serde_json::Value;

use super::PolicyError;
use crate::model::Policy;

/// Longest patch, in bytes.
const MAX_BYTES: usize = 64 * 1024;
/// Deepest patch.
const MAX_DEPTH: usize = 32;
/// Objects whose keys are free, by path.
const MAPS: [&str; 1] = ["result_cap.per_tool_chars"];

const FIELD: &str = "overrides_json";

/// Reads a patch.
pub(super) fn parse(json: &[u8]) -> Result<Value, PolicyError> {
    if json.len() > MAX_BYTES {
        let expected = format_args!("at most {MAX_BYTES} bytes");
        return Err(PolicyError::new(FIELD, expected, format_args!("{} bytes", json.len())));
    }
    // The parser itself stops at a depth of 128, so `depth` cannot go deeper.
    let value: Value = serde_json::from_slice(json)
        .map_err(|err| PolicyError::new(FIELD, "JSON", format_args!("`{err}`")))?;
    if !value.is_object() {
        return Err(PolicyError::new(FIELD, "a JSON object", &value));
    }
    if depth(&value) > MAX_DEPTH {
        let expected = format_args!("at most {MAX_DEPTH} levels");
        return Err(PolicyError::new(FIELD, expected, "a deeper nesting"));
    }
    Ok(value)
}

fn depth(value: &Value) -> usize {
    let inner = match value {
        Value::Array(items) => items.iter().map(depth).max(),
        Value::Object(members) => members.values().map(depth).max(),
        _ => return 0,
    };
    1 + inner.unwrap_or(0)
}

/// Applies a patch; refuses keys that the target does not have.
pub(super) fn apply(target: &mut Value, patch: Value) -> Result<(), PolicyError> {
    merge("", target, patch)
}

fn merge(at: &str, target: &mut Value, patch: Value) -> Result<(), PolicyError> {
    let (Value::Object(known), Value::Object(members)) = (&mut *target, &patch) else {
        *target = patch;
        return Ok(());
    };
    let free_keys = MAPS.contains(&at);
    if let Some(unknown) = members.keys().find(|key| !free_keys && !known.contains_key(*key)) {
        return Err(PolicyError::new(&join(at, unknown), "a known parameter", "an unknown one"));
    }
    let Value::Object(members) = patch else { return Ok(()) };
    for (key, value) in members {
        let key_path = join(at, &key);
        match value {
            Value::Null if free_keys => drop(known.remove(&key)),
            Value::Null => {
                let found = "null, which would remove it";
                return Err(PolicyError::new(&key_path, "a value", found));
            }
            value => merge(&key_path, known.entry(key).or_insert(Value::Null), value)?,
        }
    }
    Ok(())
}

/// Puts the stored values over those of `target`, passing over keys that
/// `target` does not have.
pub(super) fn fill(target: &mut Value, stored: Value) {
    fill_at(target, stored, "");
}

fn fill_at(target: &mut Value, stored: Value, path: &str) {
    match (target, stored) {
        // A stored map is the caller's own: nothing of the default's stays.
        (target, stored @ Value::Object(_)) if MAPS.contains(&path) => *target = stored,
        (Value::Object(known), Value::Object(members)) => {
            for (key, value) in members {
                let path = join(path, &key);
                if let Some(target) = known.get_mut(&key) {
                    fill_at(target, value, &path);
                }
            }
        }
        // What is no object where the whole policy should be holds nothing.
        (target, stored) if !path.is_empty() && !stored.is_null() => *target = stored,
        _ => {}
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Reads the types; the error names the parameter.
pub(super) fn to_policy(value: Value) -> Result<Policy, PolicyError> {
    serde_path_to_error::deserialize(value).map_err(|err| {
        let message = err.inner().to_string();
        let (found, expected) =
            message.split_once(", expected ").unwrap_or((&message, "a policy's parameter"));
        let found =
            found.trim_start_matches("invalid type: ").trim_start_matches("invalid value: ");
        PolicyError::new(&err.path().to_string(), in_words(expected), found)
    })
}

/// The field's words for the names of Rust's types.
fn in_words(expected: &str) -> &str {
    match expected {
        "usize" | "u64" => "a whole number, not negative",
        "i64" => "a whole number",
        "f64" => "a number",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies::Presets;

    #[track_caller]
    fn refused(patch: &str, key: &str, words: &str) {
        let err = Presets::embedded().resolve("default", patch.as_bytes()).unwrap_err();
        assert_eq!(err.key, key, "{err}");
        assert!(err.to_string().contains(words), "{err}");
    }

    #[test]
    fn unknown_keys_are_refused_with_their_whole_path() {
        refused(r#"{"sages":[]}"#, "sages", "unknown");
        refused(r#"{"fit":{"until":0.5}}"#, "fit.until", "unknown");
        refused(r#"{"fit":{"until":null}}"#, "fit.until", "unknown");
    }

    #[test]
    fn a_parameter_cannot_be_removed_or_change_its_type() {
        refused(r#"{"fit":null}"#, "fit", "null");
        refused(r#"{"fit":7}"#, "fit", "integer `7`");
        refused(r#"{"fit":{"until_ratio":"x"}}"#, "fit.until_ratio", "a number");
        refused(r#"{"fit":{"until_ratio":{"a":1}}}"#, "fit.until_ratio", "a number");
        refused(r#"{"result_cap":{"limit_chars":-1}}"#, "result_cap.limit_chars", "not negative");
        refused(r#"{"result_cap":{"limit_chars":1.5}}"#, "result_cap.limit_chars", "whole number");
        refused(r#"{"stages":["fit","fold"]}"#, "stages[1]", "fold");
        refused(r#"{"window":{"basis":"limits"}}"#, "window.basis", "limits");
        refused(
            r#"{"result_cap":{"per_tool_chars":{"a":"b"}}}"#,
            "result_cap.per_tool_chars.a",
            "whole",
        );
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for patch in
            ["", " ", "x", "NaN", "[]", "7", "null", "{", "{}x", "{\"fit\":{\"until_ratio\":NaN}}"]
        {
            let outcome = Presets::embedded().resolve("default", patch.as_bytes());
            match patch {
                "" => assert!(outcome.is_ok()),
                _ => assert_eq!(outcome.unwrap_err().key, FIELD, "{patch:?}"),
            }
        }
        assert_eq!(Presets::embedded().resolve("off", b"\xff").unwrap_err().key, FIELD);
    }

    #[test]
    fn large_and_deep_patches_are_refused_before_anything_else() {
        let wide = format!("{{\"x\":\"{}\"}}", "y".repeat(MAX_BYTES));
        refused(&wide, FIELD, "65536 bytes");
        for depth in [MAX_DEPTH + 1, 100, 20_000] {
            refused(
                &format!("{{\"x\":{}{}}}", "[".repeat(depth), "]".repeat(depth)),
                FIELD,
                "expected",
            );
        }
    }

    #[test]
    fn a_map_of_the_callers_own_takes_and_loses_keys() {
        let patch = br#"{"result_cap":{"per_tool_chars":{"shell":null,"mine":7}}}"#;
        let policy = Presets::embedded().resolve("default", patch).unwrap().policy;
        let limits = policy.result_cap.per_tool_chars;
        assert_eq!(limits.get("mine"), Some(&7));
        assert_eq!(limits.get("shell"), None);
        assert!(limits.contains_key("grep"));
    }
}
