//! Codex rollouts: what the model saw are the `response_item` lines.
//!
//! The base instructions are the standing prompt. Nothing groups the items of
//! one model call but their order and the `token_count` that ends it. Of a
//! `compacted` line the provider's own compaction block is taken, and a summary
//! where there is one; the user messages that it repeats are not.

use super::{
    entry::{LIMITS, Out, Place, Understand, system_item, user_text},
    joiner::Joiner,
    time,
};
use crate::{
    ingest::{
        fault::Fault,
        json::Value,
        object::Object,
        responses::{self, Item},
        usage,
    },
    model::{BlockKind, Message, Role, Timestamp, WireFormat},
};

/// Fields of items that the program keeps for itself.
const BOOKKEEPING: &[&str] = &["internal_chat_message_metadata_passthrough"];

/// What has to be remembered between lines.
#[derive(Debug, Default)]
pub(super) struct Codex {
    joiner: Joiner,
    /// Counts model calls: the key of the assistant message that is open.
    call: u64,
    model: String,
}

impl Understand for Codex {
    fn entry(&mut self, at: Place, value: Value<'_>, out: &mut Out) -> Result<(), Fault> {
        let mut object = value.object()?;
        let time = object.peek_str("timestamp").and_then(|it| time::parse(&it));
        let sort = object.require_string("type")?;
        let payload = object.require("payload")?;
        let taken = match sort.as_str() {
            "session_meta" => meta(at, payload, out),
            "turn_context" => self.turn(at, payload, out),
            "response_item" => self.item(at, payload, time, out),
            "event_msg" => self.event(at, payload, out),
            "compacted" => self.compacted(at, payload, time, out),
            _ => {
                out.skip(at, sort);
                return Ok(());
            }
        };
        taken.map_err(|fault| fault.under("payload"))
    }

    fn finish(&mut self, out: &mut Out) {
        self.joiner.flush(out);
    }
}

fn meta(at: Place, payload: Value<'_>, out: &mut Out) -> Result<(), Fault> {
    let mut payload = payload.object()?;
    let instructions = payload.take_some("base_instructions")?.map(Value::object).transpose()?;
    match instructions.map(|mut it| it.take_string("text")).transpose()? {
        Some(text) if !text.is_empty() => out.item(at, system_item(text)),
        _ => out.skip(at, "session_meta"),
    }
    Ok(())
}

impl Codex {
    fn turn(&mut self, at: Place, payload: Value<'_>, out: &mut Out) -> Result<(), Fault> {
        self.model = payload.object()?.take_string("model")?;
        out.skip(at, "turn_context");
        Ok(())
    }

    fn event(&mut self, at: Place, payload: Value<'_>, out: &mut Out) -> Result<(), Fault> {
        let mut payload = payload.object()?;
        let sort = payload.require_string("type")?;
        if sort == "token_count"
            && let Some(usage) = last_usage(&mut payload)?
            && self.joiner.set_usage(usage)
        {
            // The model's next item belongs to its next answer.
            self.call += 1;
        }
        out.skip(at, format!("event_msg {sort}"));
        Ok(())
    }

    fn item(
        &mut self,
        at: Place,
        payload: Value<'_>,
        time: Option<Timestamp>,
        out: &mut Out,
    ) -> Result<(), Fault> {
        let mut object = payload.object()?;
        if object.peek_str("type").as_deref() == Some("ghost_snapshot") {
            out.skip(at, "ghost_snapshot");
            return Ok(());
        }
        object.forget(BOOKKEEPING);
        let kept = object.rest().finish();
        let text = std::str::from_utf8(&kept).unwrap_or_default();
        let item = responses::item(Value::parse(text, LIMITS.depth)?, &LIMITS)?;
        self.take(at, item, time, out);
        Ok(())
    }

    fn take(&mut self, at: Place, item: Item, time: Option<Timestamp>, out: &mut Out) {
        match item {
            Item::Assistant(blocks) if blocks.iter().all(|it| says_nothing(&it.kind)) => {
                out.skip(at, "reasoning without content");
            }
            Item::Assistant(blocks) => {
                let message = responses::of_blocks(Role::Assistant, blocks);
                let message = Message { client_time: time, model: self.model.clone(), ..message };
                self.joiner.assistant(&self.call.to_string(), at, message, out);
            }
            Item::Result(block) => {
                let message = responses::of_blocks(Role::User, vec![block]);
                self.other(at, Message { client_time: time, ..message }, out);
            }
            Item::Message(message) => {
                self.other(at, Message { client_time: time, ..*message }, out);
            }
        }
    }

    fn other(&mut self, at: Place, message: Message, out: &mut Out) {
        self.call += 1;
        self.joiner.other(at, message, out);
    }

    fn compacted(
        &mut self,
        at: Place,
        payload: Value<'_>,
        time: Option<Timestamp>,
        out: &mut Out,
    ) -> Result<(), Fault> {
        self.call += 1;
        let mut payload = payload.object()?;
        let summary = payload.take_string("message")?;
        if !summary.is_empty() {
            let format = Some(WireFormat::OpenAiResponses);
            let message = Message { client_time: time, format, ..user_text("codex", summary) };
            self.joiner.other(at, message, out);
        }
        if let Some(history) = payload.take_some("replacement_history")? {
            for item in history.array(LIMITS.messages)? {
                if item.object()?.peek_str("type").as_deref() == Some("compaction") {
                    self.item(at, item, time, out)?;
                }
            }
        }
        self.call += 1;
        out.skip(at, "compacted");
        Ok(())
    }
}

fn last_usage(payload: &mut Object<'_>) -> Result<Option<crate::model::Usage>, Fault> {
    let Some(info) = payload.take_some("info")? else { return Ok(None) };
    match info.object()?.take_some("last_token_usage")? {
        Some(last) => usage::codex(last),
        None => Ok(None),
    }
}

/// Some models send reasoning items with nothing in them, not even an id.
fn says_nothing(kind: &BlockKind) -> bool {
    matches!(kind, BlockKind::Thinking(it)
        if it.parts.is_empty() && it.encrypted_content.is_empty())
}
