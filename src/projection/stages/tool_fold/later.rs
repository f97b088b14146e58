//! What later work made of a result.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use super::Done;
use crate::{
    model::Seq,
    policies::tools::{Access, ActionKind, FileUse, Part, is_absolute},
};

/// Later readings of a file that are looked at, newest first.
const MOST_READINGS: usize = 16;
/// Other names of a file that are looked at.
const MOST_NAMES: usize = 8;
/// Hits of a search that are looked at.
const MOST_HITS: usize = 4096;

/// The later call that used a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Used {
    /// The message that holds it.
    pub call: Seq,
    /// What it did with it.
    pub how: How,
    /// The file, where the result is of a search.
    pub file: Option<String>,
}

/// What later work did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// It changed the file.
    Edited,
    /// It wrote the file anew.
    Written,
    /// It read the file.
    Read,
    /// It asked for the same again.
    Again,
}

/// What the shown calls did with which files, and which they made again.
pub(super) struct Later<'a> {
    files: HashMap<&'a str, Uses>,
    /// Names of files by their last two parts: one file may be called by an
    /// absolute and by a relative path.
    names: HashMap<&'a str, Vec<&'a str>>,
    /// Last parts of the files' paths: most that a search finds is none of them.
    last_parts: HashSet<&'a str>,
    /// The newest call that asks for the same.
    again: HashMap<[u8; 32], Seq>,
}

/// What calls that did not fail did with a file, by message.
#[derive(Default)]
struct Uses {
    changes: Vec<(Seq, How)>,
    readings: Vec<Reading>,
}

struct Reading {
    call: Seq,
    part: Part,
    key: [u8; 32],
    is_reduced: bool,
}

impl<'a> Later<'a> {
    pub(super) fn of(done: &'a [Done]) -> Self {
        let mut out = Self {
            files: HashMap::new(),
            names: HashMap::new(),
            last_parts: HashSet::new(),
            again: HashMap::new(),
        };
        for it in done {
            let newest = out.again.entry(it.action.key).or_insert(it.call);
            *newest = it.call.max(*newest);
            if it.outcome.is_failed {
                continue;
            }
            for file in &it.action.files {
                out.note(it, file);
            }
        }
        for uses in out.files.values_mut() {
            uses.changes.sort_unstable_by_key(|(call, _)| *call);
            uses.readings.sort_unstable_by_key(|it| it.call);
        }
        out
    }

    fn note(&mut self, done: &Done, file: &'a FileUse) {
        let path = file.path.as_str();
        self.last_parts.insert(last_part(path));
        if !self.files.contains_key(path)
            && let Some(name) = short_name(path)
        {
            self.names.entry(name).or_default().push(path);
        }
        let uses = self.files.entry(path).or_default();
        match file.access {
            Access::Edit => uses.changes.push((done.call, How::Edited)),
            Access::Write => uses.changes.push((done.call, How::Written)),
            Access::Read(part) => uses.readings.push(Reading {
                call: done.call,
                part,
                key: done.action.key,
                is_reduced: done.is_reduced,
            }),
        }
    }

    /// The later call that used what `it` came to; `None` where none did.
    pub(super) fn use_of(&self, it: &Done) -> Option<Used> {
        match it.action.kind {
            ActionKind::Read => all_files(it, |file| {
                self.changed(&file.path, it.at.0).or_else(|| self.read_again(it, file))
            }),
            ActionKind::Edit | ActionKind::Write => all_files(it, |file| {
                let changed = self.changed(&file.path, it.at.0);
                let read = self.read(&file.path, it.at.0);
                [changed, read].into_iter().flatten().min_by_key(|used| used.call)
            }),
            ActionKind::Search | ActionKind::List => self.opened(it).or_else(|| self.again(it)),
            ActionKind::Run => self.again(it),
        }
    }

    fn again(&self, it: &Done) -> Option<Used> {
        let call = *self.again.get(&it.action.key)?;
        (call > it.at.0).then_some(Used { call, how: How::Again, file: None })
    }

    /// The first change of a file after a row.
    fn changed(&self, path: &str, after: Seq) -> Option<Used> {
        let first = |uses: &Uses| {
            let at = uses.changes.partition_point(|(call, _)| *call <= after);
            uses.changes.get(at).copied()
        };
        let first = self.uses(path).filter_map(first).min_by_key(|(call, _)| *call);
        first.map(|(call, how)| Used { call, how, file: None })
    }

