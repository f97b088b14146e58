//! What a line of shell does to which files, as far as its words tell.

use super::{
    action::{Access, ActionKind, FileUse, MOST_FILES, Part, patch_files},
    flags::{head_part, name_of, pattern_of, program_of, sed_part},
    paths::resolved,
    words::{Split, Stage, Word, split},
};

/// What is told of a command at most.
const MOST_CHARS: usize = 200;

/// What a command does.
pub(super) struct Line {
    pub kind: ActionKind,
    pub files: Vec<FileUse>,
    pub text: String,
    pub folder: String,
}

/// Words as one command, quoted where they must be. Of a shell that is to run
/// a command, the command.
pub(super) fn quoted(words: &[String]) -> String {
    if let [program, flag, command] = words
        && is_shell(name_of(program))
        && is_command_flag(flag)
    {
        return command.clone();
    }
    let quoted = words.iter().map(|word| {
        let is_simple = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
        if !word.is_empty() && word.chars().all(is_simple) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Reads a command that starts in `folder`; `None` where the same words do
/// something else each time.
pub(super) fn read(command: &str, folder: &str, opened: Option<&str>) -> Option<Line> {
    let mut split = split(command);
    if let Some(inner) = command_of_shell(&split) {
        split = super::words::split(&inner);
    }
    let first = split.pipelines.first().and_then(|it| it.first());
    let first = first.and_then(|it| it.words.first()).map_or("", |it| it.text.as_str());
    if matches!(first, "scroll_up" | "scroll_down") {
        return None;
    }
    let mut reader = Reader {
        folder: Some(folder.to_owned()),
        opened,
        files: Vec::new(),
        kinds: Vec::new(),
        pattern: None,
        listed: None,
    };
    for pipeline in &split.pipelines {
        let kind = reader.pipeline(pipeline, command);
        reader.kinds.extend(kind);
    }
    let is_whole = split.is_whole && reader.files.len() <= MOST_FILES;
    let kind = reader.kind().filter(|_| is_whole).unwrap_or(ActionKind::Run);
    reader.files.truncate(MOST_FILES);
    let pattern = reader.pattern.filter(|_| kind == ActionKind::Search);
    let text = pattern.unwrap_or_else(|| command.trim().chars().take(MOST_CHARS).collect());
    let folder = reader.listed.filter(|_| kind == ActionKind::List).or(reader.folder);
    Some(Line { kind, files: reader.files, text, folder: folder.unwrap_or_default() })
}

fn command_of_shell(split: &Split) -> Option<String> {
    let [pipeline] = split.pipelines.as_slice() else { return None };
    let [Stage { words, .. }] = pipeline.as_slice() else { return None };
    let [program, flag, command] = words.as_slice() else { return None };
    let is_it = is_shell(name_of(&program.text)) && is_command_flag(&flag.text);
    is_it.then(|| command.text.clone())
}

fn is_shell(name: &str) -> bool {
    matches!(name, "bash" | "sh" | "zsh" | "dash")
}

fn is_command_flag(flag: &str) -> bool {
    matches!(flag, "-c" | "-lc" | "-ic" | "-lic")
}

struct Reader<'a> {
    /// Where it stands; `None` once nobody can tell.
    folder: Option<String>,
    opened: Option<&'a str>,
    files: Vec<FileUse>,
    kinds: Vec<ActionKind>,
    pattern: Option<String>,
    /// The folder that was listed.
    listed: Option<String>,
}

impl Reader<'_> {
    /// What all of it does, where that is one thing.
    fn kind(&self) -> Option<ActionKind> {
        let first = *self.kinds.first()?;
        let looks = |kind: &ActionKind| matches!(kind, ActionKind::Search | ActionKind::List);
        let changes = |kind: &ActionKind| matches!(kind, ActionKind::Edit | ActionKind::Write);
        let is_one = self.kinds.iter().all(|kind| *kind == first);
        if is_one {
            Some(first)
        } else if self.kinds.iter().all(looks) {
            Some(ActionKind::Search)
        } else {
            self.kinds.iter().all(changes).then_some(ActionKind::Edit)
        }
    }

    /// What a pipeline does; `None` where that is nothing to speak of.
    fn pipeline(&mut self, stages: &[Stage], command: &str) -> Option<ActionKind> {
        let (first, rest) = stages.split_first()?;
        let before = self.files.len();
        let mut kind = self.stage(first, command);
        for stage in rest {
            let (program, arguments) = program_of(&stage.words);
            match program {
                "head" | "tail" | "sort" | "uniq" | "wc" | "cut" | "tr" | "grep" | "egrep"
                | "rg" | "awk" | "sed" | "column" | "tac" | "less" | "cat" | "nl" => {
                    self.narrow(before, program, arguments);
                }
                "tee" => self.name_files(arguments, Access::Write),
                _ => kind = Some(ActionKind::Run),
            }
            self.write_into(stage);
        }
        if stages.iter().any(|stage| stage.into.iter().any(is_file)) {
            return match kind {
                None | Some(ActionKind::Read | ActionKind::Write) => {
                    // What is read goes into the file, and is not seen.
                    self.files.retain(|it| !matches!(it.access, Access::Read(_)));
                    Some(ActionKind::Write)
                }
                _ => Some(ActionKind::Run),
            };
        }
        kind
    }

    /// What a filter leaves of the files that are read before it.
    fn narrow(&mut self, from: usize, program: &str, arguments: &[Word]) {
        let part = match program {
            "cat" | "nl" => return,
            "head" => head_part(arguments),
            "sed" => sed_part(arguments),
            _ => Part::Other,
        };
        for file in self.files.iter_mut().skip(from) {
            if let Access::Read(read) = &mut file.access {
                *read = if *read == Part::Whole { part } else { Part::Other };
            }
        }
    }

    fn stage(&mut self, stage: &Stage, command: &str) -> Option<ActionKind> {
        let (program, arguments) = program_of(&stage.words);
        let kind = self.program(program, arguments, command);
        self.write_into(stage);
        kind
    }

    fn write_into(&mut self, stage: &Stage) {
        for word in stage.into.iter().filter(|it| is_file(it)) {
            self.name_file(word, Access::Write);
        }
    }

    fn program(&mut self, program: &str, arguments: &[Word], command: &str) -> Option<ActionKind> {
        let values = || arguments.iter().filter(|it| !it.text.starts_with('-'));
        match program {
            "cd" | "pushd" => {
                self.enter(values().next());
                return None;
            }
            "" | "echo" | "printf" | "true" | ":" | "set" | "export" | "pwd" | "sleep" => {
                return None;
            }
            "cat" | "bat" | "less" | "more" | "nl" | "tac" => {
                self.name_files(arguments, Access::Read(Part::Whole));
            }
            "head" | "tail" => {
                let part = if program == "head" { head_part(arguments) } else { Part::Other };
                let counted = |it: &&Word| !it.text.bytes().all(|c| c.is_ascii_digit());
                for word in values().filter(counted) {
                    self.name_file(word, Access::Read(part));
                }
            }
            "sed" => return Some(self.sed(arguments)),
            "rg" if arguments.iter().any(|it| it.text == "--files") => {
                return Some(ActionKind::List);
            }
            "grep" | "egrep" | "fgrep" | "rg" | "ag" | "search_dir" | "search_file" => {
                self.pattern = self.pattern.take().or_else(|| pattern_of(arguments));
                return Some(ActionKind::Search);
            }
            "find" | "fd" | "ls" | "tree" | "find_file" => {
                if arguments.iter().any(|it| it.text.starts_with("-exec") || it.text == "-delete") {
                    return Some(ActionKind::Run);
                }
                if program == "ls" {
                    self.list(&values().collect::<Vec<_>>());
                }
                return Some(ActionKind::List);
            }
            "open" => self.name_file(values().next()?, Access::Read(Part::Other)),
            "goto" => self.name_opened(Access::Read(Part::Other)),
            "create" => {
                self.name_file(values().next()?, Access::Write);
                return Some(ActionKind::Write);
            }
            "edit" | "insert" => {
                self.name_opened(Access::Edit);
                return Some(ActionKind::Edit);
            }
            "apply_patch" | "applypatch" => {
                let folder = self.folder.clone().unwrap_or_default();
                self.files.extend(patch_files(command, &folder));
                return Some(ActionKind::Edit);
            }
            "cp" | "mv" => {
                if let Some(into) = values().next_back() {
                    self.name_file(into, Access::Write);
                }
                return Some(ActionKind::Run);
            }
            _ => return Some(ActionKind::Run),
        }
        Some(ActionKind::Read)
    }

    fn sed(&mut self, arguments: &[Word]) -> ActionKind {
        let changes = arguments.iter().any(|it| {
            it.text.starts_with("-i") || it.text.starts_with("--in-place") || it.text == "-Ei"
        });
        let (access, kind) = if changes {
            (Access::Edit, ActionKind::Edit)
        } else {
            (Access::Read(sed_part(arguments)), ActionKind::Read)
        };
        // The first value is the script, unless a flag brought it.
        let has_script = arguments.iter().any(|it| it.text == "-e");
        let is_script = |at: usize| arguments[at - 1].text == "-e";
        let values = (0..arguments.len()).filter(|at| !arguments[*at].text.starts_with('-'));
        let files = values.filter(|at| *at == 0 || !is_script(*at));
        for at in files.skip(usize::from(!has_script)) {
            self.name_file(&arguments[at], access);
        }
        kind
    }

    fn enter(&mut self, folder: Option<&Word>) {
        let folder = folder.filter(|it| it.is_plain);
        let known = self.folder.take();
        self.folder = folder.and_then(|it| {
            let is_known = known.is_some() || super::is_absolute(&it.text);
            is_known.then(|| resolved(known.as_deref().unwrap_or_default(), &it.text)).flatten()
        });
    }

    fn list(&mut self, folders: &[&Word]) {
        let Some(here) = &self.folder else { return };
        self.listed = match folders {
            [] => Some(here.clone()),
            [one] if one.is_plain => resolved(here, &one.text),
            _ => None,
        };
    }

    fn name_files(&mut self, arguments: &[Word], access: Access) {
        for word in arguments.iter().filter(|it| !it.text.starts_with('-')) {
            self.name_file(word, access);
        }
    }

    fn name_file(&mut self, word: &Word, access: Access) {
        let path = self.folder.as_ref().and_then(|folder| resolved(folder, &word.text));
        let Some(path) = path.filter(|_| word.is_plain && self.files.len() <= MOST_FILES) else {
            return;
        };
        self.files.push(FileUse { path, access });
    }

    fn name_opened(&mut self, access: Access) {
        self.files.extend(self.opened.map(|path| FileUse { path: path.to_owned(), access }));
    }
}

fn is_file(word: &Word) -> bool {
    !word.text.starts_with("/dev/")
}
