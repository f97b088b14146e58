//! What users said, without what programs put around it.

use crate::summary::text::{find_ignoring_case, flat, has};

/// Longest words of one request that are kept, in bytes; a summary never shows
/// as much.
const MOST: usize = 12 << 10;

/// How much a user's message says about what is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// Words of a person.
    Words,
    /// Text that a program put there: instructions, notices.
    Program,
}

/// A user's message in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    /// On one line.
    pub text: String,
    /// Who says it.
    pub weight: Weight,
}

/// What one text block of a user says; `None` where it says nothing.
pub(super) fn said(text: &str) -> Option<Said> {
    let trimmed = text.trim_start();
    if let Some(command) = slash_command(trimmed) {
        return some(&command, Weight::Words);
    }
    if is_program(trimmed) {
        return some(super::super::text::head(&flat(trimmed, 400), 100).as_str(), Weight::Program);
    }
    let text = without_tags(trimmed);
    some(&flat(&text, MOST), Weight::Words)
}

fn some(text: &str, weight: Weight) -> Option<Said> {
    let text = flat(text, MOST);
    text.chars().any(char::is_alphanumeric).then_some(Said { text, weight })
}

/// Text that agents put in a user's mouth.
fn is_program(text: &str) -> bool {
    let starts = [
        "# AGENTS.md instructions",
        "<environment_context",
        "<user_instructions",
        "<INSTRUCTIONS",
        "<system-reminder",
        "<system_notification",
        "<local-command",
        "<turn_aborted",
        "[Request interrupted",
        "Caveat: The messages below",
        "Base directory for this skill",
        "<bash-stdout",
        "<bash-stderr",
        "<permissions instructions",
        "<collaboration_mode",
        "<skill",
        "<task-notification",
        "<command-message",
    ];
    starts.iter().any(|it| text.starts_with(it))
}

/// `/command arguments` from the tags that Claude Code wraps it in.
fn slash_command(text: &str) -> Option<String> {
    if !text.starts_with("<command-") {
        return None;
    }
    let name = inner(text, "command-name")?;
    let args = inner(text, "command-args").unwrap_or_default();
    Some(format!("{} {}", name.trim(), args.trim()))
}

fn inner<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    Some(rest.split_once(&format!("</{tag}>")).map_or(rest, |(inside, _)| inside))
}

/// Tags whose content no user wrote.
const TAGS: &[&str] =
    &["system-reminder", "environment_context", "current_datetime", "local-command-stdout"];

fn without_tags(text: &str) -> String {
    let mut out = text.to_owned();
    for tag in TAGS {
        let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
        // Each turn removes something, so it ends.
        while let Some(from) = out.find(&open) {
            let to = out[from..].find(&close).map_or(out.len(), |at| from + at + close.len());
            out.replace_range(from..to, " ");
        }
    }
    out
}

/// Says whether it is a summary that an agent made of its own conversation.
pub(super) fn is_own_summary(text: &str) -> bool {
    let near = &text[..super::super::text::floor(text, 600)];
    has(near, "session is being continued from a previous conversation")
        || near.starts_with("[Compacted]")
        || near.starts_with("[Reactive compact]")
        || has(near, "conversation history before this point was compacted")
}

/// What an agent without tool calls was shown: the prompt stands at its end.
pub(super) fn is_observation(text: &str) -> bool {
    let text = text.trim_end();
    let is_prompt = text.ends_with("bash-$") && text.contains("(Open file: ");
    let is_result =
        find_ignoring_case(&text[..super::super::text::floor(text, 200)], "execution result of [")
            == Some(0)
            || text.starts_with("<returncode>")
            || text.starts_with("OBSERVATION:");
    is_prompt || is_result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str, weight: Weight) {
        assert_eq!(said(text), Some(Said { text: expected.to_owned(), weight }), "{text}");
    }

    #[test]
    fn programs_words_are_told_from_a_persons() {
        check("please\n\npush", "please push", Weight::Words);
        check(
            "<system-reminder>no</system-reminder>\nfix it",
            "<system-reminder>no</system-reminder> fix it",
            Weight::Program,
        );
        check("fix it <system-reminder>a\nb</system-reminder> now", "fix it now", Weight::Words);
        check(
            "<current_datetime>x</current_datetime>\n\ninvestigate",
            "investigate",
            Weight::Words,
        );
        check(
            "<command-message>a</command-message>\n<command-name>/plan</command-name>\n<command-args>do it</command-args>",
            "/plan do it",
            Weight::Words,
        );
        check(
            "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>",
            "# AGENTS.md instructions for /x <INSTRUCTIONS>",
            Weight::Program,
        );
        assert_eq!(said(" \n…"), None);
    }
}
