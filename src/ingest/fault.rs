//! What is wrong with a piece of JSON, and where.

use std::fmt::Display;

use super::json::Value;

/// A fault and the way to it, which grows at the front as it is handed up.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// For example `[3].content[0]`, or a line and a column.
    pub(super) position: String,
    /// What was expected and what was found.
    pub(super) detail: String,
}

impl Fault {
    pub(super) fn new(detail: impl Into<String>) -> Self {
        Self { position: String::new(), detail: detail.into() }
    }

    /// Another kind of value was expected.
    pub(super) fn expected(what: impl Display, found: Value<'_>) -> Self {
        Self::new(format!("expected {what}, found {}", found.kind()))
    }

    /// It is not JSON at all.
    pub(super) fn syntax(err: &serde_json::Error) -> Self {
        let text = err.to_string();
        let detail = text.split(" at line ").next().unwrap_or_default();
        Self {
            position: format!("line {} column {}", err.line(), err.column()),
            detail: format!("expected JSON, found: {detail}"),
        }
    }

    /// It happened at `position`.
    pub(super) fn within(mut self, position: impl Into<String>) -> Self {
        self.position = position.into();
        self
    }

    /// It happened in a text of one line, whose number others tell.
    pub(super) fn in_one_line(self) -> Self {
        let column = self.position.strip_prefix("line 1 ").map(str::to_owned);
        Self { position: column.unwrap_or(self.position), detail: self.detail }
    }

    /// It happened in this field.
    pub(super) fn under(self, key: &str) -> Self {
        self.behind(key)
    }

    /// It happened in this element.
    pub(super) fn at(self, index: usize) -> Self {
        self.behind(&format!("[{index}]"))
    }

    fn behind(mut self, step: &str) -> Self {
        let dot = if self.position.is_empty() || self.position.starts_with('[') { "" } else { "." };
        self.position = format!("{step}{dot}{}", self.position);
        self
    }
}

/// `messages[2].content: expected an array, found null`.
impl Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.position.is_empty() {
            f.write_str(&self.detail)
        } else {
            write!(f, "{}: {}", self.position, self.detail)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_reads_from_the_outside_in() {
        let fault = Fault::new("expected one").under("text").at(3).under("content").at(0);
        assert_eq!(fault.to_string(), "[0].content[3].text: expected one");
    }
}
