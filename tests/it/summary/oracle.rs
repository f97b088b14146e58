//! What a segment holds, found in another and simpler way than the summarizer
//! finds it: by looking at the arguments that name files and at the marks that
//! failures bear.

use std::{collections::BTreeSet, fmt};

use concertina::{
    model::{BlockKind, Role, ToolOutput, ToolResult},
    summary::{Material, MaterialRound},
};
use serde_json::Value;

/// What should be found in a summary.
#[derive(Debug, Default)]
pub(crate) struct Expected {
    pub(crate) paths: BTreeSet<String>,
    pub(crate) requests: Vec<String>,
    pub(crate) commands: BTreeSet<String>,
}

const WRITERS: [&str; 14] = [
    "edit",
    "write",
    "multiedit",
    "notebookedit",
    "create",
    "write_file",
    "edit_file",
    "replace",
    "insert",
    "str_replace_editor",
    "file_editor",
    "str_replace_based_edit_tool",
    "create_file",
    "save_file",
];

pub(crate) fn expected(material: &Material) -> Expected {
    let mut out = Expected::default();
    let mut seen = BTreeSet::new();
    for round in &material.rounds {
        for row in &round.rows {
            if !seen.insert(row.seq) {
                continue;
            }
            for (index, block) in row.message.blocks.iter().enumerate() {
                match &block.kind {
                    BlockKind::Text(text) if row.message.role == Role::User => {
                        out.requests.extend(request(&text.text));
                    }
                    BlockKind::ToolUse(call) => {
                        look(
                            &call.name,
                            &call.input_json,
                            answer(round, row.seq.0, index),
                            &mut out,
                        );
                    }
                    _ => {}
                }
            }
        }
    }
    out
}

/// A person's words.
fn request(text: &str) -> Option<String> {
    let text = text.trim();
    let by_program = text.is_empty()
        || text.starts_with('<')
        || text.starts_with("# AGENTS.md")
        || text.starts_with("[Request interrupted")
        || text.starts_with("Base directory for this skill")
        || text.starts_with("This session is being continued")
        || text.contains("(Open file: ");
    (!by_program).then(|| text.to_owned())
}

fn answer(round: &MaterialRound, seq: i64, block: usize) -> Option<&ToolResult> {
    let call = round.calls.iter().find(|it| it.call.0.0 == seq && it.call.1 as usize == block)?;
    let (seq, block) = call.answer?;
    let row = round.rows.iter().find(|row| row.seq == seq)?;
    match &row.message.blocks.get(block as usize)?.kind {
        BlockKind::ToolResult(result) => Some(result),
        _ => None,
    }
}

fn look(name: &str, input_json: &[u8], answer: Option<&ToolResult>, out: &mut Expected) {
    let input: Value = serde_json::from_slice(input_json).unwrap_or_default();
    let text = answer.map(words).unwrap_or_default();
    let has_failed =
        answer.is_some_and(|it| it.is_error) || exit_code(&text).is_some_and(|it| it != 0);
    let lower = name.to_lowercase();
    let is_view = input.get("command").and_then(Value::as_str) == Some("view");
    if WRITERS.contains(&lower.as_str()) && !is_view && !has_failed {
        let keys = ["file_path", "path", "filename", "notebook_path"];
        let path = keys.iter().find_map(|key| input.get(*key)?.as_str());
        out.paths.extend(path.map(|it| it.trim_start_matches("./").to_owned()));
    }
    let raw = String::from_utf8_lossy(input_json);
    let texts = input.as_object().into_iter().flat_map(|it| it.values()).filter_map(Value::as_str);
    for line in texts.chain(input.is_null().then_some(&*raw)).flat_map(str::lines) {
        let marks = ["*** Add File: ", "*** Update File: ", "*** Delete File: "];
        let patched = marks.iter().find_map(|mark| line.strip_prefix(mark));
        let written = line.strip_prefix("cat > ").filter(|it| it.contains(" <<"));
        let written = written.and_then(|it| it.split_whitespace().next());
        out.paths
            .extend(patched.or(written).filter(|_| !has_failed).map(|it| it.trim().to_owned()));
    }
    let command = ["command", "cmd"].iter().find_map(|key| input.get(*key));
    let command = match command {
        Some(Value::String(text)) if !WRITERS.contains(&lower.as_str()) => text.clone(),
        Some(Value::Array(words)) => {
            words.last().and_then(Value::as_str).unwrap_or_default().to_owned()
        }
        _ => return,
    };
    let is_declined = text.starts_with("The user doesn't want") || text.starts_with("[no result");
    if has_failed && !is_declined {
        out.commands.insert(command);
    }
}

fn words(result: &ToolResult) -> String {
    let parts = result.output.iter().filter_map(|part| match part {
        ToolOutput::Text(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    });
    parts.collect::<Vec<_>>().join("\n")
}

/// The code of the first head line or the last tail line that tells one.
fn exit_code(text: &str) -> Option<i64> {
    let lines: Vec<&str> = text.lines().collect();
    let near = lines.iter().take(4).chain(lines.iter().rev().take(4));
    near.filter(|line| line.len() < 80).find_map(|line| {
        let lower = line.to_lowercase();
        let keys = ["exit code: ", "exit code ", "exited with code "];
        let rest = keys.iter().find_map(|key| Some(lower.split_once(key)?.1.to_owned()))?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    })
}

/// How many of what was expected a summary names, and how many there are.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Share {
    pub(crate) named: usize,
    pub(crate) of: usize,
}

impl Share {
    pub(crate) fn count(&mut self, is_named: bool) {
        self.named += usize::from(is_named);
        self.of += 1;
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.named += other.named;
        self.of += other.of;
    }

    pub(crate) fn percent(self) -> usize {
        (self.named * 100).checked_div(self.of).unwrap_or(100)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} % of {}", self.percent(), self.of)
    }
}

/// A path is named where it stands, or where it can be put together: from the
/// line that says which directory paths are under, and from `folder/{a, b}`.
pub(crate) fn names_path(summary: &str, path: &str) -> bool {
    if summary.contains(path) {
        return true;
    }
    let root =
        summary.lines().find_map(|line| line.split_once("paths are under ")).map_or("", |it| it.1);
    let Some(path) = path.strip_prefix(root.trim()) else { return false };
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let lines = || summary.lines().map(|line| line.trim_start_matches("- "));
    let is_one = |it: &str| {
        it == name || it.starts_with(&format!("{name} ")) || it.starts_with(&format!("{name}:"))
    };
    lines().any(|line| {
        let names =
            if folder.is_empty() { Some(line) } else { line.strip_prefix(&format!("{folder}/{{")) };
        line.contains(&format!("{path}:"))
            || names.is_some_and(|it| it.trim_end_matches('}').split(", ").any(is_one))
    })
}

/// A request is named where its first words stand.
pub(crate) fn names_request(summary: &str, request: &str) -> bool {
    let plain =
        |text: &str| text.replace('"', "'").split_whitespace().collect::<Vec<_>>().join(" ");
    let words: Vec<String> = plain(request).split(' ').take(4).map(str::to_owned).collect();
    let start: String = words.join(" ").chars().take(20).collect();
    plain(summary).contains(&start)
}

/// A command is named where the start of what it runs stands.
pub(crate) fn names_command(summary: &str, command: &str) -> bool {
    let mut command = command.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'");
    while let Some((folder, rest)) =
        command.split_once(" && ").filter(|(it, _)| it.starts_with("cd "))
    {
        let _ = folder;
        command = rest.to_owned();
    }
    let start: String = command.chars().take(16).collect();
    summary.contains(start.trim())
}
