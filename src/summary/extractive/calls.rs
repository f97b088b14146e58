//! What a call does, from its name and its arguments.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{
    change::{Change, How, cleaned, looks_like_path},
    patch,
    todos::{self, Todo},
};
use crate::{
    policies::{ToolClass, Tools},
    summary::text::{flat, head},
};

/// Arguments that name a file, the most telling first.
const PATHS: &[&str] = &[
    "file_path",
    "path",
    "absolute_path",
    "notebook_path",
    "filename",
    "file_name",
    "file",
    "target_file",
    "filepath",
    "filePath",
    "TargetFile",
    "relative_path",
    "relative_workspace_path",
    "target_notebook",
    "AbsolutePath",
    "uri",
];
/// Arguments that hold a command.
const COMMANDS: &[&str] = &["command", "cmd", "commands", "script", "CommandLine", "bash_command"];
/// Arguments that may hold a patch.
const PATCHES: &[&str] = &["input", "patch", "diff", "patch_text", "patchText", "code_edit"];
/// Lists whose elements name a file each.
const LISTS: &[&str] = &["edits", "files", "changes", "paths", "file_paths", "operations"];
/// Elements of such a list that are looked at.
const MOST_ELEMENTS: usize = 200;

/// What a call does, as far as a summary tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// Reads a file.
    Read(String),
    /// Reads a file that later calls mean when they name none.
    Open(String),
    /// Changes a file.
    Change(Change),
    /// Changes the file that was opened last.
    ChangeOpened,
    /// Runs a command.
    Run(String),
    /// Asks what a command that still runs has come to: the id it was given.
    Poll(String),
    /// Sets the whole to-do list.
    Todos(Vec<Todo>),
    /// Adds an entry to it.
    AddTodo(String),
    /// Changes an entry: its id, and what it is now.
    SetTodo(String, todos::Status),
    /// Anything else: the call in short.
    Other(String),
}

/// What the call does, in order; never empty.
pub(super) fn actions(tool: &str, input_json: &[u8]) -> Vec<Action> {
    let Ok(Value::Object(args)) = serde_json::from_slice::<Value>(input_json) else {
        return raw(tool, &String::from_utf8_lossy(input_json));
    };
    // Arguments that were no JSON when they came in.
    if let (1, Some(Value::String(text))) = (args.len(), args.get("_raw").or(args.get("input"))) {
        return raw(tool, text);
    }
    let found = todo_actions(tool, &args)
        .or_else(|| command_actions(tool, input_json, &args))
        .unwrap_or_else(|| file_actions(tool, input_json, &args));
    if found.is_empty() { vec![Action::Other(label(tool, &args))] } else { found }
}

/// Arguments that are plain text: a patch or a command.
fn raw(tool: &str, text: &str) -> Vec<Action> {
    if patch::is_patch(text) {
        let changes: Vec<Action> = patch::changes(text).into_iter().map(Action::Change).collect();
        if !changes.is_empty() {
            return changes;
        }
    }
    if class(tool, &[]) == Some(ToolClass::Shell) && !text.trim().is_empty() {
        return vec![Action::Run(text.to_owned())];
    }
    vec![Action::Other(format!("{tool}({})", head(&flat(text, 400), 80)))]
}

/// The last part of a name that holds whose tool it is.
fn own_name(tool: &str) -> &str {
    let tool = tool.rsplit("__").next().unwrap_or(tool);
    tool.rsplit(['.', '/', ':']).next().unwrap_or(tool)
}

fn class(tool: &str, input_json: &[u8]) -> Option<ToolClass> {
    let tools = Tools::embedded();
    tools
        .class_of_call(tool, input_json)
        .or_else(|| tools.class_of_call(own_name(tool), input_json))
}

fn text<'a>(args: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| args.get(*key)?.as_str()).filter(|it| !it.trim().is_empty())
}

fn todo_actions(tool: &str, args: &Map<String, Value>) -> Option<Vec<Action>> {
    let name: String =
        own_name(tool).to_ascii_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    match name.as_str() {
        "taskcreate" => Some(vec![Action::AddTodo(flat(text(args, &["subject", "title"])?, 400))]),
        "taskupdate" => {
            let id = args.get("taskId").or(args.get("id"))?;
            let id = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
            let status = todos::Status::of(text(args, &["status"])?);
            Some(vec![Action::SetTodo(id, status)])
        }
        name if name.contains("todo") || name.contains("plan") || name.contains("tasktracker") => {
            todos::list(args).map(|list| vec![Action::Todos(list)])
        }
        _ => None,
    }
}

fn command_actions(
    tool: &str,
    input_json: &[u8],
    args: &Map<String, Value>,
) -> Option<Vec<Action>> {
    let class = class(tool, input_json);
    if !matches!(class, Some(ToolClass::Shell) | None) {
        // A patch tool may take its patch the way a shell takes a command.
        let command = COMMANDS.iter().find_map(|key| command(args.get(*key)?));
        let patch = command.filter(|it| patch::is_patch(it))?;
        return Some(patch::changes(&patch).into_iter().map(Action::Change).collect());
    }
    if let Some(command) = COMMANDS.iter().find_map(|key| command(args.get(*key)?)) {
        return Some(vec![Action::Run(command.into_owned())]);
    }
    if class == Some(ToolClass::Shell) {
        if let Some(code) = text(args, &["code", "input", "chars"]) {
            return Some(vec![Action::Run(code.to_owned())]);
        }
        let id =
            ["session_id", "shellId", "bash_id", "shell_id"].iter().find_map(|key| args.get(*key));
        let id =
            id?.as_str().map_or_else(|| id.map(ToString::to_string), |id| Some(id.to_owned()))?;
        return Some(vec![Action::Poll(id)]);
    }
    None
}

