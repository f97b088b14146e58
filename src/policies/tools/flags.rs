//! What the flags of the programs say that agents look at files with.

use super::{action::Part, words::Word};

/// What is told of a pattern at most.
const MOST_CHARS: usize = 200;

/// A program's name, without its folder.
pub(super) fn name_of(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// A program's name and what follows it; without what only starts it.
pub(super) fn program_of(words: &[Word]) -> (&str, &[Word]) {
    let mut words = words;
    while let [first, rest @ ..] = words {
        let is_assignment = first.text.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
        });
        match name_of(&first.text) {
            "sudo" | "time" | "command" | "env" | "nohup" => words = rest,
            "timeout" => words = rest.get(1..).unwrap_or_default(),
            _ if is_assignment => words = rest,
            name => return (name, rest),
        }
    }
    ("", &[])
}

/// What is searched for: the first value, or what `-e` names.
pub(super) fn pattern_of(arguments: &[Word]) -> Option<String> {
    const WITH_VALUE: [&str; 14] = [
        "-A",
        "-B",
        "-C",
        "-m",
        "-g",
        "-t",
        "-T",
        "-f",
        "-d",
        "-j",
        "--glob",
        "--type",
        "--max-count",
        "--context",
    ];
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if matches!(text, "-e" | "--regexp") {
            return words.next().map(|it| it.text.clone());
        }
        if WITH_VALUE.contains(&text) {
            words.next();
        } else if !text.starts_with('-') {
            return Some(text.chars().take(MOST_CHARS).collect());
        }
    }
    None
}

/// What `head` shows.
pub(super) fn head_part(arguments: &[Word]) -> Part {
    let mut words = arguments.iter().map(|it| it.text.as_str());
    while let Some(word) = words.next() {
        let count = match word {
            "-n" => words.next(),
            word if word.starts_with("-n") => word.get(2..),
            word if word.starts_with('-') => word.get(1..),
            _ => continue,
        };
        let count = count.and_then(|it| it.parse().ok());
        return count.map_or(Part::Other, |count| Part::lines(1, count));
    }
    Part::lines(1, 10)
}

/// What `sed -n 10,20p` shows.
pub(super) fn sed_part(arguments: &[Word]) -> Part {
    let range = || {
        let is_quiet = arguments.iter().any(|it| it.text == "-n");
        let script = arguments.iter().find(|it| !it.text.starts_with('-'))?;
        let range = script.text.strip_suffix('p').filter(|_| is_quiet)?;
        let (from, to) = range.split_once(',').unwrap_or((range, range));
        let from: u64 = from.parse().ok()?;
        let to = if to == "$" { u64::MAX } else { to.parse().ok()? };
        Some(Part::lines(from, to))
    };
    range().unwrap_or(Part::Other)
}
