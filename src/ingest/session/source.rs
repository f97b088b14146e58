//! Which program wrote a file, and how it is laid out.

use std::fmt;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Source {
    /// Who wrote it.
    pub format: SourceFormat,
    /// One document or many lines.
    pub layout: Layout,
}

/// Who wrote a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SourceFormat {
    /// Claude Code's session log.
    ClaudeCode,
    /// A rollout of the Codex CLI.
    Codex,
    /// Events of the `OpenHands` agent SDK.
    OpenHands,
    /// A session of the pi coding agent.
    Pi,
    /// A trajectory of SWE-agent.
    SweAgent,
    /// A trajectory of tau-bench.
    TauBench,
    /// OpenAI Chat messages, alone or with what was asked and answered.
    OpenAiChat,
    /// Anthropic messages, alone, in a request, or as records with `ts`,
    /// `usage` and `meta`.
    Anthropic,
}

impl SourceFormat {
    /// All of them, with their names on the command line.
    pub const ALL: [(Self, &str); 8] = [
        (Self::ClaudeCode, "claude-code"),
        (Self::Codex, "codex"),
        (Self::OpenHands, "openhands"),
        (Self::Pi, "pi"),
        (Self::SweAgent, "swe-agent"),
        (Self::TauBench, "tau-bench"),
        (Self::OpenAiChat, "openai-chat"),
        (Self::Anthropic, "anthropic"),
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(it, _)| *it == self).map_or("", |(_, name)| *name)
    }

    /// The format of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, it)| *it == name).map(|(format, _)| *format)
    }
}

impl fmt::Display for SourceFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a file is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layout {
    /// One JSON value a line.
    Lines,
    /// One JSON value.
    Document,
}
