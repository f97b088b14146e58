//! What happened to a file.

/// Longest path that is believed to be one, in bytes.
const LONGEST_PATH: usize = 400;

/// What was done with a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum How {
    /// It is new.
    Created,
    /// A part of it changed.
    Edited,
    /// The whole of it was written.
    Written,
    /// Something was added at its end.
    Appended,
    /// It is gone.
    Deleted,
    /// It has another name now.
    Moved(String),
    /// It is a new directory.
    Directory,
    /// It is again what it was.
    Restored,
    /// Somebody tried to change it, and could not.
    Tried,
}

impl How {
    /// The word for it.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Created => "created".to_owned(),
            Self::Edited => "edited".to_owned(),
            Self::Written => "written".to_owned(),
            Self::Appended => "appended".to_owned(),
            Self::Deleted => "deleted".to_owned(),
            Self::Moved(to) => format!("moved to {to}"),
            Self::Directory => "new directory".to_owned(),
            Self::Restored => "restored".to_owned(),
            Self::Tried => "edit failed".to_owned(),
        }
    }
}

/// A file and what was done with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// The file, as it was named.
    pub path: String,
    /// What was done.
    pub how: How,
}

impl Change {
    /// The change, where the name can be a file's.
    pub(super) fn of(path: &str, how: How) -> Option<Self> {
        let path = cleaned(path)?;
        let how = match how {
            How::Moved(to) => How::Moved(cleaned(&to)?),
            how => how,
        };
        Some(Self { path, how })
    }
}

/// A path as it is shown; `None` where the text is none.
pub(super) fn cleaned(path: &str) -> Option<String> {
    let path = path.trim();
    let path = path.strip_prefix("file://").unwrap_or(path);
    let path = path.strip_prefix("./").unwrap_or(path);
    let is_path = !path.is_empty()
        && path.len() <= LONGEST_PATH
        && !path.chars().any(char::is_control)
        && path.chars().any(char::is_alphanumeric);
    is_path.then(|| path.to_owned())
}

/// Says whether a text looks like a path even where nobody says that it is one.
pub(super) fn looks_like_path(text: &str) -> bool {
    let has_extension = || {
        text.rsplit_once('.').is_some_and(|(stem, end)| {
            !stem.is_empty()
                && (1..=8).contains(&end.len())
                && end.bytes().all(|it| it.is_ascii_alphanumeric())
                && end.bytes().any(|it| it.is_ascii_alphabetic())
        })
    };
    cleaned(text).is_some()
        && !text.contains("://")
        && !text.chars().any(|it| it.is_whitespace() || matches!(it, '(' | ')' | '"' | '`' | '<'))
        && (text.contains('/') || has_extension())
}
