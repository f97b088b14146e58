//! Calls and what they came to, into facts.

use super::{
    At, Draft,
    calls::{self, Action},
    change::{Change, How},
    facts::ToolFailure,
    inline::{self, OwnCommand},
    outcome::{Outcome, Told},
    patch, shell,
};
use crate::{
    model::ToolResult,
    summary::text::{flat, head},
};

/// Characters of a call that is told in short.
const CALL_CHARS: usize = 100;

/// A call that was made.
pub(super) struct Done<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its arguments.
    pub input_json: &'a [u8],
    /// When.
    pub at: At,
    /// What was said before it.
    pub why: &'a str,
}

/// What must be known of earlier calls to understand a later one.
#[derive(Debug, Default)]
pub(super) struct Acts {
    /// The file that calls mean which name none.
    opened: Option<String>,
}

impl Acts {
    /// Notes the file that a result says is open.
    pub(super) fn note_open_file(&mut self, result: &ToolResult) {
        for part in &result.output {
            if let crate::model::ToolOutput::Text(bytes) = part {
                let tail = &bytes[bytes.len().saturating_sub(600)..];
                self.note_open(&String::from_utf8_lossy(tail));
            }
        }
    }

    fn note_open(&mut self, text: &str) {
        if let Some(path) = inline::open_file(text) {
            self.opened = Some(path.to_owned());
        }
    }

    /// Takes in a call and what it came to.
    pub(super) fn done(&mut self, done: &Done<'_>, told: &Told, draft: &mut Draft) {
        for action in calls::actions(done.tool, done.input_json) {
            match action {
                Action::Run(script) => self.ran(done, &script, told, draft),
                Action::Change(change) => changed(done, change, told, draft),
                Action::ChangeOpened => {
                    let path = self.opened.clone().unwrap_or_else(|| "the open file".to_owned());
                    changed(done, Change { path, how: How::Edited }, told, draft);
                }
                Action::Read(path) => read(done, &path, told, draft),
                Action::Open(path) => {
                    read(done, &path, told, draft);
                    self.opened = Some(path);
                }
                Action::Poll(id) => draft.commands.polled(&id, done.at, &told.outcome(true)),
                Action::Todos(todos) => draft.todos(todos, done.at),
                Action::AddTodo(text) => draft.add_todo(text, done.at),
                Action::SetTodo(id, status) => draft.set_todo(&id, status, done.at),
                Action::Other(label) => other(done, label, told, draft),
            }
        }
        self.note_open(told.text());
    }

    fn ran(&mut self, done: &Done<'_>, script: &str, told: &Told, draft: &mut Draft) {
        let outcome = told.outcome(true);
        let own = inline::own_command(script);
        if matches!(outcome, Outcome::Declined(_)) {
            failed(
                done,
                &format!("`{}`", head(&flat(script, 400), CALL_CHARS)),
                "",
                &outcome,
                draft,
            );
            return;
        }
        match own {
            Some(OwnCommand::Open(path)) => {
                draft.files.read(&path, done.at);
                self.opened = Some(path);
                return;
            }
            Some(OwnCommand::Create(path)) => {
                changed(done, Change { path: path.clone(), how: How::Created }, told, draft);
                self.opened = Some(path);
                return;
            }
            Some(OwnCommand::Edit) => {
                let path = self.opened.clone().unwrap_or_else(|| "the open file".to_owned());
                changed(done, Change { path, how: How::Edited }, told, draft);
                return;
            }
            None => {}
        }
        draft.commands.ran(script, done.at, &outcome);
        let mut found = shell::read(script);
        if patch::is_patch(script) {
            found.changes.extend(patch::changes(script));
        }
        for change in found.changes {
            note_change(done, change, draft);
        }
        for path in found.reads {
            draft.files.read(&path, done.at);
        }
    }
}

fn note_change(done: &Done<'_>, change: Change, draft: &mut Draft) {
    let why = if done.why.len() <= 160 { done.why } else { "" };
    draft.files.changed(&change.path, change.how, done.at, why);
}

fn changed(done: &Done<'_>, change: Change, told: &Told, draft: &mut Draft) {
    let outcome = told.outcome(false);
    if matches!(outcome, Outcome::Failed { .. } | Outcome::Declined(_)) {
        draft.files.changed(&change.path, How::Tried, done.at, "");
        let name = change.path.rsplit('/').next().unwrap_or_default();
        failed(done, &format!("{} of {name}", done.tool), &change.path, &outcome, draft);
        return;
    }
    draft.mended(&change.path);
    note_change(done, change, draft);
}

fn read(done: &Done<'_>, path: &str, told: &Told, draft: &mut Draft) {
    let outcome = told.outcome(false);
    if told.is_error() && matches!(outcome, Outcome::Failed { .. } | Outcome::Declined(_)) {
        failed(done, &format!("{} of {path}", done.tool), "", &outcome, draft);
        return;
    }
    draft.files.read(path, done.at);
}

fn other(done: &Done<'_>, label: String, told: &Told, draft: &mut Draft) {
    let outcome = told.outcome(false);
    match outcome {
        Outcome::Failed { .. } | Outcome::Declined(_) => failed(done, &label, "", &outcome, draft),
        _ => draft.other(label, done.at),
    }
}

fn failed(done: &Done<'_>, what: &str, path: &str, outcome: &Outcome, draft: &mut Draft) {
    let line = match outcome {
        Outcome::Failed { line, .. } => line.clone(),
        _ => String::new(),
    };
    draft.failure(ToolFailure {
        at: done.at,
        what: head(&flat(what, 600), CALL_CHARS),
        path: path.to_owned(),
        line,
        is_declined: matches!(outcome, Outcome::Declined(_)),
        is_mended: false,
    });
}
