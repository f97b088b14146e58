//! Whether a summary still names a fact.
//!
//! Case, white space and quotation marks do not matter.
//!
//! * A **path** is named where it stands whole; where its last two parts stand
//!   (more, where another changed path of the segment ends in the same two), one
//!   after the other or the name after its folder in one line, as in
//!   `src/{a.rs, b.rs}`; or where a line that ends in its folder says what the
//!   paths of a list are under, and an item of the list starts with the rest.
//! * A **command** is named where its first 40 characters stand (all of them
//!   where it has fewer); or its program and the two words after that, flags
//!   aside, in this order in one line; or its start with the program and the
//!   word after that, and its end, around a mark of omission. Leading changes of
//!   folder and settings of variables do not count as the command.
//! * A **request** or a **to-do item** is named where its first 40 characters
//!   stand (all where it has fewer), or so many of its start and its end around
//!   a mark of omission; of one above 200 characters the first five words are
//!   enough.

use std::collections::BTreeSet;

const START: usize = 40;
/// … and of a start that was cut, at least.
const LEAST_START: usize = 24;
const LONG: usize = 200;
const OPENING_WORDS: usize = 5;
const OMITTED: char = '…';
/// Characters before and after an omission.
const LEAST_HEAD: usize = 6;
const LEAST_TAIL: usize = 4;

/// A summary, to be asked what it names.
pub(crate) struct Summary {
    lines: Vec<String>,
    text: String,
}

impl Summary {
    pub(crate) fn new(text: &str) -> Self {
        let lines: Vec<String> = text.lines().map(plain).collect();
        Self { text: plain(text), lines }
    }

    /// `all` are the changed paths of the segment.
    pub(crate) fn names_path(&self, path: &str, all: &BTreeSet<String>) -> bool {
        let path = plain(path.trim_start_matches("./"));
        if self.has(&path) {
            return true;
        }
        let parts: Vec<&str> = path.split('/').filter(|it| !it.is_empty()).collect();
        let others: Vec<String> = all.iter().map(|it| plain(it)).filter(|it| *it != path).collect();
        let is_shared = |end: &str| others.iter().any(|it| it.ends_with(end));
        let end = (2..=parts.len()).map(|count| parts[parts.len() - count..].join("/"));
        let Some(end) = end.into_iter().find(|end| !is_shared(&format!("/{end}"))) else {
            return false;
        };
        let (folder, name) = end.rsplit_once('/').unwrap_or(("", &end));
        let folder = format!("{folder}/");
        self.has(&end)
            || self.lines.iter().any(|line| has_after(line, &folder, name))
            || self.lists(&path)
    }

    /// Says whether a list names the path without the folder that all are under.
    fn lists(&self, path: &str) -> bool {
        let folders = self.lines.iter().filter_map(|line| line.rsplit(' ').next());
        let rests = folders.filter(|it| it.ends_with('/')).filter_map(|it| path.strip_prefix(it));
        let mut rests = rests.filter(|rest| !rest.is_empty());
        rests.any(|rest| {
            let items = self.lines.iter().filter_map(|line| line.strip_prefix("- "));
            let mut after = items.filter_map(|item| item.strip_prefix(rest));
            after.any(|it| it.is_empty() || it.starts_with([':', ',', ' ']))
        })
    }

    pub(crate) fn names_command(&self, command: &str) -> bool {
        let command = own_command(command);
        let first = command.lines().next().unwrap_or_default();
        let whole = plain(first);
        if self.has(&start(&whole)) || self.has_cut(&whole) {
            return true;
        }
        let words = plain(simple(first));
        let words: Vec<&str> = words.split(' ').filter(|it| !it.starts_with('-')).take(3).collect();
        if words.len() < 2 {
            return false;
        }
        let ends = self.omitted(&plain(command));
        let is_said = ends.is_some_and(|(head, _)| has_in_order(&head, &words[..2]));
        is_said || self.lines.iter().any(|line| has_in_order(line, &words))
    }

    pub(crate) fn names_words(&self, words: &str) -> bool {
        let all = plain(words);
        if self.has(&start(&all)) {
            return true;
        }
        if self.omitted(&all).is_some_and(|(head, tail)| count(&head) + count(&tail) >= START) {
            return true;
        }
        let opening: Vec<&str> = all.split(' ').take(OPENING_WORDS).collect();
        count(&all) > LONG && self.has(&opening.join(" "))
    }

