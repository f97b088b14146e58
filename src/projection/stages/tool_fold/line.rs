//! The line that a result becomes. It says nothing that is not in the rows, so
//! its bytes never change.

use std::fmt::Write as _;

use super::{
    Done, Outcome,
    later::{How, Used},
};
use crate::{
    model::{ToolOutput, ToolResult},
    policies::tools::{Access, Action, ActionKind, Part},
    projection::text,
};

/// How much of a path, a command or a pattern the line shows.
const MOST_CHARS: usize = 80;
/// An exit code stands in so many first or last lines of a result, each of at
/// most so many bytes.
const OUTER_LINES: usize = 5;
const LONGEST_LINE: usize = 200;

/// Says what the call came to, where later work used it, and where the whole
/// result is.
pub(super) fn line(it: &Done, stored: &ToolResult, used: &Used) -> String {
    let mut out = format!("[{}", what(&it.action));
    let _ = match (it.outcome.is_failed, it.outcome.exit_code) {
        (true, Some(code)) if code != 0 => write!(out, " (failed, exit code {code})"),
        (true, _) => write!(out, " (failed)"),
        (false, Some(code)) if it.action.kind == ActionKind::Run => {
            write!(out, " (exit code {code})")
        }
        (false, _) => Ok(()),
    };
    let is_search = matches!(it.action.kind, ActionKind::Search | ActionKind::List);
    let _ = write!(out, "{} {}; ", if is_search { ":" } else { "," }, size(stored));
    let _ = write!(out, "{} in message {}", how(it.action.kind, used), used.call);
    let _ = write!(out, "; kept: message {} block {}]", it.at.0, it.at.1);
    out
}

fn what(action: &Action) -> String {
    match action.kind {
        ActionKind::Read => format!("read {}", files(action)),
        ActionKind::Edit => format!("edited {}", files(action)),
        ActionKind::Write => format!("wrote {}", files(action)),
        ActionKind::Search => format!("searched \"{}\"", head(&action.text)),
        ActionKind::List => format!("listed \"{}\"", head(&action.text)),
        ActionKind::Run => format!("ran \"{}\"", head(&action.text)),
    }
}

fn files(action: &Action) -> String {
    let Some((first, more)) = action.files.split_first() else { return "nothing".to_owned() };
    let mut out = tail(&first.path);
    if let Access::Read(Part::Lines(from, to)) = first.access {
        let _ = match to {
            u64::MAX => write!(out, " from line {from}"),
            to => write!(out, " lines {from}-{to}"),
        };
    }
    match more.len() {
        0 => {}
        1 => out.push_str(" and 1 more file"),
        more => {
            let _ = write!(out, " and {more} more files");
        }
    }
    out
}

fn how(kind: ActionKind, used: &Used) -> String {
    if let Some(file) = &used.file {
        let verb = match used.how {
            How::Edited => "edited",
            How::Written => "written",
            How::Read | How::Again => "opened",
        };
        return format!("{} {verb}", tail(file));
    }
    let verb = match (used.how, kind) {
        (How::Edited, ActionKind::Edit) => "edited again",
        (How::Edited, _) => "edited later",
        (How::Written, ActionKind::Write) => "written again",
        (How::Written, _) => "written later",
        (How::Read, ActionKind::Read) => "read again",
        (How::Read, _) => "read later",
        (How::Again, ActionKind::Search) => "searched again",
        (How::Again, ActionKind::List) => "listed again",
        (How::Again, _) => "run again",
    };
    verb.to_owned()
}

/// What was stored: lines, or characters where there is one line.
fn size(stored: &ToolResult) -> String {
    let (mut lines, mut chars, mut pictures) = (0, 0, 0);
    for part in &stored.output {
        match part {
            ToolOutput::Text(text) => {
                let text = String::from_utf8_lossy(text);
                lines += text.lines().count();
                chars += text.chars().count();
            }
            _ => pictures += 1,
        }
    }
    let mut out = if lines > 1 { format!("{lines} lines") } else { format!("{chars} characters") };
    if pictures > 0 {
        let _ = write!(out, " and {pictures} picture{}", if pictures > 1 { "s" } else { "" });
    }
    out
}

/// Whether and how a call failed, as far as its result tells.
pub(super) fn outcome(action: &Action, result: &ToolResult) -> Outcome {
    let may_tell = action.is_command || action.kind == ActionKind::Edit;
    let mut texts = result.output.iter().filter_map(|part| match part {
        ToolOutput::Text(text) if may_tell => Some(text),
        _ => None,
    });
    let exit_code = texts.find_map(|text| exit_code(text));
    Outcome { is_failed: result.is_error || exit_code.is_some_and(|code| code != 0), exit_code }
}

/// The exit code as the common agents write it around a command's output.
fn exit_code(output: &[u8]) -> Option<i64> {
    if output.starts_with(br#"{"output":"#) {
        let end = &output[output.len().saturating_sub(LONGEST_LINE)..];
        let end = String::from_utf8_lossy(end);
        return number(end.rsplit_once(r#""exit_code":"#)?.1.trim_start());
    }
    let first = output.split(|byte| *byte == b'\n').take(OUTER_LINES).find_map(code_of);
    let last = || output.rsplit(|byte| *byte == b'\n').take(OUTER_LINES).find_map(code_of);
    first.or_else(last)
}

fn code_of(line: &[u8]) -> Option<i64> {
    const BEFORE: [&str; 6] = [
        "process exited with code ",
        "command exited with code ",
        "exit code: ",
        "exit code ",
        "[command finished with exit code ",
        "[the command completed with exit code ",
    ];
    let line = String::from_utf8_lossy(&line[..line.len().min(LONGEST_LINE)]);
    let line = line.trim().to_ascii_lowercase();
    let by_shell = || {
        let (_, rest) =
            line.strip_prefix("<shellid: ")?.split_once(" completed with exit code ")?;
        Some(rest)
    };
    let rest = BEFORE.iter().find_map(|before| line.strip_prefix(before)).or_else(by_shell)?;
    number(rest)
}

fn number(text: &str) -> Option<i64> {
    let end = text.find(|c: char| c != '-' && !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// The start of a text, on one line.
fn head(words: &str) -> String {
    let mut out = one_line(&words[..text::head_end(words, MOST_CHARS)]);
    if out.len() < words.len() {
        out.push_str("...");
    }
    out
}

/// The end of a path.
fn tail(path: &str) -> String {
    let start = text::tail_start(path, MOST_CHARS, path.chars().count());
    let dots = if start > 0 { "..." } else { "" };
    format!("{dots}{}", one_line(&path[start..]))
}

fn one_line(words: &str) -> String {
    words.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
