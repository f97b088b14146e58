//! Runs the binary, and a server for it to talk to.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use assert_cmd::assert::Assert;
use serde_json::Value;
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_concertina");

/// Nothing of the environment that runs the tests may reach the binary.
fn clean(command: &mut Command) {
    for name in ["CONCERTINA_SERVER", "CONCERTINA_CONFIG", "CONCERTINA_LISTEN", "NO_COLOR"] {
        command.env_remove(name);
    }
}

/// The binary with these arguments, not run yet.
pub(super) fn concertina(arguments: &[&str]) -> assert_cmd::Command {
    let mut command = Command::new(BINARY);
    clean(&mut command);
    command.args(arguments);
    assert_cmd::Command::from_std(command)
}

/// What it wrote to standard output.
pub(super) fn stdout(assert: &Assert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).expect("data is UTF-8")
}

/// What it wrote to standard error.
pub(super) fn stderr(assert: &Assert) -> String {
    String::from_utf8(assert.get_output().stderr.clone()).expect("words are UTF-8")
}

/// Each line of standard output as JSON.
#[track_caller]
pub(super) fn json_lines(assert: &Assert) -> Vec<Value> {
    stdout(assert).lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// A text with `<id>` for each id that a server made and `<time>` for each time.
pub(super) fn anonymous(text: &str) -> String {
    let is_id = |word: &str| {
        let parts: Vec<_> = word.split('-').map(str::len).collect();
        parts == [8, 4, 4, 4, 12] && word.chars().all(|it| it.is_ascii_hexdigit() || it == '-')
    };
    let is_time = |word: &str| word.len() == 20 && word.starts_with("20") && word.ends_with('Z');
    let ends_word = |letter: char| !(letter.is_ascii_alphanumeric() || "-:".contains(letter));
    let words = text.split_inclusive(ends_word).map(|piece| {
        let word = piece.trim_end_matches(ends_word).trim_end_matches(':');
        let rest = &piece[word.len()..];
        match word {
            word if is_id(word) => format!("<id>{rest}"),
            word if is_time(word) => format!("<time>{rest}"),
            word => format!("{word}{rest}"),
        }
    });
    trimmed(&words.collect::<String>())
}

/// A text without blanks at the ends of its lines.
pub(super) fn trimmed(text: &str) -> String {
    text.lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}

/// A server of its own on a port of its own.
pub(super) struct Server {
    child: Option<Child>,
    pub(super) address: String,
    pub(super) folder: TempDir,
}

impl Server {
    /// Starts one over nothing.
    pub(super) fn start() -> Self {
        Self::over(tempfile::tempdir().expect("a folder"))
    }

    /// Starts one over what another left, and waits until it says where it listens.
    pub(super) fn over(folder: TempDir) -> Self {
        let mut command = Command::new(BINARY);
        clean(&mut command);
        command.arg("serve").arg("--data").arg(folder.path().join("data"));
        command.args(["--listen", "127.0.0.1:0"]);
        command.stderr(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn().expect("the binary starts");
        let mut words = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut line = String::new();
        let address = loop {
            line.clear();
            assert_ne!(words.read_line(&mut line).expect("words"), 0, "it ended without listening");
            if let Some(address) = line.strip_prefix("listening on ") {
                break address.trim().to_owned();
            }
        };
        // A full pipe would stop the server.
        std::thread::spawn(move || std::io::copy(&mut words, &mut std::io::sink()));
        Self { child: Some(child), address, folder }
    }

    /// A command that talks to this server.
    pub(super) fn command(&self, arguments: &[&str]) -> assert_cmd::Command {
        let mut command = concertina(arguments);
        command.env("CONCERTINA_SERVER", &self.address);
        command
    }

    /// Starts one over nothing with a session `s` of `turns` turns: a request
    /// and an answer of about 90 tokens each.
    pub(super) fn with_turns(turns: usize) -> Self {
        let server = Self::start();
        server.run(&["create", "s", "--window", "100000"]);
        let said = (1..=turns).flat_map(|turn| {
            let asked = format!("Please mend part {turn}. {}", "It is broken again. ".repeat(16));
            let done = format!("Part {turn} is mended. {}", "It works as it should. ".repeat(16));
            [("user", asked), ("assistant", done)]
        });
        let messages: Vec<_> =
            said.map(|(role, text)| serde_json::json!({ "role": role, "content": text })).collect();
        let payload = Value::from(messages).to_string();
        server.run(&["append", "s", &payload, "--payload-format", "anthropic"]);
        server
    }

    /// Collapses rows of `s` into a text of its own; gives the overlay's id.
    pub(super) fn collapsed(&self, rows: &str) -> String {
        let plan = self.json(&["collapse", "prepare", "s", rows]).remove(0);
        let plan = plan["plan_id"].as_str().expect("an id");
        let commit = ["collapse", "commit", "s", plan, "It is mended.", "--author", "lena"];
        let made = self.json(&commit).remove(0);
        made["overlay"]["id"].as_str().expect("an id").to_owned()
    }

    /// Runs a command that must be refused, and gives what it says of it.
    #[track_caller]
    pub(super) fn refused(&self, arguments: &[&str]) -> String {
        let assert = self.command(arguments).assert().code(1);
        assert_eq!(stdout(&assert), "", "{arguments:?}");
        stderr(&assert)
    }

    /// Runs a command that must work, and gives its standard output.
    #[track_caller]
    pub(super) fn run(&self, arguments: &[&str]) -> String {
        stdout(&self.command(arguments).assert().success())
    }

    /// Runs a command that must work, and gives its lines of JSON.
    #[track_caller]
    pub(super) fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let mut command = self.command(arguments);
        json_lines(&command.args(["--output", "json"]).assert().success())
    }

    /// Runs a line of a shell that must work, and gives its standard output.
    #[track_caller]
    pub(super) fn shell(&self, line: &str) -> String {
        let folder = std::path::Path::new(BINARY).parent().expect("a folder");
        let line = format!("PATH=\"{}:$PATH\"; {line}", folder.display());
        let mut command = Command::new("sh");
        clean(&mut command);
        command.args(["-c", &line]).current_dir(env!("CARGO_MANIFEST_DIR"));
        command.env("CONCERTINA_SERVER", &self.address);
        stdout(&assert_cmd::Command::from_std(command).assert().success())
    }

    /// Tells it to stop as an operator would; gives its exit code and its folder.
    pub(super) fn terminate(mut self) -> (Option<i32>, TempDir) {
        let mut child = self.child.take().expect("it runs");
        let told = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        assert!(told.expect("kill runs").success());
        let code = child.wait().expect("it ends").code();
        let empty = tempfile::tempdir().expect("a folder");
        (code, std::mem::replace(&mut self.folder, empty))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
