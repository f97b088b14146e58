//! Which tools are of a class, which file a call names, and what it does.
//!
//! A policy speaks of classes; agents call the same thing by different names.
//! The table between them is `tools.toml`. The functions of this module ask
//! the embedded one. [`Tools::action_of`] is the one place that reads what a
//! call's arguments say.

mod action;
mod arguments;
mod class;
mod flags;
mod paths;
mod shell;
mod words;

use std::{
    collections::{BTreeMap, HashMap},
    sync::LazyLock,
};

use serde::Deserialize;

use self::arguments::{Arguments, first_text, patched_file, text_of};
pub use self::{
    action::{Access, Action, ActionKind, FileUse, Part},
    class::ToolClass,
    paths::is_absolute,
};

static EMBEDDED: LazyLock<Tools> = LazyLock::new(|| {
    // A test holds that the embedded text can be read.
    Tools::from_toml(include_str!("../../../tools.toml")).unwrap_or_default()
});

/// The table of aliases.
#[derive(Debug, Clone, Default)]
pub struct Tools {
    /// By normalized name.
    classes: HashMap<String, ToolClass>,
    split: Split,
    paths: Paths,
    commands: Keys,
    searches: Keys,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    classes: BTreeMap<ToolClass, Vec<String>>,
    #[serde(default)]
    split: Split,
    #[serde(default)]
    paths: Paths,
    #[serde(default)]
    commands: Keys,
    #[serde(default)]
    searches: Keys,
}

/// Tools whose `command` argument says what a call does.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Split {
    #[serde(default)]
    tools: Vec<String>,
    #[serde(default)]
    read: Vec<String>,
    #[serde(default)]
    write: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Paths {
    #[serde(default)]
    keys: Vec<String>,
    #[serde(default)]
    patches: Vec<String>,
    #[serde(default)]
    opened: Vec<String>,
}

/// The arguments that say what is asked for, and from which folder.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    #[serde(default)]
    keys: Vec<String>,
    #[serde(default)]
    folders: Vec<String>,
}

/// What is wrong with a table of aliases.
#[derive(Debug, thiserror::Error)]
pub enum ToolsError {
    /// Not of the table's shape.
    #[error("the table of tools cannot be read")]
    Shape(#[from] toml::de::Error),
    /// One name, two classes.
    #[error("`{0}` is of two classes")]
    TwoClasses(String),
}

impl Tools {
    /// The one that is compiled in.
    #[must_use]
    pub fn embedded() -> &'static Self {
        &EMBEDDED
    }

    /// Reads a table of the shape of `tools.toml`.
    ///
    /// # Errors
    ///
    /// [`ToolsError`] where it is of another shape, or a name is of two classes.
    pub fn from_toml(text: &str) -> Result<Self, ToolsError> {
        let mut file: File = toml::from_str(text)?;
        let mut classes = HashMap::new();
        for (class, names) in &file.classes {
            for name in names {
                let before = classes.insert(normalized(name), *class);
                if before.is_some_and(|before| before != *class) {
                    return Err(ToolsError::TwoClasses(name.clone()));
                }
            }
        }
        for name in &mut file.split.tools {
            *name = normalized(name);
        }
        let File { split, paths, commands, searches, .. } = file;
        Ok(Self { classes, split, paths, commands, searches })
    }

    /// Reads a table whose names go before those of the embedded one; it may
    /// hold as little as one name.
    ///
    /// # Errors
    ///
    /// As [`Tools::from_toml`].
    pub fn over_embedded(text: &str) -> Result<Self, ToolsError> {
        let (own, mut tools) = (Self::from_toml(text)?, Self::embedded().clone());
        tools.classes.extend(own.classes);
        tools.split.tools.extend(own.split.tools);
        tools.split.read.extend(own.split.read);
        tools.split.write.extend(own.split.write);
        tools.paths.keys.splice(0..0, own.paths.keys);
        tools.paths.patches.splice(0..0, own.paths.patches);
        tools.paths.opened.extend(own.paths.opened);
        for (keys, own) in
            [(&mut tools.commands, own.commands), (&mut tools.searches, own.searches)]
        {
            keys.keys.splice(0..0, own.keys);
            keys.folders.splice(0..0, own.folders);
        }
        Ok(tools)
    }

    /// The class of a tool; `None` where it is of none.
    #[must_use]
    pub fn class_of(&self, tool: &str) -> Option<ToolClass> {
        self.classes.get(&normalized(tool)).copied()
    }

