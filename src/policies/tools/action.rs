//! What a call does to which files: reads, changes, searches, runs.

use super::{
    ToolClass, Tools,
    arguments::{self, Arguments, first_text, is_true, list_of, number_of, patched_files, text_of},
    normalized,
    paths::resolved,
    shell,
};

/// A call that names more files says nothing about the others.
pub(super) const MOST_FILES: usize = 16;

/// What a call does, as far as its name and arguments tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// What it does as a whole.
    pub kind: ActionKind,
    /// The files that it names, with what it does to each; at most 16. A
    /// command that does several things names files whatever its kind.
    pub files: Vec<FileUse>,
    /// What is run or searched for; empty where the files say it all.
    pub text: String,
    /// The folder that relative paths of its result stand in; may be empty.
    pub folder: String,
    /// Equal for calls that ask for the same.
    pub key: [u8; 32],
    /// True where a shell runs it.
    pub is_command: bool,
}

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ActionKind {
    /// Reads files.
    Read,
    /// Changes parts of files.
    Edit,
    /// Writes whole files.
    Write,
    /// Searches in files.
    Search,
    /// Lists files.
    List,
    /// Runs a command that is none of these alone.
    Run,
}

/// What a call does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUse {
    /// The file, as far as the call tells where it lies.
    pub path: String,
    /// What is done to it.
    pub access: Access,
}

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It is read.
    Read(Part),
    /// A part of it is changed.
    Edit,
    /// It is written.
    Write,
}

/// What is read of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// From this line to that one, both included.
    Lines(u64, u64),
    /// Something else.
    Other,
}

impl Part {
    /// Says whether who reads this has read `other` too.
    #[must_use]
    pub fn covers(self, other: Self) -> bool {
        match (self, other) {
            (Self::Whole, _) => true,
            (Self::Lines(from, to), Self::Lines(first, last)) => from <= first && last <= to,
            _ => false,
        }
    }

    pub(super) fn lines(from: u64, to: u64) -> Self {
        if from <= 1 && to == u64::MAX { Self::Whole } else { Self::Lines(from, to) }
    }
}

impl Tools {
    /// What a call does; `None` where its tool is of no class that says so, or
    /// its arguments do not tell.
    ///
    /// `opened` is the file that the agent opened last: some tools work on
    /// that.
    #[must_use]
    pub fn action_of(&self, tool: &str, input_json: &[u8], opened: Option<&str>) -> Option<Action> {
        let class = self.class_of(tool)?;
        let Some(arguments) = arguments::read(input_json) else {
            let patch = std::str::from_utf8(input_json).ok()?;
            let is_edit = class == ToolClass::Edit;
            return is_edit.then(|| patch_action(patch, key_of(tool, input_json))).flatten();
        };
        let key = key_of(tool, input_json);
        match self.class_by(class, tool, &arguments) {
            ToolClass::Shell => self.command(&arguments, opened),
            ToolClass::Grep => Some(self.search(&arguments, ActionKind::Search, key)),
            ToolClass::Glob => Some(self.search(&arguments, ActionKind::List, key)),
            ToolClass::Read => {
                let access = Access::Read(part_of(&arguments));
                self.on_files(tool, &arguments, ActionKind::Read, access, opened, key)
            }
            ToolClass::Edit => {
                self.on_files(tool, &arguments, ActionKind::Edit, Access::Edit, opened, key)
            }
            ToolClass::Write => {
                self.on_files(tool, &arguments, ActionKind::Write, Access::Write, opened, key)
            }
            ToolClass::WebSearch | ToolClass::WebFetch => None,
        }
    }

