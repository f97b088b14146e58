//! Words and pictures, decoded where decoding loses nothing.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{fault::Fault, json::Value, object::Object};
use crate::model::{Image, ImageSource, Text};

/// Words, wherever they stood.
pub(super) fn text(value: Value<'_>) -> Result<Text, Fault> {
    Ok(text_of(value.chars()?.into_owned()))
}

/// Words; as they are where they are no Unicode.
pub(super) fn text_of(chars: Vec<u8>) -> Text {
    match String::from_utf8(chars) {
        Ok(text) => Text { text, ..Text::default() },
        Err(err) => Text { raw: err.into_bytes().into(), ..Text::default() },
    }
}

/// Anthropic's `source`; `None` where it is another sort of source, has fields
/// of its own, or its base64 cannot be written again as it was.
pub(super) fn from_source(source: Value<'_>) -> Result<Option<Image>, Fault> {
    let mut object = source.object()?;
    let image = match object.take_string("type")?.as_str() {
        "base64" => {
            let media_type = object.require_string("media_type")?;
            decode(media_type, &object.require_string("data")?)
        }
        "url" => Some(at(object.require_string("url")?)),
        _ => None,
    };
    Ok(image.filter(|_| is_done(object)))
}

/// An address as the OpenAI formats give it: a picture's bytes where it is a
/// `data:` URL. `None` where those bytes cannot be written again as they were.
pub(super) fn from_url(url: String) -> Option<Image> {
    let Some(data) = url.strip_prefix("data:") else { return Some(at(url)) };
    let (media_type, data) = data.split_once(";base64,")?;
    let is_plain = !media_type.is_empty() && !media_type.contains([';', ',']);
    is_plain.then(|| decode(media_type.to_owned(), data)).flatten()
}

fn at(url: String) -> Image {
    Image { media_type: String::new(), source: ImageSource::Url(url) }
}

/// The engine is strict: what it decodes, it encodes to the same text again.
fn decode(media_type: String, data: &str) -> Option<Image> {
    let bytes = STANDARD.decode(data).ok().filter(|bytes| !bytes.is_empty())?;
    Some(Image { media_type, source: ImageSource::Data(bytes.into()) })
}

fn is_done(object: Object<'_>) -> bool {
    object.rest().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p1_a_data_url_is_decoded_to_its_bytes() {
        let image = from_url("data:image/png;base64,iVBORw0KGgo=".to_owned()).unwrap();
        assert_eq!(image.media_type, "image/png");
        assert_eq!(image.source, ImageSource::Data(b"\x89PNG\r\n\x1a\n".as_slice().into()));
    }

    #[test]
    fn what_would_not_be_the_same_again_is_not_decoded() {
        for data in ["iVBORw0KGgo", "iVBORw0K\nGgo=", "iVBORw0KGgp=", "REDACTED-", ""] {
            assert_eq!(from_url(format!("data:image/png;base64,{data}")), None, "{data}");
        }
        assert_eq!(from_url("data:image/png,abc".to_owned()), None);
    }
}
