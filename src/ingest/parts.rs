//! Blocks without a shape, and the parts of tool results.

use bytes::Bytes;

use super::{
    Limits,
    fault::Fault,
    json::Value,
    object::{Extras, Object},
};
use crate::model::{Block, BlockKind, Opaque, ToolOutput, WireFormat};

/// The mark for the provider's cache: on record, never rendered.
const MARK: &str = "cache_control";

/// How a format spells the parts of a tool's output.
pub(super) struct Dialect {
    pub(super) format: WireFormat,
    /// Reads a part of this type; `None` where it has no shape.
    pub(super) read: fn(&str, &mut Object<'_>) -> Result<Option<ToolOutput>, Fault>,
}

/// The output of a tool: a string, or parts. A part that has no shape, or
/// fields without a place, is kept as it is; its mark for the cache moves to
/// the block's `extras`.
pub(super) fn outputs(
    content: Value<'_>,
    limits: &Limits,
    extras: &mut Extras,
    dialect: &Dialect,
) -> Result<Vec<ToolOutput>, Fault> {
    if content.is_string() {
        return Ok(vec![ToolOutput::Text(bytes(content)?)]);
    }
    if !content.is_array() {
        return Err(Fault::expected("a string or an array", content));
    }
    let parts = content.array(limits.blocks)?.into_iter().enumerate();
    parts.map(|(index, it)| part(it, extras, dialect).map_err(|fault| fault.at(index))).collect()
}

/// The characters of a string.
pub(super) fn bytes(text: Value<'_>) -> Result<Bytes, Fault> {
    Ok(Bytes::copy_from_slice(&text.chars()?))
}

fn part(value: Value<'_>, extras: &mut Extras, dialect: &Dialect) -> Result<ToolOutput, Fault> {
    let mut object = value.object()?;
    let sort = object.require_string("type")?;
    let mark = object.take(MARK)?;
    if let Some(mark) = mark {
        extras.push(MARK, mark);
    }
    match (dialect.read)(&sort, &mut object)? {
        Some(output) if object.rest().is_empty() => Ok(output),
        _ => {
            let json = if mark.is_some() { without_mark(value)? } else { value.to_bytes() };
            let format = dialect.format;
            Ok(ToolOutput::Opaque(Opaque {
                format,
                json,
                call_id: String::new(),
                is_result: false,
            }))
        }
    }
}

/// A block kept as it is. One that names a call takes part in its round.
pub(super) fn opaque_block(value: Value<'_>, format: WireFormat) -> Result<Block, Fault> {
    let object = value.object()?;
    let sort = object.peek_str("type").unwrap_or_default();
    let answered = object.peek_str("tool_use_id").or_else(|| object.peek_str("call_id"));
    let is_result = is_result(&sort) && answered.is_some();
    let call_id = match answered {
        Some(id) if is_result || is_call(&sort) => id,
        None if sort.ends_with("tool_use") => object.peek_str("id").unwrap_or_default(),
        _ => String::new(),
    };
    let mut extras = Extras::default();
    let json = match object.peek(MARK) {
        Some(mark) => {
            extras.push(MARK, mark);
            without_mark(value)?
        }
        None => value.to_bytes(),
    };
    let opaque = Opaque { format, json, call_id, is_result };
    Ok(Block { kind: BlockKind::Opaque(opaque), extra_json: extras.finish() })
}

fn is_result(sort: &str) -> bool {
    sort.ends_with("_tool_result") || sort.ends_with("_output")
}

fn is_call(sort: &str) -> bool {
    sort.ends_with("_call") || sort.ends_with("tool_use")
}

fn without_mark(value: Value<'_>) -> Result<Bytes, Fault> {
    let mut object = value.object()?;
    object.forget(&[MARK]);
    Ok(object.rest().finish())
}
