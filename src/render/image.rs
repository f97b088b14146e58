//! Pictures: what a format takes, and the line that stands for the others.

use super::json;
use crate::model::{Image, ImageSource, WireFormat};

/// A picture that may be sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Picture<'a> {
    Data { media_type: &'a str, data: &'a [u8] },
    Url(&'a str),
}

/// What Anthropic takes; everybody else takes these at least.
const COMMON_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

impl<'a> Picture<'a> {
    /// The picture, where this format would not refuse it.
    pub(super) fn of(image: &'a Image, format: WireFormat) -> Option<Self> {
        match &image.source {
            ImageSource::Url(url) if !url.is_empty() => Some(Self::Url(url)),
            ImageSource::Data(data) if !data.is_empty() => {
                let media_type = media_type(&image.media_type, data, format)?;
                Some(Self::Data { media_type, data })
            }
            _ => None,
        }
    }

    /// Writes its address as a JSON string: a data URL where its bytes are here.
    pub(super) fn write_url(self, out: &mut Vec<u8>) {
        match self {
            Self::Url(url) => json::string(out, url),
            Self::Data { media_type, data } => {
                out.extend_from_slice(b"\"data:");
                out.extend_from_slice(media_type.as_bytes());
                out.extend_from_slice(b";base64,");
                json::base64_into(out, data);
                out.push(b'"');
            }
        }
    }
}

fn media_type<'a>(declared: &'a str, data: &[u8], format: WireFormat) -> Option<&'a str> {
    if COMMON_TYPES.contains(&declared) {
        return Some(declared);
    }
    let is_other_image = declared.strip_prefix("image/").is_some_and(|kind| {
        !kind.is_empty()
            && kind.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'+' | b'-'))
    });
    if is_other_image && format != WireFormat::AnthropicMessages {
        return Some(declared);
    }
    sniff(data)
}

/// The media type that the first bytes tell, where none fit was declared.
fn sniff(data: &[u8]) -> Option<&'static str> {
    match data {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// The line that stands for a picture which this place does not take.
pub(super) fn line(image: &Image) -> String {
    let media_type = if image.media_type.is_empty() { "unknown type" } else { &image.media_type };
    match &image.source {
        ImageSource::Data(data) => format!("[image: {media_type}, {} bytes]", data.len()),
        ImageSource::Url(_) => format!("[image: {media_type}, by address]"),
    }
}
