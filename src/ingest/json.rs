//! JSON as it was written: values are slices of the text they came in.
//!
//! Nothing here prints JSON anew. A field that is not asked for ends up, key
//! and value as they were spelled, in what [`Object::rest`] returns.

use std::{borrow::Cow, fmt};

use bytes::Bytes;
use serde::de::{Deserializer as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{
    fault::Fault,
    object::{Field, Object},
};

/// One JSON value: its text, without blanks around it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value<'a>(&'a str);

impl<'a> Value<'a> {
    /// Reads a whole text, which must be one JSON value.
    ///
    /// The grammar is checked here, once; the methods below then meet nothing
    /// but valid JSON.
    pub(super) fn parse(text: &'a str, max_depth: usize) -> Result<Self, Fault> {
        if let Some(offset) = first_beyond(text.as_bytes(), max_depth) {
            let found = format!("expected at most {max_depth} levels, found more");
            return Err(Fault::new(found).within(format!("byte {offset}")));
        }
        let raw: &RawValue = serde_json::from_str(text).map_err(|err| Fault::syntax(&err))?;
        Ok(Self(raw.get()))
    }

    /// The text.
    pub(super) fn raw(self) -> &'a str {
        self.0
    }

    /// The text, copied.
    pub(super) fn to_bytes(self) -> Bytes {
        Bytes::copy_from_slice(self.0.as_bytes())
    }

    /// What it is, in words.
    pub(super) fn kind(self) -> &'static str {
        match self.0.as_bytes().first() {
            Some(b'{') => "an object",
            Some(b'[') => "an array",
            Some(b'"') => "a string",
            Some(b't' | b'f') => "a boolean",
            Some(b'n') => "null",
            _ => "a number",
        }
    }

    pub(super) fn is_null(self) -> bool {
        self.0 == "null"
    }

    pub(super) fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    pub(super) fn is_array(self) -> bool {
        self.0.starts_with('[')
    }

    pub(super) fn is_string(self) -> bool {
        self.0.starts_with('"')
    }

    /// Its fields, in order.
    pub(super) fn object(self) -> Result<Object<'a>, Fault> {
        if !self.is_object() {
            return Err(Fault::expected("an object", self));
        }
        let mut reader = serde_json::Deserializer::from_str(self.0);
        let fields = reader.deserialize_map(Fields).map_err(|err| Fault::syntax(&err))?;
        Ok(Object::new(fields))
    }

    /// Its elements, of which there may be at most `most`.
    pub(super) fn array(self, most: usize) -> Result<Vec<Value<'a>>, Fault> {
        if !self.is_array() {
            return Err(Fault::expected("an array", self));
        }
        let mut reader = serde_json::Deserializer::from_str(self.0);
        let values =
            reader.deserialize_seq(Elements { most }).map_err(|err| Fault::syntax(&err))?;
        if values.len() > most {
            return Err(Fault::new(format!("expected at most {most} elements, found more")));
        }
        Ok(values)
    }

    /// The characters of a string, as WTF-8: a lone surrogate keeps its three
    /// bytes.
    pub(super) fn chars(self) -> Result<Cow<'a, [u8]>, Fault> {
        if !self.is_string() {
            return Err(Fault::expected("a string", self));
        }
        unescape(self.0).map_err(|err| Fault::syntax(&err))
    }

    /// A string that must be valid Unicode.
    pub(super) fn string(self) -> Result<String, Fault> {
        let chars = self.chars()?.into_owned();
        String::from_utf8(chars)
            .map_err(|_| Fault::new("expected valid Unicode, found a lone surrogate"))
    }

    pub(super) fn boolean(self) -> Result<bool, Fault> {
        match self.0 {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(Fault::expected("a boolean", self)),
        }
    }

    /// A whole number from zero up; more than fits is the largest that does.
    pub(super) fn count(self) -> Result<i64, Fault> {
        let number: serde_json::Number =
            serde_json::from_str(self.0).map_err(|_| Fault::expected("a whole number", self))?;
        let whole = number.as_u64().map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        whole.ok_or_else(|| Fault::new(format!("expected a whole number, found {number}")))
    }
}

/// The offset of the first bracket that opens a level too many.
fn first_beyond(text: &[u8], max_depth: usize) -> Option<usize> {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for (offset, byte) in text.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                if depth > max_depth {
                    return Some(offset);
                }
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

fn unescape(raw: &str) -> Result<Cow<'_, [u8]>, serde_json::Error> {
    let inner = raw.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    match inner {
        Some(plain) if !plain.contains('\\') => Ok(Cow::Borrowed(plain.as_bytes())),
        _ => {
            let mut reader = serde_json::Deserializer::from_str(raw);
            reader.deserialize_bytes(Chars).map(Cow::Owned)
        }
    }
}

struct Chars;

impl Visitor<'_> for Chars {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }
}

struct Fields;

impl<'a> Visitor<'a> for Fields {
    type Value = Vec<Field<'a>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            let raw_key = key.get();
            let key = unescape(raw_key).map_err(serde::de::Error::custom)?;
            fields.push(Field { raw_key, key, value: Value(value.get()) });
        }
        Ok(fields)
    }
}

struct Elements {
    most: usize,
}

impl<'a> Visitor<'a> for Elements {
    type Value = Vec<Value<'a>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element::<&RawValue>()? {
            // One more than allowed is enough to tell; the rest is not kept.
            if values.len() <= self.most {
                values.push(Value(value.get()));
            }
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Value<'_> {
        Value::parse(text, 128).unwrap()
    }

    #[test]
    fn l1_a_lone_surrogate_keeps_its_bytes() {
        let chars = parse(r#""A\ud99c \ud83d\ude00\u0000""#).chars().unwrap();
        assert_eq!(&*chars, b"A\xed\xa6\x9c \xf0\x9f\x98\x80\0");
        assert!(parse(r#""\udc00""#).string().is_err());
    }

    #[test]
    fn depth_is_bounded_and_brackets_in_strings_are_not_depth() {
        let deep = "[".repeat(129) + &"]".repeat(129);
        assert!(Value::parse(&deep, 128).is_err());
        assert!(Value::parse(&deep[1..258 - 1], 128).is_ok());
        assert!(Value::parse(r#"["[[[[\"[[[["]"#, 1).is_ok());
    }

    #[test]
    fn counts_are_whole_and_saturate() {
        assert_eq!(parse("18446744073709551615").count().unwrap(), i64::MAX);
        assert!(parse("1.5").count().is_err());
        assert!(parse("-1").count().is_err());
    }

    #[test]
    fn arrays_are_bounded() {
        assert_eq!(parse("[1,2]").array(2).unwrap().len(), 2);
        assert!(parse("[1,2,3]").array(2).is_err());
    }
}
