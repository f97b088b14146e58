//! Tool definitions: those of another provider are rewritten, their schemas
//! copied as raw bytes.

use std::{borrow::Cow, collections::HashSet};

use super::{
    alias,
    json::{self, Object},
    scan::{self, Member},
};
use crate::model::{ContextItem, Placement, WireFormat};

/// What a tool without parameters says of them.
const NO_PARAMETERS: &[u8] = br#"{"type":"object","properties":{}}"#;

/// The definitions of all tool items, in this format; of two tools with one
/// name the first one's is taken. Tools that only another provider has are left out.
pub(super) fn definitions(items: &[&ContextItem], format: WireFormat) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let mut names = HashSet::new();
    for item in items.iter().filter(|item| item.placement == Placement::Tools) {
        let Some(strict) = scan::strict(&item.content) else { continue };
        let json = scan::without_marks(&strict.json);
        for element in scan::elements(&json).into_iter().filter(|it| scan::is_object(it)) {
            let Some((name, definition)) = definition(element, item.format, format) else {
                continue;
            };
            let is_new = match name {
                Some(name) => names.insert(name),
                None => !out.contains(&definition),
            };
            if is_new {
                out.push(definition);
            }
        }
    }
    out
}

/// One definition in `format` and the name that it has there.
fn definition(
    json: &[u8],
    came_in: Option<WireFormat>,
    format: WireFormat,
) -> Option<(Option<String>, Vec<u8>)> {
    let members = scan::members(json);
    match Shape::of(&members) {
        Some(shape) => {
            let tool = Tool::read(&members, shape)?;
            let name = alias::name(&tool.name, format);
            let json = if shape.format() == format && name == tool.name {
                json.to_vec()
            } else {
                tool.write(format, &name)
            };
            Some((Some(name.into_owned()), json))
        }
        None if came_in == Some(format) => Some((scan::find_text(&members, "name"), json.to_vec())),
        None => None,
    }
}

/// How a definition is laid out.
#[derive(Clone, Copy)]
enum Shape {
    Anthropic,
    Chat,
    Responses,
}

impl Shape {
    /// `None` for a tool that only its provider has.
    fn of(members: &[Member<'_>]) -> Option<Self> {
        let kind = scan::find_text(members, "type");
        match kind.as_deref() {
            Some("function") if scan::find(members, "function").is_some() => Some(Self::Chat),
            Some("function") => Some(Self::Responses),
            None | Some("custom") if scan::find(members, "input_schema").is_some() => {
                Some(Self::Anthropic)
            }
            _ => None,
        }
    }

    fn format(self) -> WireFormat {
        match self {
            Self::Anthropic => WireFormat::AnthropicMessages,
            Self::Chat => WireFormat::OpenAiChat,
            Self::Responses => WireFormat::OpenAiResponses,
        }
    }
}

/// What all formats have of a tool.
struct Tool<'a> {
    name: String,
    description: Option<&'a [u8]>,
    schema: Cow<'a, [u8]>,
    strict: Option<&'a [u8]>,
}

impl<'a> Tool<'a> {
    fn read(members: &[Member<'a>], shape: Shape) -> Option<Self> {
        match shape {
            Shape::Anthropic => Self::read_flat(members, "input_schema"),
            Shape::Responses => Self::read_flat(members, "parameters"),
            Shape::Chat => {
                let function = scan::find(members, "function")?;
                Self::read_flat(&scan::members(function.raw_value), "parameters")
            }
        }
    }

    fn read_flat(members: &[Member<'a>], schema_key: &str) -> Option<Self> {
        let value = |key| scan::find(members, key).map(|member| member.raw_value);
        let schema = value(schema_key).filter(|schema| scan::is_object(schema));
        Some(Self {
            name: scan::find_text(members, "name")?,
            description: value("description").filter(|raw| raw.first() == Some(&b'"')),
            schema: Cow::Borrowed(schema.unwrap_or(NO_PARAMETERS)),
            strict: value("strict").filter(|raw| matches!(*raw, b"true" | b"false")),
        })
    }

    fn write(&self, format: WireFormat, name: &str) -> Vec<u8> {
        let mut out = Vec::new();
        let mut object = Object::open(&mut out);
        match format {
            WireFormat::AnthropicMessages | WireFormat::Typed => {
                self.write_flat(&mut object, name, "input_schema");
            }
            WireFormat::OpenAiChat => {
                object.string("type", "function");
                let mut function = Object::open(object.key("function"));
                self.write_flat(&mut function, name, "parameters");
                self.write_strict(&mut function);
                function.close();
            }
            WireFormat::OpenAiResponses => {
                object.string("type", "function");
                self.write_flat(&mut object, name, "parameters");
                self.write_strict(&mut object);
            }
        }
        object.close();
        out
    }

    fn write_flat(&self, object: &mut Object<'_>, name: &str, schema_key: &str) {
        json::string(object.key("name"), name);
        if let Some(description) = self.description {
            object.raw("description", description);
        }
        object.raw(schema_key, &self.schema);
    }

    fn write_strict(&self, object: &mut Object<'_>) {
        if let Some(strict) = self.strict {
            object.raw("strict", strict);
        }
    }
}
