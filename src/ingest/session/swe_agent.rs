//! SWE-agent trajectories: the `history` is what the model saw.
//!
//! Its entries are Chat messages with fields of the program's own. A result may
//! answer several calls at once. Demonstrations have `demo` as their author.

use std::sync::Arc;

use super::{
    entry::{LIMITS, Out, Place, Understand},
    plain::Chat,
};
use crate::ingest::{
    anthropic,
    chat::{self, Entry},
    fault::Fault,
    json::Value,
    object::Object,
};

/// Of an entry, what the model never saw: copies of its text taken apart, and
/// settings.
const BOOKKEEPING: &[&str] =
    &["agent", "message_type", "thought", "action", "is_demo", "tags", "cache_control"];

/// What has to be remembered between entries.
#[derive(Debug, Default)]
pub(super) struct SweAgent {
    chat: Chat,
}

impl Understand for SweAgent {
    fn entry(&mut self, at: Place, value: Value<'_>, out: &mut Out) -> Result<(), Fault> {
        let mut object = value.object()?;
        let is_demo = object.peek("is_demo").is_some_and(|it| it.raw() == "true");
        object.forget(BOOKKEEPING);
        let author = if is_demo { "demo" } else { "" };
        if let Some(ids) = object.take_some("tool_call_ids")?
            && object.peek_str("role").as_deref() == Some("tool")
        {
            return self.results(at, ids, value, out);
        }
        let thinking = thinking(&mut object)?;
        let mut entry = chat::entry(object, &LIMITS)?;
        if let Entry::Message(message) = &mut entry {
            message.blocks.splice(0..0, thinking);
        }
        self.chat.take(at, entry, author, out);
        Ok(())
    }

    fn document(&mut self, value: Value<'_>, out: &mut Out) -> Result<(), Fault> {
        let history = value.object()?.require("history")?;
        self.entries(history, out).map_err(|fault| fault.under("history"))
    }

    fn finish(&mut self, out: &mut Out) {
        self.chat.finish(out);
    }
}

impl SweAgent {
    fn results(
        &mut self,
        at: Place,
        ids: Value<'_>,
        value: Value<'_>,
        out: &mut Out,
    ) -> Result<(), Fault> {
        for id in ids.array(LIMITS.blocks).map_err(|fault| fault.under("tool_call_ids"))? {
            let mut object = value.object()?;
            object.forget(BOOKKEEPING);
            object.forget(&["role", "tool_call_ids"]);
            let entry = chat::result(object, id.string()?, "", &LIMITS)?;
            self.chat.take(at, entry, "", out);
        }
        Ok(())
    }
}

fn thinking(object: &mut Object<'_>) -> Result<Vec<Arc<crate::model::Block>>, Fault> {
    let Some(blocks) = object.take_some("thinking_blocks")? else { return Ok(Vec::new()) };
    anthropic::assistant_blocks(blocks, &LIMITS).map_err(|fault| fault.under("thinking_blocks"))
}
