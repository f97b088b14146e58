//! The facts that a segment holds, found without the summarizer's code.
//!
//! * **Paths changed**: the path argument of every call of a tool that edits or
//!   writes files, and the headers of every patch (`*** Update File: …`),
//!   wherever in the arguments it stands; not of calls that failed.
//! * **Failing commands**: what a shell was to run, where its result is marked
//!   as an error or tells an exit code that is not 0. Not what a person declined
//!   or what never ran.
//! * **Requests**: the words of user messages that are a person's. Not tool
//!   results; not what programs put there: anything in tags at the start of a
//!   text (`<environment_context>…`) or in reminders anywhere, instructions read
//!   from files, skills, notes of interruption, summaries of earlier contexts.
//!   What follows such tags is the person's again, and so are the arguments of a
//!   command typed.
//! * **Open to-do items**: those that are not completed in the last list that
//!   the segment holds (`TodoWrite`, `update_plan`), and the tasks that it
//!   creates (`TaskCreate`) and does not complete.
//!
//! Each fact counts once a segment.

use std::collections::{BTreeMap, BTreeSet};

use concertina::model::{BlockKind, Message, Role, ToolOutput, ToolResult, ToolUse};
use serde_json::Value;

/// What a summary of a segment should name.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) paths: BTreeSet<String>,
    pub(crate) commands: BTreeSet<String>,
    pub(crate) requests: BTreeSet<String>,
    pub(crate) todos: BTreeSet<String>,
}

/// Names without case, `-` and `_`.
const WRITERS: [&str; 15] = [
    "edit",
    "write",
    "multiedit",
    "notebookedit",
    "create",
    "createfile",
    "writefile",
    "writetofile",
    "savefile",
    "editfile",
    "replace",
    "strreplace",
    "strreplaceeditor",
    "strreplacebasededittool",
    "fileeditor",
];
const SHELLS: [&str; 9] = [
    "bash",
    "shell",
    "execcommand",
    "terminal",
    "runshellcommand",
    "executebash",
    "executecommand",
    "shellcommand",
    "powershell",
];
const PATHS: [&str; 5] = ["file_path", "path", "filename", "notebook_path", "target_file"];
const PATCHED: [&str; 4] =
    ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// The facts of these messages.
pub(crate) fn facts<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Facts {
    let mut finder = Finder::default();
    for message in messages {
        for block in &message.blocks {
            match &block.kind {
                BlockKind::Text(text) if message.role == Role::User && !is_programs(message) => {
                    finder.facts.requests.extend(request(&text.text));
                }
                BlockKind::ToolUse(call) => finder.call(call),
                BlockKind::ToolResult(result) => finder.result(result),
                _ => {}
            }
        }
    }
    finder.finish()
}

#[derive(Default)]
struct Finder {
    facts: Facts,
    /// Calls without a result so far, by id.
    open: BTreeMap<String, (String, Value)>,
    list: Vec<String>,
    tasks: BTreeMap<String, String>,
}

impl Finder {
    fn call(&mut self, call: &ToolUse) {
        let input: Value = serde_json::from_slice(&call.input_json).unwrap_or_default();
        let name: String = call.name.chars().filter(char::is_ascii_alphanumeric).collect();
        self.open.insert(call.id.clone(), (name.to_lowercase(), input));
    }

    fn result(&mut self, result: &ToolResult) {
        let Some((name, input)) = self.open.remove(&result.tool_use_id) else { return };
        let words = words(result);
        let has_failed = result.is_error || exit_code(&words).is_some_and(|code| code != 0);
        if has_failed {
            let command = command(&input).filter(|_| SHELLS.contains(&name.as_str()));
            self.facts.commands.extend(command.filter(|_| has_run(&words)));
        } else {
            self.facts.paths.extend(paths(&name, &input));
            self.todo(&name, &input, &words);
        }
    }

    fn todo(&mut self, name: &str, input: &Value, result: &str) {
        match name {
            "todowrite" => self.list = open_items(input.get("todos"), "content"),
            "updateplan" => self.list = open_items(input.get("plan"), "step"),
            "taskcreate" => {
                let subject = input.get("subject").and_then(Value::as_str);
                self.tasks.extend(number(result).zip(subject.map(str::to_owned)));
            }
            "taskupdate" => {
                let is_over = ["completed", "deleted"].iter().any(|it| input["status"] == **it);
                let id = input.get("taskId").and_then(Value::as_str).filter(|_| is_over);
                self.tasks.retain(|it, _| Some(it.as_str()) != id);
            }
            _ => {}
        }
    }

    fn finish(mut self) -> Facts {
        self.facts.todos.extend(self.list);
        self.facts.todos.extend(self.tasks.into_values());
        self.facts
    }
}

