//! What a call came to.

use super::telling::{is_exception, is_prompt, telling_line};
use crate::{
    model::{ToolOutput, ToolResult},
    summary::text::{ends, find_ignoring_case, has},
};

/// Bytes of a result that are looked at, at either end: what a command came to
/// stands there.
pub(super) const LOOKED_AT: usize = 16 << 10;
/// Bytes at either end in which a command's exit code is looked for.
const NEAR: usize = 700;

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing says that it failed.
    Fine,
    /// It failed.
    Failed {
        /// Its exit code, where one is told.
        code: Option<i64>,
        /// The first line that tells why; may be empty.
        line: String,
    },
    /// A person did not let it happen; with that person's words, if any.
    Declined(String),
    /// It still runs, under this id.
    Running(String),
    /// No answer is there.
    Unanswered,
}

/// What was told after a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    text: String,
    is_error: bool,
    is_answered: bool,
}

impl Told {
    /// What a result tells.
    pub(super) fn of_result(result: &ToolResult) -> Self {
        Self { text: text_of(result), is_error: result.is_error, is_answered: true }
    }

    /// What a text tells that stands for a result.
    pub(super) fn of_text(text: &str) -> Self {
        let (first, last) = ends(text, LOOKED_AT);
        Self { text: format!("{first}\n{last}"), is_error: false, is_answered: true }
    }

    /// Where no result came.
    pub(super) fn nothing() -> Self {
        Self { text: String::new(), is_error: false, is_answered: false }
    }

    /// The head and the tail of what was told.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Says whether it bears the mark of an error.
    pub(super) fn is_error(&self) -> bool {
        self.is_error
    }

    /// What the call came to; `runs` says whether it ran a command.
    pub(super) fn outcome(&self, runs: bool) -> Outcome {
        if self.is_answered { of(&self.text, self.is_error, runs) } else { Outcome::Unanswered }
    }

    /// The words of a person who declined the call.
    pub(super) fn declined_with(&self) -> Option<&str> {
        declined(&self.text).filter(|it| !it.is_empty())
    }
}

/// The text of a result: as much of its head and its tail as is looked at.
fn text_of(result: &ToolResult) -> String {
    let mut out = String::new();
    for part in &result.output {
        let ToolOutput::Text(bytes) = part else { continue };
        if !out.is_empty() {
            out.push('\n');
        }
        if bytes.len() <= LOOKED_AT * 2 {
            out.push_str(&String::from_utf8_lossy(bytes));
        } else {
            out.push_str(&String::from_utf8_lossy(&bytes[..LOOKED_AT]));
            out.push('\n');
            out.push_str(&String::from_utf8_lossy(&bytes[bytes.len() - LOOKED_AT..]));
        }
        if out.len() > LOOKED_AT * 4 {
            break;
        }
    }
    out
}

/// What the call came to. `runs` says whether it ran a command, so that exit
/// codes mean something.
fn of(text: &str, is_error: bool, runs: bool) -> Outcome {
    if let Some(words) = declined(text) {
        return Outcome::Declined(words.to_owned());
    }
    if text.trim() == "[no result was recorded for this call]" {
        return Outcome::Unanswered;
    }
    let code = if runs || is_error { exit_code(text) } else { None };
    if runs
        && code.is_none()
        && !is_error
        && let Some(id) = running(text)
    {
        return Outcome::Running(id);
    }
    let has_failed = match code {
        Some(code) => code != 0 || is_error,
        None => is_error || (if runs { says_failure(text) } else { is_refusal(text) }),
    };
    if has_failed {
        Outcome::Failed { code: code.filter(|it| *it != 0), line: telling_line(text) }
    } else {
        Outcome::Fine
    }
}

/// The words of a person who declined a call, as Claude Code reports them.
fn declined(text: &str) -> Option<&str> {
    if !text.starts_with("The user doesn't want to proceed with this tool use")
        && !text.starts_with("The user doesn't want to take this action")
        && !text.starts_with("[Request interrupted by user")
    {
        return None;
    }
    Some(text.split_once("the user said:").map_or("", |(_, said)| said.trim()))
}

