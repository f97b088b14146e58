//! Tool calls: arguments that a provider takes, whatever the model wrote.

use std::borrow::Cow;

use super::{json, scan, text};
use crate::model::{ToolUse, WireFormat};

/// A call that may be sent.
#[derive(Debug, Clone)]
pub(super) struct Call<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    pub(super) input: Input<'a>,
    pub(super) form: Form<'a>,
    /// The provider's id of the item; empty where there is none.
    pub(super) provider_id: &'a str,
}

/// What a call hands over.
#[derive(Debug, Clone)]
pub(super) enum Input<'a> {
    /// One strict JSON object.
    Object(Cow<'a, str>),
    /// Free text, of a custom tool.
    Text(Cow<'a, str>),
}

impl Input<'_> {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Object(text) | Self::Text(text) => text,
        }
    }
}

/// How a call is written in the Responses format; elsewhere all are functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form<'a> {
    Function,
    /// `custom_tool_call`: its input is free text.
    Custom,
    /// Another item type, with arguments as an object.
    Wire(&'a str),
}

impl<'a> Form<'a> {
    pub(super) fn of(wire_type: &'a str) -> Self {
        match wire_type {
            "custom_tool_call" => Self::Custom,
            "function_call" => Self::Function,
            other if is_wire_type(other) => Self::Wire(other),
            _ => Self::Function,
        }
    }

    /// The type of the item that answers it.
    pub(super) fn output_type(self) -> Cow<'a, str> {
        match self {
            Self::Function => Cow::Borrowed("function_call_output"),
            Self::Custom => Cow::Borrowed("custom_tool_call_output"),
            // The one that does not follow the pattern.
            Self::Wire("tool_search_call") => Cow::Borrowed("tool_search_output"),
            Self::Wire(kind) => Cow::Owned(format!("{kind}_output")),
        }
    }
}

fn is_wire_type(text: &str) -> bool {
    text.ends_with("_call") && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}

/// What was done to arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mending {
    None,
    Wrapped,
    TextReplaced,
}

/// The arguments as this format takes them.
pub(super) fn input(call: &ToolUse, format: WireFormat) -> (Input<'_>, Mending) {
    if call.wire_type != "custom_tool_call" {
        return object(&call.input_json);
    }
    let mended = text::lossy(&call.input_json);
    let mending = if mended.is_mended { Mending::TextReplaced } else { Mending::None };
    if format == WireFormat::OpenAiResponses {
        return (Input::Text(mended.text), mending);
    }
    (Input::Object(Cow::Owned(wrapped("input", &mended.text))), mending)
}

fn object(bytes: &[u8]) -> (Input<'_>, Mending) {
    if bytes.trim_ascii().is_empty() {
        return (Input::Object(Cow::Borrowed("{}")), Mending::Wrapped);
    }
    let Some(strict) = scan::strict_object(bytes) else {
        let raw = text::lossy(bytes).text;
        return (Input::Object(Cow::Owned(wrapped("_raw", &raw))), Mending::Wrapped);
    };
    let mending = if strict.is_mended { Mending::TextReplaced } else { Mending::None };
    let text = match strict.json {
        Cow::Borrowed(json) => String::from_utf8_lossy(json),
        Cow::Owned(json) => Cow::Owned(String::from_utf8_lossy(&json).into_owned()),
    };
    (Input::Object(text), mending)
}

fn wrapped(key: &str, text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + 16);
    let mut object = json::Object::open(&mut out);
    object.string(key, text);
    object.close();
    String::from_utf8(out).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn rendered(input_json: &[u8]) -> (String, Mending) {
        let call = ToolUse { input_json: Bytes::copy_from_slice(input_json), ..ToolUse::default() };
        let (input, mending) = input(&call, WireFormat::AnthropicMessages);
        (input.as_str().to_owned(), mending)
    }

    #[test]
    fn b7_what_is_no_object_is_wrapped() {
        for (input, expected) in [
            (r#"{"command":"echo hel"#, r#"{"_raw":"{\"command\":\"echo hel"}"#),
            ("[1]", r#"{"_raw":"[1]"}"#),
            (r#"{"a":NaN}"#, r#"{"_raw":"{\"a\":NaN}"}"#),
            ("{} trailing", r#"{"_raw":"{} trailing"}"#),
            ("", "{}"),
            (" \n", "{}"),
        ] {
            assert_eq!(rendered(input.as_bytes()), (expected.to_owned(), Mending::Wrapped));
        }
        let (invalid, _) = rendered(b"{\"a\":\"\xff\"}");
        assert_eq!(invalid, "{\"_raw\":\"{\\\"a\\\":\\\"\u{fffd}\\\"}\"}");
    }

    #[test]
    fn m1_an_object_keeps_its_bytes() {
        let input = r#" {"b":1.00, "a":{"z":0,"y":[1,2]}, "b":1e3}"#;
        assert_eq!(rendered(input.as_bytes()), (input.to_owned(), Mending::None));
    }
}