/// Paths that a call changes.
fn paths(name: &str, input: &Value) -> Vec<String> {
    let looks = input.get("command").and_then(Value::as_str) == Some("view");
    let argument = PATHS.iter().find_map(|key| input.get(*key)?.as_str());
    let argument = argument.filter(|_| WRITERS.contains(&name) && !looks);
    let texts = match input {
        Value::Object(members) => members.values().flat_map(texts).collect(),
        other => texts(other),
    };
    let headers = texts
        .into_iter()
        .flat_map(str::lines)
        .filter_map(|line| PATCHED.iter().find_map(|mark| line.trim_start().strip_prefix(mark)));
    argument.into_iter().chain(headers).map(|path| path.trim().to_owned()).collect()
}

fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// What a shell was to run. Of a list of words it is the last where a shell is
/// called to run it.
fn command(input: &Value) -> Option<String> {
    match ["command", "cmd"].iter().find_map(|key| input.get(*key))? {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            let is_shells = words.get(1).is_some_and(|it| it.starts_with('-') && it.ends_with('c'));
            Some(if is_shells { words.last()?.trim().to_owned() } else { words.join(" ") })
        }
        _ => None,
    }
    .filter(|text| !text.is_empty())
}

fn words(result: &ToolResult) -> String {
    let parts = result.output.iter().filter_map(|part| match part {
        ToolOutput::Text(bytes) => Some(String::from_utf8_lossy(bytes)),
        _ => None,
    });
    parts.collect::<Vec<_>>().join("\n")
}

/// False where the person or the program kept a command from running.
fn has_run(result: &str) -> bool {
    const KEPT: [&str; 5] = [
        "The user doesn't want",
        "[no result",
        "[Request interrupted",
        "<tool_use_error>",
        "Permission to use",
    ];
    !KEPT.iter().any(|words| result.trim_start().starts_with(words))
}

/// The exit code that a result tells in one of its first or last lines.
fn exit_code(result: &str) -> Option<i64> {
    const KEYS: [&str; 3] = ["exited with code ", "exit code: ", "exit code "];
    let lines: Vec<&str> = result.lines().collect();
    let ends = lines.iter().take(5).chain(lines.iter().rev().take(3));
    ends.filter(|line| line.len() < 100).find_map(|line| {
        let line = line.to_lowercase();
        let rest = KEYS.iter().find_map(|key| line.split_once(key).map(|(_, rest)| rest))?;
        let digits: String =
            rest.chars().take_while(|it| it.is_ascii_digit() || *it == '-').collect();
        digits.parse().ok()
    })
}

/// The number after the first `#`.
fn number(text: &str) -> Option<String> {
    let digits = text.split_once('#')?.1.chars().take_while(char::is_ascii_digit);
    Some(digits.collect::<String>()).filter(|it| !it.is_empty())
}

fn open_items(list: Option<&Value>, key: &str) -> Vec<String> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    let open = items.filter(|item| item.get("status").is_none_or(|it| it != "completed"));
    open.filter_map(|item| item.get(key)?.as_str()).map(str::to_owned).collect()
}

/// Says whether a message is marked as not a person's.
fn is_programs(message: &Message) -> bool {
    let extra: Value = serde_json::from_slice(&message.extra_json).unwrap_or_default();
    let meta = &extra["meta"];
    meta.get("kind").is_some_and(|it| it != "queued_user_input") || meta["is_meta"] == true
}

/// The person's words of a text; `None` where there are none.
fn request(text: &str) -> Option<String> {
    const PROGRAMS: [&str; 6] = [
        "# AGENTS.md instructions",
        "[Request interrupted",
        "Base directory for this skill",
        "This session is being continued",
        "Caveat: The messages below",
        "[Image: source:",
    ];
    let mut text = without_reminders(text);
    let mut typed = String::new();
    while let Some((tag, inner, rest)) = leading_tag(&text) {
        if tag == "command-args" {
            typed = inner;
        }
        text = rest;
    }
    let text = if text.trim().is_empty() { typed } else { text };
    let text = text.trim();
    let is_programs = text.is_empty() || PROGRAMS.iter().any(|words| text.starts_with(words));
    (!is_programs).then(|| text.to_owned())
}

fn without_reminders(text: &str) -> String {
    const OPEN: &str = "<system-reminder>";
    const CLOSE: &str = "</system-reminder>";
    let mut out = text.to_owned();
    while let Some(from) = out.find(OPEN) {
        let to = out[from..].find(CLOSE).map_or(out.len(), |at| from + at + CLOSE.len());
        out.replace_range(from..to, "");
    }
    out
}

/// A tag at the start: its name, what it holds, and what follows it.
fn leading_tag(text: &str) -> Option<(String, String, String)> {
    let inside = text.trim_start().strip_prefix('<')?;
    let (head, rest) = inside.split_once('>')?;
    let name = head.split_whitespace().next()?.to_owned();
    let is_name = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '/');
    if head.contains('\n') || !name.chars().all(is_name) {
        return None;
    }
    let close = format!("</{name}>");
    Some(match rest.split_once(&close) {
        Some((inner, after)) => (name, inner.to_owned(), after.to_owned()),
        None => (name, String::new(), rest.to_owned()),
    })
}