/// A command as one text: `["bash", "-lc", "make"]` is `make`.
fn command(value: &Value) -> Option<Cow<'_, str>> {
    let words = match value {
        Value::String(text) if !text.trim().is_empty() => return Some(Cow::Borrowed(text)),
        Value::Array(words) => words,
        _ => return None,
    };
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words[..] {
        [] => None,
        [shell, option, script] if shell.ends_with("sh") && option.starts_with('-') => {
            Some(Cow::Borrowed(script))
        }
        _ => Some(Cow::Owned(words.join(" "))),
    }
}

fn file_actions(tool: &str, input_json: &[u8], args: &Map<String, Value>) -> Vec<Action> {
    if let Some(text) = text(args, PATCHES).filter(|it| patch::is_patch(it)) {
        return patch::changes(text).into_iter().map(Action::Change).collect();
    }
    let name = own_name(tool).to_ascii_lowercase();
    if let Some(moved) = moved(&name, args) {
        return vec![moved];
    }
    let Some(intent) = intent(&name, class(tool, input_json), args) else { return Vec::new() };
    let mut paths: Vec<&str> = text(args, PATHS).into_iter().collect();
    for list in LISTS.iter().filter_map(|key| args.get(*key)?.as_array()) {
        let named = list.iter().take(MOST_ELEMENTS).filter_map(|it| match it {
            Value::String(path) => Some(path.as_str()),
            Value::Object(of) => text(of, PATHS),
            _ => None,
        });
        paths.extend(named);
    }
    if paths.is_empty() {
        return match intent {
            Intent::Change(_) if is_editing(&name, args) => vec![Action::ChangeOpened],
            _ => Vec::new(),
        };
    }
    let is_sure = class(tool, input_json).is_some();
    let paths = paths.into_iter().filter(|path| is_sure || looks_like_path(path));
    paths.filter_map(|path| intent.action(path)).collect()
}

/// What a call means to do with the file that it names.
enum Intent {
    Read,
    Open,
    Change(How),
}

impl Intent {
    fn action(&self, path: &str) -> Option<Action> {
        match self {
            Self::Read => cleaned(path).map(Action::Read),
            Self::Open => cleaned(path).map(Action::Open),
            Self::Change(how) => Change::of(path, how.clone()).map(Action::Change),
        }
    }
}

fn intent(name: &str, class: Option<ToolClass>, args: &Map<String, Value>) -> Option<Intent> {
    match class {
        Some(ToolClass::Read) if name == "open" => Some(Intent::Open),
        Some(ToolClass::Read) => Some(Intent::Read),
        Some(ToolClass::Edit) => match text(args, &["command"]) {
            Some("view") => Some(Intent::Read),
            _ => Some(Intent::Change(How::Edited)),
        },
        Some(ToolClass::Write) if name.contains("create") => Some(Intent::Change(How::Created)),
        Some(ToolClass::Write) => match text(args, &["command"]) {
            Some("create") => Some(Intent::Change(How::Created)),
            _ => Some(Intent::Change(How::Written)),
        },
        Some(_) => None,
        None => intent_by_name(name),
    }
}

/// For tools that no table knows: what their name says.
fn intent_by_name(name: &str) -> Option<Intent> {
    let says = |words: &[&str]| words.iter().any(|it| name.contains(it));
    if says(&["delete", "remove", "unlink"]) {
        Some(Intent::Change(How::Deleted))
    } else if says(&["append"]) {
        Some(Intent::Change(How::Appended))
    } else if says(&["edit", "update", "patch", "replace", "insert", "modify", "apply"]) {
        Some(Intent::Change(How::Edited))
    } else if says(&["create", "mkdir", "new"]) {
        Some(Intent::Change(How::Created))
    } else if says(&["write", "save", "put"]) {
        Some(Intent::Change(How::Written))
    } else if says(&["read", "view", "open", "get", "cat", "show"]) {
        Some(Intent::Read)
    } else {
        None
    }
}

/// An edit that names no file and yet says what to put in.
fn is_editing(name: &str, args: &Map<String, Value>) -> bool {
    matches!(name, "edit" | "insert" | "replace" | "append" | "str_replace")
        && ["search", "replace", "text", "replacement", "replacement_text", "content"]
            .iter()
            .any(|key| args.contains_key(*key))
}

fn moved(name: &str, args: &Map<String, Value>) -> Option<Action> {
    if !["move", "rename", "copy"].iter().any(|it| name.contains(it)) {
        return None;
    }
    let from = text(args, &["source", "from", "old_path", "src", "path"])?;
    let to = text(args, &["destination", "to", "new_path", "dest", "target"])?;
    let change = if name.contains("copy") {
        Change::of(to, How::Written)
    } else {
        Change::of(from, How::Moved(to.to_owned()))
    };
    change.filter(|_| looks_like_path(from)).map(Action::Change)
}

/// A call in short: its name and its short arguments.
fn label(tool: &str, args: &Map<String, Value>) -> String {
    let mut out = String::from(own_name(tool));
    let words: Vec<String> = args
        .values()
        .filter_map(|value| match value {
            Value::String(text) => Some(head(&flat(text, 300), 60)),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
        .filter(|it| !it.is_empty())
        .take(3)
        .collect();
    out.push('(');
    out.push_str(&words.join(", "));
    out.push(')');
    out
}

#[cfg(test)]
mod tests;