    /// The class of one call: of a tool that does several things, what this
    /// call does.
    #[must_use]
    pub fn class_of_call(&self, tool: &str, input_json: &[u8]) -> Option<ToolClass> {
        let class = self.class_of(tool)?;
        let arguments = arguments::read(input_json);
        Some(arguments.map_or(class, |it| self.class_by(class, tool, &it)))
    }

    fn class_by(&self, class: ToolClass, tool: &str, arguments: &Arguments<'_>) -> ToolClass {
        if !self.split.tools.contains(&normalized(tool)) {
            return class;
        }
        match text_of(arguments, "command") {
            Some(command) if self.split.read.contains(&command) => ToolClass::Read,
            Some(command) if self.split.write.contains(&command) => ToolClass::Write,
            _ => class,
        }
    }

    /// Says whether a policy's list of classes and tool names has this tool.
    #[must_use]
    pub fn selects(&self, list: &[String], tool: &str) -> bool {
        let class = self.class_of(tool);
        list.iter().any(|entry| match ToolClass::from_name(entry) {
            Some(named) => class == Some(named),
            None => normalized(entry) == normalized(tool),
        })
    }

    /// What a policy's table of classes and tool names holds for this tool; the
    /// tool's own name goes before its class.
    #[must_use]
    pub fn lookup<T: Copy>(&self, table: &BTreeMap<String, T>, tool: &str) -> Option<T> {
        let own = table.iter().find(|(name, _)| {
            ToolClass::from_name(name).is_none() && normalized(name) == normalized(tool)
        });
        let by_class = || table.get(self.class_of(tool)?.name());
        own.map(|(_, value)| value).or_else(by_class).copied()
    }

    /// The file that a reading, editing or writing call names; of a patch, the
    /// first.
    #[must_use]
    pub fn path_of(&self, tool: &str, input_json: &[u8]) -> Option<String> {
        use ToolClass::{Edit, Read, Write};
        if !matches!(self.class_of(tool), Some(Read | Edit | Write)) {
            return None;
        }
        let Some(arguments) = arguments::read(input_json) else {
            // Some agents' patches come as they are, not as JSON.
            return std::str::from_utf8(input_json).ok().and_then(patched_file);
        };
        let patched = |key| text_of(&arguments, key).as_deref().and_then(patched_file);
        let named = first_text(&arguments, &self.paths.keys);
        named.or_else(|| self.paths.patches.iter().find_map(|key| patched(key)))
    }
}

/// [`Tools::class_of`] of the embedded table.
#[must_use]
pub fn class_of(tool: &str) -> Option<ToolClass> {
    Tools::embedded().class_of(tool)
}

/// [`Tools::selects`] of the embedded table.
#[must_use]
pub fn selects(list: &[String], tool: &str) -> bool {
    Tools::embedded().selects(list, tool)
}

/// [`Tools::path_of`] of the embedded table.
#[must_use]
pub fn path_of(tool: &str, input_json: &[u8]) -> Option<String> {
    Tools::embedded().path_of(tool, input_json)
}

/// [`Tools::action_of`] of the embedded table.
#[must_use]
pub fn action_of(tool: &str, input_json: &[u8], opened: Option<&str>) -> Option<Action> {
    Tools::embedded().action_of(tool, input_json, opened)
}

