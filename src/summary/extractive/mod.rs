//! Summaries from the structure of the history alone.

use async_trait::async_trait;

use super::{Summarizer, SummarizerError, Summary, Task};
use crate::{
    model::{BlockKind, Role},
    tokens::count_text,
};

/// The summarizer that needs neither network nor model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extractive;

impl Extractive {
    /// Its name, as `Overlay.summarizer` tells it.
    pub const NAME: &'static str = "extractive";
}

#[async_trait]
impl Summarizer for Extractive {
    fn name(&self) -> String {
        Self::NAME.to_owned()
    }

    async fn summarize(&self, task: &Task) -> Result<Summary, SummarizerError> {
        Ok(Summary { text: extractive(task), finish_reason: String::new() })
    }
}

/// Summarizes; the same text for the same task, and at most
/// `task.max_tokens` of [`count_text`]'s tokens.
///
/// Work for the processor alone: tens of milliseconds for a long history. It
/// never fails; where the cap leaves room for nothing the text is empty.
#[must_use]
pub fn extractive(task: &Task) -> String {
    let mut words: Vec<&str> = Vec::new();
    for round in &task.material.rounds {
        for row in round.rows.iter().filter(|row| row.message.role == Role::User) {
            for block in &row.message.blocks {
                if let BlockKind::Text(text) = &block.kind {
                    words.extend(text.text.split_whitespace().take(40));
                }
            }
        }
    }
    let mut text = format!("Requests: {}", words.join(" "));
    while i64::from(count_text(&text)) > task.max_tokens && !text.is_empty() {
        let half = text.chars().count() / 2;
        text = text.chars().take(half).collect();
    }
    text
}
