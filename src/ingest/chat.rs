//! OpenAI Chat Completions, and what speaks its language.

use std::sync::Arc;

use super::{
    Limits, content,
    fault::Fault,
    json::Value,
    object::{Extras, Object},
    parts::{self, Dialect},
    usage,
};
use crate::model::{
    Block, BlockKind, Message, Opaque, Role, ToolOutput, ToolResult, ToolUse, WireFormat,
};

const FORMAT: WireFormat = WireFormat::OpenAiChat;
const OUTPUTS: Dialect = Dialect { format: FORMAT, read: output_part };

/// One entry of a `messages` array.
pub(super) enum Entry {
    /// A message of its own.
    Message(Message),
    /// What a `tool` message holds: part of the user message that all results
    /// of a round share.
    Result(Block),
}

/// A message, an array of them, or a response.
pub(super) fn messages(value: Value<'_>, limits: &Limits) -> Result<Vec<Message>, Fault> {
    if !value.is_array() {
        let object = value.object()?;
        if object.has("choices") {
            return Ok(vec![response(object, limits)?]);
        }
        return Ok(gather([entry(object, limits)?]));
    }
    let values = value.array(limits.messages)?;
    let each = values.into_iter().enumerate().map(|(index, it)| {
        it.object().and_then(|it| entry(it, limits)).map_err(|fault| fault.at(index))
    });
    Ok(gather(each.collect::<Result<Vec<_>, _>>()?))
}

/// Brings results that stand side by side into one message.
pub(super) fn gather(entries: impl IntoIterator<Item = Entry>) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut results: Vec<Arc<Block>> = Vec::new();
    for entry in entries {
        match entry {
            Entry::Result(block) => results.push(Arc::new(block)),
            Entry::Message(message) => {
                messages.extend(of_results(std::mem::take(&mut results)));
                messages.push(message);
            }
        }
    }
    messages.extend(of_results(results));
    messages
}

/// The user message that holds these results, where there are any.
pub(super) fn of_results(blocks: Vec<Arc<Block>>) -> Option<Message> {
    let message = Message { role: Role::User, format: Some(FORMAT), blocks, ..Message::default() };
    (!message.blocks.is_empty()).then_some(message)
}

/// The one answer of a response, with what the response says of its usage.
pub(super) fn response(mut object: Object<'_>, limits: &Limits) -> Result<Message, Fault> {
    let choices = object.require("choices")?;
    let mut message = choice(choices, limits).map_err(|fault| fault.under("choices"))?;
    let usage = object.take_some("usage")?.map(usage::chat).transpose();
    message.usage = usage.map_err(|fault| fault.under("usage"))?.flatten();
    message.model = object.take_string("model")?;
    message.provider_id = object.take_string("id")?;
    Ok(message)
}

fn choice(choices: Value<'_>, limits: &Limits) -> Result<Message, Fault> {
    let choices = choices.array(limits.messages)?;
    let [choice] = choices.as_slice() else {
        return Err(Fault::new(format!("expected one choice, found {}", choices.len())));
    };
    let message = choice.object()?.require("message").map_err(|fault| fault.at(0))?;
    let entry = message.object().and_then(|it| entry(it, limits));
    match entry.map_err(|fault| fault.under("message").at(0))? {
        Entry::Message(message) if message.role == Role::Assistant => Ok(message),
        _ => Err(Fault::new("expected a message of the assistant, found another").at(0)),
    }
}

/// One message.
pub(super) fn entry(mut object: Object<'_>, limits: &Limits) -> Result<Entry, Fault> {
    let role = match object.require_string("role")?.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        "tool" => return tool(object, limits, ""),
        "function" => return tool(object, limits, "function"),
        other => return Err(unknown_role(other)),
    };
    let mut blocks = Vec::new();
    if let Some(content) = object.take_some("content")? {
        blocks = content_blocks(content, limits).map_err(|fault| fault.under("content"))?;
    }
    blocks.extend(refusal(&mut object)?);
    if role == Role::Assistant {
        blocks.extend(calls(&mut object, limits)?);
    } else if let Some(key) = ["tool_calls", "function_call"].iter().find(|it| object.has(it)) {
        return Err(Fault::new("expected calls in assistant messages only").under(key));
    }
    Ok(Entry::Message(Message {
        role,
        blocks: blocks.into_iter().map(Arc::new).collect(),
        format: Some(FORMAT),
        extra_json: object.rest().finish(),
        ..Message::default()
    }))
}

fn unknown_role(found: &str) -> Fault {
    let expected = "`system`, `developer`, `user`, `assistant`, `tool` or `function`";
    Fault::new(format!("expected {expected}, found `{found}`")).under("role")
}

fn content_blocks(content: Value<'_>, limits: &Limits) -> Result<Vec<Block>, Fault> {
    if content.is_string() {
        return Ok(vec![Block::new(BlockKind::Text(content::text(content)?))]);
    }
    if !content.is_array() {
        return Err(Fault::expected("a string, an array or null", content));
    }
    let values = content.array(limits.blocks)?.into_iter().enumerate();
    values.map(|(index, it)| part(it).map_err(|fault| fault.at(index))).collect()
}

fn part(value: Value<'_>) -> Result<Block, Fault> {
    let mut object = value.object()?;
    let kind = match object.require_string("type")?.as_str() {
        "text" => {
            let text = object.require("text")?;
            Some(BlockKind::Text(content::text(text).map_err(|fault| fault.under("text"))?))
        }
        "image_url" => {
            if let Some((image, detail)) = picture(&mut object)? {
                let mut extras = object.rest();
                extras.extend(&detail);
                return Ok(Block { kind: BlockKind::Image(image), extra_json: extras.finish() });
            }
            None
        }
        // Anthropic's blocks would be kept without a word and never pair.
        other @ ("tool_use" | "tool_result") => {
            return Err(Fault::new(format!("expected a part of a Chat message, found `{other}`")));
        }
        _ => None,
    };
    match kind {
        Some(kind) => Ok(Block { kind, extra_json: object.rest().finish() }),
        None => parts::opaque_block(value, FORMAT),
    }
}