fn normalized(name: &str) -> String {
    let name = name.strip_prefix("functions.").unwrap_or(name);
    name.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r44_the_eight_classes_know_each_agents_names() {
        use ToolClass as C;
        let cases = [
            (C::Read, ["Read", "read_file", "view", "open", "FileRead", "read-file"]),
            (
                C::Shell,
                [
                    "Bash",
                    "exec_command",
                    "run_shell_command",
                    "terminal",
                    "bash",
                    "functions.shell",
                ],
            ),
            (C::Grep, ["Grep", "search_file_content", "rg", "search_files", "grep", "search_dir"]),
            (C::Glob, ["Glob", "find_file", "list_dir", "ls", "glob", "list_directory"]),
            (
                C::WebSearch,
                [
                    "WebSearch",
                    "google_web_search",
                    "web_search",
                    "web_search_call",
                    "search_web",
                    "WEB_SEARCH",
                ],
            ),
            (
                C::WebFetch,
                ["WebFetch", "web_fetch", "fetch", "web_browser_go", "fetch_url", "open_url"],
            ),
            (
                C::Edit,
                ["Edit", "apply_patch", "str_replace_editor", "replace", "file_editor", "insert"],
            ),
            (C::Write, ["Write", "write_file", "create", "write", "FileWrite", "create_file"]),
        ];
        for (class, names) in cases {
            for name in names {
                assert_eq!(class_of(name), Some(class), "{name}");
            }
        }
        for name in [
            "",
            "Task",
            "calculate",
            "mcp__linear-server__create",
            "AskUserQuestion",
            "update_plan",
            "think",
        ] {
            assert_eq!(class_of(name), None, "{name}");
        }
    }

    #[test]
    fn a_list_selects_by_class_and_by_name() {
        let list = |entries: &[&str]| entries.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(selects(&list(&["read"]), "view"));
        assert!(!selects(&list(&["Read"]), "view"));
        assert!(selects(&list(&["Read"]), "read"));
        assert!(selects(&list(&["shell", "mcp__db__query"]), "mcp__db__query"));
        assert!(!selects(&list(&["shell"]), "mcp__db__query"));
        assert!(!selects(&[], "Read"));
    }

    #[test]
    fn a_tools_own_limit_goes_before_its_classs() {
        let table = BTreeMap::from([("shell".to_owned(), 1), ("exec_command".to_owned(), 2)]);
        let tools = Tools::embedded();
        assert_eq!(tools.lookup(&table, "Bash"), Some(1));
        assert_eq!(tools.lookup(&table, "exec_command"), Some(2));
        assert_eq!(tools.lookup(&table, "Read"), None);
    }

    #[test]
    fn the_file_of_a_call_is_found_under_each_agents_key() {
        let cases = [
            ("Read", r#"{"file_path":"a.rs","limit":3}"#, Some("a.rs")),
            ("read", r#"{"path":"\u00e9.rs"}"#, Some("é.rs")),
            ("read_file", r#"{"absolute_path":"/x"}"#, Some("/x")),
            ("create", r#"{"filename":"n.py"}"#, Some("n.py")),
            ("str_replace_editor", r#"{"command":"view","path":"v"}"#, Some("v")),
            ("Edit", r#"{"old_string":"x","file_path":"e","new_string":"\ud800"}"#, Some("e")),
            ("apply_patch", "*** Begin Patch\n*** Update File: src/a.rs\n@@\n", Some("src/a.rs")),
            ("apply_patch", r#"{"input":"*** Begin Patch\n*** Add File: b\n+x"}"#, Some("b")),
            ("apply_patch", r#"{"input":"nothing"}"#, None),
            ("Read", r#"{"path":["a"],"file":"b"}"#, Some("b")),
            ("Read", r#"{"path":""}"#, None),
            ("Read", r#"{"path":"cut"#, None),
            ("Read", r#"["path"]"#, None),
            ("Bash", r#"{"path":"x"}"#, None),
            ("Task", r#"{"path":"x"}"#, None),
        ];
        for (tool, input, path) in cases {
            assert_eq!(path_of(tool, input.as_bytes()).as_deref(), path, "{tool} {input}");
        }
        assert_eq!(path_of("Read", b"\xff\xfe"), None);
    }

    #[test]
    fn the_command_says_what_an_editor_does() {
        let tools = Tools::embedded();
        let of = |input: &str| tools.class_of_call("file_editor", input.as_bytes());
        assert_eq!(of(r#"{"command":"view","path":"a"}"#), Some(ToolClass::Read));
        assert_eq!(of(r#"{"command":"create","path":"a"}"#), Some(ToolClass::Write));
        assert_eq!(of(r#"{"command":"str_replace","path":"a"}"#), Some(ToolClass::Edit));
        assert_eq!(of("{"), Some(ToolClass::Edit));
        assert_eq!(tools.class_of_call("Bash", br#"{"command":"view"}"#), Some(ToolClass::Shell));
    }

    #[test]
    fn a_table_of_ones_own_goes_before() {
        let own =
            "[classes]\nread = [\"peek\"]\nwrite = [\"apply_patch\"]\n[paths]\nkeys = [\"where\"]";
        let tools = Tools::over_embedded(own).unwrap();
        assert_eq!(tools.class_of("Peek"), Some(ToolClass::Read));
        assert_eq!(tools.class_of("apply_patch"), Some(ToolClass::Write));
        assert_eq!(tools.class_of("Bash"), Some(ToolClass::Shell));
        let path = tools.path_of("peek", br#"{"path":"a","where":"b"}"#);
        assert_eq!(path.as_deref(), Some("b"));
    }

    #[test]
    fn a_table_with_a_name_of_two_classes_is_refused() {
        let text = "[classes]\nread = [\"x\"]\nedit = [\"X\"]";
        assert!(matches!(Tools::from_toml(text), Err(ToolsError::TwoClasses(name)) if name == "X"));
        assert!(matches!(Tools::from_toml("[classes]\nsing = []"), Err(ToolsError::Shape(_))));
    }
}
