//! What a shell command does to files, where that is plain to see.

mod words;

use self::words::{Token, tokens};
use super::change::{Change, How, cleaned};

/// Shells within shells that are looked into.
const DEEPEST: usize = 3;
/// Changes of one script that are kept.
const MOST_CHANGES: usize = 300;

/// What a script does.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Script {
    /// The files that it changes, in order.
    pub changes: Vec<Change>,
    /// The files that it reads.
    pub reads: Vec<String>,
}

/// What `script` does.
pub(super) fn read(script: &str) -> Script {
    let mut out = Script::default();
    look(script, 0, &mut out);
    out
}

#[derive(Default)]
struct Simple {
    words: Vec<String>,
    writes: Vec<(String, How)>,
}

fn look(script: &str, depth: usize, out: &mut Script) {
    let mut command = Simple::default();
    let mut redirection = None;
    for token in tokens(script) {
        if out.changes.len() >= MOST_CHANGES {
            return;
        }
        match token {
            Token::Word(word) => match redirection.take() {
                None => command.words.push(word),
                Some(Token::Write) => command.writes.push((word, How::Written)),
                Some(Token::Append) => command.writes.push((word, How::Appended)),
                Some(_) => {}
            },
            Token::End => {
                redirection = None;
                finish(std::mem::take(&mut command), depth, out);
            }
            sign => redirection = Some(sign),
        }
    }
    finish(command, depth, out);
}

fn finish(command: Simple, depth: usize, out: &mut Script) {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    simple(&words, depth, out);
    for (path, how) in command.writes {
        push(out, &path, how);
    }
}

/// Words before the command proper.
fn is_prefix(word: &str) -> bool {
    let is_setting = word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
    });
    is_setting
        || matches!(
            word,
            "sudo"
                | "time"
                | "nohup"
                | "env"
                | "command"
                | "builtin"
                | "exec"
                | "then"
                | "do"
                | "else"
                | "!"
                | "{"
                | "}"
                | "if"
                | "while"
        )
}

fn simple(words: &[&str], depth: usize, out: &mut Script) {
    let start = words.iter().position(|it| !is_prefix(it)).unwrap_or(words.len());
    let [name, rest @ ..] = &words[start..] else { return };
    let name = name.rsplit('/').next().unwrap_or(name);
    match name {
        "bash" | "sh" | "zsh" | "dash" => {
            let script = rest.iter().position(|it| it.starts_with('-') && it.ends_with('c'));
            if let Some(script) = script.and_then(|at| rest.get(at + 1)).filter(|_| depth < DEEPEST)
            {
                look(script, depth + 1, out);
            }
        }
        "timeout" => simple(rest.get(1..).unwrap_or_default(), depth + 1, out),
        "git" => git(rest, out),
        "str_replace_editor" | "str_replace_based_edit_tool" | "file_editor" => editor(rest, out),
        _ => plain(name, rest, out),
    }
}

fn plain(name: &str, rest: &[&str], out: &mut Script) {
    match name {
        "sed" | "perl" | "gsed" => stream_editor(name, rest, out),
        "tee" => {
            let how = if rest.contains(&"-a") { How::Appended } else { How::Written };
            arguments(rest).for_each(|path| push(out, path, how.clone()));
        }
        "rm" | "unlink" | "rmdir" | "trash" => {
            arguments(rest).for_each(|path| push(out, path, How::Deleted));
        }
        "touch" => arguments(rest).for_each(|path| push(out, path, How::Created)),
        "mkdir" => {
            let paths = arguments(rest).filter(|it| !it.bytes().all(|it| it.is_ascii_digit()));
            paths.for_each(|path| push(out, path, How::Directory));
        }
        "mv" => moved(rest, out),
        "cp" | "install" | "ln" | "rsync" => {
            let paths: Vec<&str> = arguments(rest).collect();
            if let [_, .., to] = paths[..] {
                push(out, to, How::Written);
            }
        }
        "dd" => {
            let to = rest.iter().find_map(|it| it.strip_prefix("of="));
            if let Some(path) = to {
                push(out, path, How::Written);
            }
        }
        "truncate" => {
            arguments(rest).last().into_iter().for_each(|path| push(out, path, How::Edited));
        }
        "cat" | "head" | "tail" | "less" | "more" | "nl" | "bat" | "wc" => {
            let paths = arguments(rest).filter(|it| !it.bytes().all(|it| it.is_ascii_digit()));
            paths.for_each(|path| push_read(out, path));
        }
        _ => {}
    }
}

