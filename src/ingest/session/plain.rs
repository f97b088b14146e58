//! Messages in a provider's own shape, alone or with what was asked.

use std::sync::Arc;

use super::{
    entry::{LIMITS, Out, Place, Understand, system_item, tools_item, words_only},
    time,
};
use crate::{
    ingest::{
        anthropic,
        chat::{self, Entry},
        fault::Fault,
        json::Value,
        object::Object,
    },
    model::{Block, Message, WireFormat},
};

/// OpenAI Chat: messages; `{messages, tools, response}`; a `traj` of tau-bench.
#[derive(Debug, Default)]
pub(super) struct Chat {
    has_begun: bool,
    results: Vec<Arc<Block>>,
    results_line: u64,
}

impl Understand for Chat {
    fn entry(&mut self, at: Place, value: Value<'_>, out: &mut Out) -> Result<(), Fault> {
        let entry = chat::entry(value.object()?, &LIMITS)?;
        self.take(at, entry, "", out);
        Ok(())
    }

    fn document(&mut self, value: Value<'_>, out: &mut Out) -> Result<(), Fault> {
        if value.is_array() {
            // tau-bench keeps a list of trajectories; one is a session.
            return match value.array(LIMITS.messages)?.as_slice() {
                [only] if only.object().is_ok_and(|it| it.has("traj")) => self.document(*only, out),
                _ => self.entries(value, out),
            };
        }
        let mut object = value.object()?;
        if let Some(tools) = object.take_some("tools")? {
            let at = Place { line: 1, size: 0 };
            out.item(at, tools_item(tools, WireFormat::OpenAiChat));
        }
        let key = if object.has("traj") { "traj" } else { "messages" };
        let messages = object.require(key)?;
        self.entries(messages, out).map_err(|fault| fault.under(key))?;
        match object.take_some("response")? {
            Some(response) => self.response(response, messages, out),
            None => Ok(()),
        }
    }

    fn finish(&mut self, out: &mut Out) {
        if let Some(message) = chat::of_results(std::mem::take(&mut self.results)) {
            out.message(self.results_line, message);
        }
    }
}

impl Chat {
    /// Takes a message or a result, which waits for those that follow it.
    pub(super) fn take(&mut self, at: Place, entry: Entry, author: &str, out: &mut Out) {
        match entry {
            Entry::Result(block) => {
                if self.results.is_empty() {
                    self.results_line = at.line;
                }
                self.results.push(Arc::new(block));
                if self.results.len() >= LIMITS.blocks {
                    self.finish(out);
                }
            }
            Entry::Message(mut message) => {
                self.finish(out);
                author.clone_into(&mut message.author);
                begin(&mut self.has_begun, at, message, out);
            }
        }
    }

    fn response(
        &mut self,
        response: Value<'_>,
        messages: Value<'_>,
        out: &mut Out,
    ) -> Result<(), Fault> {
        let entries = messages.array(LIMITS.messages)?.len();
        let line = u64::try_from(entries).unwrap_or(u64::MAX).saturating_add(1);
        let message = chat::response(response.object()?, &LIMITS);
        let message = message.map_err(|fault| fault.under("response"))?;
        self.take(Place { line, size: 0 }, Entry::Message(message), "", out);
        Ok(())
    }
}

/// Anthropic: messages, `{system, tools, messages}`, or records.
#[derive(Debug, Default)]
pub(super) struct Anthropic {
    has_begun: bool,
}

impl Understand for Anthropic {
    fn entry(&mut self, at: Place, value: Value<'_>, out: &mut Out) -> Result<(), Fault> {
        let mut object = value.object()?;
        let time = object.take_string("ts")?;
        let kind = kind(&mut object)?;
        let mut message = anthropic::of_object(object, &LIMITS)?;
        message.client_time = time::parse(&time);
        message.author = kind;
        begin(&mut self.has_begun, at, message, out);
        Ok(())
    }

    fn document(&mut self, value: Value<'_>, out: &mut Out) -> Result<(), Fault> {
        if value.is_array() {
            return self.entries(value, out);
        }
        let mut object = value.object()?;
        let at = Place { line: 1, size: 0 };
        if let Some(system) = object.take_some("system")? {
            let text = standing(system).map_err(|fault| fault.under("system"))?;
            out.item(at, system_item(text));
        }
        if let Some(tools) = object.take_some("tools")? {
            out.item(at, tools_item(tools, WireFormat::AnthropicMessages));
        }
        let messages = object.require("messages")?;
        self.entries(messages, out).map_err(|fault| fault.under("messages"))
    }

    fn finish(&mut self, _: &mut Out) {}
}

/// What a record says that it is, where it is nobody's own words.
fn kind(object: &mut Object<'_>) -> Result<String, Fault> {
    match object.take_some("meta")?.map(Value::object).transpose()? {
        Some(mut meta) => meta.take_string("kind"),
        None => Ok(String::new()),
    }
}

/// The standing prompt, a string or text blocks.
fn standing(system: Value<'_>) -> Result<String, Fault> {
    if system.is_string() {
        return system.string();
    }
    let blocks = system.array(LIMITS.blocks)?.into_iter();
    let texts: Result<Vec<String>, Fault> =
        blocks.map(|it| it.object()?.require_string("text")).collect();
    Ok(texts?.join("\n\n"))
}

/// The first message of a file is the standing prompt where it is the system's.
fn begin(has_begun: &mut bool, at: Place, message: Message, out: &mut Out) {
    let is_first = !std::mem::replace(has_begun, true);
    match words_only(&message) {
        Some(words) if is_first => out.item(at, system_item(words)),
        _ => out.message(at.line, message),
    }
}
