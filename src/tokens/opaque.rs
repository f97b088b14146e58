//! Tokens of a provider's block that has no shape here.

use super::text;
use crate::model::Opaque;

/// Shortest run of base64 characters that is taken for encoded bytes: longer
/// than any word or digest, shorter than a line of a mail's attachment.
const RUN_BYTES: usize = 72;
/// What the encoded bytes of one block count at most. Nobody but the provider
/// knows what a document of many pages costs; this is some five pictures.
const MOST_PAYLOAD_TOKENS: u64 = 16_384;

/// Tokens of an opaque block: its JSON as text, but encoded bytes in it by what
/// they may hold, and bounded.
#[must_use]
pub fn opaque(opaque: &Opaque) -> u32 {
    let (text, payload) = split(&opaque.json);
    let payload = encoded(payload).min(MOST_PAYLOAD_TOKENS);
    text::count_bytes(&text).saturating_add(u32::try_from(payload).unwrap_or(u32::MAX))
}

/// Tokens that so many characters of base64 may hold: three bytes in four
/// characters, four bytes a token.
pub(super) fn encoded(characters: usize) -> u64 {
    characters as u64 * 3 / 16
}

/// What is text, and how many characters are encoded bytes.
fn split(json: &[u8]) -> (Vec<u8>, usize) {
    let (mut text, mut payload) = (Vec::with_capacity(json.len().min(text::EXACT_BYTES)), 0);
    // A chunk is a run of base64 characters, or of others.
    for run in json.chunk_by(|a, b| is_base64(*a) == is_base64(*b)) {
        match run.first() {
            Some(first) if is_base64(*first) && run.len() >= RUN_BYTES => payload += run.len(),
            _ => text.extend_from_slice(run),
        }
    }
    (text, payload)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::WireFormat;

    fn of(json: &str) -> u32 {
        let json = bytes::Bytes::copy_from_slice(json.as_bytes());
        opaque(&Opaque {
            format: WireFormat::Typed,
            json,
            call_id: String::new(),
            is_result: false,
        })
    }

    #[test]
    fn n1_encoded_bytes_are_not_counted_as_text() {
        let data = "iVBORw0KGgo".repeat(250_000);
        let tokens = of(&format!(r#"{{"type":"document","data":"{data}"}}"#));
        assert!(tokens <= 16_384 + 20, "{tokens}");
        let line = "JVBERi0xLjcKJeLj".repeat(5);
        let wrapped = vec![line; 20_000].join("\\n");
        assert!(of(&wrapped) <= 16_384 + 20_001 * 2);
    }

    #[test]
    fn text_is_counted_as_text() {
        let json =
            r#"{"type":"web_search_call","action":{"query":"what is a rope data structure"}}"#;
        assert_eq!(of(json), text::count_text(json));
        assert_eq!(of(""), 0);
        let digest = "a3".repeat(32);
        assert_eq!(of(&digest), text::count_text(&digest));
    }
}
