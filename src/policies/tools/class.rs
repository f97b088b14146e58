//! The classes that policies tell tools apart by.

use serde::{Deserialize, Serialize};

/// What a tool does, as far as policies tell tools apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolClass {
    /// Reads a file.
    Read,
    /// Runs commands.
    Shell,
    /// Searches in files.
    Grep,
    /// Searches for files.
    Glob,
    /// Searches the web.
    WebSearch,
    /// Reads a page of the web.
    WebFetch,
    /// Changes a part of a file.
    Edit,
    /// Writes a whole file.
    Write,
}

impl ToolClass {
    /// Every class.
    pub const ALL: [Self; 8] = [
        Self::Read,
        Self::Shell,
        Self::Grep,
        Self::Glob,
        Self::WebSearch,
        Self::WebFetch,
        Self::Edit,
        Self::Write,
    ];

    /// Its name, as a policy spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Shell => "shell",
            Self::Grep => "grep",
            Self::Glob => "glob",
            Self::WebSearch => "web_search",
            Self::WebFetch => "web_fetch",
            Self::Edit => "edit",
            Self::Write => "write",
        }
    }

    /// The class of that name; names are compared exactly, so that `Read` in a
    /// policy is one tool and `read` is all that read.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}
