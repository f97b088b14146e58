//! Looks into JSON that a client sent without taking it apart.
//!
//! Values are found and handed on as slices of the original bytes: key order,
//! digits, duplicate keys and spacing stay.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// How deep JSON may be nested: what common parsers take.
const MAX_DEPTH: usize = 128;

/// JSON that every strict parser takes.
pub(super) struct Strict<'a> {
    pub(super) json: Cow<'a, [u8]>,
    /// True where a lone surrogate was replaced in it.
    pub(super) is_mended: bool,
}

/// One member of an object, as it was written.
pub(super) struct Member<'a> {
    pub(super) key: String,
    pub(super) raw_key: &'a [u8],
    pub(super) raw_value: &'a [u8],
}

/// The bytes as one strict JSON object, lone surrogates replaced; `None` where
/// they are not one object, are nested too deep, or go on after its end.
pub(super) fn strict_object(bytes: &[u8]) -> Option<Strict<'_>> {
    let strict = strict(bytes)?;
    is_object(&strict.json).then_some(strict)
}

/// The bytes as one strict JSON value.
pub(super) fn strict(bytes: &[u8]) -> Option<Strict<'_>> {
    serde_json::from_slice::<&RawValue>(bytes).ok()?;
    let facts = Facts::of(bytes);
    if facts.depth > MAX_DEPTH {
        return None;
    }
    if facts.lone_escapes.is_empty() {
        return Some(Strict { json: Cow::Borrowed(bytes), is_mended: false });
    }
    let mut mended = bytes.to_vec();
    for at in facts.lone_escapes {
        if let Some(digits) = mended.get_mut(at + 2..at + 6) {
            digits.copy_from_slice(b"fffd");
        }
    }
    Some(Strict { json: Cow::Owned(mended), is_mended: true })
}

/// Says whether valid JSON is an object.
pub(super) fn is_object(json: &[u8]) -> bool {
    json.trim_ascii_start().first() == Some(&b'{')
}

/// The members of a valid object, in order; nothing for anything else.
pub(super) fn members(json: &[u8]) -> Vec<Member<'_>> {
    serde_json::from_slice::<Members<'_>>(json).map(|it| it.0).unwrap_or_default()
}

/// The elements of a valid array, in order; nothing for anything else.
pub(super) fn elements(json: &[u8]) -> Vec<&[u8]> {
    let elements: Vec<&RawValue> = serde_json::from_slice(json).unwrap_or_default();
    elements.into_iter().map(|it| it.get().as_bytes()).collect()
}

/// The text of a valid JSON string; `None` for anything else.
pub(super) fn text(json: &[u8]) -> Option<String> {
    serde_json::from_slice(json).ok()
}

/// The value of a key, the last one where it repeats, as parsers take it.
pub(super) fn find<'m, 'a>(members: &'m [Member<'a>], key: &str) -> Option<&'m Member<'a>> {
    members.iter().rev().find(|member| member.key == key)
}

/// The text of a key, where it has one.
pub(super) fn find_text(members: &[Member<'_>], key: &str) -> Option<String> {
    find(members, key).and_then(|member| text(member.raw_value))
}

/// Valid JSON without `cache_control`, at whatever depth; tool arguments, which
/// are a model's and no marks, stay as they are.
pub(super) fn without_marks(json: &[u8]) -> Cow<'_, [u8]> {
    // A key may be written with escapes, which only parsing sees.
    let may_hold_marks = contains(json, b"cache_control") || contains(json, b"\\u");
    if !may_hold_marks {
        return Cow::Borrowed(json);
    }
    let mut out = Vec::with_capacity(json.len());
    let is_changed = copy_without_marks(json, &mut out);
    if is_changed { Cow::Owned(out) } else { Cow::Borrowed(json) }
}

fn copy_without_marks(json: &[u8], out: &mut Vec<u8>) -> bool {
    let json = json.trim_ascii();
    match json.first() {
        Some(b'{') => copy_object_without_marks(json, out),
        Some(b'[') => {
            let mut is_changed = false;
            super::json::list(out, elements(json), |out, element| {
                is_changed |= copy_without_marks(element, out);
            });
            is_changed
        }
        _ => {
            out.extend_from_slice(json);
            false
        }
    }
}

