//! To-do lists, as tools take them and as Markdown writes them.

use serde_json::{Map, Value};

use crate::summary::text::flat;

/// Entries of one list that are kept.
const MOST: usize = 200;

/// How far an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    /// Not begun.
    Open,
    /// Begun.
    InProgress,
    /// Done.
    Done,
    /// Given up.
    Gone,
}

impl Status {
    /// What the agents' words for it mean.
    pub(super) fn of(word: &str) -> Self {
        match word.trim().to_ascii_lowercase().replace(['-', ' '], "_").as_str() {
            "completed" | "complete" | "done" | "finished" | "closed" => Self::Done,
            "in_progress" | "active" | "doing" | "started" | "working" => Self::InProgress,
            "deleted" | "cancelled" | "canceled" | "removed" | "skipped" => Self::Gone,
            _ => Self::Open,
        }
    }

    /// Says whether there is still something to do.
    pub(super) fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::InProgress)
    }
}

/// An entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Todo {
    /// What is to do.
    pub text: String,
    /// How far it is.
    pub status: Status,
}

/// The list that a tool's arguments set; `None` where they hold none.
pub(super) fn list(args: &Map<String, Value>) -> Option<Vec<Todo>> {
    let keys = ["todos", "plan", "tasks", "items", "todo_list", "task_list", "steps"];
    let value = keys.iter().find_map(|key| args.get(*key))?;
    match value {
        Value::Array(entries) => Some(entries.iter().take(MOST).filter_map(entry).collect()),
        // Some agents pass the list as Markdown.
        Value::String(text) => Some(boxes(text)),
        _ => None,
    }
}

fn entry(value: &Value) -> Option<Todo> {
    if let Value::String(text) = value {
        return Some(Todo { text: flat(text, 400), status: Status::Open });
    }
    let keys = ["content", "step", "title", "text", "subject", "description", "task", "name"];
    let text = keys.iter().find_map(|key| value.get(key)?.as_str())?;
    let status = ["status", "state"].iter().find_map(|key| value.get(key)?.as_str());
    let is_done =
        ["done", "completed"].iter().any(|key| value.get(key) == Some(&Value::Bool(true)));
    let status = if is_done { Status::Done } else { status.map_or(Status::Open, Status::of) };
    Some(Todo { text: flat(text, 400), status })
}

/// The check boxes of a Markdown text.
pub(super) fn boxes(text: &str) -> Vec<Todo> {
    let boxes = text.lines().filter_map(|line| {
        let line = line.trim_start().trim_start_matches(['-', '*', '+']).trim_start();
        let line =
            line.trim_start_matches(|it: char| it.is_ascii_digit() || it == '.').trim_start();
        let rest = line.strip_prefix('[')?;
        let mark = rest.chars().next()?;
        let text = flat(rest.strip_prefix(mark)?.strip_prefix("] ")?, 400);
        let status = match mark {
            ' ' => Status::Open,
            'x' | 'X' | '✓' | '✔' => Status::Done,
            '~' | '/' => Status::InProgress,
            '-' => Status::Gone,
            _ => return None,
        };
        (!text.is_empty()).then_some(Todo { text, status })
    });
    boxes.take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Vec<(String, bool)> {
        let Value::Object(args) = serde_json::from_str(json).unwrap() else { panic!("{json}") };
        list(&args).unwrap().into_iter().map(|it| (it.text, it.status.is_open())).collect()
    }

    #[test]
    fn the_agents_lists_are_read() {
        let claude = r#"{"todos":[{"content":"a","status":"completed","activeForm":"x"},{"content":"b","status":"in_progress"}]}"#;
        assert_eq!(read(claude), [("a".to_owned(), false), ("b".to_owned(), true)]);
        let codex =
            r#"{"plan":[{"step":"a","status":"pending"},{"step":"b","status":"completed"}]}"#;
        assert_eq!(read(codex), [("a".to_owned(), true), ("b".to_owned(), false)]);
        assert_eq!(read(r#"{"todos":"- [ ] a\n- [x] b"}"#).len(), 2);
        assert_eq!(read(r#"{"todos":["a",5,{"text":"b","done":true}]}"#).len(), 2);
    }

    #[test]
    fn check_boxes_are_read() {
        let found = boxes("- [ ] one\n  * [x] two\n1. [ ] three\n[link](a)\n- [y] no\n[ ] four");
        let open: Vec<&str> =
            found.iter().filter(|it| it.status.is_open()).map(|it| it.text.as_str()).collect();
        assert_eq!(open, ["one", "three", "four"]);
        assert_eq!(found.len(), 4);
    }
}
