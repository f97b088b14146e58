//! Paths as calls name them, without a file system to ask.

/// Longer ones are no paths.
const LONGEST_BYTES: usize = 4096;

/// `path` as seen from `folder`, without `.` and, as far as it goes, without
/// `..`; `None` where it is empty or too long to be one.
pub(super) fn resolved(folder: &str, path: &str) -> Option<String> {
    let path = path.trim();
    if path.is_empty() || path.len() > LONGEST_BYTES || folder.len() > LONGEST_BYTES {
        return None;
    }
    let whole = if is_absolute(path) || folder.is_empty() {
        path.to_owned()
    } else {
        format!("{folder}/{path}")
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." && parts.last().is_some_and(|last| *last != "..") {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    let root = if whole.starts_with('/') { "/" } else { "" };
    let joined = format!("{root}{}", parts.join("/"));
    Some(if joined.is_empty() { ".".to_owned() } else { joined })
}

/// Says whether a path starts at a root or at a home.
#[must_use]
pub fn is_absolute(path: &str) -> bool {
    let has_drive = || {
        let mut chars = path.chars();
        chars.next().is_some_and(|drive| drive.is_ascii_alphabetic()) && chars.next() == Some(':')
    };
    path.starts_with(['/', '~']) || has_drive()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_seen_from_its_folder() {
        let cases = [
            ("", "./src//a.rs", Some("src/a.rs")),
            ("/repo", "src/../b.rs", Some("/repo/b.rs")),
            ("/repo/", "/etc/x", Some("/etc/x")),
            ("/repo", "~/x", Some("~/x")),
            ("", "../../x", Some("../../x")),
            ("", r"C:\x", Some(r"C:\x")),
            ("", ".", Some(".")),
            ("/repo", ".", Some("/repo")),
            ("", " ", None),
        ];
        for (folder, path, expected) in cases {
            assert_eq!(resolved(folder, path).as_deref(), expected, "{folder} {path}");
        }
        assert_eq!(resolved("", &"a".repeat(5000)), None);
    }
}
