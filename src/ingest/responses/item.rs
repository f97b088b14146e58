//! One item, by its type.
//!
//! Calls that the client runs have a `call_id`. Of `function_call` and
//! `custom_tool_call` the arguments are what is in their string; of other types
//! they are the JSON of the field that holds them (`arguments`, `action`,
//! `operation`), and the tool's name is the type without its `_call`. Outputs
//! are text, parts, or the JSON of `output` (or `tools`) as one opaque part.

use std::sync::Arc;

use super::{FORMAT, of_blocks};
use crate::{
    ingest::{
        Limits, chat, content,
        fault::Fault,
        json::Value,
        object::{Extras, Object},
        parts::{self, Dialect},
    },
    model::{
        Block, BlockKind, Image, Message, Opaque, Role, Thinking, ToolOutput, ToolResult, ToolUse,
    },
};

const OUTPUTS: Dialect = Dialect { format: FORMAT, read: output_part };

/// Where the arguments of a call stand, by what is there.
const ARGUMENTS: &[&str] = &["arguments", "input", "action", "operation"];
/// Where the output of a call stands.
const OUTPUT: &[&str] = &["output", "tools"];

/// What an item is part of.
pub(in crate::ingest) enum Item {
    /// The assistant message that is being made.
    Assistant(Vec<Arc<Block>>),
    /// The user message of results.
    Result(Arc<Block>),
    /// A message of its own.
    Message(Box<Message>),
}

/// One item.
pub(in crate::ingest) fn item(value: Value<'_>, limits: &Limits) -> Result<Item, Fault> {
    let object = value.object()?;
    // The short form of an input message has no type.
    let sort = object.peek_str("type").unwrap_or_default();
    let has_call = object.peek("call_id").is_some_and(Value::is_string);
    match sort.as_str() {
        "message" => message(value, limits),
        "" if object.has("role") => message(value, limits),
        "" => Err(Fault::new("expected a field `type`, found none")),
        "reasoning" => reasoning(value, limits).map(assistant),
        _ if has_call && sort.ends_with("_call") => call(value, &sort).map(assistant),
        _ if has_call && sort.ends_with("_output") => {
            Ok(Item::Result(Arc::new(output(value, &sort, limits)?)))
        }
        "function_call"
        | "function_call_output"
        | "custom_tool_call"
        | "custom_tool_call_output" => Err(Fault::new("expected a field `call_id`, found none")),
        "mcp_approval_response" => {
            let message = of_blocks(Role::User, vec![Arc::new(opaque(value)?)]);
            Ok(Item::Message(Box::new(message)))
        }
        _ => opaque(value).map(assistant),
    }
}

fn assistant(block: Block) -> Item {
    Item::Assistant(vec![Arc::new(block)])
}

fn opaque(value: Value<'_>) -> Result<Block, Fault> {
    parts::opaque_block(value, FORMAT)
}

fn message(value: Value<'_>, limits: &Limits) -> Result<Item, Fault> {
    let mut object = value.object()?;
    object.forget(&["type"]);
    let role = match object.require_string("role")?.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        other => {
            let expected = "`user`, `assistant`, `system` or `developer`";
            return Err(Fault::new(format!("expected {expected}, found `{other}`")).under("role"));
        }
    };
    let id = object.take_string("id")?;
    let content = object.require("content")?;
    let extras = object.rest();
    let blocks = blocks(content, limits).map_err(|fault| fault.under("content"))?;
    if role != Role::Assistant {
        let blocks = blocks.into_iter().map(Arc::new).collect();
        let extra_json = extras.finish();
        let message = Message { provider_id: id, extra_json, ..of_blocks(role, blocks) };
        return Ok(Item::Message(Box::new(message)));
    }
    // What has no shape among an assistant's blocks is an item, never a part
    // of one: so an item that holds such a part is kept whole.
    if blocks.is_empty() || blocks.iter().any(|it| !matches!(it.kind, BlockKind::Text(_))) {
        return opaque(value).map(assistant);
    }
    let blocks = blocks.into_iter().map(|it| Arc::new(of_item(it, &id, &extras)));
    Ok(Item::Assistant(blocks.collect()))
}

/// A text of an assistant's message item. The extras of the part come first
/// (`annotations`, `logprobs`), those of the item after them.
fn of_item(block: Block, id: &str, of_item: &Extras) -> Block {
    let BlockKind::Text(mut text) = block.kind else { return block };
    id.clone_into(&mut text.provider_id);
    let mut extras = Extras::of(&block.extra_json);
    extras.extend(of_item);
    Block { kind: BlockKind::Text(text), extra_json: extras.finish() }
}

fn blocks(content: Value<'_>, limits: &Limits) -> Result<Vec<Block>, Fault> {
    if content.is_string() {
        return Ok(vec![Block::new(BlockKind::Text(content::text(content)?))]);
    }
    if !content.is_array() {
        return Err(Fault::expected("a string or an array", content));
    }
    let values = content.array(limits.blocks)?.into_iter().enumerate();
    values.map(|(index, it)| part(it).map_err(|fault| fault.at(index))).collect()
}

