//! Rendered messages in a line for each block, whatever the format.

use serde_json::Value;

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
        let message: Value = serde_json::from_slice(json).unwrap_or_default();
        lines.extend(message_lines(&message, &origin, width));
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

/// `seq  role  excerpt`, one line per block.
fn message_lines(message: &Value, origin: &str, width: usize) -> Vec<String> {
    let kind = match ["role", "type"].iter().find_map(|key| message[*key].as_str()) {
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
fn block_texts(message: &Value) -> Vec<String> {
    let mut texts = match &message["content"] {
        Value::String(text) => vec![text.clone()],
        Value::Array(blocks) => blocks.iter().map(block_text).collect(),
        _ => vec![],
    };
    if let Value::Array(calls) = &message["tool_calls"] {
        texts.extend(calls.iter().map(|call| call_text(&call["function"], "arguments")));
    }
    if texts.is_empty() {
        texts.push(block_text(message));
    }
    texts
}

fn block_text(block: &Value) -> String {
    match block["type"].as_str().unwrap_or_default() {
        "tool_use" => call_text(block, "input"),
        "function_call" => call_text(block, "arguments"),
        "tool_result" => format!("⇐ {}", result_text(&block["content"])),
        "function_call_output" => format!("⇐ {}", result_text(&block["output"])),
        "image" | "image_url" | "input_image" => "[image]".to_owned(),
        _ => ["text", "thinking", "content"]
            .iter()
            .find_map(|key| block[*key].as_str())
            .map_or_else(|| block.to_string(), str::to_owned),
    }
}

fn call_text(call: &Value, arguments: &str) -> String {
    let arguments = match &call[arguments] {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    format!("⇒ {} {arguments}", call["name"].as_str().unwrap_or("?"))
}

fn result_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(block_text).collect::<Vec<_>>().join(" "),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_of_each_format_is_told_in_a_line_per_block() {
        let anthropic = json!({"role": "assistant", "content": [
            {"type": "text", "text": "Look:"},
            {"type": "tool_use", "id": "1", "name": "read", "input": {"path": "a"}}]});
        assert_eq!(block_texts(&anthropic), ["Look:", r#"⇒ read {"path":"a"}"#]);
        let chat = json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "1", "function": {"name": "read", "arguments": "{\"path\": 1}"}}]});
        assert_eq!(block_texts(&chat), [r#"⇒ read {"path": 1}"#]);
        let responses = json!({"type": "function_call_output", "call_id": "1", "output": "done"});
        assert_eq!(block_texts(&responses), ["⇐ done"]);
    }
}