    /// The first reading of a file after a row.
    fn read(&self, path: &str, after: Seq) -> Option<Used> {
        let first = |uses: &Uses| {
            let at = uses.readings.partition_point(|it| it.call <= after);
            uses.readings.get(at).map(|it| it.call)
        };
        let call = self.uses(path).filter_map(first).min()?;
        Some(Used { call, how: How::Read, file: None })
    }

    /// The newest reading that shows what `it` shows.
    fn read_again(&self, it: &Done, file: &FileUse) -> Option<Used> {
        let Access::Read(part) = file.access else { return None };
        let shows = |reading: &&Reading| {
            let is_same = reading.key == it.action.key || reading.part.covers(part);
            is_same && (!reading.is_reduced || it.is_reduced)
        };
        let newest = |uses: &Uses| {
            let newest_first = uses.readings.iter().rev().take(MOST_READINGS);
            newest_first.take_while(|reading| reading.call > it.at.0).find(shows).map(|it| it.call)
        };
        let call = self.uses(&file.path).filter_map(newest).max()?;
        Some(Used { call, how: How::Read, file: None })
    }

    /// The first use of a file that a search found.
    fn opened(&self, it: &Done) -> Option<Used> {
        let mut first: Option<Used> = None;
        let mut left = MOST_HITS;
        for text in it.words() {
            for hit in text.lines().flat_map(hits).take(left) {
                left -= 1;
                if !self.last_parts.contains(last_part(hit)) {
                    continue;
                }
                let paths = [join(&it.action.folder, hit), Cow::Borrowed(hit)];
                let found = paths.iter().filter_map(|path| self.first_use(path, it.at.0));
                first = found.chain(first.take()).min_by_key(|use_of| use_of.call);
            }
        }
        first
    }

    /// The first use of a file after a row, with its name.
    fn first_use(&self, path: &str, after: Seq) -> Option<Used> {
        let both = [self.changed(path, after), self.read(path, after)];
        let first = both.into_iter().flatten().min_by_key(|it| it.call)?;
        Some(Used { file: Some(path.to_owned()), ..first })
    }

    /// What was done with a file, under each of its names.
    fn uses(&self, path: &str) -> impl Iterator<Item = &Uses> {
        let own = self.files.get(path);
        let names = short_name(path).and_then(|name| self.names.get(name));
        let others = names.into_iter().flatten().take(MOST_NAMES);
        let others = others.filter(move |name| is_same_file(name, path));
        own.into_iter().chain(others.filter_map(|name| self.files.get(name)))
    }
}

/// Of a call on several files, each has to be used; the last use counts.
fn all_files(it: &Done, use_of: impl Fn(&FileUse) -> Option<Used>) -> Option<Used> {
    if it.action.kind == ActionKind::Read && !it.is_reading() {
        return None;
    }
    let all: Option<Vec<Used>> = it.action.files.iter().map(use_of).collect();
    all?.into_iter().max_by_key(|it| it.call)
}

/// Says whether one path is the other as seen from some folder.
fn is_same_file(one: &str, other: &str) -> bool {
    let (long, short) = match (is_absolute(one), is_absolute(other)) {
        (true, false) => (one, other),
        (false, true) => (other, one),
        _ => return false,
    };
    long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'))
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The last two parts of a path; a name alone says too little.
fn short_name(path: &str) -> Option<&str> {
    let name = path.rfind('/').filter(|at| *at > 0)?;
    let start = path[..name].rfind('/').map_or(0, |at| at + 1);
    (start < name).then(|| &path[start..])
}

/// The paths that a line of a search's result may name: what stands before its
/// first colon, and its last word.
fn hits(line: &str) -> impl Iterator<Item = &str> {
    let line = line.trim().trim_start_matches("./");
    let before = line.split(':').next().unwrap_or(line);
    let last = line.rsplit([' ', '\t']).next().unwrap_or(line).trim_start_matches("./");
    let is_other = last.len() < before.len();
    let hits = [Some(before), Some(last).filter(|_| is_other)];
    hits.into_iter().flatten().filter(|hit| !hit.is_empty() && hit.len() < 1024)
}

fn join<'a>(folder: &str, hit: &'a str) -> Cow<'a, str> {
    if folder.is_empty() || folder == "." || is_absolute(hit) {
        Cow::Borrowed(hit)
    } else {
        Cow::Owned(format!("{}/{hit}", folder.trim_end_matches('/')))
    }
}
