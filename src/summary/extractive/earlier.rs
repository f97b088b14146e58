//! What earlier summaries say, so that the next one says it too.
//!
//! Summaries of this module's own are read back exactly; others by the words of
//! their headings and by what their lines look like.

use super::{
    At, Draft,
    change::looks_like_path,
    facts::{Kind, Remark, Request, Source},
    items::GOES_ON,
    todos::{Status, Todo, boxes},
};
use crate::summary::{
    layout::Part,
    text::{flat, has},
};

/// Lines of one summary that are read.
const MOST_LINES: usize = 2000;
/// Pieces that are carried, all earlier summaries together.
const MOST_PIECES: usize = 1000;

/// A piece of an earlier summary that is carried over as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Carried {
    /// Where it belongs.
    pub at: At,
    /// What it is about.
    pub part: Part,
    /// On one line.
    pub text: String,
}

/// Takes in the text of an earlier summary that stands at `at`.
pub(super) fn read(text: &str, at: At, source: Source, draft: &mut Draft) {
    let mut reader = Reader { at, source, part: None, has_turns: false, todos: Vec::new() };
    let mut is_code = false;
    for line in text.lines().take(MOST_LINES) {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            reader.line(line, draft);
        }
    }
    let todos = reader.todos;
    if !todos.is_empty() {
        draft.todos(todos, at);
    }
}

struct Reader {
    at: At,
    source: Source,
    /// What the heading above says.
    part: Option<Part>,
    /// True where lines are led by turns instead of headings.
    has_turns: bool,
    todos: Vec<Todo>,
}

impl Reader {
    fn line(&mut self, line: &str, draft: &mut Draft) {
        let mut line = line.trim();
        if let Some(rest) = self.turns(line, draft) {
            line = rest;
        }
        if let Some((part, rest)) = heading(line) {
            self.part = part;
            line = rest;
        }
        let line = line.trim_start_matches(['-', '*', '•', '#', ' ']).trim();
        if line.is_empty() || line == "none" || line == super::super::layout::FOUR_PARTS_HEADING {
            return;
        }
        for piece in pieces(line) {
            if let Some((part, rest)) = clause(piece) {
                self.part = Some(part);
                self.piece(rest, draft);
            } else {
                self.piece(piece, draft);
            }
        }
    }

    /// `Turns 6-10:` widens what is told; `Turn 7:` says where a line belongs.
    fn turns<'a>(&mut self, line: &'a str, draft: &mut Draft) -> Option<&'a str> {
        let rest = line.strip_prefix("Turn")?;
        let rest = rest.strip_prefix('s').unwrap_or(rest).strip_prefix(' ')?;
        let (numbers, rest) = rest.split_once(':')?;
        let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
        let (first, last): (i64, i64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        draft.turn(first);
        draft.turn(last);
        self.at.turn = first;
        self.has_turns = true;
        self.part = None;
        Some(rest.trim())
    }

    fn piece(&mut self, piece: &str, draft: &mut Draft) {
        let piece = piece.trim().trim_end_matches(['.', ';']).trim();
        let has_words = piece.chars().any(char::is_alphanumeric);
        // What went on below an earlier summary may have ended since: who reads
        // all of it sees for himself.
        if !has_words || piece == "none" || is_prompt(piece) || piece.ends_with(GOES_ON) {
            return;
        }
        let may_be_asked =
            self.part == Some(Part::Request) || (self.has_turns && self.part.is_none());
        if let Some(said) = quoted(piece).filter(|_| may_be_asked) {
            draft.request(Request {
                at: self.at,
                text: flat(said, 12 << 10),
                times: 1,
                asked: String::new(),
                source: self.source,
            });
        } else if let Some(todo) = boxes(piece).pop() {
            self.todo(todo, draft);
        } else if let Some((path, label)) = file(piece, self.part) {
            draft.files.carried(path, label, self.at);
        } else {
            self.other(piece, draft);
        }
    }

    fn other(&mut self, piece: &str, draft: &mut Draft) {
        let text = flat(piece, 600);
        let part = match self.part {
            Some(Part::Todo) => {
                self.todo(Todo { text, status: Status::Open }, draft);
                return;
            }
            Some(Part::Decision) => Some(Kind::Decision),
            Some(Part::Finding) => Some(Kind::Finding),
            Some(Part::Constraint) => Some(Kind::Constraint),
            _ => None,
        };
        if let Some(kind) = part {
            draft.remark(Remark { at: self.at, kind, weight: 5, text });
            return;
        }
        let is_failure = piece.contains("` failed") || piece.contains("` fails");
        let part = match self.part {
            _ if is_failure => Part::Failure,
            _ if piece.starts_with('→') => Part::Outcome,
            None | Some(Part::Request) => Part::Outcome,
            Some(part) => part,
        };
        // A line about files that names none says nothing.
        if part == Part::File {
            return;
        }
        self.carry(part, text, draft);
    }

    /// What was open when an agent retold its conversation may be done since.
    fn todo(&mut self, todo: Todo, draft: &mut Draft) {
        if self.source == Source::Summary {
            self.todos.push(todo);
        } else if todo.status.is_open() {
            self.carry(Part::Activity, format!("open then: {}", todo.text), draft);
        }
    }

    fn carry(&self, part: Part, text: String, draft: &mut Draft) {
        if draft.facts.carried.len() < MOST_PIECES {
            draft.facts.carried.push(Carried { at: self.at, part, text });
        }
    }
}

