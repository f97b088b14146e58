//! The name of exactly one context's bytes.
//!
//! It says of itself what the server needs to judge it after a restart, without
//! a table: view, revision, format, and what the context was estimated at. The
//! digest is over every byte that was rendered.

use bytes::Bytes;

use crate::model::{Revision, ViewName, WireFormat};

/// A fingerprint, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fingerprint {
    /// The view that was shown.
    pub view: ViewName,
    /// The revision that it showed.
    pub revision: Revision,
    /// The shape.
    pub format: WireFormat,
    /// Uncalibrated tokens of messages and context items.
    pub estimate: i64,
    /// Tokens that the caller said it adds.
    pub caller_fixed_tokens: i64,
    /// True where nothing was committed for it.
    pub is_preview: bool,
    /// The bytes' digest, as hex.
    pub digest: String,
}

const FORMATS: [(WireFormat, &str); 4] = [
    (WireFormat::AnthropicMessages, "anthropic"),
    (WireFormat::OpenAiChat, "chat"),
    (WireFormat::OpenAiResponses, "responses"),
    (WireFormat::Typed, "typed"),
];

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let format = FORMATS.iter().find(|(it, _)| *it == self.format).map_or("", |(_, name)| name);
        let preview = if self.is_preview { "p" } else { "c" };
        write!(
            f,
            "1{preview}:{}:{}:{format}:{}:{}:{}",
            self.view, self.revision, self.estimate, self.caller_fixed_tokens, self.digest
        )
    }
}

impl Fingerprint {
    /// Takes a fingerprint apart; `None` where it is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let is_preview = match parts.next()? {
            "1c" => false,
            "1p" => true,
            _ => return None,
        };
        let view = parts.next().filter(|name| ViewName::is_legal(name))?;
        let revision = parts.next()?.parse().ok().filter(|revision| *revision > 0)?;
        let name = parts.next()?;
        let (format, _) = FORMATS.iter().find(|(_, it)| *it == name)?;
        let estimate = parts.next()?.parse().ok().filter(|count| *count >= 0)?;
        let caller = parts.next()?.parse().ok().filter(|count| *count >= 0)?;
        let digest = parts.next()?;
        let is_whole = parts.next().is_none()
            && digest.len() == 32
            && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_whole.then(|| Self {
            view: ViewName::new(view),
            revision: Revision(revision),
            format: *format,
            estimate,
            caller_fixed_tokens: caller,
            is_preview,
            digest: digest.to_owned(),
        })
    }
}

/// The digest of a rendered request, as 32 hex digits.
pub(super) fn digest<'a>(pieces: impl IntoIterator<Item = &'a Bytes>) -> String {
    let mut hasher = blake3::Hasher::new();
    for piece in pieces {
        hasher.update(&(piece.len() as u64).to_le_bytes());
        hasher.update(piece);
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_can_be_taken_apart_again() {
        let print = Fingerprint {
            view: ViewName::new("sub-agent.2"),
            revision: Revision(17),
            format: WireFormat::OpenAiChat,
            estimate: 12_345,
            caller_fixed_tokens: 678,
            is_preview: false,
            digest: digest([&Bytes::from_static(b"x")]),
        };
        assert_eq!(Fingerprint::parse(&print.to_string()), Some(print));
    }

    #[test]
    fn what_is_no_fingerprint_is_told() {
        let digest = "0".repeat(32);
        for text in [
            String::new(),
            "1c:main:0:chat:1:1:".to_owned() + &digest,
            format!("1c:main:3:chat:1:-1:{digest}"),
            format!("1c:main:3:morse:1:1:{digest}"),
            format!("1c:a/b:3:chat:1:1:{digest}"),
            format!("2c:main:3:chat:1:1:{digest}"),
            format!("1c:main:3:chat:1:1:{digest}:"),
            "1c:main:3:chat:1:1:0".to_owned(),
        ] {
            assert_eq!(Fingerprint::parse(&text), None, "{text}");
        }
    }
}
