//! OpenAI Responses items.
//!
//! Items have no message around them: what the model made (reasoning, words,
//! calls) is one assistant message up to the next item that it did not make,
//! and outputs that stand side by side are one user message.

mod item;

use std::sync::Arc;

pub(super) use self::item::{Item, item};
use super::{Limits, fault::Fault, json::Value, object::Object, usage};
use crate::model::{Block, Message, Role, WireFormat};

const FORMAT: WireFormat = WireFormat::OpenAiResponses;

/// An item, an array of them, or a response.
pub(super) fn messages(value: Value<'_>, limits: &Limits) -> Result<Vec<Message>, Fault> {
    if value.is_array() {
        return items(value, limits);
    }
    let object = value.object()?;
    if object.has("output") && !object.has("call_id") && is_response(&object) {
        return response(object, limits);
    }
    Ok(gather([item(value, limits)?]))
}

fn is_response(object: &Object<'_>) -> bool {
    object.peek_str("object").is_none_or(|it| it == "response") && !object.has("type")
}

fn items(value: Value<'_>, limits: &Limits) -> Result<Vec<Message>, Fault> {
    let values = value.array(limits.messages)?.into_iter().enumerate();
    let items = values.map(|(index, it)| item(it, limits).map_err(|fault| fault.at(index)));
    Ok(gather(items.collect::<Result<Vec<_>, _>>()?))
}

fn response(mut object: Object<'_>, limits: &Limits) -> Result<Vec<Message>, Fault> {
    let output = object.require("output")?;
    let mut messages = items(output, limits).map_err(|fault| fault.under("output"))?;
    let usage = object.take_some("usage")?.map(usage::responses).transpose();
    let usage = usage.map_err(|fault| fault.under("usage"))?.flatten();
    let (model, id) = (object.take_string("model")?, object.take_string("id")?);
    if let Some(last) = messages.iter_mut().rfind(|it| it.role == Role::Assistant) {
        last.usage = usage;
        last.provider_id = id;
    }
    for message in messages.iter_mut().filter(|it| it.role == Role::Assistant) {
        message.model.clone_from(&model);
    }
    Ok(messages)
}

fn gather(items: impl IntoIterator<Item = Item>) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    let mut side = None;
    for item in items {
        let (role, blocks) = match item {
            Item::Message(message) => {
                messages.push(*message);
                side = None;
                continue;
            }
            Item::Assistant(blocks) => (Role::Assistant, blocks),
            Item::Result(block) => (Role::User, vec![block]),
        };
        match messages.last_mut() {
            Some(last) if side == Some(role) => last.blocks.extend(blocks),
            _ => messages.push(of_blocks(role, blocks)),
        }
        side = Some(role);
    }
    messages
}

/// A message of items of one side.
pub(super) fn of_blocks(role: Role, blocks: Vec<Arc<Block>>) -> Message {
    Message { role, blocks, format: Some(FORMAT), ..Message::default() }
}
