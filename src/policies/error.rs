//! What is wrong with a policy.

use std::fmt::Display;

/// Longest excerpt of a caller's value that an error repeats, in characters.
const FOUND_CHARS: usize = 80;

/// One parameter that cannot be as it was given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: expected {expected}, found {found}")]
pub struct PolicyError {
    /// The parameter's dotted path; `preset` and `overrides_json` name the
    /// request's own fields.
    pub key: String,
    /// What it may be.
    pub expected: String,
    /// What it is.
    pub found: String,
}

impl PolicyError {
    /// An error about `key`; a long `found` is shortened.
    pub(super) fn new(key: &str, expected: impl Display, found: impl Display) -> Self {
        let found = found.to_string();
        let found = match found.char_indices().nth(FOUND_CHARS) {
            Some((at, _)) => format!("{}…", &found[..at]),
            None => found,
        };
        Self { key: key.to_owned(), expected: expected.to_string(), found }
    }
}
