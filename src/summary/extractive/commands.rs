//! Which commands ran, and what they came to.

use std::collections::BTreeMap;

use super::{At, outcome::Outcome};
use crate::summary::text::flat;

/// Commands that are kept apart.
const MOST: usize = 4000;
/// Longest command that is kept, in bytes.
const LONGEST: usize = 2000;

/// A command, however often it ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    /// As it was written first, on one line.
    pub text: String,
    /// Without what only says where it runs and how much of it is shown.
    pub core: String,
    /// When it ran last.
    pub at: At,
    /// How often it ran …
    pub runs: usize,
    /// … and how often it failed.
    pub failures: usize,
    /// Its newest exit code that was not zero.
    pub code: Option<i64>,
    /// What its newest failure told.
    pub line: String,
    /// Says whether it came to nothing good when it ran last.
    pub is_failing: bool,
    /// Says whether it was answered at all when it ran last.
    pub is_answered: bool,
}

impl Command {
    /// A search that found nothing fails too, and says little.
    pub(super) fn is_vain_search(&self) -> bool {
        let name = self.core.split_whitespace().next().unwrap_or_default();
        let searches =
            ["grep", "rg", "ag", "find", "which", "test", "[", "ls", "diff", "pgrep", "fd"];
        searches.contains(&name) && self.code.is_none_or(|it| it == 1)
    }
}

/// The commands of a conversation.
#[derive(Debug, Default)]
pub(super) struct Commands {
    all: Vec<Command>,
    by_core: BTreeMap<String, usize>,
    /// Those that still run, by the id they were given.
    running: BTreeMap<String, usize>,
}

impl Commands {
    /// Notes that a command ran.
    pub(super) fn ran(&mut self, script: &str, at: At, outcome: &Outcome) {
        let text = flat(script, LONGEST);
        let core = core(&text).to_owned();
        let index = match self.by_core.get(&core) {
            Some(index) => *index,
            None if self.all.len() < MOST && !core.is_empty() => {
                self.by_core.insert(core.clone(), self.all.len());
                self.all.push(Command {
                    text,
                    core,
                    at,
                    runs: 0,
                    failures: 0,
                    code: None,
                    line: String::new(),
                    is_failing: false,
                    is_answered: false,
                });
                self.all.len() - 1
            }
            None => return,
        };
        self.all[index].runs += 1;
        self.take(index, at, outcome);
    }

    /// Notes what a command that still ran came to.
    pub(super) fn polled(&mut self, id: &str, at: At, outcome: &Outcome) {
        let Some(index) = self.running.get(id).copied() else { return };
        if !matches!(outcome, Outcome::Running(_)) {
            self.take(index, at, outcome);
        }
    }

    fn take(&mut self, index: usize, at: At, outcome: &Outcome) {
        let Some(command) = self.all.get_mut(index) else { return };
        command.at = at;
        command.is_answered = !matches!(outcome, Outcome::Unanswered);
        match outcome {
            Outcome::Fine => command.is_failing = false,
            Outcome::Failed { code, line } => {
                command.failures += 1;
                command.is_failing = true;
                command.code = *code;
                command.line.clone_from(line);
            }
            Outcome::Running(id) => {
                self.running.insert(id.clone(), index);
            }
            Outcome::Declined(_) | Outcome::Unanswered => {}
        }
    }

    /// The commands, in the order in which each ran last.
    pub(super) fn into_commands(self) -> Vec<Command> {
        let mut all = self.all;
        all.sort_by_key(|it| it.at);
        all
    }
}

/// The command without `cd … &&` before it, and without redirections of errors
/// and what only shortens the output after it.
pub(super) fn core(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(rest) = text.strip_prefix("cd ") {
        let Some((_, rest)) =
            rest.split_once(" && ").filter(|(folder, _)| !folder.contains(['|', ';']))
        else {
            break;
        };
        text = rest.trim_start();
    }
    let ends = [" 2>&1", " | tail", " | head", " 2>/dev/null"];
    let end = ends.iter().filter_map(|it| text.find(it)).min().unwrap_or(text.len());
    // Something else may follow, which makes it another command.
    let rest = &text[end..];
    if rest.contains("&&") || rest.contains(';') || rest.contains("||") {
        text
    } else {
        &text[..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_of_a_command() {
        assert_eq!(core("cd /a/b && cd c && cargo test 2>&1 | tail -40"), "cargo test");
        assert_eq!(core("make | tail -3; make install"), "make | tail -3; make install");
        assert_eq!(core("cd x"), "cd x");
    }

    #[test]
    fn what_failed_first_and_passed_later_is_known() {
        let at = |seq| At { turn: 1, seq };
        let mut commands = Commands::default();
        let failed = Outcome::Failed { code: Some(1), line: "bad".to_owned() };
        commands.ran("cd a && make 2>&1 | tail -5", at(1), &failed);
        commands.ran("ls", at(2), &Outcome::Running("7".to_owned()));
        commands.ran("make", at(3), &Outcome::Fine);
        commands.polled("7", at(4), &failed);
        let all = commands.into_commands();
        assert_eq!((all[0].runs, all[0].failures, all[0].is_failing), (2, 1, false));
        assert_eq!((all[1].text.as_str(), all[1].failures, all[1].is_failing), ("ls", 1, true));
    }
}
