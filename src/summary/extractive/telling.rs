//! Which line of what was printed tells why it failed.

use super::outcome::LOOKED_AT;
use crate::summary::text::{ends, flat, has, head};

/// Characters of that line.
const LINE_CHARS: usize = 160;

/// The first line that tells what went wrong; failing that, the first one.
pub(super) fn telling_line(text: &str) -> String {
    let (first, last) = ends(text, LOOKED_AT);
    let lines = || first.lines().chain(last.lines()).map(str::trim).filter(|it| !is_noise(it));
    let trace = has(text, "traceback (most recent call last)");
    let found = trace
        .then(|| lines().rfind(|it| is_exception(it)))
        .flatten()
        .or_else(|| lines().find(|it| is_strong(it)))
        .or_else(|| lines().find(|it| is_weak(it)))
        .or_else(|| lines().next());
    let line = found.unwrap_or_default();
    let line = line.strip_prefix("<tool_use_error>").unwrap_or(line);
    let line = line.strip_suffix("</tool_use_error>").unwrap_or(line);
    head(&flat(line, LINE_CHARS * 4), LINE_CHARS)
}

/// Lines of the program around the command.
fn is_noise(line: &str) -> bool {
    let starts = [
        "Exit code",
        "Exit Code",
        "exit code",
        "Chunk ID:",
        "Wall time:",
        "Process exited",
        "Original token count",
        "Output:",
        "Command:",
        "Directory:",
        "> ",
        "===",
        "---",
        "Command exited with",
        "[Command finished",
        "Total output lines",
    ];
    // The frame of a message stands above it; what it frames is kept.
    line.is_empty()
        || is_prompt(line)
        || (starts.iter().any(|it| line.starts_with(it)) && !line.starts_with("--- FAIL"))
}

fn is_strong(line: &str) -> bool {
    let words = [
        "error:",
        "error ts",
        "error[",
        "fatal:",
        "panicked at",
        "panic:",
        "--- fail",
        "assertionerror",
        "command not found",
        "no such file",
        "permission denied",
        "conflict (",
        "exception:",
    ];
    words.iter().any(|it| has(line, it))
        || is_exception(line)
        || line.starts_with("FAILED ")
        || line.starts_with("E   ")
}

fn is_weak(line: &str) -> bool {
    let words = [
        "error",
        "fail",
        "not found",
        "cannot",
        "could not",
        "unable to",
        "denied",
        "undefined",
        "unexpected",
        "refused",
        "timed out",
        "timeout",
        "missing",
        "invalid",
        "does not exist",
    ];
    words.iter().any(|it| has(line, it))
}

/// What stands around a command's output in some agents' results.
pub(super) fn is_prompt(line: &str) -> bool {
    line.starts_with("(Open file:")
        || line.starts_with("(Current directory:")
        || line.starts_with("bash-$")
        || line.starts_with("[Current working directory")
        || line.starts_with("[Python interpreter")
}

/// `ValueError: …`, the last line of a trace.
pub(super) fn is_exception(line: &str) -> bool {
    let Some((name, _)) = line.split_once(':') else {
        return line.ends_with("Error") && !line.contains(' ');
    };
    (name.ends_with("Error") || name.ends_with("Exception"))
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'_'))
}