/// What an agent tells itself to do with its summary.
fn is_prompt(piece: &str) -> bool {
    const PROMPTS: [&str; 4] = [
        "continue the conversation from where",
        "read the full transcript at",
        "being continued from a previous",
        "covers the earlier portion of the conversation",
    ];
    PROMPTS.iter().any(|it| has(piece, it))
}

/// `"words"`, with what stands behind them left out.
fn quoted(piece: &str) -> Option<&str> {
    let rest = piece.strip_prefix('"')?;
    let end = rest.find('"')?;
    Some(&rest[..end])
}

/// `path: what was done`, where it looks like one.
fn file(piece: &str, part: Option<Part>) -> Option<(&str, &str)> {
    const WORDS: [&str; 8] = [
        "created",
        "edited",
        "written",
        "appended",
        "deleted",
        "moved to",
        "new directory",
        "restored",
    ];
    let (path, label) = piece.split_once(": ").unwrap_or((piece, ""));
    let path = path.trim_matches(['`', '*', ' ']);
    let is_known = WORDS.iter().any(|it| label.starts_with(it));
    let is_file =
        (is_known && !path.contains('`')) || (part == Some(Part::File) && looks_like_path(path));
    let label = if label.is_empty() { "changed" } else { label };
    is_file.then_some((path, label))
}

/// A line of running text in pieces, as they were joined by `; `; nothing
/// within quotes is taken apart.
fn pieces(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut from, mut is_quoted) = (0, false);
    let bytes = line.as_bytes();
    for at in 0..bytes.len() {
        match bytes[at] {
            b'"' => is_quoted = !is_quoted,
            b';' if !is_quoted && bytes.get(at + 1) == Some(&b' ') => {
                out.push(&line[from..at]);
                from = at + 2;
            }
            // Clauses end with a full stop and a word with a colon.
            b'.' if !is_quoted && clause(line[at + 1..].trim_start()).is_some() => {
                out.push(&line[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    out.push(&line[from..]);
    out
}

/// The clause of a running text that starts here, and what is behind its word.
fn clause(text: &str) -> Option<(Part, &str)> {
    let sections = super::super::layout::sections(crate::policies::Template::Span);
    sections.iter().find_map(|section| {
        let rest = text.trim_start().strip_prefix(section.title)?.strip_prefix(": ")?;
        Some((*section.parts.first()?, rest))
    })
}

/// A heading and what stands behind it on its line.
fn heading(line: &str) -> Option<(Option<Part>, &str)> {
    let bare = line.trim_start_matches(['#', ' ']);
    let is_marked = bare.len() < line.len() || line.starts_with("**");
    let bare = bare.trim_start_matches('*');
    let bare =
        bare.trim_start_matches(|it: char| it.is_ascii_digit() || matches!(it, '.' | ')' | ' '));
    let (title, rest) = match bare.split_once(':') {
        Some((title, rest)) => (title, rest.trim_start_matches('*').trim()),
        None if is_marked => (bare, ""),
        None => return None,
    };
    let title = title.trim_matches(['*', ' ']);
    let is_title = title.len() <= 48
        && !title.contains(['"', '`', '/', '.'])
        && !line.starts_with('-')
        && title.chars().next().is_some_and(char::is_uppercase);
    let part = part_of(title);
    (is_title && (is_marked || part.is_some() || rest.is_empty())).then_some((part, rest))
}

/// What a heading's words say that its part is about.
fn part_of(title: &str) -> Option<Part> {
    const WORDS: &[(&str, Part)] = &[
        ("pending", Part::Todo),
        ("remaining", Part::Todo),
        ("open ", Part::Todo),
        ("next step", Part::Todo),
        ("to do", Part::Todo),
        ("todo", Part::Todo),
        ("file", Part::File),
        ("decision", Part::Decision),
        ("constraint", Part::Constraint),
        ("rules", Part::Constraint),
        ("error", Part::Failure),
        ("problem", Part::Failure),
        ("finding", Part::Finding),
        ("facts", Part::Finding),
        ("state", Part::State),
        ("stand", Part::State),
        ("current work", Part::State),
        ("context", Part::Activity),
        ("request", Part::Request),
        ("overview", Part::Request),
        ("goal", Part::Request),
        ("task", Part::Request),
        ("wants", Part::Request),
        ("came of it", Part::Outcome),
    ];
    WORDS.iter().find(|(word, _)| has(title, word)).map(|(_, part)| *part)
}

#[cfg(test)]
mod tests;
