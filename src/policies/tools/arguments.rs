//! What a call's arguments say, without reading all of them.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::value::RawValue;

/// A call's arguments, each still as it was written: a file's whole content
/// may be among them.
pub(super) type Arguments<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

/// Reads the arguments; `None` where they are no JSON object.
pub(super) fn read(input_json: &[u8]) -> Option<Arguments<'_>> {
    serde_json::from_slice(input_json).ok()
}

/// The text of one argument; `None` where it is no text, or empty.
pub(super) fn text_of(arguments: &Arguments<'_>, key: &str) -> Option<String> {
    let text: String = serde_json::from_str(arguments.get(key)?.get()).ok()?;
    (!text.is_empty()).then_some(text)
}

/// The first file that a patch of the form `*** Update File: path` names.
pub(super) fn patched_file(text: &str) -> Option<String> {
    let named = text.lines().find_map(|line| {
        let (action, path) = line.strip_prefix("*** ")?.split_once(" File: ")?;
        matches!(action, "Add" | "Update" | "Delete").then_some(path.trim())
    })?;
    (!named.is_empty()).then(|| named.to_owned())
}