fn part(value: Value<'_>) -> Result<Block, Fault> {
    let mut object = value.object()?;
    let kind = match object.require_string("type")?.as_str() {
        "input_text" | "output_text" | "text" => {
            let text = object.require("text")?;
            Some(BlockKind::Text(content::text(text).map_err(|fault| fault.under("text"))?))
        }
        "input_image" => picture(&mut object)?.map(BlockKind::Image),
        _ => None,
    };
    match kind {
        Some(kind) => Ok(Block { kind, extra_json: object.rest().finish() }),
        None => opaque(value),
    }
}

/// `None` where the picture is a file on the provider's side.
fn picture(object: &mut Object<'_>) -> Result<Option<Image>, Fault> {
    if object.peek("file_id").is_some_and(Value::is_string) {
        return Ok(None);
    }
    Ok(content::from_url(object.require_string("image_url")?))
}

fn output_part(sort: &str, object: &mut Object<'_>) -> Result<Option<ToolOutput>, Fault> {
    match sort {
        "input_text" | "output_text" | "text" => {
            let text = parts::bytes(object.require("text")?).map_err(|it| it.under("text"))?;
            Ok(Some(ToolOutput::Text(text)))
        }
        "input_image" => Ok(picture(object)?.map(ToolOutput::Image)),
        _ => Ok(None),
    }
}

/// Readable only as a whole: a summary with parts of another sort is kept as
/// it is.
fn reasoning(value: Value<'_>, limits: &Limits) -> Result<Block, Fault> {
    let mut object = value.object()?;
    object.forget(&["type"]);
    let provider_id = object.take_string("id")?;
    let encrypted_content = object.take_string("encrypted_content")?;
    let summary = object.take_some("summary")?;
    let parts = summary.map(|it| summary_parts(it, limits)).transpose();
    let Some(parts) = parts.map_err(|fault| fault.under("summary"))?.unwrap_or(Some(Vec::new()))
    else {
        return opaque(value);
    };
    let signature = String::new();
    let thinking = Thinking { parts, signature, encrypted_content, provider_id };
    Ok(Block { kind: BlockKind::Thinking(thinking), extra_json: object.rest().finish() })
}

fn summary_parts(summary: Value<'_>, limits: &Limits) -> Result<Option<Vec<String>>, Fault> {
    let mut texts = Vec::new();
    for (index, value) in summary.array(limits.blocks)?.into_iter().enumerate() {
        let mut part = value.object().map_err(|fault| fault.at(index))?;
        if part.take_string("type")? != "summary_text" {
            return Ok(None);
        }
        let text = part.require("text")?.chars().map_err(|fault| fault.at(index))?;
        let Ok(text) = String::from_utf8(text.into_owned()) else { return Ok(None) };
        if !part.rest().is_empty() {
            return Ok(None);
        }
        texts.push(text);
    }
    Ok(Some(texts))
}

/// A call that the client runs. Its type stays on record unless it is
/// `function_call`; where no known field holds arguments it is kept whole.
fn call(value: Value<'_>, sort: &str) -> Result<Block, Fault> {
    let mut object = value.object()?;
    let Some(key) = ARGUMENTS.iter().find(|key| object.has(key)) else {
        if matches!(sort, "function_call" | "custom_tool_call") {
            return Err(Fault::new("expected the arguments of the call, found none"));
        }
        return opaque(value);
    };
    object.forget(&["type"]);
    let input = object.require(key)?;
    let input_json = match sort {
        "function_call" | "custom_tool_call" => chat::arguments_of(input),
        _ => Ok(input.to_bytes()),
    };
    let input_json = input_json.map_err(|fault| fault.under(key))?;
    let name = match sort {
        "function_call" | "custom_tool_call" => object.require_string("name")?,
        _ => sort.trim_end_matches("_call").to_owned(),
    };
    let call = ToolUse {
        id: object.require_string("call_id")?,
        name,
        input_json,
        provider_id: object.take_string("id")?,
        wire_type: unusual(sort, "function_call"),
    };
    Ok(Block { kind: BlockKind::ToolUse(call), extra_json: object.rest().finish() })
}

/// What a call came to. Outputs that are neither text nor parts (a screenshot,
/// found tools) are one opaque part.
fn output(value: Value<'_>, sort: &str, limits: &Limits) -> Result<Block, Fault> {
    let mut object = value.object()?;
    let Some(key) = OUTPUT.iter().find(|key| object.has(key)) else { return opaque(value) };
    object.forget(&["type"]);
    let tool_use_id = object.require_string("call_id")?;
    let content = object.require(key)?;
    let mut extras = object.rest();
    let has_parts = matches!(sort, "function_call_output" | "custom_tool_call_output");
    let output = if has_parts || content.is_string() {
        parts::outputs(content, limits, &mut extras, &OUTPUTS).map_err(|it| it.under(key))?
    } else {
        let json = content.to_bytes();
        let opaque = Opaque { format: FORMAT, json, call_id: String::new(), is_result: false };
        vec![ToolOutput::Opaque(opaque)]
    };
    let wire_type = unusual(sort, "function_call_output");
    let result = ToolResult { tool_use_id, is_error: false, output, wire_type };
    Ok(Block { kind: BlockKind::ToolResult(result), extra_json: extras.finish() })
}

fn unusual(sort: &str, usual: &str) -> String {
    if sort == usual { String::new() } else { sort.to_owned() }
}