/// A picture and what else stood in its `image_url` (its `detail`).
fn picture(object: &mut Object<'_>) -> Result<Option<(crate::model::Image, Extras)>, Fault> {
    let value = object.require("image_url")?;
    let mut inner = value.object().map_err(|fault| fault.under("image_url"))?;
    let url = inner.require_string("url").map_err(|fault| fault.under("image_url"))?;
    Ok(content::from_url(url).map(|image| (image, inner.rest())))
}

fn output_part(sort: &str, object: &mut Object<'_>) -> Result<Option<ToolOutput>, Fault> {
    match sort {
        "text" => {
            let text = parts::bytes(object.require("text")?).map_err(|it| it.under("text"))?;
            Ok(Some(ToolOutput::Text(text)))
        }
        "image_url" => {
            let picture = picture(object)?.filter(|(_, detail)| detail.is_empty());
            Ok(picture.map(|(image, _)| ToolOutput::Image(image)))
        }
        _ => Ok(None),
    }
}

/// A refusal beside the content means the same as the content part of that
/// type, which has a place among the blocks.
fn refusal(object: &mut Object<'_>) -> Result<Option<Block>, Fault> {
    let Some(words) = object.take_some("refusal")? else { return Ok(None) };
    words.chars().map_err(|fault| fault.under("refusal"))?;
    let json = format!("{{\"type\":\"refusal\",\"refusal\":{}}}", words.raw()).into();
    let opaque = Opaque { format: FORMAT, json, call_id: String::new(), is_result: false };
    Ok(Some(Block::new(BlockKind::Opaque(opaque))))
}

fn calls(object: &mut Object<'_>, limits: &Limits) -> Result<Vec<Block>, Fault> {
    let mut blocks = Vec::new();
    if let Some(calls) = object.take_some("tool_calls")? {
        let calls = calls.array(limits.blocks).map_err(|fault| fault.under("tool_calls"))?;
        for (index, value) in calls.into_iter().enumerate() {
            let block = call(value).map_err(|fault| fault.at(index).under("tool_calls"))?;
            blocks.push(block);
        }
    }
    if let Some(value) = object.take_some("function_call")? {
        let block = function_call(value).map_err(|fault| fault.under("function_call"))?;
        blocks.push(block);
    }
    Ok(blocks)
}

/// An entry of `tool_calls`.
pub(super) fn call(value: Value<'_>) -> Result<Block, Fault> {
    let mut object = value.object()?;
    let id = object.require_string("id")?;
    let sort = object.take_string("type")?;
    let (key, arguments, wire_type) = match sort.as_str() {
        "function" | "" => ("function", "arguments", ""),
        "custom" => ("custom", "input", "custom"),
        other => {
            return Err(Fault::new(format!("expected `function` or `custom`, found `{other}`")));
        }
    };
    let inner = object.require(key)?;
    let (name, input_json, left) = named(inner, arguments).map_err(|fault| fault.under(key))?;
    let mut extras = object.rest();
    extras.extend(&left);
    let kind = ToolUse { id, name, input_json, wire_type: wire_type.into(), ..ToolUse::default() };
    Ok(Block { kind: BlockKind::ToolUse(kind), extra_json: extras.finish() })
}

/// The one call of a message in the days before `tool_calls`; it has no id.
fn function_call(value: Value<'_>) -> Result<Block, Fault> {
    let (name, input_json, extras) = named(value, "arguments")?;
    let wire_type = "function_call".into();
    let kind = ToolUse { name, input_json, wire_type, ..ToolUse::default() };
    Ok(Block { kind: BlockKind::ToolUse(kind), extra_json: extras.finish() })
}

fn named(value: Value<'_>, arguments: &str) -> Result<(String, bytes::Bytes, Extras), Fault> {
    let mut object = value.object()?;
    let name = object.require_string("name")?;
    let input = object.require(arguments)?;
    Ok((name, arguments_of(input)?, object.rest()))
}

/// Arguments: what is in the string, or, where a server gives no string, the
/// value as it is.
pub(super) fn arguments_of(value: Value<'_>) -> Result<bytes::Bytes, Fault> {
    if value.is_string() { parts::bytes(value) } else { Ok(value.to_bytes()) }
}

fn tool(mut object: Object<'_>, limits: &Limits, wire_type: &str) -> Result<Entry, Fault> {
    let tool_use_id = match wire_type {
        "" => object.require_string("tool_call_id")?,
        _ => String::new(),
    };
    result(object, tool_use_id, wire_type, limits)
}

/// What a tool said, in an object whose role and id have been taken.
pub(super) fn result(
    mut object: Object<'_>,
    tool_use_id: String,
    wire_type: &str,
    limits: &Limits,
) -> Result<Entry, Fault> {
    let content = object.take_some("content")?;
    let mut extras = object.rest();
    let output = content.map(|it| parts::outputs(it, limits, &mut extras, &OUTPUTS)).transpose();
    let output = output.map_err(|fault| fault.under("content"))?.unwrap_or_default();
    let kind = ToolResult { tool_use_id, output, is_error: false, wire_type: wire_type.into() };
    Ok(Entry::Result(Block { kind: BlockKind::ToolResult(kind), extra_json: extras.finish() }))
}