/// The id of a command that goes on in the background.
fn running(text: &str) -> Option<String> {
    let (near, _) = ends(text, NEAR);
    let keys =
        ["running with session id ", "running in background with id: ", "background with id "];
    let rest =
        keys.iter().find_map(|key| Some(&near[find_ignoring_case(near, key)? + key.len()..]))?;
    let id: String =
        rest.chars().take_while(|it| it.is_ascii_alphanumeric() || *it == '_').collect();
    (!id.is_empty()).then_some(id)
}

/// The exit code that the program which ran the command reports: at the head in
/// a line of its own, or at the tail.
fn exit_code(text: &str) -> Option<i64> {
    let (first, last) = ends(text, NEAR);
    let lines =
        first.lines().take(8).map(|line| line.trim_start_matches(['<', '[', '{', ' ', '"']));
    let header = lines.take_while(|it| !it.eq_ignore_ascii_case("output:")).find_map(|line| {
        let keys =
            ["exit code", "exit_code", "process exited with code", "returncode", "exit status"];
        keys.iter().find_map(|key| {
            let at = find_ignoring_case(line, key).filter(|at| *at == 0)?;
            number(&line[at + key.len()..])
        })
    });
    if header.is_some() {
        return header;
    }
    let tail = if last.is_empty() { first } else { last };
    let keys = ["exit code", "exit_code", "exited with code", "exit status", "returncode"];
    let mut lines = tail.lines().rev().filter(|it| !it.trim().is_empty()).take(8);
    lines.find_map(|line| {
        // A sentence about exit codes is no report of one.
        let line = line.trim();
        let is_report = line.len() < 120;
        keys.iter()
            .filter(|_| is_report)
            .find_map(|key| number(&line[find_ignoring_case(line, key)? + key.len()..]))
    })
}

/// The number that follows after `": `, `=` and the like.
fn number(rest: &str) -> Option<i64> {
    let gap = rest
        .chars()
        .take_while(|it| matches!(it, ':' | '=' | ' ' | '"' | '\'' | '>' | '\\'))
        .count();
    let rest = rest.get(gap..).filter(|_| gap <= 4)?;
    let end = rest.find(|it: char| !it.is_ascii_digit() && it != '-').unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// What a failed command prints last, where no code is told.
fn says_failure(text: &str) -> bool {
    let (first, last) = ends(text, NEAR);
    let tail = if last.is_empty() { first } else { last };
    let mut lines = tail.lines().rev().map(str::trim).filter(|it| !it.is_empty());
    let is_failure = |line: &str| {
        let starts = [
            "FAIL",
            "fatal: ",
            "npm ERR!",
            "error: could not compile",
            "ERROR: ",
            "panic: ",
            "FAILED (",
        ];
        starts.iter().any(|it| line.starts_with(it))
            || line.ends_with("ERROR task failed")
            || (line.ends_with("command not found") || line.ends_with("No such file or directory"))
            || is_exception(line)
            || (line.contains(" failed") && line.contains(" passed") && has(line, " in "))
            || line.contains("test result: FAILED")
    };
    // SWE-agent's prompt stands behind what the command printed.
    lines.by_ref().filter(|it| !is_prompt(it)).take(3).any(is_failure)
}

/// A tool's own way to say that it did nothing.
fn is_refusal(text: &str) -> bool {
    let starts = [
        "<tool_use_error>",
        "Error:",
        "error:",
        "ERROR:",
        "No replacement was performed",
        "apply_patch verification failed",
        "Failed to",
        "failed to",
        "Error ",
        "Invalid ",
    ];
    let text = text.trim_start();
    starts.iter().any(|it| text.starts_with(it))
        || (text.len() < 2000 && text.contains("has NOT been applied"))
        || (text.len() < 2000 && text.contains("edit was not applied"))
}

#[cfg(test)]
mod tests;
