//! Which files were read and changed, each once however it was named.

use std::collections::BTreeMap;

use super::{At, change::How};

/// Bytes that it costs to say what the root is.
const ROOT_BYTES: usize = 24;
/// Files that are kept apart; what comes later is of no use in a summary.
const MOST: usize = 3000;

/// What happened to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileFact {
    /// Its longest name, which the others end.
    pub path: String,
    /// When it was touched first …
    pub first: At,
    /// … and last.
    pub last: At,
    /// What was done to it, in order of first occurrence, and how often; empty
    /// where it was only read.
    pub hows: Vec<(How, usize)>,
    /// What an earlier summary says was done to it.
    pub carried: String,
    /// What was said before it was changed.
    pub why: String,
}

impl FileFact {
    /// Says whether it changed.
    pub(super) fn is_changed(&self) -> bool {
        !self.hows.is_empty() || !self.carried.is_empty()
    }

    /// Says whether nothing but a directory was made.
    pub(super) fn is_directory(&self) -> bool {
        !self.hows.is_empty() && self.hows.iter().all(|(how, _)| *how == How::Directory)
    }

    /// What was done, in few words.
    pub(super) fn label(&self) -> String {
        // That an edit failed matters only where none came after it.
        let is_only_tried = self.hows.iter().all(|(how, _)| *how == How::Tried);
        let hows = self.hows.iter().filter(|(how, _)| is_only_tried || *how != How::Tried);
        let words = hows.map(|(how, count)| match count {
            1 => how.label(),
            count => format!("{} {count}×", how.label()),
        });
        let carried = Some(self.carried.clone()).filter(|it| !it.is_empty());
        carried.into_iter().chain(words).collect::<Vec<_>>().join(", ")
    }
}

/// The files of a conversation.
#[derive(Debug, Default)]
pub(super) struct Files {
    files: Vec<FileFact>,
    by_path: BTreeMap<String, usize>,
}

impl Files {
    /// Notes that a file was read.
    pub(super) fn read(&mut self, path: &str, at: At) {
        self.entry(path, at);
    }

    /// Notes that a file was changed.
    pub(super) fn changed(&mut self, path: &str, how: How, at: At, why: &str) {
        let Some(file) = self.entry(path, at) else { return };
        match file.hows.iter_mut().find(|(known, _)| *known == how) {
            Some((_, count)) => *count += 1,
            None => file.hows.push((how, 1)),
        }
        if !why.is_empty() {
            why.clone_into(&mut file.why);
        }
    }

    /// Notes what an earlier summary says of a file.
    pub(super) fn carried(&mut self, path: &str, label: &str, at: At) {
        if let Some(file) = self.entry(path, at) {
            label.clone_into(&mut file.carried);
        }
    }

    fn entry(&mut self, path: &str, at: At) -> Option<&mut FileFact> {
        let index = match self.by_path.get(path) {
            Some(index) => *index,
            None if self.files.len() < MOST => {
                self.by_path.insert(path.to_owned(), self.files.len());
                self.files.push(FileFact {
                    path: path.to_owned(),
                    first: at,
                    last: at,
                    hows: Vec::new(),
                    carried: String::new(),
                    why: String::new(),
                });
                self.files.len() - 1
            }
            None => return None,
        };
        let file = self.files.get_mut(index)?;
        file.last = at;
        Some(file)
    }