    /// Start and end of `words`, where a line shows them with what lies between
    /// left out.
    fn omitted(&self, words: &str) -> Option<(String, String)> {
        self.lines.iter().find_map(|line| {
            let (before, after) = line.split_once(OMITTED)?;
            let (before, after) = (before.trim_end(), after.trim_start());
            let heads = (0..before.len()).filter_map(|at| before.get(at..));
            let head = heads.into_iter().find(|head| words.starts_with(head))?;
            let tails = (head.len()..words.len()).filter_map(|at| words.get(at..));
            let tail = tails.into_iter().find(|tail| after.starts_with(tail))?;
            let is_enough = count(head) >= LEAST_HEAD && count(tail) >= LEAST_TAIL;
            is_enough.then(|| (head.to_owned(), tail.to_owned()))
        })
    }

    /// Says whether a start of the words stands there before an ellipsis.
    fn has_cut(&self, words: &str) -> bool {
        let start = |len: usize| words.chars().take(len).collect::<String>();
        (LEAST_START..START).any(|len| self.text.contains(&format!("{}…", start(len))))
    }

    /// Says whether the words stand there, not as part of longer ones.
    fn has(&self, words: &str) -> bool {
        is_in(&self.text, words).is_some()
    }
}

/// Lower case, single blanks, no quotation marks.
fn plain(text: &str) -> String {
    let is_quote = |it: &char| matches!(it, '"' | '\'' | '`' | '“' | '”' | '‘' | '’' | '\\');
    let text: String = text.chars().filter(|it| !is_quote(it)).collect::<String>().to_lowercase();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn count(text: &str) -> usize {
    text.chars().count()
}

/// The first characters, without a blank at their end.
fn start(text: &str) -> String {
    text.chars().take(START).collect::<String>().trim_end().to_owned()
}

/// Where `words` end in `text`; a whole start that was cut may go on.
fn is_in(text: &str, words: &str) -> Option<usize> {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let is_cut = count(words) + 1 >= START;
    let mut from = 0;
    while let Some(at) = text[from..].find(words).map(|at| from + at) {
        let end = at + words.len();
        let before = text[..at].chars().next_back().is_some_and(is_word);
        let after = text[end..].chars().next().is_some_and(is_word);
        let starts_inside = before && words.chars().next().is_some_and(is_word);
        let ends_inside = after && words.chars().next_back().is_some_and(is_word) && !is_cut;
        if !words.is_empty() && !starts_inside && !ends_inside {
            return Some(end);
        }
        from = at + text[at..].chars().next().map_or(1, char::len_utf8);
        if from >= text.len() {
            break;
        }
    }
    None
}

/// Says whether `name` stands somewhere after `folder`.
fn has_after(line: &str, folder: &str, name: &str) -> bool {
    is_in(line, folder).is_some_and(|end| is_in(&line[end..], name).is_some())
}

fn has_in_order(line: &str, words: &[&str]) -> bool {
    let mut rest = line;
    words.iter().all(|word| match is_in(rest, word) {
        Some(end) => {
            rest = &rest[end..];
            true
        }
        None => false,
    })
}

/// The first of what a line runs, without where its output goes.
fn simple(line: &str) -> &str {
    let end = line.find(['|', ';', '>', '<']).unwrap_or(line.len());
    let first = line[..end].split(" && ").next().unwrap_or_default();
    // The number of what is redirected.
    match first.strip_suffix([' ', '1', '2']) {
        Some(rest) if line[first.len()..].starts_with('>') && rest.ends_with(' ') => rest,
        _ => first,
    }
}

/// A command without what only says where and with which variables it runs.
fn own_command(command: &str) -> &str {
    let mut command = command.trim();
    loop {
        let rest = if command.starts_with("cd ") {
            let border = [" && ", "; ", "\n"]
                .iter()
                .filter_map(|it| command.find(it).map(|at| &command[at + it.len()..]));
            border.max_by_key(|rest| rest.len())
        } else {
            let (word, rest) = command.split_once(' ').unwrap_or((command, ""));
            let is_variable = word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || it == '_')
            });
            is_variable.then_some(rest)
        };
        match rest {
            Some(rest) if !rest.trim().is_empty() => command = rest.trim(),
            _ => return command,
        }
    }
}
