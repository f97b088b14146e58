//! Writes JSON into a buffer, key by key.
//!
//! Keys are ours and need no escaping; text is escaped by `serde_json`; what a
//! client sent is copied as it is.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::scan;

/// An object being written: puts the commas.
pub(super) struct Object<'o> {
    out: &'o mut Vec<u8>,
    is_empty: bool,
}

impl<'o> Object<'o> {
    pub(super) fn open(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, is_empty: true }
    }

    /// Writes `"key":` and gives the buffer for the value.
    pub(super) fn key(&mut self, key: &str) -> &mut Vec<u8> {
        self.comma();
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    pub(super) fn string(&mut self, key: &str, value: &str) {
        string(self.key(key), value);
    }

    pub(super) fn raw(&mut self, key: &str, value: &[u8]) {
        self.key(key).extend_from_slice(value);
    }

    /// Writes a client's further fields, all but the `reserved` ones and cache
    /// marks, which the policy places.
    pub(super) fn extras(&mut self, extra_json: &[u8], reserved: &[&str]) {
        self.extras_where(extra_json, |key| !reserved.contains(&key));
    }

    /// Like [`Object::extras`], for the keys that are `wanted`.
    pub(super) fn extras_where(&mut self, extra_json: &[u8], wanted: impl Fn(&str) -> bool) {
        if extra_json.is_empty() {
            return;
        }
        let Some(strict) = scan::strict_object(extra_json) else { return };
        let json = scan::without_marks(&strict.json);
        for member in scan::members(&json) {
            if wanted(&member.key) {
                self.member(member.raw_key, member.raw_value);
            }
        }
    }

    /// Writes the further fields of `first`, then those of `second` whose keys
    /// `first` does not have.
    pub(super) fn extras_of_both(
        &mut self,
        first: &[u8],
        second: &[u8],
        wanted: impl Fn(&str) -> bool,
    ) {
        self.extras_where(first, &wanted);
        let strict = scan::strict_object(first);
        let members = strict.as_ref().map(|it| scan::members(&it.json)).unwrap_or_default();
        self.extras_where(second, |key| wanted(key) && scan::find(&members, key).is_none());
    }

    /// Copies a member as its client wrote it.
    pub(super) fn member(&mut self, raw_key: &[u8], raw_value: &[u8]) {
        self.comma();
        self.out.extend_from_slice(raw_key);
        self.out.push(b':');
        self.out.extend_from_slice(raw_value);
    }

    pub(super) fn close(self) {
        self.out.push(b'}');
    }

    fn comma(&mut self) {
        if !self.is_empty {
            self.out.push(b',');
        }
        self.is_empty = false;
    }
}

/// Writes a list, one call of `write` an element.
pub(super) fn list<T>(
    out: &mut Vec<u8>,
    elements: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, T),
) {
    out.push(b'[');
    for (index, element) in elements.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(out, element);
    }
    out.push(b']');
}

/// Writes a string.
pub(super) fn string(out: &mut Vec<u8>, text: &str) {
    // Writing to a Vec does not fail, and a string is always valid JSON.
    if serde_json::to_writer(&mut *out, text).is_err() {
        out.extend_from_slice(b"\"\"");
    }
}

/// Writes `{"type":…,"text":…}` with `extra_json` at its end.
pub(super) fn text_part(out: &mut Vec<u8>, kind: &str, text: &str, extra_json: &[u8]) {
    let mut object = Object::open(out);
    object.string("type", kind);
    object.string("text", text);
    object.extras(extra_json, &["type", "text"]);
    object.close();
}

/// Writes bytes in base64, without the quotes.
pub(super) fn base64_into(out: &mut Vec<u8>, data: &[u8]) {
    let start = out.len();
    let Some(room) = base64::encoded_len(data.len(), true) else { return };
    out.resize(start + room, 0);
    let written = out.get_mut(start..).and_then(|target| STANDARD.encode_slice(data, target).ok());
    out.truncate(start + written.unwrap_or(0));
}
