//! Providers' own blocks: as they came in their own format, one line elsewhere.

use std::borrow::Cow;

use super::scan;
use crate::model::{Opaque, Role, WireFormat};

/// A block in its own format, fit to be sent.
#[derive(Debug, Clone)]
pub(super) struct Native<'a> {
    pub(super) json: Cow<'a, [u8]>,
    /// Its `type`.
    pub(super) kind: String,
    pub(super) is_mended: bool,
}

/// Where a block would stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Message(Role),
    Result,
}

impl<'a> Native<'a> {
    /// The block, where it is of this format and one strict JSON object.
    pub(super) fn read(opaque: &'a Opaque, format: WireFormat) -> Option<Self> {
        if opaque.format != format {
            return None;
        }
        let strict = scan::strict_object(&opaque.json)?;
        let json = match strict.json {
            Cow::Borrowed(json) => scan::without_marks(json),
            Cow::Owned(json) => Cow::Owned(scan::without_marks(&json).into_owned()),
        };
        let kind = scan::find_text(&scan::members(&json), "type")?;
        Some(Self { json, kind, is_mended: strict.is_mended })
    }

    /// Like [`Native::read`], only where it may stand without a partner.
    pub(super) fn read_for(opaque: &'a Opaque, format: WireFormat, place: Place) -> Option<Self> {
        let native = Self::read(opaque, format)?;
        let may_stand = match format {
            WireFormat::AnthropicMessages => native.may_stand_in_anthropic(place),
            WireFormat::OpenAiChat => native.may_stand_in_chat(place),
            WireFormat::OpenAiResponses => native.may_stand_in_responses(place),
            WireFormat::Typed => false,
        };
        may_stand.then_some(native)
    }

    /// Shapes that have a block kind of their own are written from that only:
    /// a raw one could break the pairing.
    fn may_stand_in_anthropic(&self, place: Place) -> bool {
        match self.kind.as_str() {
            "" | "text" | "tool_use" | "tool_result" | "thinking" | "redacted_thinking" => false,
            "image" if place == Place::Message(Role::Assistant) => false,
            "image" | "document" => self.has_source(),
            _ => true,
        }
    }

    fn has_source(&self) -> bool {
        let members = scan::members(&self.json);
        let Some(source) = scan::find(&members, "source") else { return false };
        if !scan::is_object(source.raw_value) {
            return false;
        }
        let source = scan::members(source.raw_value);
        scan::find_text(&source, "type").as_deref() != Some("base64")
            || scan::find_text(&source, "data").is_some_and(|data| !data.is_empty())
    }

    fn may_stand_in_chat(&self, place: Place) -> bool {
        match place {
            Place::Message(Role::User) => !matches!(self.kind.as_str(), "" | "text" | "refusal"),
            Place::Message(Role::Assistant) => self.kind == "refusal",
            Place::Message(Role::System) | Place::Result => false,
        }
    }

    fn may_stand_in_responses(&self, place: Place) -> bool {
        let kind = self.kind.as_str();
        if self.is_responses_part() {
            return match place {
                Place::Message(Role::Assistant) => matches!(kind, "refusal" | "output_text"),
                Place::Message(_) | Place::Result => kind.starts_with("input_"),
            };
        }
        let has_own_shape = matches!(kind, "" | "message" | "reasoning");
        let wants_partner =
            kind.ends_with("_output") || (kind.ends_with("_call") && self.has_value("call_id"));
        !has_own_shape && !wants_partner && place != Place::Result
    }

    /// Says whether a key has a value that is neither null nor an empty list.
    pub(super) fn has_value(&self, key: &str) -> bool {
        let members = scan::members(&self.json);
        scan::find(&members, key).is_some_and(|member| {
            let is_list = member.raw_value.first() == Some(&b'[');
            member.raw_value != b"null" && !(is_list && scan::elements(member.raw_value).is_empty())
        })
    }

    /// Says whether it is a part of a message, not an item beside messages.
    pub(super) fn is_responses_part(&self) -> bool {
        let kind = self.kind.as_str();
        kind.starts_with("input_") || kind.starts_with("output_") || kind == "refusal"
    }

    /// Its JSON without `key`.
    pub(super) fn without(&self, key: &str) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.json.len());
        let mut object = super::json::Object::open(&mut out);
        for member in scan::members(&self.json).iter().filter(|member| member.key != key) {
            object.member(member.raw_key, member.raw_value);
        }
        object.close();
        out
    }

    /// The line that stands for it.
    pub(super) fn line(&self) -> String {
        line_of(&self.json)
    }

    /// Its JSON with another text under `key`, everything else as it was.
    pub(super) fn with_text(&self, key: &str, text: &str) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.json.len() + text.len());
        let mut object = super::json::Object::open(&mut out);
        let members = scan::members(&self.json);
        let mut is_written = false;
        for member in &members {
            if member.key != key {
                object.member(member.raw_key, member.raw_value);
            } else if !std::mem::replace(&mut is_written, true) {
                object.string(key, text);
            }
        }
        if !is_written {
            object.string(key, text);
        }
        object.close();
        out
    }
}

/// The line that stands for a block which this place does not take: its type,
/// media type and size, and nothing of its content.
pub(super) fn line(opaque: &Opaque) -> String {
    line_of(&opaque.json)
}

fn line_of(json: &[u8]) -> String {
    let strict = scan::strict_object(json);
    let members = strict.as_ref().map(|it| scan::members(&it.json)).unwrap_or_default();
    let kind = scan::find_text(&members, "type").unwrap_or_default();
    let kind = if kind.is_empty() { "unknown block".to_owned() } else { short(&kind) };
    let size = json.len();
    match media_type(&members) {
        Some(media_type) => format!("[{kind}: {}, {size} bytes]", short(&media_type)),
        None => format!("[{kind}: {size} bytes]"),
    }
}

fn media_type(members: &[scan::Member<'_>]) -> Option<String> {
    let own = |members: &[scan::Member<'_>]| {
        scan::find_text(members, "media_type").or_else(|| scan::find_text(members, "mime_type"))
    };
    own(members).or_else(|| own(&scan::members(scan::find(members, "source")?.raw_value)))
}

/// Keeps a line one short line, whatever a block says of itself.
fn short(text: &str) -> String {
    text.chars().take(64).map(|c| if c.is_control() { ' ' } else { c }).collect()
}
