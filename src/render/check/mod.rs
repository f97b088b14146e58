//! Says which rules of its provider a request breaks.
//!
//! Separate code on purpose: it shares nothing with what writes requests, and
//! reads the JSON as a provider would. The rules are those that providers
//! publish, under the names that an outside check of the same rules prints.

mod anthropic;
mod chat;
mod responses;
mod view;

use bytes::Bytes;

use self::view::Value;
use super::{Rendered, RepairReason};
use crate::model::WireFormat;

/// A rule that a request breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The rule: its number, and what it asks for.
    pub rule: &'static str,
    /// Where, and what was found.
    pub detail: String,
}

/// A request as it is sent.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Whose rules hold.
    pub format: WireFormat,
    /// Empty where there is none.
    pub system_json: &'a [u8],
    /// Empty where there are none.
    pub tools_json: &'a [u8],
    /// One JSON value a message or item.
    pub messages: &'a [Bytes],
    /// True where the caller means to continue an assistant's message.
    pub may_end_with_assistant: bool,
}

/// The rules that a rendered context breaks. That it ends with the assistant is
/// none where it is reported as such.
#[must_use]
pub fn violations(format: WireFormat, rendered: &Rendered) -> Vec<Violation> {
    let may_end_with_assistant =
        rendered.repairs.iter().any(|it| it.reason == RepairReason::EndsWithAssistant);
    violations_of(&Request {
        format,
        system_json: &rendered.system_json,
        tools_json: &rendered.tools_json,
        messages: &rendered.messages,
        may_end_with_assistant,
    })
}

/// The rules that a request breaks. Typed messages have none.
#[must_use]
pub fn violations_of(request: &Request<'_>) -> Vec<Violation> {
    let mut report = Report::default();
    if request.format == WireFormat::Typed {
        return report.found;
    }
    for (part, json) in parts(request) {
        if serde_json::from_slice::<&serde_json::value::RawValue>(json).is_err() {
            report.add("X0 valid JSON", part);
        } else if view::has_lone_surrogate(json) {
            report.add("X1 no lone surrogates", part);
        }
    }
    let messages: Vec<Value<'_>> =
        request.messages.iter().filter_map(|json| Value::parse(json)).collect();
    if messages.is_empty() || messages.iter().any(|message| !message.is_object()) {
        report.add("X2 messages is a non-empty list of objects", String::new());
        return report.found;
    }
    let may_end = request.may_end_with_assistant;
    match request.format {
        WireFormat::AnthropicMessages => {
            let system = Value::parse(request.system_json);
            let tools = Value::parse(request.tools_json);
            anthropic::check(&messages, system, tools, may_end, &mut report);
        }
        WireFormat::OpenAiChat => chat::check(&messages, may_end, &mut report),
        WireFormat::OpenAiResponses => responses::check(&messages, may_end, &mut report),
        WireFormat::Typed => {}
    }
    report.found
}

fn parts<'a>(request: &Request<'a>) -> impl Iterator<Item = (String, &'a [u8])> {
    let around = [("system", request.system_json), ("tools", request.tools_json)]
        .into_iter()
        .filter(|(_, json)| !json.is_empty())
        .map(|(name, json)| (name.to_owned(), json));
    let messages = request.messages.iter().map(AsRef::as_ref).enumerate();
    around.chain(messages.map(|(index, json)| (format!("messages[{index}]"), json)))
}

/// What was found so far.
#[derive(Debug, Default)]
struct Report {
    found: Vec<Violation>,
}

impl Report {
    fn add(&mut self, rule: &'static str, detail: impl Into<String>) {
        self.found.push(Violation { rule, detail: detail.into() });
    }

    fn add_if(&mut self, is_broken: bool, rule: &'static str, detail: impl Into<String>) {
        if is_broken {
            self.add(rule, detail);
        }
    }
}

/// Says whether a name is of `[a-zA-Z0-9_-]`, 1 to `most` characters long.
fn is_plain_name(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// Says whether text is one JSON object that every strict parser takes.
fn is_strict_object(text: &str) -> bool {
    Value::parse(text.as_bytes()).is_some_and(Value::is_object)
        && !view::has_lone_surrogate(text.as_bytes())
}

/// Says whether nothing is left of text once it is stripped.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}'))
}
