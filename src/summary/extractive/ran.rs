//! Commands and calls as pieces of a summary.

use super::{
    commands::Command,
    facts::{OtherCall, ToolFailure},
    items::Item,
    rank,
};
use crate::summary::{
    layout::Part,
    text::{head, shorten},
};

/// A command that ran, and what it came to.
pub(super) fn command(command: &Command) -> Item {
    let shown = |most: usize| {
        let is_short = command.text.chars().count() <= most.max(24);
        let text = if most < 120 && !is_short { &command.core } else { &command.text };
        format!("`{}`", shorten(text, most).replace('`', "'"))
    };
    let (at, tie) = (command.at, command.at.seq);
    if command.failures == 0 {
        let times = if command.runs > 1 { format!(" {}×", command.runs) } else { String::new() };
        let doubt = if command.is_answered { "" } else { " (no result)" };
        let is_deed = is_deed(&command.core);
        let first = if is_deed { rank::DEED } else { rank::REST };
        let forms = [
            (first, format!("ran {}{times}{doubt}", shown(48))),
            (first + 24, format!("ran {}{times}{doubt}", shown(160))),
        ];
        return Item::new(Part::Activity, at, tie, forms);
    }
    let code = command.code.map(|it| format!("exit {it}")).unwrap_or_default();
    let why = |most: usize| match (code.as_str(), head(&command.line, most).as_str()) {
        ("", "") => String::new(),
        (code, "") => format!(" ({code})"),
        ("", line) => format!(" ({line})"),
        (code, line) => format!(" ({code}: {line})"),
    };
    let bare = if code.is_empty() { String::new() } else { format!(" ({code})") };
    let times =
        if command.failures > 1 { format!(" {}×", command.failures) } else { String::new() };
    let then = if command.is_failing { "" } else { ", later passed" };
    let (first, line) = match (command.is_failing, command.is_vain_search()) {
        (_, true) => (rank::TOOL_FAILED + 6, rank::REST),
        (true, false) => (rank::FAILING, rank::FAILURE_LINE),
        (false, false) => (rank::FAILED_ONCE, rank::FINDING),
    };
    let forms = [
        (first, format!("{} failed{times}{then}", shown(34))),
        (first + 8, format!("{} failed{times}{bare}{then}", shown(48))),
        (line.max(first + 8), format!("{} failed{times}{}{then}", shown(80), why(100))),
        (rank::REST, format!("{} failed{times}{}{then}", shown(200), why(160))),
    ];
    Item::new(Part::Failure, at, tie, forms)
}

/// Says whether a command or a call changes something that no file shows.
fn is_deed(text: &str) -> bool {
    const WORDS: [&str; 22] = [
        "commit",
        "push",
        "merge",
        "rebase",
        "publish",
        "deploy",
        "release",
        "install",
        "pr create",
        "worktree",
        "checkout -b",
        "update",
        "cancel",
        "create",
        "book",
        "send",
        "transfer",
        "submit",
        "delete",
        "migrate",
        "test",
        "build",
    ];
    let text = head(text, 60).to_ascii_lowercase();
    WORDS.iter().any(|it| text.contains(it))
}

/// A tool that failed.
pub(super) fn failure(failure: &ToolFailure) -> Item {
    let (what, line) = (&failure.what, &failure.line);
    let (at, tie) = (failure.at, failure.at.seq);
    if failure.is_declined {
        let forms = [
            (rank::TOOL_FAILED, format!("the user declined {}", head(what, 60))),
            (rank::REST, format!("the user declined {what}")),
        ];
        return Item::new(Part::Failure, at, tie, forms);
    }
    let then = if failure.is_mended { ", later done" } else { "" };
    let first = if failure.is_mended { rank::ROUND_OFF } else { rank::TOOL_FAILED };
    let why = |most: usize| {
        if line.is_empty() { String::new() } else { format!(": {}", head(line, most)) }
    };
    let forms = [
        (first, format!("{what} failed{then}")),
        (first.max(rank::FAILURE_LINE) + 2, format!("{what} failed{}{then}", why(80))),
        (rank::REST, format!("{what} failed{}{then}", why(160))),
    ];
    Item::new(Part::Failure, at, tie, forms)
}

/// Any other call.
pub(super) fn other(call: &OtherCall) -> Item {
    let times = if call.times > 1 { format!(" {}×", call.times) } else { String::new() };
    let first = if is_deed(&call.label) { rank::DEED } else { rank::REST };
    let forms = [
        (first, format!("called {}{times}", head(&call.label, 60))),
        (first + 20, format!("called {}{times}", call.label)),
    ];
    Item::new(Part::Activity, call.at, call.at.seq, forms)
}