    fn on_files(
        &self,
        tool: &str,
        arguments: &Arguments<'_>,
        kind: ActionKind,
        access: Access,
        opened: Option<&str>,
        key: [u8; 32],
    ) -> Option<Action> {
        let listed = || ["paths", "file_paths"].iter().find_map(|key| list_of(arguments, key));
        let named = match first_text(arguments, &self.paths.keys) {
            Some(path) => vec![path],
            None => listed().unwrap_or_default(),
        };
        let works_on_opened = || {
            let tool = normalized(tool);
            self.paths.opened.iter().any(|it| normalized(it) == tool)
        };
        if named.is_empty() {
            let patch = self.paths.patches.iter().find_map(|key| text_of(arguments, key));
            if let Some(action) = patch.and_then(|patch| patch_action(&patch, key)) {
                return Some(action);
            }
        }
        let mut files: Vec<FileUse> = named
            .iter()
            .take(MOST_FILES)
            .filter_map(|path| Some(FileUse { path: resolved("", path)?, access }))
            .collect();
        if files.is_empty() && works_on_opened() {
            files.extend(opened.map(|path| FileUse { path: path.to_owned(), access }));
        }
        (!files.is_empty() && named.len() <= MOST_FILES).then_some(Action {
            kind,
            files,
            text: String::new(),
            folder: String::new(),
            key,
            is_command: false,
        })
    }

    fn search(&self, arguments: &Arguments<'_>, kind: ActionKind, key: [u8; 32]) -> Action {
        let folder = first_text(arguments, &self.searches.folders);
        let text = first_text(arguments, &self.searches.keys);
        Action {
            kind,
            files: Vec::new(),
            text: text.or_else(|| folder.clone()).unwrap_or_default(),
            folder: folder.and_then(|it| resolved("", &it)).unwrap_or_default(),
            key,
            is_command: false,
        }
    }

    fn command(&self, arguments: &Arguments<'_>, opened: Option<&str>) -> Option<Action> {
        // What is typed into a program that runs already says nothing here.
        if is_true(arguments, "is_input") {
            return None;
        }
        let keys = &self.commands.keys;
        let words = || keys.iter().find_map(|key| list_of(arguments, key));
        let command =
            first_text(arguments, keys).or_else(|| words().map(|it| shell::quoted(&it)))?;
        let folder = first_text(arguments, &self.commands.folders);
        let folder = folder.and_then(|it| resolved("", &it)).unwrap_or_default();
        let line = shell::read(&command, &folder, opened)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"command\0").update(folder.as_bytes()).update(b"\0");
        hasher.update(command.trim().as_bytes());
        Some(Action {
            kind: line.kind,
            files: line.files,
            text: line.text,
            folder: line.folder,
            key: hasher.finalize().into(),
            is_command: true,
        })
    }
}

fn key_of(tool: &str, input_json: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"call\0").update(normalized(tool).as_bytes()).update(b"\0");
    hasher.update(input_json).finalize().into()
}

fn patch_action(patch: &str, key: [u8; 32]) -> Option<Action> {
    let files = patch_files(patch, "");
    (!files.is_empty()).then(|| Action {
        kind: ActionKind::Edit,
        files,
        text: String::new(),
        folder: String::new(),
        key,
        is_command: false,
    })
}

/// The files that a patch changes.
pub(super) fn patch_files(patch: &str, folder: &str) -> Vec<FileUse> {
    let files = patched_files(patch).filter_map(|(verb, path)| {
        let access = if verb == "Add" { Access::Write } else { Access::Edit };
        Some(FileUse { path: resolved(folder, path)?, access })
    });
    files.take(MOST_FILES).collect()
}

/// Which lines a reading call asks for.
fn part_of(arguments: &Arguments<'_>) -> Part {
    let number = |key: &str| number_of(arguments, key);
    if let Some(range) = list_of(arguments, "view_range") {
        let bound = |at: usize| range.get(at).and_then(|it| it.parse::<i64>().ok());
        return match (bound(0), bound(1)) {
            (Some(from), Some(to)) => {
                let at = |line: i64| u64::try_from(line).unwrap_or(u64::MAX);
                Part::lines(at(from), at(to))
            }
            _ => Part::Other,
        };
    }
    let (from, to) = (number("start_line"), number("end_line"));
    if from.is_some() || to.is_some() {
        return Part::lines(from.unwrap_or(1), to.unwrap_or(u64::MAX));
    }
    let (offset, limit) = (number("offset"), number("limit"));
    if offset.is_some() || limit.is_some() {
        let from = offset.unwrap_or(1);
        let to = |count: u64| from.saturating_add(count).saturating_sub(1);
        return Part::lines(from, limit.map_or(u64::MAX, to));
    }
    let is_partial = ["line_number", "pages", "offset", "limit"];
    let is_partial = is_partial.iter().any(|key| arguments.contains_key(*key));
    if is_partial { Part::Other } else { Part::Whole }
}
