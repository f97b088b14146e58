//! Checks of what a client controls. All that is wrong is told at once, each
//! with its path.

use std::collections::BTreeMap;

use super::{
    Error, Result,
    error::Violation,
    limits::{NAME_BYTES, REQUEST_ID_BYTES, TEXT_BYTES},
};
use crate::{
    model::{Namespace, OverlayId, PinId, PlanId, Seq, SeqRange, SessionId, ViewName},
    store::{RequestKey, SessionRef},
};

/// More than this would not fit into the headers that carry a status.
const MOST_VIOLATIONS: usize = 10;

/// Collects what is wrong with a request.
#[derive(Debug, Default)]
pub struct Fields(Vec<Violation>);

impl Fields {
    /// None so far.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes that `field` is wrong: what was expected, what was found.
    pub fn wrong(&mut self, field: impl Into<String>, description: impl Into<String>) {
        if self.0.len() < MOST_VIOLATIONS {
            self.0.push(Violation::new(field, description));
        }
    }

    /// True where no more violations would be told.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.0.len() >= MOST_VIOLATIONS
    }

    /// Ends the checks.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidField`] where anything was wrong.
    pub fn finish(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::InvalidField(self.0)) }
    }

    /// A session's name.
    pub fn session(&mut self, field: &str, id: &str) -> SessionRef {
        if !SessionId::is_legal(id) {
            self.wrong(field, format!("expected [a-zA-Z0-9._-]{{1,128}}, found {}", excerpt(id)));
        }
        SessionRef { namespace: Namespace::new(Namespace::DEFAULT), id: SessionId::new(id) }
    }

    /// A view's name; empty: `main`.
    pub fn view(&mut self, field: &str, name: &str) -> ViewName {
        if name.is_empty() {
            return ViewName::main();
        }
        if !ViewName::is_legal(name) {
            self.wrong(field, format!("expected [a-zA-Z0-9._-]{{1,64}}, found {}", excerpt(name)));
        }
        ViewName::new(name)
    }

    /// An overlay's id.
    pub fn overlay(&mut self, field: &str, id: &str) -> OverlayId {
        if id.is_empty() || id.len() > NAME_BYTES {
            self.wrong(field, format!("expected an overlay's id, found {}", excerpt(id)));
        }
        OverlayId::new(id)
    }

    /// A plan's id.
    pub fn plan(&mut self, field: &str, id: &str) -> PlanId {
        if id.is_empty() || id.len() > NAME_BYTES {
            self.wrong(field, format!("expected a plan's id, found {}", excerpt(id)));
        }
        PlanId::new(id)
    }

    /// A pin's id.
    pub fn pin(&mut self, field: &str, id: &str) -> PinId {
        if id.is_empty() || id.len() > NAME_BYTES {
            self.wrong(field, format!("expected a pin's id, found {}", excerpt(id)));
        }
        PinId::new(id)
    }

    /// A range of rows, first and last.
    pub fn rows(&mut self, field: &str, rows: Option<(i64, i64)>) -> SeqRange {
        let (first, last) = rows.unwrap_or((0, 0));
        if first < 1 || last < first {
            let found = format!("expected 1 <= first_seq <= last_seq, found {first}..{last}");
            self.wrong(field, found);
        }
        SeqRange { first: Seq(first), last: Seq(last) }
    }

    /// A text of at most `most` bytes.
    pub fn text(&mut self, field: &str, text: &str, most: usize) {
        self.text_bytes(field, text.len(), most);
    }

    /// A content of `bytes` bytes, at most `most`.
    pub fn text_bytes(&mut self, field: &str, bytes: usize, most: usize) {
        if bytes > most {
            self.wrong(field, format!("expected at most {most} bytes, found {bytes}"));
        }
    }

    /// An author or a lane.
    pub fn name(&mut self, field: &str, text: &str) {
        self.text(field, text, NAME_BYTES);
    }

    /// A number that may not be negative.
    pub fn not_negative(&mut self, field: &str, number: i64) {
        if number < 0 {
            self.wrong(field, format!("expected zero or more, found {number}"));
        }
    }

    /// A seq: 1 or more.
    pub fn seq(&mut self, field: &str, number: i64) -> Seq {
        if number < 1 {
            self.wrong(field, format!("expected 1 or more, found {number}"));
        }
        Seq(number)
    }

    /// A request id; empty: none.
    pub fn request_id(&mut self, id: &str) {
        if id.len() > REQUEST_ID_BYTES || !id.bytes().all(|byte| byte.is_ascii_graphic()) {
            self.wrong(
                "request_id",
                format!("expected 1 to 128 visible ASCII characters, found {}", excerpt(id)),
            );
        }
    }

    /// A session's labels.
    pub fn labels(&mut self, field: &str, labels: &BTreeMap<String, String>, most: usize) {
        if labels.len() > most {
            self.wrong(field, format!("expected at most {most} labels, found {}", labels.len()));
        }
        for (key, value) in labels {
            if key.is_empty() || key.len() > 128 {
                self.wrong(
                    field,
                    format!("expected keys of 1 to 128 bytes, found {}", excerpt(key)),
                );
            }
            if value.len() > TEXT_BYTES {
                self.wrong(
                    format!("{field}[{}]", excerpt(key)),
                    format!("expected at most {TEXT_BYTES} bytes, found {}", value.len()),
                );
            }
        }
    }
}

/// The key that makes a retry safe; `None` where the caller gave no id.
#[must_use]
pub fn request_key(id: &str, digest: impl FnOnce() -> [u8; 32]) -> Option<RequestKey> {
    (!id.is_empty()).then(|| RequestKey { id: id.to_owned(), digest: digest() })
}

/// `text` in backticks, cut where it is long: what a message may repeat of what
/// a client sent.
#[must_use]
pub fn excerpt(text: &str) -> String {
    const MOST_CHARS: usize = 64;
    let mut chars = text.chars();
    let head: String = chars.by_ref().take(MOST_CHARS).flat_map(char::escape_debug).collect();
    if chars.next().is_some() {
        format!("`{head}…` ({} bytes)", text.len())
    } else {
        format!("`{head}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is_legal_session(id: &str) -> bool {
        let mut fields = Fields::new();
        fields.session("session_id", id);
        fields.finish().is_ok()
    }

    #[test]
    fn s2_ids_that_could_be_paths_are_refused() {
        for id in ["", "../../x", "a/b", "a:b", "é", "e\u{301}", "a b", "a\0b", &"x".repeat(129)] {
            assert!(!is_legal_session(id), "{id:?}");
        }
        for id in [".", "..", "CON", "a_b", "A", "a", &"x".repeat(128)] {
            assert!(is_legal_session(id), "{id:?}");
        }
    }

    #[test]
    fn a_request_id_is_visible_ascii() {
        for (id, legal) in [("a-1", true), ("a b", false), ("é", false), (&"x".repeat(129), false)]
        {
            let mut fields = Fields::new();
            fields.request_id(id);
            assert_eq!(fields.finish().is_ok(), legal, "{id}");
        }
    }

    #[test]
    fn violations_are_bounded() {
        let mut fields = Fields::new();
        for _ in 0..1000 {
            fields.wrong("x", "y");
        }
        let Err(Error::InvalidField(all)) = fields.finish() else { panic!("nothing was wrong") };
        assert_eq!(all.len(), MOST_VIOLATIONS);
    }

    #[test]
    fn an_excerpt_is_short_and_printable() {
        assert_eq!(excerpt("a\nb"), "`a\\nb`");
        assert!(excerpt(&"語".repeat(5000)).len() < 300);
    }
}
