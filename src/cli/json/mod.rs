//! What `--output json` prints.
//!
//! Field names are the contract's. Messages have the normalized shape that
//! `concertina import` reads, so that a printed history can be imported again.
//! JSON that a client or the server wrote is passed on byte for byte.

mod budget;
mod context;
mod message;
mod overlay;
mod revision;
mod session;

use serde::Serialize;
use serde_json::value::RawValue;

pub(super) use budget::BudgetJson;
pub(super) use context::ContextJson;
pub(super) use message::RowJson;
pub(super) use overlay::{OverlayJson, PinJson, RangeJson};
pub(super) use revision::RevisionJson;
pub(super) use session::{ItemJson, SessionJson, ViewJson};

/// Bytes that should be JSON: as they are if so, else as a string.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Json<'a> {
    /// Byte for byte.
    Raw(&'a RawValue),
    /// What is not JSON.
    Text(std::borrow::Cow<'a, str>),
}

impl<'a> Json<'a> {
    /// `None` for no bytes at all.
    pub(super) fn of(bytes: &'a [u8]) -> Option<Self> {
        if bytes.is_empty() {
            return None;
        }
        Some(match serde_json::from_slice::<&RawValue>(bytes) {
            Ok(raw) => Self::Raw(raw),
            Err(_) => Self::Text(String::from_utf8_lossy(bytes)),
        })
    }
}

/// Bytes as lower-case hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_goes_out_as_it_came_in() {
        let bytes = br#"{"b" : 1.50, "a":1, "a":2}"#;
        let printed = serde_json::to_string(&Json::of(bytes)).expect("prints");
        assert_eq!(printed.as_bytes(), bytes);
    }

    #[test]
    fn what_is_not_json_becomes_a_string() {
        assert_eq!(serde_json::to_string(&Json::of(b"{oops")).expect("prints"), r#""{oops""#);
        assert!(Json::of(b"").is_none());
    }
}
