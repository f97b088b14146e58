//! JSON read one level at a time, so that no depth is too deep.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// A JSON value, not yet looked into.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value<'a>(&'a str);

/// An object's members; of a key that repeats, the last.
#[derive(Debug, Default)]
pub(super) struct Object<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Value<'a> {
    /// `None` where it is not valid JSON.
    pub(super) fn parse(json: &'a [u8]) -> Option<Self> {
        serde_json::from_slice::<&RawValue>(json).ok().map(|raw| Self(raw.get()))
    }

    pub(super) fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    pub(super) fn is_list(self) -> bool {
        self.0.starts_with('[')
    }

    /// Its members; none where it is no object.
    pub(super) fn object(self) -> Object<'a> {
        Object(serde_json::from_str(self.0).unwrap_or_default())
    }

    /// Its elements; none where it is no list.
    pub(super) fn list(self) -> Vec<Value<'a>> {
        let raw: Vec<&RawValue> = serde_json::from_str(self.0).unwrap_or_default();
        raw.into_iter().map(|it| Self(it.get())).collect()
    }

    /// Its text; `None` where it is no string.
    pub(super) fn text(self) -> Option<String> {
        serde_json::from_str(self.0).ok()
    }

    /// Says whether it holds nothing: null, false, zero, or empty.
    pub(super) fn is_empty(self) -> bool {
        match self.0.as_bytes().first() {
            Some(b'"') => self.0 == "\"\"",
            Some(b'[') => self.list().is_empty(),
            Some(b'{') => self.object().0.is_empty(),
            Some(b'n' | b'f') | None => true,
            _ => self.0.parse::<f64>().is_ok_and(|number| number == 0.0),
        }
    }
}

impl<'a> Object<'a> {
    pub(super) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    pub(super) fn get(&self, key: &str) -> Option<Value<'a>> {
        self.0.get(key).map(|raw| Value(raw.get()))
    }

    /// A member's value; `None` where it is null as well.
    pub(super) fn value(&self, key: &str) -> Option<Value<'a>> {
        self.get(key).filter(|value| value.0 != "null")
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.get(key).and_then(Value::text)
    }

    /// The text, empty where there is none.
    pub(super) fn text_or_empty(&self, key: &str) -> String {
        self.text(key).unwrap_or_default()
    }

    /// Says whether the member is missing or holds nothing.
    pub(super) fn lacks(&self, key: &str) -> bool {
        self.get(key).is_none_or(Value::is_empty)
    }

    pub(super) fn members(&self) -> impl Iterator<Item = (&str, Value<'a>)> {
        self.0.iter().map(|(key, raw)| (key.as_str(), Value(raw.get())))
    }
}

/// Says whether valid JSON has an escape of half a surrogate pair.
pub(super) fn has_lone_surrogate(json: &[u8]) -> bool {
    let mut rest = json;
    let mut awaits_low = false;
    loop {
        let (unit, length) = match rest {
            [] => return awaits_low,
            [b'\\', b'u', digits @ ..] => (hex(digits), 6),
            [b'\\', ..] => (0, 2),
            _ => (0, 1),
        };
        let is_low = (0xDC00..0xE000).contains(&unit);
        if awaits_low != is_low {
            return true;
        }
        awaits_low = (0xD800..0xDC00).contains(&unit);
        rest = rest.get(length..).unwrap_or_default();
    }
}

fn hex(digits: &[u8]) -> u32 {
    let digits = digits.get(..4).and_then(|it| std::str::from_utf8(it).ok()).unwrap_or_default();
    u32::from_str_radix(digits, 16).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_pairs_are_seen() {
        for (json, expected) in [
            (r#""\ud83d\ude00""#, false),
            (r#""\ud83d""#, true),
            (r#""\ude00""#, true),
            (r#""\ud83dx\ude00""#, true),
            (r#""\ud83d\ud83d\ude00""#, true),
            (r#""\\ud83d \n é""#, false),
        ] {
            assert_eq!(has_lone_surrogate(json.as_bytes()), expected, "{json}");
        }
    }
}
