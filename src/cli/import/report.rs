//! What came of one file.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::cli::{Out, text};

/// Counts of one file. Damage is told when it is met; here it is only counted.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    pub(super) file: String,
    pub(super) session_id: String,
    pub(super) format: String,
    /// Stored now.
    pub(super) messages: u64,
    /// Stored by an earlier run of the same import.
    pub(super) already_there: u64,
    pub(super) items: u64,
    /// Lines that are no part of the conversation, by what they are.
    pub(super) skipped: BTreeMap<String, u64>,
    pub(super) damaged: u64,
    /// Messages that the server would not take.
    pub(super) refused: u64,
    /// Stored as they came; a projection will mend them.
    pub(super) warnings: u64,
}

impl Report {
    /// True where nothing was lost on the way.
    pub(super) fn is_complete(&self) -> bool {
        self.damaged == 0 && self.refused == 0
    }

    pub(super) fn print(&self, out: &mut Out) -> std::io::Result<()> {
        if out.is_json() {
            return out.json(self);
        }
        out.line(format!("{}  {}  {}", self.session_id, self.file, self.sentence()))?;
        if !self.skipped.is_empty() {
            out.say(&format!("  skipped: {}", self.skipped_words()));
        }
        Ok(())
    }

    fn sentence(&self) -> String {
        let count = |number: u64, thing: &str| {
            text::count(i64::try_from(number).unwrap_or(i64::MAX), thing)
        };
        let mut parts = vec![count(self.messages, "message")];
        for (number, words) in [
            (self.items, "context item"),
            (self.already_there, "known message"),
            (self.damaged, "damaged line"),
            (self.refused, "refused message"),
            (self.warnings, "warning"),
        ] {
            if number > 0 {
                parts.push(count(number, words));
            }
        }
        format!("{} ({})", parts.join(", "), self.format)
    }

    fn skipped_words(&self) -> String {
        let mut reasons: Vec<_> = self.skipped.iter().collect();
        reasons.sort_by_key(|(_, times)| std::cmp::Reverse(**times));
        let words = reasons.iter().map(|(reason, times)| format!("{times} {reason}"));
        words.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_happened_is_told() {
        let mut report = Report { messages: 96, format: "pi".into(), ..Report::default() };
        assert_eq!(report.sentence(), "96 messages (pi)");
        report.damaged = 1;
        assert_eq!(report.sentence(), "96 messages, 1 damaged line (pi)");
        assert!(!report.is_complete());
    }

    #[test]
    fn the_most_frequent_reason_comes_first() {
        let skipped = BTreeMap::from([("hook".to_owned(), 2), ("progress".to_owned(), 9)]);
        let report = Report { skipped, ..Report::default() };
        assert_eq!(report.skipped_words(), "9 progress, 2 hook");
    }
}
