//! Claude Code: one JSON object a line, one line for each block of an assistant
//! message.
//!
//! Taken: `user` and `assistant` lines, and text that was typed while the agent
//! worked: it stands only in `queue-operation` lines and reached the model
//! where it was removed from the queue. Lines of a side chain, a subagent's,
//! have that agent's id as their lane. What the program itself wrote as the
//! user (`isMeta`, a summary) has `claude-code` as its author.

use std::collections::{BTreeMap, VecDeque};

use super::{
    entry::{LIMITS, Out, Place, Understand, user_text},
    joiner::Joiner,
    time,
};
use crate::{
    ingest::{anthropic, fault::Fault, json::Value, object::Object},
    model::{Message, Role, Timestamp, WireFormat},
};

const AUTHOR: &str = "claude-code";
/// Above these, what waits goes out early, or is told as skipped.
const MOST_LANES: usize = 64;
const MOST_QUEUED: usize = 1000;

/// What has to be remembered between lines.
#[derive(Debug, Default)]
pub(super) struct ClaudeCode {
    lanes: BTreeMap<String, Joiner>,
    queued: VecDeque<(Place, String)>,
}

impl Understand for ClaudeCode {
    fn entry(&mut self, at: Place, value: Value<'_>, out: &mut Out) -> Result<(), Fault> {
        let mut object = value.object()?;
        let sort = object.require_string("type")?;
        match sort.as_str() {
            "user" | "assistant" => self.message(at, object, out)?,
            "queue-operation" => self.queue(at, object, out)?,
            "system" => {
                let subtype = object.take_string("subtype")?;
                if subtype == "compact_boundary" {
                    self.finish_lanes(out);
                }
                out.skip(at, format!("system {subtype}"));
            }
            _ => out.skip(at, sort),
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Out) {
        self.finish_lanes(out);
        for (at, _) in std::mem::take(&mut self.queued) {
            out.skip(at, "queued text that never reached the model");
        }
    }
}

impl ClaudeCode {
    fn message(&mut self, at: Place, mut object: Object<'_>, out: &mut Out) -> Result<(), Fault> {
        let content = object.require("message")?;
        let mut message =
            anthropic::message(content, &LIMITS).map_err(|fault| fault.under("message"))?;
        message.client_time = timestamp(&object);
        message.lane = lane(&object);
        if is_true(&object, "isMeta") || is_true(&object, "isCompactSummary") {
            AUTHOR.clone_into(&mut message.author);
        }
        let joiner = self.lane(&message.lane, out);
        if message.role == Role::Assistant {
            let key = message.provider_id.clone();
            joiner.assistant(&key, at, message, out);
        } else {
            joiner.other(at, message, out);
        }
        Ok(())
    }

    fn lane(&mut self, lane: &str, out: &mut Out) -> &mut Joiner {
        if self.lanes.len() >= MOST_LANES && !self.lanes.contains_key(lane) {
            self.finish_lanes(out);
            self.lanes.clear();
        }
        self.lanes.entry(lane.to_owned()).or_default()
    }

    fn finish_lanes(&mut self, out: &mut Out) {
        for joiner in self.lanes.values_mut() {
            joiner.flush(out);
        }
    }

    fn queue(&mut self, at: Place, mut object: Object<'_>, out: &mut Out) -> Result<(), Fault> {
        match object.take_string("operation")?.as_str() {
            "enqueue" if self.queued.len() < MOST_QUEUED => {
                let content = object.take_string("content")?;
                self.queued.push_back((at, content));
                Ok(())
            }
            "remove" => {
                let time = timestamp(&object);
                match self.queued.pop_front() {
                    Some((from, content)) => self.deliver(from, content, time, out),
                    None => out.skip(at, "queue-operation remove"),
                }
                Ok(())
            }
            // It then comes as a line of its own.
            "dequeue" => {
                self.queued.pop_front();
                out.skip(at, "queue-operation dequeue");
                Ok(())
            }
            other => {
                out.skip(at, format!("queue-operation {other}"));
                Ok(())
            }
        }
    }

    fn deliver(&mut self, at: Place, text: String, time: Option<Timestamp>, out: &mut Out) {
        if text.is_empty() {
            return out.skip(at, "queue-operation without text");
        }
        let format = Some(WireFormat::AnthropicMessages);
        let message = Message { client_time: time, format, ..user_text("", text) };
        self.lane("", out).other(at, message, out);
    }
}

/// A subagent's lines stand between those of its parent in older files.
fn lane(object: &Object<'_>) -> String {
    if !is_true(object, "isSidechain") {
        return String::new();
    }
    object.peek_str("agentId").unwrap_or_else(|| "sidechain".to_owned())
}

fn timestamp(object: &Object<'_>) -> Option<Timestamp> {
    time::parse(&object.peek_str("timestamp")?)
}

fn is_true(object: &Object<'_>, key: &str) -> bool {
    object.peek(key).is_some_and(|it| it.raw() == "true")
}
