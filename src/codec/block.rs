//! The parts of a message.

use super::{Error, error::each, format_from_pb, format_to_pb};
use crate::{
    model::{
        Block, BlockKind, Image, ImageSource, Opaque, Text, Thinking, ToolOutput, ToolResult,
        ToolUse,
    },
    proto::v1::{self as pb, block::Kind, image::Source, tool_output},
};

pub(super) fn to_pb(block: &Block) -> pb::Block {
    let kind = match &block.kind {
        BlockKind::Text(it) => Kind::Text(pb::Text {
            text: it.text.clone(),
            provider_id: it.provider_id.clone(),
            raw: it.raw.clone(),
        }),
        BlockKind::Thinking(it) => Kind::Thinking(pb::Thinking {
            parts: it.parts.clone(),
            signature: it.signature.clone(),
            encrypted_content: it.encrypted_content.clone(),
            provider_id: it.provider_id.clone(),
        }),
        BlockKind::RedactedThinking(data) => {
            Kind::RedactedThinking(pb::RedactedThinking { data: data.clone() })
        }
        BlockKind::ToolUse(it) => Kind::ToolUse(pb::ToolUse {
            id: it.id.clone(),
            name: it.name.clone(),
            input_json: it.input_json.clone(),
            provider_id: it.provider_id.clone(),
            wire_type: it.wire_type.clone(),
        }),
        BlockKind::ToolResult(it) => Kind::ToolResult(pb::ToolResult {
            tool_use_id: it.tool_use_id.clone(),
            is_error: it.is_error,
            output: it.output.iter().map(output_to_pb).collect(),
            wire_type: it.wire_type.clone(),
        }),
        BlockKind::Image(it) => Kind::Image(image_to_pb(it)),
        BlockKind::Opaque(it) => Kind::Opaque(opaque_to_pb(it)),
    };
    pb::Block { kind: Some(kind), extra_json: block.extra_json.clone() }
}

pub(super) fn from_pb(block: pb::Block) -> Result<Block, Error> {
    let kind = match block.kind {
        Some(Kind::Text(it)) => {
            BlockKind::Text(Text { text: it.text, provider_id: it.provider_id, raw: it.raw })
        }
        Some(Kind::Thinking(it)) => BlockKind::Thinking(Thinking {
            parts: it.parts,
            signature: it.signature,
            encrypted_content: it.encrypted_content,
            provider_id: it.provider_id,
        }),
        Some(Kind::RedactedThinking(it)) => BlockKind::RedactedThinking(it.data),
        Some(Kind::ToolUse(it)) => BlockKind::ToolUse(ToolUse {
            id: it.id,
            name: it.name,
            input_json: it.input_json,
            provider_id: it.provider_id,
            wire_type: it.wire_type,
        }),
        Some(Kind::ToolResult(it)) => {
            BlockKind::ToolResult(result_from_pb(it).map_err(|err| err.within("tool_result"))?)
        }
        Some(Kind::Image(it)) => {
            BlockKind::Image(image_from_pb(it).map_err(|err| err.within("image"))?)
        }
        Some(Kind::Opaque(it)) => {
            BlockKind::Opaque(opaque_from_pb(it).map_err(|err| err.within("opaque"))?)
        }
        None => return Err(Error::new("kind", "set")),
    };
    Ok(Block { kind, extra_json: block.extra_json })
}

fn result_from_pb(result: pb::ToolResult) -> Result<ToolResult, Error> {
    Ok(ToolResult {
        tool_use_id: result.tool_use_id,
        is_error: result.is_error,
        output: each("output", result.output, output_from_pb)?,
        wire_type: result.wire_type,
    })
}

fn output_to_pb(output: &ToolOutput) -> pb::ToolOutput {
    let kind = match output {
        ToolOutput::Text(text) => tool_output::Kind::Text(text.clone()),
        ToolOutput::Image(it) => tool_output::Kind::Image(image_to_pb(it)),
        ToolOutput::Opaque(it) => tool_output::Kind::Opaque(opaque_to_pb(it)),
    };
    pb::ToolOutput { kind: Some(kind) }
}

fn output_from_pb(output: pb::ToolOutput) -> Result<ToolOutput, Error> {
    match output.kind {
        Some(tool_output::Kind::Text(text)) => Ok(ToolOutput::Text(text)),
        Some(tool_output::Kind::Image(it)) => {
            image_from_pb(it).map(ToolOutput::Image).map_err(|err| err.within("image"))
        }
        Some(tool_output::Kind::Opaque(it)) => {
            opaque_from_pb(it).map(ToolOutput::Opaque).map_err(|err| err.within("opaque"))
        }
        None => Err(Error::new("kind", "set")),
    }
}

fn image_to_pb(image: &Image) -> pb::Image {
    let source = match &image.source {
        ImageSource::Data(data) => Source::Data(data.clone()),
        ImageSource::Url(url) => Source::Url(url.clone()),
    };
    pb::Image { media_type: image.media_type.clone(), source: Some(source) }
}

fn image_from_pb(image: pb::Image) -> Result<Image, Error> {
    let source = match image.source {
        Some(Source::Data(data)) => ImageSource::Data(data),
        Some(Source::Url(url)) => ImageSource::Url(url),
        None => return Err(Error::new("source", "set")),
    };
    Ok(Image { media_type: image.media_type, source })
}

fn opaque_to_pb(opaque: &Opaque) -> pb::Opaque {
    pb::Opaque {
        format: format_to_pb(Some(opaque.format)).into(),
        json: opaque.json.clone(),
        call_id: opaque.call_id.clone(),
        is_result: opaque.is_result,
    }
}

fn opaque_from_pb(opaque: pb::Opaque) -> Result<Opaque, Error> {
    let format = format_from_pb(opaque.format)?
        .ok_or_else(|| Error::new("format", "a provider's WIRE_FORMAT"))?;
    Ok(Opaque { format, json: opaque.json, call_id: opaque.call_id, is_result: opaque.is_result })
}
