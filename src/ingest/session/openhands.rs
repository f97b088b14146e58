//! OpenHands events: a list, or one a line.
//!
//! Calls with one `llm_response_id` are one assistant message. The summary that
//! a condensation left is a user message whose author is `openhands`; what it
//! made the program forget stays.

use std::sync::Arc;

use super::{
    entry::{LIMITS, Out, Place, Understand, system_item, tools_item, user_text},
    joiner::Joiner,
    time,
};
use crate::{
    ingest::{
        anthropic, chat, content,
        fault::Fault,
        json::Value,
        object::{Extras, Object},
        parts,
    },
    model::{
        Block, BlockKind, Message, Role, Timestamp, ToolOutput, ToolResult, ToolUse, WireFormat,
    },
};

const AUTHOR: &str = "openhands";
const FORMAT: WireFormat = WireFormat::OpenAiChat;

/// What has to be remembered between events.
#[derive(Debug, Default)]
pub(super) struct OpenHands {
    joiner: Joiner,
}

impl Understand for OpenHands {
    fn entry(&mut self, at: Place, value: Value<'_>, out: &mut Out) -> Result<(), Fault> {
        let mut object = value.object()?;
        let kind = object.require_string("kind")?;
        let time = object.peek_str("timestamp").and_then(|it| time::parse(&it));
        let message = match kind.as_str() {
            "SystemPromptEvent" => return system(at, &mut object, out),
            "ActionEvent" => return self.action(at, object, time, out),
            "MessageEvent" => said(&mut object)?,
            "ObservationEvent" => observation(&mut object)?,
            "AgentErrorEvent" => failure(&mut object, "error")?,
            "UserRejectObservation" => failure(&mut object, "rejection_reason")?,
            "Condensation" => match object.take_string("summary")? {
                summary if summary.is_empty() => return skip(at, kind, out),
                summary => user_text(AUTHOR, summary),
            },
            _ => return skip(at, kind, out),
        };
        let message = Message { client_time: time, format: Some(FORMAT), ..message };
        match message.role {
            Role::Assistant => self.joiner.assistant("", at, message, out),
            _ => self.joiner.other(at, message, out),
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Out) {
        self.joiner.flush(out);
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it ends a function that may fail")]
fn skip(at: Place, kind: String, out: &mut Out) -> Result<(), Fault> {
    out.skip(at, kind);
    Ok(())
}

fn system(at: Place, object: &mut Object<'_>, out: &mut Out) -> Result<(), Fault> {
    let mut prompt = object.require("system_prompt")?.object()?;
    out.item(at, system_item(prompt.require_string("text")?));
    match object.take_some("tools")? {
        // Some versions write their own tool objects, which no provider takes.
        Some(tools) if are_definitions(tools) => out.item(at, tools_item(tools, FORMAT)),
        Some(_) => out.skip(at, "tools in the program's own shape"),
        None => {}
    }
    Ok(())
}

fn are_definitions(tools: Value<'_>) -> bool {
    let tools = tools.array(LIMITS.blocks).unwrap_or_default();
    !tools.is_empty() && tools.iter().all(|it| it.object().is_ok_and(|it| it.has("function")))
}

impl OpenHands {
    fn action(
        &mut self,
        at: Place,
        mut object: Object<'_>,
        time: Option<Timestamp>,
        out: &mut Out,
    ) -> Result<(), Fault> {
        let response = object.take_string("llm_response_id")?;
        let mut blocks = thinking(&mut object)?;
        if let Some(thought) = object.take_some("thought")? {
            let said = texts(thought).map_err(|fault| fault.under("thought"))?;
            blocks.extend(said.into_iter().map(Arc::new));
        }
        blocks.push(Arc::new(call(&mut object)?));
        let message = Message {
            role: Role::Assistant,
            blocks,
            client_time: time,
            format: Some(FORMAT),
            extra_json: reasoning(&mut object)?.finish(),
            ..Message::default()
        };
        self.joiner.assistant(&response, at, message, out);
        Ok(())
    }
}

fn call(object: &mut Object<'_>) -> Result<Block, Fault> {
    let (name, id) = (object.take_string("tool_name")?, object.take_string("tool_call_id")?);
    let call = if let Some(call) = object.take_some("tool_call")? {
        let mut call = call.object()?;
        ToolUse {
            id: call.require_string("id")?,
            name: call.require_string("name")?,
            input_json: chat::arguments_of(call.require("arguments")?)?,
            ..ToolUse::default()
        }
    } else {
        let input_json = object.require("action")?.to_bytes();
        ToolUse { id, name, input_json, ..ToolUse::default() }
    };
    Ok(Block::new(BlockKind::ToolUse(call)))
}

/// Signed blocks; where there are none, unsigned reasoning stays an extra.
fn thinking(object: &mut Object<'_>) -> Result<Vec<Arc<Block>>, Fault> {
    let Some(blocks) = object.take_some("thinking_blocks")? else { return Ok(Vec::new()) };
    let blocks = anthropic::assistant_blocks(blocks, &LIMITS);
    let blocks = blocks.map_err(|fault| fault.under("thinking_blocks"))?;
    if !blocks.is_empty() {
        object.forget(&["reasoning_content"]);
    }
    Ok(blocks)
}

fn reasoning(object: &mut Object<'_>) -> Result<Extras, Fault> {
    let mut extras = Extras::default();
    if let Some(reasoning) = object.take_some("reasoning_content")? {
        extras.push("reasoning_content", reasoning);
    }
    Ok(extras)
}

/// A message, and the skills that the program put behind the user's words.
fn said(event: &mut Object<'_>) -> Result<Message, Fault> {
    let mut object = event.require("llm_message")?.object()?;
    let role = match object.require_string("role")?.as_str() {
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ => Role::User,
    };
    let mut blocks = thinking(&mut object)?;
    let content = texts(object.require("content")?).map_err(|fault| fault.under("content"))?;
    blocks.extend(content.into_iter().map(Arc::new));
    if let Some(more) = event.take_some("extended_content")? {
        let more = texts(more).map_err(|fault| fault.under("extended_content"))?;
        blocks.extend(more.into_iter().map(Arc::new));
    }
    let extra_json = reasoning(&mut object)?.finish();
    Ok(Message { role, blocks, extra_json, ..Message::default() })
}

/// Text parts and pictures, which may be several to a part.
fn texts(content: Value<'_>) -> Result<Vec<Block>, Fault> {
    let kinds = outputs(content)?.into_iter().map(|output| match output {
        ToolOutput::Text(text) => BlockKind::Text(content::text_of(text.into())),
        ToolOutput::Image(image) => BlockKind::Image(image),
        ToolOutput::Opaque(opaque) => BlockKind::Opaque(opaque),
    });
    Ok(kinds.map(Block::new).collect())
}

fn outputs(content: Value<'_>) -> Result<Vec<ToolOutput>, Fault> {
    if content.is_string() {
        return Ok(vec![ToolOutput::Text(parts::bytes(content)?)]);
    }
    let mut outputs = Vec::new();
    for (index, value) in content.array(LIMITS.blocks)?.into_iter().enumerate() {
        part(value, &mut outputs).map_err(|fault| fault.at(index))?;
    }
    Ok(outputs)
}

fn part(value: Value<'_>, outputs: &mut Vec<ToolOutput>) -> Result<(), Fault> {
    let mut object = value.object()?;
    match object.require_string("type")?.as_str() {
        "text" => {
            let text = parts::bytes(object.require("text")?)?;
            if !text.is_empty() {
                outputs.push(ToolOutput::Text(text));
            }
        }
        "image" => {
            for url in object.require("image_urls")?.array(LIMITS.blocks)? {
                let image = content::from_url(url.string()?).map(ToolOutput::Image);
                outputs.push(image.unwrap_or_else(|| ToolOutput::Text(url.to_bytes())));
            }
        }
        // The program's own parts have no provider's shape to be kept in.
        _ => outputs.push(ToolOutput::Text(value.to_bytes())),
    }
    Ok(())
}

fn observation(event: &mut Object<'_>) -> Result<Message, Fault> {
    let value = event.require("observation")?;
    let mut object = value.object()?;
    let output = match object.take_some("content")? {
        Some(content) => outputs(content).map_err(|fault| fault.under("content"))?,
        None => vec![ToolOutput::Text(value.to_bytes())],
    };
    let is_error = object.take_some("is_error")?.map(Value::boolean).transpose()?;
    answer(event, output, is_error.unwrap_or(false))
}

fn failure(event: &mut Object<'_>, key: &str) -> Result<Message, Fault> {
    let text = parts::bytes(event.require(key)?).map_err(|fault| fault.under(key))?;
    answer(event, vec![ToolOutput::Text(text)], true)
}

fn answer(
    event: &mut Object<'_>,
    output: Vec<ToolOutput>,
    is_error: bool,
) -> Result<Message, Fault> {
    let tool_use_id = event.require_string("tool_call_id")?;
    let result = ToolResult { tool_use_id, is_error, output, wire_type: String::new() };
    let blocks = vec![Arc::new(Block::new(BlockKind::ToolResult(result)))];
    Ok(Message { role: Role::User, blocks, ..Message::default() })
}
