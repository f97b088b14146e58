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

/// The first text among these arguments.
pub(super) fn first_text(arguments: &Arguments<'_>, keys: &[String]) -> Option<String> {
    keys.iter().find_map(|key| text_of(arguments, key))
}

/// A whole number, written as one or as text; those below zero are as large as
/// they get, for that is what `-1` means as an end.
pub(super) fn number_of(arguments: &Arguments<'_>, key: &str) -> Option<u64> {
    let raw = arguments.get(key)?.get().trim_matches('"');
    let number: i64 = raw.parse().ok()?;
    Some(u64::try_from(number).unwrap_or(u64::MAX))
}

/// A list of texts; numbers in it are texts too.
pub(super) fn list_of(arguments: &Arguments<'_>, key: &str) -> Option<Vec<String>> {
    let items: Vec<&RawValue> = serde_json::from_str(arguments.get(key)?.get()).ok()?;
    let text = |item: &RawValue| {
        serde_json::from_str(item.get()).unwrap_or_else(|_| item.get().to_owned())
    };
    Some(items.into_iter().map(text).collect())
}

/// Says whether an argument is `true`, or the word.
pub(super) fn is_true(arguments: &Arguments<'_>, key: &str) -> bool {
    arguments.get(key).is_some_and(|raw| raw.get().trim_matches('"') == "true")
}

/// The first file that a patch of the form `*** Update File: path` names.
pub(super) fn patched_file(text: &str) -> Option<String> {
    let (_, named) = patched_files(text).next()?;
    (!named.is_empty()).then(|| named.to_owned())
}

/// The files that such a patch names, with what it does: `Add`, `Update`,
/// `Delete`.
pub(super) fn patched_files(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| {
        let (action, path) = line.strip_prefix("*** ")?.split_once(" File: ")?;
        matches!(action, "Add" | "Update" | "Delete").then_some((action, path.trim()))
    })
}
