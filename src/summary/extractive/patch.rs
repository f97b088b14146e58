//! Which files a patch changes.

use super::change::{Change, How};

/// Lines of a patch that are looked at.
const MOST_LINES: usize = 100_000;
/// Files of one patch that are named.
const MOST_FILES: usize = 500;

/// The changes of a patch in either form: `*** Update File: path`, or
/// `--- a/path` and `+++ b/path`.
pub(super) fn changes(text: &str) -> Vec<Change> {
    let mut out: Vec<Change> = Vec::new();
    let mut before = "";
    for line in text.lines().take(MOST_LINES) {
        if out.len() >= MOST_FILES {
            break;
        }
        if let Some(action) = line.strip_prefix("*** ") {
            take_action(action, &mut out);
        } else if let Some(path) = line.strip_prefix("--- ") {
            before = unified(path);
        } else if let Some(path) = line.strip_prefix("+++ ") {
            let path = unified(path);
            match (before, path) {
                ("", _) => {}
                ("/dev/null", path) => out.extend(Change::of(path, How::Created)),
                (path, "/dev/null") => out.extend(Change::of(path, How::Deleted)),
                (_, path) => out.extend(Change::of(path, How::Edited)),
            }
            before = "";
        } else {
            before = "";
        }
    }
    out
}

fn take_action(action: &str, out: &mut Vec<Change>) {
    let Some((verb, path)) = action.split_once(": ") else { return };
    let how = match verb {
        "Add File" => How::Created,
        "Update File" => How::Edited,
        "Delete File" => How::Deleted,
        "Move to" => {
            if let Some(last) = out.last_mut() {
                last.how = How::Moved(path.trim().to_owned());
            }
            return;
        }
        _ => return,
    };
    out.extend(Change::of(path, how));
}

/// The path of a unified diff's line: without `a/`, `b/` and a time stamp.
fn unified(path: &str) -> &str {
    let path = path.split('\t').next().unwrap_or_default().trim();
    path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path)
}

/// Says whether a text may hold a patch, before it is read line by line.
pub(super) fn is_patch(text: &str) -> bool {
    text.contains("*** Begin Patch")
        || text.contains("*** Update File: ")
        || text.contains("*** Add File: ")
        || text.contains("*** Delete File: ")
        || (text.contains("\n+++ ") && text.contains("--- "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<String> {
        changes(text).into_iter().map(|it| format!("{} {}", it.path, it.how.label())).collect()
    }

    #[test]
    fn every_file_of_a_patch_is_named() {
        let text = "*** Begin Patch\n*** Add File: a.rs\n+x\n*** Update File: b c.rs\n*** Move to: d.rs\n\
                    @@\n*** Delete File: e.rs\n*** End Patch";
        assert_eq!(named(text), ["a.rs created", "b c.rs moved to d.rs", "e.rs deleted"]);
    }

    #[test]
    fn a_unified_diff_is_a_patch_too() {
        let text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- not a path\n-a\n\
                    --- /dev/null\n+++ b/new\t2026\n--- a/old\n+++ /dev/null\n";
        assert_eq!(named(text), ["x edited", "new created", "old deleted"]);
    }
}
