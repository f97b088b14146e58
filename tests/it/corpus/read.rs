//! A recorded session as messages and context items.

use std::{
    fs::File,
    io::{BufReader, Read as _},
    path::{Path, PathBuf},
};

use concertina::{
    ingest::session::{Imported, Reader, detect},
    model::{ContextItem, Message, Role},
};

pub(crate) struct Conversation {
    pub name: String,
    pub items: Vec<ContextItem>,
    pub messages: Vec<Message>,
}

/// The folders of a corpus whose formats are read.
const FOLDERS: [&str; 8] = [
    "claude-code",
    "codex",
    "normalized",
    "openai-chat",
    "openhands",
    "pi",
    "swe-agent",
    "tau-bench",
];

/// Every recorded session of a format that is read, in a fixed order.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let folders = FOLDERS.iter().filter_map(|name| folder.join(name).read_dir().ok());
    let mut files: Vec<PathBuf> =
        folders.flat_map(|files| files.map(|file| file.unwrap().path())).collect();
    files.sort();
    files
}

fn source(path: &Path) -> Option<concertina::ingest::session::Source> {
    let mut first = Vec::new();
    File::open(path).unwrap().take(64 << 10).read_to_end(&mut first).unwrap();
    detect(&first, path.to_str().unwrap())
}

impl Conversation {
    pub(crate) fn read(path: &Path) -> Self {
        let source = source(path).unwrap_or_else(|| panic!("{} is of no format", path.display()));
        let mut out = Self {
            name: path.file_name().unwrap().to_string_lossy().into_owned(),
            items: Vec::new(),
            messages: Vec::new(),
        };
        for imported in Reader::new(source, BufReader::new(File::open(path).unwrap())) {
            match imported.unwrap() {
                Imported::Message { message, .. } => out.messages.push(*Box::new(message)),
                Imported::Item { item, .. } => out.items.push(item),
                Imported::Skipped { .. } => {}
                Imported::Damaged { line, detail } => panic!("{}:{line}: {detail}", path.display()),
            }
        }
        out
    }

    /// Where an agent would call its model: before each assistant message, and
    /// after the last message where that is not the assistant's.
    pub(crate) fn calls(&self) -> Vec<usize> {
        let is_assistant =
            |at: usize| self.messages.get(at).is_none_or(|it| it.role == Role::Assistant);
        (1..=self.messages.len())
            .filter(|at| is_assistant(*at) && self.messages[at - 1].role != Role::Assistant)
            .collect()
    }
}
