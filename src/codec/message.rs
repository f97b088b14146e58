//! Messages, without their blocks.

use std::sync::Arc;

use super::{Error, block, error::each, time};
use crate::{
    model::{Message, Role, Usage, WireFormat},
    proto::v1 as pb,
};

/// To the contract's form.
#[must_use]
pub fn to_pb(message: &Message) -> pb::Message {
    pb::Message {
        role: role_to_pb(message.role).into(),
        blocks: message.blocks.iter().map(|it| block::to_pb(it)).collect(),
        author: message.author.clone(),
        client_time: message.client_time.map(time::to_pb),
        usage: message.usage.map(usage_to_pb),
        model: message.model.clone(),
        provider_id: message.provider_id.clone(),
        lane: message.lane.clone(),
        context_fingerprint: message.context_fingerprint.clone(),
        format: format_to_pb(message.format).into(),
        extra_json: message.extra_json.clone(),
    }
}

/// From the contract's form.
///
/// # Errors
///
/// Names the field that is not as expected.
pub fn from_pb(message: pb::Message) -> Result<Message, Error> {
    Ok(Message {
        role: role_from_pb(message.role)?,
        blocks: each("blocks", message.blocks, |it| block::from_pb(it).map(Arc::new))?,
        author: message.author,
        client_time: message
            .client_time
            .map(time::from_pb)
            .transpose()
            .map_err(|err| err.within("client_time"))?,
        usage: message.usage.map(usage_from_pb),
        model: message.model,
        provider_id: message.provider_id,
        lane: message.lane,
        context_fingerprint: message.context_fingerprint,
        format: format_from_pb(message.format)?,
        extra_json: message.extra_json,
    })
}

/// A role, to the contract's form.
#[must_use]
pub fn role_to_pb(role: Role) -> pb::Role {
    match role {
        Role::User => pb::Role::User,
        Role::Assistant => pb::Role::Assistant,
        Role::System => pb::Role::System,
    }
}

/// A role, from the contract's form.
///
/// # Errors
///
/// Where it is unspecified or unknown.
pub fn role_from_pb(role: i32) -> Result<Role, Error> {
    match pb::Role::try_from(role) {
        Ok(pb::Role::User) => Ok(Role::User),
        Ok(pb::Role::Assistant) => Ok(Role::Assistant),
        Ok(pb::Role::System) => Ok(Role::System),
        Ok(pb::Role::Unspecified) | Err(_) => {
            Err(Error::new("role", "ROLE_USER, ROLE_ASSISTANT or ROLE_SYSTEM"))
        }
    }
}

/// A format, to the contract's form; `None` is unspecified.
#[must_use]
pub fn format_to_pb(format: Option<WireFormat>) -> pb::WireFormat {
    match format {
        None => pb::WireFormat::Unspecified,
        Some(WireFormat::AnthropicMessages) => pb::WireFormat::AnthropicMessages,
        Some(WireFormat::OpenAiChat) => pb::WireFormat::OpenaiChat,
        Some(WireFormat::OpenAiResponses) => pb::WireFormat::OpenaiResponses,
        Some(WireFormat::Typed) => pb::WireFormat::Typed,
    }
}

/// A format, from the contract's form; unspecified is `None`.
///
/// # Errors
///
/// Where it is unknown.
pub fn format_from_pb(format: i32) -> Result<Option<WireFormat>, Error> {
    match pb::WireFormat::try_from(format) {
        Ok(pb::WireFormat::Unspecified) => Ok(None),
        Ok(pb::WireFormat::AnthropicMessages) => Ok(Some(WireFormat::AnthropicMessages)),
        Ok(pb::WireFormat::OpenaiChat) => Ok(Some(WireFormat::OpenAiChat)),
        Ok(pb::WireFormat::OpenaiResponses) => Ok(Some(WireFormat::OpenAiResponses)),
        Ok(pb::WireFormat::Typed) => Ok(Some(WireFormat::Typed)),
        Err(_) => Err(Error::new("format", "a known WIRE_FORMAT")),
    }
}

fn usage_to_pb(usage: Usage) -> pb::Usage {
    pb::Usage {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cache_read_tokens: usage.cache_read_tokens,
        cache_write_tokens: usage.cache_write_tokens,
    }
}

fn usage_from_pb(usage: pb::Usage) -> Usage {
    Usage {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cache_read_tokens: usage.cache_read_tokens,
        cache_write_tokens: usage.cache_write_tokens,
    }
}