/// What is no option.
fn arguments<'a>(rest: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    rest.iter().copied().filter(|it| !it.is_empty() && !it.starts_with('-'))
}

fn moved(rest: &[&str], out: &mut Script) {
    let paths: Vec<&str> = arguments(rest).collect();
    if let [from @ .., to] = &paths[..] {
        for path in from {
            push(out, path, How::Moved((*to).to_owned()));
        }
    }
}

fn git(rest: &[&str], out: &mut Script) {
    // `git -C folder mv a b`
    let rest = if rest.first() == Some(&"-C") { rest.get(2..).unwrap_or_default() } else { rest };
    match rest {
        ["mv", rest @ ..] => moved(rest, out),
        ["rm", rest @ ..] => arguments(rest).for_each(|path| push(out, path, How::Deleted)),
        ["restore", rest @ ..] if !rest.contains(&"--staged") => {
            let paths = arguments(rest).filter(|it| *it != ".");
            paths.for_each(|path| push(out, path, How::Restored));
        }
        ["checkout", rest @ ..] => {
            let paths = rest.iter().skip_while(|it| **it != "--").skip(1);
            paths.for_each(|path| push(out, path, How::Restored));
        }
        _ => {}
    }
}

/// `sed -i`, `perl -pi -e`: files behind the script.
fn stream_editor(name: &str, rest: &[&str], out: &mut Script) {
    let is_short = |it: &str| it.starts_with('-') && !it.starts_with("--");
    let in_place = |it: &&str| {
        it.starts_with("--in-place")
            || (is_short(it)
                && (it.starts_with("-i")
                    || (name == "perl" && it.contains('i'))
                    || it.ends_with('i')))
    };
    let is_in_place = rest.iter().any(in_place);
    let mut has_script = false;
    let mut files = Vec::new();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let takes_script = matches!(*word, "-e" | "-f" | "--expression" | "--file")
            || (name == "perl" && is_short(word) && word.ends_with('e'));
        if takes_script {
            has_script = true;
            words.next();
        } else if !word.is_empty() && !word.starts_with('-') {
            files.push(*word);
        }
    }
    for path in files.into_iter().skip(usize::from(!has_script)) {
        if is_in_place { push(out, path, How::Edited) } else { push_read(out, path) }
    }
}

/// The editor tool of several agents, called as a command.
fn editor(rest: &[&str], out: &mut Script) {
    match rest {
        ["view", path, ..] => push_read(out, path),
        ["create", path, ..] => push(out, path, How::Created),
        ["str_replace" | "insert" | "undo_edit", path, ..] => push(out, path, How::Edited),
        _ => {}
    }
}

fn push(out: &mut Script, path: &str, how: How) {
    if is_file(path) {
        out.changes.extend(Change::of(path, how));
    }
}

fn push_read(out: &mut Script, path: &str) {
    if is_file(path) && out.reads.len() < MOST_CHANGES {
        out.reads.extend(cleaned(path));
    }
}

/// Leaves out devices, and what only the shell knows the name of.
fn is_file(path: &str) -> bool {
    !path.starts_with("/dev/")
        && !path.starts_with('-')
        && !path.contains(['\n', '|', '<', '>', '`', '{', '='])
        && !path.contains("$(")
        && (!path.starts_with('$') || path.contains('/'))
}

#[cfg(test)]
mod tests;
