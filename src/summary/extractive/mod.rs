//! Summaries from the structure of the history alone.
//!
//! `gather` walks the rows once and keeps facts: what users asked, which files
//! changed, which commands failed, what was decided, what is open. `items`
//! makes pieces of them, each in several lengths with a rank; `pack` fills the
//! room with them, the lowest rank first; `write` lays them out.

mod acts;
mod calls;
mod change;
mod commands;
mod earlier;
mod facts;
mod files;
mod gather;
mod inline;
mod items;
mod outcome;
mod pack;
mod patch;
mod paths;
mod prose;
mod ran;
mod rank;
mod requests;
mod shell;
mod telling;
mod todos;
mod write;

use std::collections::BTreeSet;

use async_trait::async_trait;

use self::{
    facts::{Draft, Facts},
    items::Item,
    pack::Choice,
};
use super::{
    Summarizer, SummarizerError, Summary, Task, Template,
    check::wrong_text,
    layout::{has_own_parts, least_tokens},
    text::{cut_to_tokens, flat},
};
use crate::tokens::count_text;

/// A place in a conversation; places are ordered by turn, then by message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct At {
    turn: i64,
    seq: i64,
}

/// What one line has at most, whatever a summary may have.
const ONE_LINE_TOKENS: i64 = 120;
/// A shorter word of a caller's instructions says nothing.
const LEAST_WISH: usize = 4;
/// Words of a caller's instructions that are looked for.
const MOST_WISHES: usize = 24;

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

    /// On a thread of its own: others must not wait for a long range to be read.
    async fn summarize(&self, task: &Task) -> Result<Summary, SummarizerError> {
        let task = task.clone();
        let written = tokio::task::spawn_blocking(move || extractive(&task)).await;
        let text = written.map_err(|err| SummarizerError(err.to_string()))?;
        Ok(Summary { text, finish_reason: String::new() })
    }
}

/// Summarizes; the same text for the same task, and at most
/// `task.max_tokens` of [`count_text`]'s tokens.
///
/// Work for the processor alone: tens of milliseconds for a long history, so
/// who calls it for one does so off the async threads. It never fails. Where
/// the cap is too low for the layout's parts it is running text; an unknown
/// layout is as `free`.
#[must_use]
pub fn extractive(task: &Task) -> String {
    let layout = Template::from_name(&task.template).unwrap_or(Template::Free);
    let most = match layout {
        Template::OneLine => task.max_tokens.min(task.min_tokens.max(ONE_LINE_TOKENS)),
        _ => task.max_tokens,
    };
    let layout = if most < least_tokens(layout) { Template::Span } else { layout };
    let wishes = wishes(&task.instructions);
    let facts = gather::facts(&task.material, &wishes);
    let items = items::items(&facts, most, &wishes);
    told(fill(&facts, &items, layout, most), &facts, most)
}

/// A short text may be nothing but what somebody said that looks like a call, a
/// refusal or an error: then it is told as what was said.
fn told(text: String, facts: &Facts, most: i64) -> String {
    if wrong_text(&text).is_none() {
        return text;
    }
    let reported = cut_to_tokens(&format!("It was said: {}", flat(&text, 4000)), most);
    if wrong_text(&reported).is_none() {
        return reported;
    }
    cut_to_tokens(&format!("Nothing to report of {} messages.", facts.messages), most)
}

fn fill(facts: &Facts, items: &[Item], layout: Template, most: i64) -> String {
    let tokens = |text: &str| i64::from(count_text(text));
    let nothing = BTreeSet::new();
    let frame = tokens(&write::write(facts, items, &pack::pack(&[], 0, &nothing), layout));
    let mut choice: Choice = pack::pack(items, most - frame, &nothing);
    // Where a layout has a part for decisions they stand there once more.
    if !has_own_parts(layout) {
        let repeated = pack::repeated(items, &choice);
        if !repeated.is_empty() {
            choice = pack::pack(items, most - frame, &repeated);
        }
    }
    loop {
        paths::drop_lone_root(items, &mut choice);
        let text = write::write(facts, items, &choice, layout);
        let over = tokens(&text) - most;
        let has_words = text.chars().any(char::is_alphabetic);
        if over <= 0 && has_words {
            return text;
        }
        if over <= 0 || !choice.give_back(items, over) {
            break;
        }
    }
    cut_to_tokens(&last_resort(facts, items), most)
}

/// What is said where there is room for no piece as it is.
fn last_resort(facts: &Facts, items: &[Item]) -> String {
    let first = items
        .iter()
        .filter_map(|item| Some((item.forms.first()?, item.tie)))
        .min_by_key(|(form, tie)| (form.rank, std::cmp::Reverse(*tie)));
    match first {
        Some((form, _)) => format!("Asked or done: {}", form.text),
        None => format!("Nothing to report of {} messages.", facts.messages),
    }
}

/// The words that a caller's instructions are about, in lower case.
fn wishes(instructions: &str) -> Vec<String> {
    const COMMON: [&str; 22] = [
        "about",
        "keep",
        "please",
        "that",
        "this",
        "with",
        "from",
        "make",
        "sure",
        "what",
        "which",
        "everything",
        "summary",
        "include",
        "focus",
        "important",
        "have",
        "need",
        "remember",
        "details",
        "mention",
        "they",
    ];
    let text = flat(instructions, 4000).to_lowercase();
    let words =
        text.split(|it: char| !it.is_alphanumeric() && !matches!(it, '_' | '-' | '.' | '/'));
    let mut out: Vec<String> = words
        .map(|it| it.trim_matches(['.', '-', '/']))
        .filter(|it| it.chars().count() >= LEAST_WISH && !COMMON.contains(it))
        .map(str::to_owned)
        .collect();
    out.sort_unstable();
    out.dedup();
    out.truncate(MOST_WISHES);
    out
}

#[cfg(test)]
mod tests;
