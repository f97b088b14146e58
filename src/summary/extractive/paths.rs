//! Files as pieces of a summary.
//!
//! Every path is written out where there is room for that. Where there is not,
//! the directory that all share is written once, and then those of each
//! directory together: `src/a/{x.rs, y.rs}`.

use std::collections::BTreeMap;

use super::{
    At,
    files::{FileFact, folder, shared_root, within},
    items::Item,
    pack::Choice,
    rank,
};
use crate::{
    summary::{layout::Part, text::head},
    tokens::count_text,
};

/// Files above which nobody counts whether all fit: they do not.
const MOST_COUNTED: usize = 600;
/// What a line costs besides its path: what was done, and the line itself.
const LINE_TOKENS: i64 = 5;
/// Read files that are named.
const MOST_READ: usize = 60;

/// The pieces that tell which files changed, in about `most` tokens, and which
/// were read.
pub(super) fn items(files: &[FileFact], most: i64, out: &mut Vec<Item>) {
    let changed: Vec<&FileFact> = files.iter().filter(|it| it.is_changed()).collect();
    let root = shared_root(changed.iter().map(|it| it.path.as_str()));
    if fits(&changed, "", most) {
        out.extend(changed.iter().map(|file| one(file, "")));
    } else if fits(&changed, root, most) {
        out.extend(under(root));
        out.extend(changed.iter().map(|file| one(file, root)));
    } else {
        // Each directory is written once, so that the root saves less.
        let mut folders: Vec<&str> = changed.iter().map(|it| folder(&it.path)).collect();
        folders.sort_unstable();
        folders.dedup();
        let names: Vec<String> = folders.iter().map(|it| format!("{it}x")).collect();
        let root = shared_root(names.iter().map(String::as_str));
        out.extend(under(root));
        together(&changed, root, out);
    }
    reads(files, out);
}

fn fits(files: &[&FileFact], root: &str, most: i64) -> bool {
    if files.len() > MOST_COUNTED {
        return false;
    }
    let mut tokens = i64::from(count_text(root));
    for file in files {
        tokens += i64::from(count_text(within(&file.path, root))) + LINE_TOKENS;
        if tokens > most {
            return false;
        }
    }
    true
}

/// Where the line stands that says what all paths are under: before all.
const ROOT_AT: At = At { turn: i64::MIN, seq: i64::MIN };

/// Where all paths are under says nothing where there was room for none of them.
pub(super) fn drop_lone_root(items: &[Item], choice: &mut Choice) {
    let is_chosen = |it: &&(usize, &Item)| choice.text(items, it.0).is_some();
    let files: Vec<(usize, &Item)> =
        items.iter().enumerate().filter(|(_, it)| it.part == Part::File).collect();
    let mut chosen = files.iter().filter(is_chosen);
    let lone = match (chosen.next(), chosen.next()) {
        (Some((index, item)), None) if item.at == ROOT_AT => Some(*index),
        _ => None,
    };
    if let Some(index) = lone {
        choice.drop(index);
    }
}

fn under(root: &str) -> Option<Item> {
    let at = ROOT_AT;
    let text = format!("paths are under {root}");
    (!root.is_empty()).then(|| Item::new(Part::File, at, 0, [(rank::ROOT, text)]))
}

/// Files outside a project, and directories, matter less.
fn first_rank(file: &FileFact) -> u16 {
    let is_lesser =
        file.is_directory() || file.path.starts_with("/tmp/") || file.path.starts_with("/var/");
    if is_lesser { rank::LESSER_FILE } else { rank::FILE }
}

fn one(file: &FileFact, root: &str) -> Item {
    let line = format!("{}: {}", within(&file.path, root), head(&file.label(), 120));
    let mut forms = vec![(first_rank(file), line.clone())];
    if !file.why.is_empty() {
        forms.push((
            rank::FILE_DETAIL,
            format!("{line} ({})", head(&file.why, 90).trim_end_matches(['.', ':'])),
        ));
    }
    Item::new(Part::File, file.last, file.last.seq, forms)
}

fn together(files: &[&FileFact], root: &str, out: &mut Vec<Item>) {
    let mut folders: BTreeMap<&str, Vec<&FileFact>> = BTreeMap::new();
    for file in files {
        folders.entry(folder(within(&file.path, root))).or_default().push(file);
    }
    for (folder, files) in folders {
        if let [file] = files[..] {
            out.push(one(file, root));
            continue;
        }
        let Some(at) = files.iter().map(|it| it.last).max() else { continue };
        let names: Vec<String> =
            files.iter().map(|it| within(&it.path, root)[folder.len()..].to_owned()).collect();
        let labels: Vec<String> = files.iter().map(|it| it.label()).collect();
        let each: Vec<String> =
            names.iter().zip(&labels).map(|(name, label)| format!("{name} {label}")).collect();
        let rank = files.iter().map(|it| first_rank(it)).min().unwrap_or(rank::FILE);
        let all = |names: &[String]| match folder {
            "" => names.join(", "),
            folder => format!("{folder}{{{}}}", names.join(", ")),
        };
        let forms = [
            (rank, format!("{folder}: {} files changed", files.len())),
            (rank + 1, all(&names)),
            (rank::ROUND_OFF, all(&each)),
        ];
        out.push(Item::new(Part::File, at, at.seq, forms));
    }
}

fn reads(files: &[FileFact], out: &mut Vec<Item>) {
    let mut read: Vec<&FileFact> = files.iter().filter(|it| !it.is_changed()).collect();
    read.sort_by_key(|it| std::cmp::Reverse(it.last));
    let Some(at) = read.first().map(|it| it.last) else { return };
    let named = |most: usize| {
        let names: Vec<&str> = read.iter().take(most).map(|it| it.path.as_str()).collect();
        let more = read.len().saturating_sub(most);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("read {}{more}", names.join(", "))
    };
    let forms = [
        (rank::ROUND_OFF, named(2)),
        (rank::REST, named(6)),
        (rank::FULL, named(20)),
        (rank::FULL + 2, named(MOST_READ)),
    ];
    out.push(Item::new(Part::Activity, at, at.seq, forms));
}
