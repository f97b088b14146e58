//! Rendered messages in a line for each block, whatever the format.

use std::{borrow::Cow, collections::BTreeMap};

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{
    names,
    text::{self, excerpt},
};
use crate::proto::v1;

/// A line or two for each of the first messages.
pub(super) fn start(context: &v1::Context, most: usize, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, json) in context.messages_json.iter().take(most).enumerate() {
        let origin = context.origins.get(at).map(origin).unwrap_or_default();
        lines.extend(message_lines(&Fields::of(json), &origin, width));
    }
    let more = context.messages_json.len().saturating_sub(most);
    if more > 0 {
        lines.push(format!(
            "… and {}",
            text::count(i64::try_from(more).unwrap_or(i64::MAX), "more message")
        ));
    }
    lines
}

/// The rows that it shows; a dot for what no row is shown by.
fn origin(origin: &v1::Origin) -> String {
    if origin.rows.is_empty() { "·".to_owned() } else { names::ranges(&origin.rows) }
}

/// The members of a JSON object, each as it was written: the order of a call's
/// arguments is the model's.
#[derive(Default)]
struct Fields<'a> {
    whole: Cow<'a, str>,
    members: BTreeMap<Cow<'a, str>, &'a RawValue>,
}

impl<'a> Fields<'a> {
    /// None of what is no object.
    fn of(json: &'a [u8]) -> Self {
        Self {
            whole: String::from_utf8_lossy(json),
            members: serde_json::from_slice(json).unwrap_or_default(),
        }
    }

    fn raw(&self, key: &str) -> Option<&'a RawValue> {
        self.members.get(key).copied()
    }

    fn text(&self, key: &str) -> Option<String> {
        self.raw(key).and_then(read)
    }

    fn list(&self, key: &str) -> Option<Vec<Fields<'a>>> {
        self.raw(key).and_then(list)
    }
}

/// `None` where it is of another type.
fn read<T: DeserializeOwned>(raw: &RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

fn list(raw: &RawValue) -> Option<Vec<Fields<'_>>> {
    let items: Vec<&RawValue> = serde_json::from_str(raw.get()).ok()?;
    Some(items.into_iter().map(|item| Fields::of(item.get().as_bytes())).collect())
}

/// `seq  role  excerpt`, one line per block.
fn message_lines(message: &Fields<'_>, origin: &str, width: usize) -> Vec<String> {
    let kind = ["role", "type"].iter().find_map(|key| message.text(key));
    let kind = match kind.as_deref() {
        Some("function_call") => "call",
        Some("function_call_output") => "output",
        Some(kind) => kind,
        None => "?",
    };
    let room = width.saturating_sub(23);
    let mut head = format!("{origin:>7}  {:<10}", excerpt(kind, 10));
    let mut lines = Vec::new();
    for block in block_texts(message) {
        lines.push(format!("{head}  {}", excerpt(&block, room)));
        head = " ".repeat(19);
    }
    lines
}

/// What each block of a rendered message says, whatever the format.
fn block_texts(message: &Fields<'_>) -> Vec<String> {
    let mut texts = match (message.text("content"), message.list("content")) {
        (Some(text), _) => vec![text],
        (None, Some(blocks)) => blocks.iter().map(block_text).collect(),
        (None, None) => vec![],
    };
    for call in message.list("tool_calls").unwrap_or_default() {
        let function = call.raw("function").map(|raw| Fields::of(raw.get().as_bytes()));
        texts.push(call_text(&function.unwrap_or_default(), "arguments"));
    }
    if texts.is_empty() {
        texts.push(block_text(message));
    }
    texts
}

fn block_text(block: &Fields<'_>) -> String {
    match block.text("type").as_deref().unwrap_or_default() {
        "tool_use" => call_text(block, "input"),
        "function_call" => call_text(block, "arguments"),
        "tool_result" => format!("⇐ {}", result_text(block.raw("content"))),
        "function_call_output" => format!("⇐ {}", result_text(block.raw("output"))),
        "image" | "image_url" | "input_image" => "[image]".to_owned(),
        _ => ["text", "thinking", "content"]
            .iter()
            .find_map(|key| block.text(key))
            .unwrap_or_else(|| block.whole.clone().into_owned()),
    }
}

fn call_text(call: &Fields<'_>, arguments: &str) -> String {
    let arguments = call.text(arguments).unwrap_or_else(|| as_written(call.raw(arguments)));
    format!("⇒ {} {arguments}", call.text("name").as_deref().unwrap_or("?"))
}

fn result_text(content: Option<&RawValue>) -> String {
    let text = content.and_then(read::<String>);
    let parts = || {
        let parts = content.and_then(list)?;
        Some(parts.iter().map(block_text).collect::<Vec<_>>().join(" "))
    };
    text.or_else(parts).unwrap_or_else(|| as_written(content))
}

fn as_written(raw: Option<&RawValue>) -> String {
    raw.map_or("null", RawValue::get).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(json: &str) -> Vec<String> {
        block_texts(&Fields::of(json.as_bytes()))
    }

    #[test]
    fn a_message_of_each_format_is_told_in_a_line_per_block() {
        let anthropic = r#"{"role": "assistant", "content": [
            {"type": "text", "text": "Look:"},
            {"type": "tool_use", "id": "1", "name": "read", "input": {"path": "a"}}]}"#;
        assert_eq!(texts(anthropic), ["Look:", r#"⇒ read {"path": "a"}"#]);
        let chat = r#"{"role": "assistant", "content": null, "tool_calls": [
            {"id": "1", "function": {"name": "read", "arguments": "{\"path\": 1}"}}]}"#;
        assert_eq!(texts(chat), [r#"⇒ read {"path": 1}"#]);
        let responses = r#"{"type": "function_call_output", "call_id": "1", "output": "done"}"#;
        assert_eq!(texts(responses), ["⇐ done"]);
        let parts = r#"{"role": "user", "content": [{"type": "tool_result", "content": [
            {"type": "text", "text": "a"}, {"type": "image"}]}]}"#;
        assert_eq!(texts(parts), ["⇐ a [image]"]);
    }

    #[test]
    fn what_was_recorded_keeps_its_order() {
        let call = r#"{"role": "assistant", "content": [
            {"type": "tool_use", "name": "edit", "input": {"path":"a","old":"x","new":"y"}},
            {"type": "other", "z": 1, "a": 2}]}"#;
        let expected =
            [r#"⇒ edit {"path":"a","old":"x","new":"y"}"#, r#"{"type": "other", "z": 1, "a": 2}"#];
        assert_eq!(texts(call), expected);
    }

    #[test]
    fn what_is_no_message_is_told_as_it_is() {
        assert_eq!(texts("[1]"), ["[1]"]);
        assert_eq!(texts("{}"), ["{}"]);
    }
}
