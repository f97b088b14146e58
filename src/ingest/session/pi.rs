//! pi sessions, linear ones.
//!
//! Messages have no wire format: the file has pi's own shape for all providers.
//! A command that the user ran, and the summary that a compaction left, are user
//! messages whose author is `pi`.

use std::sync::Arc;

use super::{
    entry::{LIMITS, Out, Place, Understand, system_item, user_text},
    joiner::Joiner,
    time,
};
use crate::{
    ingest::{content, fault::Fault, json::Value, object::Object, parts, usage},
    model::{
        Block, BlockKind, Message, Role, Text, Thinking, Timestamp, ToolOutput, ToolResult, ToolUse,
    },
};

const AUTHOR: &str = "pi";

/// What has to be remembered between lines.
#[derive(Debug, Default)]
pub(super) struct Pi {
    joiner: Joiner,
}

impl Understand for Pi {
    fn entry(&mut self, at: Place, value: Value<'_>, out: &mut Out) -> Result<(), Fault> {
        let mut object = value.object()?;
        let sort = object.require_string("type")?;
        let time = object.peek_str("timestamp").and_then(|it| time::parse(&it));
        match sort.as_str() {
            "message" => {
                let message = object.require("message")?.object();
                let taken = message.and_then(|it| self.message(at, it, time, out));
                taken.map_err(|fault| fault.under("message"))?;
            }
            "compaction" => {
                let message = user_text(AUTHOR, object.require_string("summary")?);
                self.joiner.other(at, Message { client_time: time, ..message }, out);
            }
            "session" if object.peek("systemPrompt").is_some_and(Value::is_string) => {
                out.item(at, system_item(object.require_string("systemPrompt")?));
            }
            _ => out.skip(at, sort),
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Out) {
        self.joiner.flush(out);
    }
}

impl Pi {
    fn message(
        &mut self,
        at: Place,
        mut object: Object<'_>,
        time: Option<Timestamp>,
        out: &mut Out,
    ) -> Result<(), Fault> {
        let role = object.require_string("role")?;
        let mut message = match role.as_str() {
            "user" => of_blocks(Role::User, blocks(object.require("content")?)?),
            "assistant" => assistant(&mut object)?,
            "toolResult" => of_blocks(Role::User, vec![result(&mut object)?]),
            "bashExecution" => user_text(AUTHOR, command(&mut object)?),
            _ => {
                out.skip(at, format!("message of {role}"));
                return Ok(());
            }
        };
        message.client_time = time;
        if message.blocks.is_empty() {
            out.skip(at, "message without content");
        } else if message.role == Role::Assistant {
            self.joiner.assistant("", at, message, out);
        } else {
            self.joiner.other(at, message, out);
        }
        Ok(())
    }
}

fn of_blocks(role: Role, blocks: Vec<Block>) -> Message {
    Message { role, blocks: blocks.into_iter().map(Arc::new).collect(), ..Message::default() }
}

fn assistant(object: &mut Object<'_>) -> Result<Message, Fault> {
    let blocks = blocks(object.require("content")?)?;
    let usage = object.take_some("usage")?.map(usage::pi).transpose()?.flatten();
    let model = object.take_string("model")?;
    Ok(Message { usage, model, ..of_blocks(Role::Assistant, blocks) })
}

fn blocks(content: Value<'_>) -> Result<Vec<Block>, Fault> {
    if content.is_string() {
        return Ok(vec![Block::new(BlockKind::Text(content::text(content)?))]);
    }
    let parts = content.array(LIMITS.blocks)?.into_iter().enumerate();
    parts.map(|(index, it)| block(it).map_err(|fault| fault.at(index).under("content"))).collect()
}

fn block(value: Value<'_>) -> Result<Block, Fault> {
    let mut object = value.object()?;
    let sort = object.require_string("type")?;
    let kind = match sort.as_str() {
        "text" => BlockKind::Text(content::text(object.require("text")?)?),
        "thinking" => BlockKind::Thinking(Thinking {
            parts: vec![object.require_string("thinking")?],
            signature: object.take_string("thinkingSignature")?,
            ..Thinking::default()
        }),
        "toolCall" => BlockKind::ToolUse(ToolUse {
            id: object.require_string("id")?,
            name: object.require_string("name")?,
            input_json: object.require("arguments")?.to_bytes(),
            ..ToolUse::default()
        }),
        "image" => match picture(&mut object)? {
            Some(image) => BlockKind::Image(image),
            None => as_text(value),
        },
        _ => as_text(value),
    };
    Ok(Block { kind, extra_json: object.rest().finish() })
}

/// pi's own parts have no provider's shape to be kept in.
fn as_text(value: Value<'_>) -> BlockKind {
    BlockKind::Text(Text { text: value.raw().to_owned(), ..Text::default() })
}

fn picture(object: &mut Object<'_>) -> Result<Option<crate::model::Image>, Fault> {
    let media_type = object.take_string("mimeType")?;
    let data = object.take_string("data")?;
    Ok(content::from_url(format!("data:{media_type};base64,{data}")))
}

fn result(object: &mut Object<'_>) -> Result<Block, Fault> {
    let content = object.require("content")?.array(LIMITS.blocks)?;
    let output: Result<Vec<ToolOutput>, Fault> = content.into_iter().map(output_part).collect();
    Ok(Block::new(BlockKind::ToolResult(ToolResult {
        tool_use_id: object.require_string("toolCallId")?,
        is_error: object.take_some("isError")?.map(Value::boolean).transpose()?.unwrap_or(false),
        output: output.map_err(|fault| fault.under("content"))?,
        wire_type: String::new(),
    })))
}

fn output_part(value: Value<'_>) -> Result<ToolOutput, Fault> {
    let mut object = value.object()?;
    let image = match object.take_string("type")?.as_str() {
        "text" => return Ok(ToolOutput::Text(parts::bytes(object.require("text")?)?)),
        "image" => picture(&mut object)?,
        _ => None,
    };
    Ok(image.map_or_else(|| ToolOutput::Text(value.to_bytes()), ToolOutput::Image))
}

fn command(object: &mut Object<'_>) -> Result<String, Fault> {
    let (command, output) = (object.take_string("command")?, object.take_string("output")?);
    let code = object.take_some("exitCode")?.map_or("unknown", Value::raw);
    Ok(format!("$ {command}\n{output}\n(exit code {code})"))
}