    /// The files in the order in which they came, names of one file as one: a
    /// relative name counts as the only longer one that it ends.
    pub(super) fn into_facts(self) -> Vec<FileFact> {
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, file) in self.files.iter().enumerate() {
            by_name.entry(last_name(&file.path)).or_default().push(index);
        }
        let mut into: Vec<usize> = (0..self.files.len()).collect();
        for (index, file) in self.files.iter().enumerate() {
            let Some(alike) = by_name.get(last_name(&file.path)) else { continue };
            let mut longer =
                alike.iter().filter(|other| is_end(&file.path, &self.files[**other].path));
            if let (Some(only), None) = (longer.next(), longer.next()) {
                into[index] = *only;
            }
        }
        let mut facts: Vec<Option<FileFact>> = self.files.into_iter().map(Some).collect();
        for (index, to) in into.into_iter().enumerate().filter(|(index, to)| index != to) {
            let Some(from) = facts[index].take() else { continue };
            match facts[to].as_mut() {
                Some(to) => merge(to, from),
                // Its longer name was itself merged into one that is longer yet.
                None => facts[index] = Some(from),
            }
        }
        let mut facts: Vec<FileFact> = facts.into_iter().flatten().collect();
        facts.sort_by(|a, b| a.first.cmp(&b.first).then_with(|| a.path.cmp(&b.path)));
        facts
    }
}

fn last_name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit('/').next().unwrap_or(path)
}

/// Says whether `short` is the end of `long` from a slash on.
fn is_end(short: &str, long: &str) -> bool {
    long.len() > short.len()
        && long.ends_with(short)
        && !short.starts_with('/')
        && long.as_bytes()[long.len() - short.len() - 1] == b'/'
}

fn merge(to: &mut FileFact, from: FileFact) {
    to.first = to.first.min(from.first);
    to.last = to.last.max(from.last);
    for (how, count) in from.hows {
        match to.hows.iter_mut().find(|(known, _)| *known == how) {
            Some((_, known)) => *known += count,
            None => to.hows.push((how, count)),
        }
    }
    if to.carried.is_empty() {
        to.carried = from.carried;
    }
    if to.why.is_empty() {
        to.why = from.why;
    }
}

/// The directory of a path, with its slash; empty where it has none.
pub(super) fn folder(path: &str) -> &str {
    path.trim_end_matches('/').rfind('/').map_or("", |at| &path[..=at])
}

/// The directory that is worth being written once instead of with each of these
/// paths, with its slash; empty where there is none. Not all need be in it.
pub(super) fn shared_root<'a>(paths: impl IntoIterator<Item = &'a str>) -> &'a str {
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    for path in paths {
        for (at, _) in path.match_indices('/').filter(|(at, _)| at + 1 < path.len()) {
            *folders.entry(&path[..=at]).or_default() += 1;
        }
    }
    // Said once, it saves its length for every path but one.
    let saves = |(folder, count): &(&str, usize)| (count - 1) * folder.len();
    let best = folders.into_iter().max_by_key(saves).filter(|it| saves(it) > ROOT_BYTES);
    best.map_or("", |(folder, _)| folder)
}

/// The path as it is written where `root` was said.
pub(super) fn within<'a>(path: &'a str, root: &str) -> &'a str {
    path.strip_prefix(root).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seq: i64) -> At {
        At { turn: 1, seq }
    }

    #[test]
    fn one_file_by_two_names_is_one() {
        let mut files = Files::default();
        files.changed("/repo/src/a.rs", How::Edited, at(1), "");
        files.changed("src/a.rs", How::Edited, at(2), "why");
        files.changed("a.rs", How::Written, at(3), "");
        files.read("b.rs", at(4));
        let facts = files.into_facts();
        let told: Vec<String> =
            facts.iter().map(|it| format!("{}: {}", it.path, it.label())).collect();
        // `a.rs` ends two longer names, so nobody knows which one it is.
        assert_eq!(told, ["/repo/src/a.rs: edited 2×", "a.rs: written", "b.rs: "]);
        assert_eq!(facts[0].why, "why");
    }

    #[test]
    fn the_root_that_paths_share() {
        let long = "/home/somebody/projects/house/";
        let paths =
            [format!("{long}a.rs"), format!("{long}b/c.rs"), "x/y".to_owned(), "/z".to_owned()];
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        assert_eq!(shared_root(paths.iter().copied()), long);
        assert_eq!(within(paths[1], long), "b/c.rs");
        assert_eq!(within(paths[2], long), "x/y");
        assert_eq!(shared_root([paths[0]]), "");
        assert_eq!(shared_root(["/a/b", "/a/c"]), "");
        assert_eq!(shared_root([]), "");
    }
}
