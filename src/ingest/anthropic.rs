//! Anthropic Messages.

use std::sync::Arc;

use bytes::Bytes;

use super::{
    Limits, content,
    fault::Fault,
    json::Value,
    object::Object,
    parts::{self, Dialect},
    usage,
};
use crate::model::{
    Block, BlockKind, Message, Role, Text, Thinking, ToolOutput, ToolResult, ToolUse, WireFormat,
};

const FORMAT: WireFormat = WireFormat::AnthropicMessages;

const OUTPUTS: Dialect = Dialect { format: FORMAT, read: output_part };

/// What a response says about itself. A request that repeated it would be
/// refused, so it must not become an extra.
const OF_RESPONSES: &[&str] =
    &["type", "stop_reason", "stop_sequence", "stop_details", "container", "context_management"];

/// A message, an array of them, or a response (which is a message).
pub(super) fn messages(value: Value<'_>, limits: &Limits) -> Result<Vec<Message>, Fault> {
    if !value.is_array() {
        return Ok(vec![message(value, limits)?]);
    }
    let values = value.array(limits.messages)?;
    let each = values.into_iter().enumerate();
    each.map(|(index, it)| message(it, limits).map_err(|fault| fault.at(index))).collect()
}

/// One message.
pub(super) fn message(value: Value<'_>, limits: &Limits) -> Result<Message, Fault> {
    of_object(value.object()?, limits)
}

/// One message whose envelope has been taken off.
pub(super) fn of_object(mut object: Object<'_>, limits: &Limits) -> Result<Message, Fault> {
    let role = role(&mut object)?;
    let content = object.require("content")?;
    let blocks = blocks(content, role, limits).map_err(|fault| fault.under("content"))?;
    let usage = object.take_some("usage")?.map(usage::anthropic).transpose();
    let usage = usage.map_err(|fault| fault.under("usage"))?.flatten();
    let (model, provider_id) = (object.take_string("model")?, object.take_string("id")?);
    object.forget(OF_RESPONSES);
    Ok(Message {
        role,
        blocks,
        usage,
        model,
        provider_id,
        format: Some(FORMAT),
        extra_json: object.rest().finish(),
        ..Message::default()
    })
}

fn role(object: &mut Object<'_>) -> Result<Role, Fault> {
    match object.require_string("role")?.as_str() {
        "user" => Ok(Role::User),
        "assistant" => Ok(Role::Assistant),
        "system" => Ok(Role::System),
        other => {
            Err(Fault::new(format!("expected `user`, `assistant` or `system`, found `{other}`"))
                .under("role"))
        }
    }
}

/// Blocks of an assistant message that stand apart from it.
pub(super) fn assistant_blocks(
    content: Value<'_>,
    limits: &Limits,
) -> Result<Vec<Arc<Block>>, Fault> {
    blocks(content, Role::Assistant, limits)
}

fn blocks(content: Value<'_>, role: Role, limits: &Limits) -> Result<Vec<Arc<Block>>, Fault> {
    if content.is_string() {
        let text = content::text(content)?;
        return Ok(vec![Arc::new(Block::new(BlockKind::Text(text)))]);
    }
    if !content.is_array() {
        return Err(Fault::expected("a string or an array", content));
    }
    let values = content.array(limits.blocks)?.into_iter().enumerate();
    values
        .map(|(index, it)| block(it, role, limits).map(Arc::new).map_err(|fault| fault.at(index)))
        .collect()
}

fn block(value: Value<'_>, role: Role, limits: &Limits) -> Result<Block, Fault> {
    let mut object = value.object()?;
    let sort = object.require_string("type")?;
    let is_at_home = match sort.as_str() {
        "tool_use" | "thinking" | "redacted_thinking" | "server_tool_use" => {
            role == Role::Assistant
        }
        "tool_result" => role == Role::User,
        "image" => role != Role::Assistant,
        _ => true,
    };
    if !is_at_home {
        return Err(Fault::new(format!(
            "expected what {} message holds, found `{sort}`",
            article(role)
        )));
    }
    let kind = match sort.as_str() {
        "text" => Some(BlockKind::Text(words(&mut object)?)),
        "thinking" => thinking(&mut object)?.map(BlockKind::Thinking),
        "redacted_thinking" => Some(BlockKind::RedactedThinking(object.require_string("data")?)),
        "tool_use" => Some(BlockKind::ToolUse(tool_use(&mut object)?)),
        "tool_result" => return tool_result(object, limits),
        "image" => {
            let source = object.require("source")?;
            content::from_source(source).map_err(|it| it.under("source"))?.map(BlockKind::Image)
        }
        _ => None,
    };
    match kind {
        Some(kind) => Ok(Block { kind, extra_json: object.rest().finish() }),
        None => parts::opaque_block(value, FORMAT),
    }
}

fn article(role: Role) -> &'static str {
    match role {
        Role::User => "a user",
        Role::Assistant => "an assistant",
        Role::System => "a system",
    }
}

fn words(object: &mut Object<'_>) -> Result<Text, Fault> {
    content::text(object.require("text")?).map_err(|fault| fault.under("text"))
}

/// `None` where its words are no Unicode: they are then replayed as they came
/// or not at all.
fn thinking(object: &mut Object<'_>) -> Result<Option<Thinking>, Fault> {
    let chars = object.require("thinking")?.chars().map_err(|fault| fault.under("thinking"))?;
    let signature = object.take_string("signature")?;
    let text = String::from_utf8(chars.into_owned()).ok();
    Ok(text.map(|text| Thinking { parts: vec![text], signature, ..Thinking::default() }))
}

fn tool_use(object: &mut Object<'_>) -> Result<ToolUse, Fault> {
    Ok(ToolUse {
        id: object.require_string("id")?,
        name: object.require_string("name")?,
        input_json: object.require("input")?.to_bytes(),
        ..ToolUse::default()
    })
}

fn tool_result(mut object: Object<'_>, limits: &Limits) -> Result<Block, Fault> {
    let tool_use_id = object.require_string("tool_use_id")?;
    let is_error = object.take_some("is_error")?.map(Value::boolean).transpose();
    let is_error = is_error.map_err(|fault| fault.under("is_error"))?.unwrap_or(false);
    let content = object.take_some("content")?;
    let mut extras = object.rest();
    let output = match content {
        Some(content) => parts::outputs(content, limits, &mut extras, &OUTPUTS)
            .map_err(|fault| fault.under("content"))?,
        None => Vec::new(),
    };
    let result = ToolResult { tool_use_id, is_error, output, wire_type: String::new() };
    Ok(Block { kind: BlockKind::ToolResult(result), extra_json: extras.finish() })
}

fn output_part(sort: &str, object: &mut Object<'_>) -> Result<Option<ToolOutput>, Fault> {
    match sort {
        "text" => {
            let text = object.require("text")?.chars().map_err(|fault| fault.under("text"))?;
            Ok(Some(ToolOutput::Text(Bytes::copy_from_slice(&text))))
        }
        "image" => {
            let source = object.require("source")?;
            let image = content::from_source(source).map_err(|fault| fault.under("source"))?;
            Ok(image.map(ToolOutput::Image))
        }
        _ => Ok(None),
    }
}