fn copy_object_without_marks(json: &[u8], out: &mut Vec<u8>) -> bool {
    let mut is_changed = false;
    let mut is_first = true;
    out.push(b'{');
    for member in members(json) {
        if member.key == "cache_control" {
            is_changed = true;
            continue;
        }
        if !is_first {
            out.push(b',');
        }
        is_first = false;
        out.extend_from_slice(member.raw_key);
        out.push(b':');
        if member.key == "input" {
            out.extend_from_slice(member.raw_value);
        } else {
            is_changed |= copy_without_marks(member.raw_value, out);
        }
    }
    out.push(b'}');
    is_changed
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

/// What valid JSON may hold that strict parsers do not take.
struct Facts {
    depth: usize,
    /// Where escapes of lone surrogates start.
    lone_escapes: Vec<usize>,
}

impl Facts {
    fn of(json: &[u8]) -> Self {
        let mut facts = Self { depth: 0, lone_escapes: Vec::new() };
        let (mut at, mut depth, mut in_string) = (0, 0_usize, false);
        while let Some(&byte) = json.get(at) {
            match byte {
                b'\\' => {
                    at += facts.escape(json, at);
                    continue;
                }
                b'"' => in_string = !in_string,
                b'{' | b'[' if !in_string => {
                    depth += 1;
                    facts.depth = facts.depth.max(depth);
                }
                b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
                _ => {}
            }
            at += 1;
        }
        facts
    }

    /// Looks at the escape that starts at `at` and says how long it is.
    fn escape(&mut self, json: &[u8], at: usize) -> usize {
        match escaped_unit(json, at) {
            None => 2,
            Some(0xD800..=0xDBFF)
                if matches!(escaped_unit(json, at + 6), Some(0xDC00..=0xDFFF)) =>
            {
                12
            }
            Some(0xD800..=0xDFFF) => {
                self.lone_escapes.push(at);
                6
            }
            Some(_) => 6,
        }
    }
}

/// The UTF-16 unit that a `\uXXXX` at this place stands for.
fn escaped_unit(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

struct Members<'a>(Vec<Member<'a>>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((raw_key, raw_value)) = map.next_entry::<&RawValue, &RawValue>()? {
            members.push(Member {
                key: text(raw_key.get().as_bytes()).unwrap_or_default(),
                raw_key: raw_key.get().as_bytes(),
                raw_value: raw_value.get().as_bytes(),
            });
        }
        Ok(Members(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mended(json: &str) -> Option<String> {
        strict_object(json.as_bytes()).map(|it| String::from_utf8(it.json.into_owned()).unwrap())
    }

    #[test]
    fn l1_only_lone_surrogates_are_replaced() {
        for (json, expected) in [
            (r#"{"q":"A\ud99c B"}"#, r#"{"q":"A\ufffd B"}"#),
            (r#"{"q":"\uD83D\uDE00"}"#, r#"{"q":"\uD83D\uDE00"}"#),
            (r#"{"q":"\\ud99c"}"#, r#"{"q":"\\ud99c"}"#),
            (r#"{"\udc00":"\ud800\ud83d\ude00"}"#, r#"{"\ufffd":"\ufffd\ud83d\ude00"}"#),
            (r#"{"q":"\u0041\n"}"#, r#"{"q":"\u0041\n"}"#),
        ] {
            assert_eq!(mended(json).as_deref(), Some(expected));
        }
    }

    #[test]
    fn what_is_not_one_object_is_none() {
        let deep = format!("{}{}", r#"{"a":"#.repeat(129), "1") + &"}".repeat(129);
        let invalid =
            ["", " ", "1", "[]", "{", r#"{"a":NaN}"#, r#"{"a":Infinity}"#, "{} x", "{'a':1}"];
        for json in invalid.into_iter().chain([deep.as_str()]) {
            assert!(strict_object(json.as_bytes()).is_none(), "{json}");
        }
        assert!(strict_object(b"{\"a\":\"\xff\"}").is_none());
        let just = format!("{}{}", r#"{"a":"#.repeat(128), "1") + &"}".repeat(128);
        assert!(strict_object(just.as_bytes()).is_some());
    }

    #[test]
    fn members_keep_their_bytes() {
        let found = members(br#"{ "a" : 1.0 , "\u0062":{"x": [ ]}, "a":2 }"#);
        let seen: Vec<_> =
            found.iter().map(|it| (it.key.as_str(), it.raw_key, it.raw_value)).collect();
        let expected: Vec<(&str, &[u8], &[u8])> = vec![
            ("a", b"\"a\"", b"1.0"),
            ("b", b"\"\\u0062\"", b"{\"x\": [ ]}"),
            ("a", b"\"a\"", b"2"),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn b9_marks_go_but_arguments_stay() {
        let json = br#"{"a":[{"cache_control":{"type":"ephemeral"},"b":1}],"input":{"cache_control":1},"cache_c\u006fntrol":0}"#;
        assert_eq!(without_marks(json).as_ref(), br#"{"a":[{"b":1}],"input":{"cache_control":1}}"#);
        assert!(matches!(without_marks(br#"{"a": "\u0041"}"#), Cow::Borrowed(_)));
    }
}
