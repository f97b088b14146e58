//! What a conversation holds that is worth telling.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    At,
    commands::{Command, Commands},
    earlier::Carried,
    files::{FileFact, Files},
    todos::{Status, Todo},
};

/// A user's message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    /// When it came last.
    pub at: At,
    /// What it says, on one line.
    pub text: String,
    /// How often it was said.
    pub times: usize,
    /// What it answers, where it is too short to be understood alone.
    pub asked: String,
    /// Who says so.
    pub source: Source,
}

impl Request {
    /// Says whether a program put it there.
    pub(super) fn is_program(&self) -> bool {
        self.source == Source::Program
    }
}

/// Where a request is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// A person's own words.
    Words,
    /// An earlier summary, which may have shortened them.
    Summary,
    /// A summary that an agent made of its own conversation.
    Retold,
    /// Text that a program put in a user's mouth.
    Program,
}

/// What an assistant said last in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    /// When.
    pub at: At,
    /// On one line.
    pub text: String,
    /// True where no call came with it: the turn ended there, or it asks.
    pub is_end: bool,
}

/// What a sentence is worth telling for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// It decides.
    Decision,
    /// It says what was found out.
    Finding,
    /// It demands or forbids.
    Constraint,
    /// It holds a word that the caller asked to keep.
    Wished,
}

/// A sentence worth telling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Remark {
    /// Where it stands.
    pub at: At,
    /// What for.
    pub kind: Kind,
    /// How much it says.
    pub weight: u32,
    /// The sentence.
    pub text: String,
}

/// A call of a tool that failed, and was no command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolFailure {
    /// When.
    pub at: At,
    /// The call in short.
    pub what: String,
    /// The file it was about; empty where there was none.
    pub path: String,
    /// What it told.
    pub line: String,
    /// True where a person declined it.
    pub is_declined: bool,
    /// True where the same worked later.
    pub is_mended: bool,
}

/// Calls that are neither files nor commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OtherCall {
    /// When it came last.
    pub at: At,
    /// The call in short.
    pub label: String,
    /// How often.
    pub times: usize,
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The first and the last turn.
    pub turns: Option<(i64, i64)>,
    /// How many messages there are.
    pub messages: usize,
    /// In order.
    pub requests: Vec<Request>,
    /// By turn.
    pub statements: BTreeMap<i64, Statement>,
    /// In order.
    pub remarks: Vec<Remark>,
    /// In order of their first occurrence.
    pub files: Vec<FileFact>,
    /// In order of their last run.
    pub commands: Vec<Command>,
    /// In order.
    pub failures: Vec<ToolFailure>,
    /// In order of their first occurrence.
    pub others: Vec<OtherCall>,
    /// The newest to-do list.
    pub todos: Vec<Todo>,
    /// When it was set.
    pub todos_at: At,
    /// What earlier summaries say besides.
    pub carried: Vec<Carried>,
}

/// Requests, remarks, failures and calls that are kept of each sort.
const MOST: usize = 2000;

/// Facts as they are gathered.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// What is there so far; files and commands aside.
    pub facts: Facts,
    /// Files.
    pub files: Files,
    /// Commands.
    pub commands: Commands,
    by_request: BTreeMap<String, usize>,
    by_call: BTreeMap<String, usize>,
    by_remark: BTreeSet<String>,
    /// Entries that were added one by one, by their number.
    numbered: Vec<Todo>,
}

impl Draft {
    /// Notes that a turn is among those told.
    pub(super) fn turn(&mut self, turn: i64) {
        let (first, last) = self.facts.turns.unwrap_or((turn, turn));
        self.facts.turns = Some((first.min(turn), last.max(turn)));
    }

    /// Notes what a user said; the same said again counts.
    pub(super) fn request(&mut self, request: Request) {
        match self.by_request.get(&request.text) {
            Some(index) => {
                // What is retold was not said again.
                let known = &mut self.facts.requests[*index];
                if request.source == Source::Words && known.source == Source::Words {
                    known.times += 1;
                }
                if request.source <= known.source {
                    known.source = request.source;
                    known.at = request.at;
                    known.asked = request.asked;
                }
            }
            None if self.facts.requests.len() < MOST => {
                self.by_request.insert(request.text.clone(), self.facts.requests.len());
                self.facts.requests.push(request);
            }
            None => {}
        }
    }

    /// Requests that a summary shortened, and that are there in full.
    fn forget_retold(&mut self) {
        let said: Vec<String> =
            self.facts.requests.iter().map(|it| it.text.replace('"', "'")).collect();
        let is_start = |request: &Request| {
            let (start, _) = request.text.split_once(" … ").unwrap_or((&request.text, ""));
            let longer = |it: &String| it.len() > request.text.len() && it.starts_with(start);
            start.len() >= 8 && said.iter().any(longer)
        };
        self.facts.requests.retain(|it| it.source == Source::Words || !is_start(it));
    }

    /// Notes a sentence, once.
    pub(super) fn remark(&mut self, remark: Remark) {
        let is_new = self.facts.remarks.len() < MOST && self.by_remark.insert(remark.text.clone());
        if is_new {
            self.facts.remarks.push(remark);
        }
    }

    /// Notes a failure of a tool.
    pub(super) fn failure(&mut self, failure: ToolFailure) {
        // A call that changes many files fails for all of them alike.
        let is_same = |it: &ToolFailure| {
            it.at == failure.at && it.line == failure.line && !it.line.is_empty()
        };
        if self.facts.failures.len() < MOST && !self.facts.failures.last().is_some_and(is_same) {
            self.facts.failures.push(failure);
        }
    }

    /// Notes that a file could be changed: earlier failures on it are mended.
    pub(super) fn mended(&mut self, path: &str) {
        for failure in self.facts.failures.iter_mut().rev().take(50) {
            failure.is_mended |= failure.path == path && !failure.is_declined;
        }
    }

    /// Notes any other call.
    pub(super) fn other(&mut self, label: String, at: At) {
        match self.by_call.get(&label) {
            Some(index) => {
                let known = &mut self.facts.others[*index];
                known.times += 1;
                known.at = at;
            }
            None if self.facts.others.len() < MOST => {
                self.by_call.insert(label.clone(), self.facts.others.len());
                self.facts.others.push(OtherCall { at, label, times: 1 });
            }
            None => {}
        }
    }

    /// Notes a whole to-do list.
    pub(super) fn todos(&mut self, todos: Vec<Todo>, at: At) {
        self.facts.todos = todos;
        self.facts.todos_at = at;
        self.numbered.clear();
    }

    /// Notes a new entry of the list.
    pub(super) fn add_todo(&mut self, text: String, at: At) {
        if self.numbered.len() < MOST {
            self.numbered.push(Todo { text, status: Status::Open });
            self.facts.todos.clone_from(&self.numbered);
            self.facts.todos_at = at;
        }
    }

    /// Notes what became of an entry.
    pub(super) fn set_todo(&mut self, id: &str, status: Status, at: At) {
        let index = id.parse::<usize>().ok().and_then(|it| it.checked_sub(1));
        if let Some(todo) = index.and_then(|it| self.numbered.get_mut(it)) {
            todo.status = status;
            self.facts.todos.clone_from(&self.numbered);
            self.facts.todos_at = at;
        }
    }

    /// All of it.
    pub(super) fn finish(mut self) -> Facts {
        self.forget_retold();
        Facts {
            files: self.files.into_facts(),
            commands: self.commands.into_commands(),
            ..self.facts
        }
    }
}
