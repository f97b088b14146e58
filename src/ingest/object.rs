//! The fields of a JSON object, taken one by one, and what is left of them.

use std::borrow::Cow;

use bytes::Bytes;

use super::{fault::Fault, json::Value};

/// The fields of an object; those taken are gone.
#[derive(Debug)]
pub(super) struct Object<'a> {
    fields: Vec<Field<'a>>,
}

/// One field, and its name both as it was spelled and as it reads.
#[derive(Debug)]
pub(super) struct Field<'a> {
    pub(super) raw_key: &'a str,
    pub(super) key: Cow<'a, [u8]>,
    pub(super) value: Value<'a>,
}

impl<'a> Object<'a> {
    pub(super) fn new(fields: Vec<Field<'a>>) -> Self {
        Self { fields }
    }

    /// Says whether it still has that field.
    pub(super) fn has(&self, key: &str) -> bool {
        self.peek(key).is_some()
    }

    /// A field, left where it is.
    pub(super) fn peek(&self, key: &str) -> Option<Value<'a>> {
        self.fields.iter().find(|it| *it.key == *key.as_bytes()).map(|it| it.value)
    }

    /// A string field, left where it is; `None` where it is not a string.
    pub(super) fn peek_str(&self, key: &str) -> Option<String> {
        self.peek(key).and_then(|value| value.string().ok())
    }

    /// Takes a field. Two of one name would mean different things to different
    /// readers, so a field that has a place here may stand only once.
    pub(super) fn take(&mut self, key: &str) -> Result<Option<Value<'a>>, Fault> {
        let Some(index) = self.fields.iter().position(|it| *it.key == *key.as_bytes()) else {
            return Ok(None);
        };
        let field = self.fields.remove(index);
        if self.has(key) {
            return Err(Fault::new(format!("expected one `{key}`, found two")));
        }
        Ok(Some(field.value))
    }

    /// Takes a field; null is as good as none.
    pub(super) fn take_some(&mut self, key: &str) -> Result<Option<Value<'a>>, Fault> {
        Ok(self.take(key)?.filter(|value| !value.is_null()))
    }

    /// Takes a field that must be there.
    pub(super) fn require(&mut self, key: &str) -> Result<Value<'a>, Fault> {
        self.take(key)?.ok_or_else(|| Fault::new(format!("expected a field `{key}`, found none")))
    }

    /// Takes a string that must be there.
    pub(super) fn require_string(&mut self, key: &str) -> Result<String, Fault> {
        self.require(key)?.string().map_err(|fault| fault.under(key))
    }

    /// Takes a string that may be missing or null: it is then empty.
    pub(super) fn take_string(&mut self, key: &str) -> Result<String, Fault> {
        let value = self.take_some(key)?;
        let text = value.map(Value::string).transpose().map_err(|fault| fault.under(key))?;
        Ok(text.unwrap_or_default())
    }

    /// Lets fields go that are known to be nobody's content.
    pub(super) fn forget(&mut self, keys: &[&str]) {
        self.fields.retain(|it| !keys.iter().any(|key| *it.key == *key.as_bytes()));
    }

    /// What was not taken.
    pub(super) fn rest(self) -> Extras {
        let mut extras = Extras::default();
        for field in &self.fields {
            extras.push_raw(field.raw_key, field.value);
        }
        extras
    }
}

/// A JSON object put together from slices.
#[derive(Debug, Clone, Default)]
pub(super) struct Extras(Vec<u8>);

impl Extras {
    /// Takes up a finished object again.
    pub(super) fn of(object: &[u8]) -> Self {
        Self(object.strip_suffix(b"}").unwrap_or_default().to_vec())
    }

    /// Adds a field. `key` is a plain name.
    pub(super) fn push(&mut self, key: &str, value: Value<'_>) {
        self.push_raw(&format!("\"{key}\""), value);
    }

    fn push_raw(&mut self, raw_key: &str, value: Value<'_>) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        self.0.extend_from_slice(raw_key.as_bytes());
        self.0.push(b':');
        self.0.extend_from_slice(value.raw().as_bytes());
    }

    /// Adds the fields of `other`.
    pub(super) fn extend(&mut self, other: &Extras) {
        let Some((_, fields)) = other.0.split_first() else { return };
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        self.0.extend_from_slice(fields);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The object; no bytes where it has no fields.
    pub(super) fn finish(mut self) -> Bytes {
        if !self.0.is_empty() {
            self.0.push(b'}');
        }
        self.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Object<'_> {
        Value::parse(text, 128).unwrap().object().unwrap()
    }

    #[test]
    fn what_is_not_taken_keeps_order_spelling_and_duplicates() {
        let mut object = object(r#" { "b":1.50, "\u0061" : {"z":0, "y":[1 ,2]}, "x":1, "x":2 } "#);
        assert_eq!(object.take("b").unwrap().unwrap().raw(), "1.50");
        assert_eq!(object.peek("a").unwrap().raw(), r#"{"z":0, "y":[1 ,2]}"#);
        assert_eq!(object.rest().finish(), r#"{"\u0061":{"z":0, "y":[1 ,2]},"x":1,"x":2}"#);
    }

    #[test]
    fn a_known_field_may_stand_only_once() {
        let mut object = object(r#"{"x":1,"x":2}"#);
        assert_eq!(object.take("x").unwrap_err().detail, "expected one `x`, found two");
    }
}
