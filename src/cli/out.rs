//! Where words go: data to standard output, conversation to standard error.

use std::{
    borrow::Cow,
    io::{self, IsTerminal as _, Write},
};

use serde::Serialize;

use super::args::{Common, Output};

/// Both streams, and what is known of who reads them.
pub(super) struct Out {
    data: Box<dyn Write + Send>,
    talk: Box<dyn Write + Send>,
    json: bool,
    paint: Paint,
    to_terminal: bool,
}

impl Out {
    pub(super) fn new(common: &Common) -> Self {
        let to_terminal = io::stdout().is_terminal();
        Self {
            data: Box::new(io::BufWriter::new(io::stdout())),
            talk: Box::new(io::stderr()),
            json: common.output == Output::Json,
            paint: Paint { on: to_terminal && !common.no_color },
            to_terminal,
        }
    }

    /// True where data is to be printed as JSON.
    pub(super) fn is_json(&self) -> bool {
        self.json
    }

    pub(super) fn paint(&self) -> Paint {
        self.paint
    }

    /// Writes a line of data for people.
    pub(super) fn line(&mut self, line: impl AsRef<str>) -> io::Result<()> {
        self.data.write_all(line.as_ref().as_bytes())?;
        self.data.write_all(b"\n")?;
        self.data.flush()
    }

    /// Writes a value as one line of JSON.
    pub(super) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.data, value)?;
        self.data.write_all(b"\n")?;
        self.data.flush()
    }

    /// Writes bytes as they are; on a terminal, what could drive it is escaped.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.to_terminal {
            let text = String::from_utf8_lossy(bytes);
            self.data.write_all(harmless(&text).as_bytes())?;
        } else {
            self.data.write_all(bytes)?;
        }
        self.data.flush()
    }

    /// Says something that is not data. Nobody listening is no failure.
    pub(super) fn say(&mut self, line: &str) {
        let _ = writeln!(self.talk, "{}", harmless(line));
    }

    /// Says `error: …` or `hint: …`.
    pub(super) fn problem(&mut self, word: &str, line: &str) {
        self.say(&format!("{word}: {line}"));
    }
}

/// Text without what could drive a terminal: line feeds and tabs stay, other
/// control characters are spelled out.
pub(super) fn harmless(text: &str) -> Cow<'_, str> {
    let drives = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(drives) {
        return Cow::Borrowed(text);
    }
    let spell = |c: char| if drives(c) { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(spell).collect())
}

/// Colours, where they are welcome. They never say what words do not.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    on: bool,
}

impl Paint {
    pub(super) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    pub(super) fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    pub(super) fn yellow(self, text: &str) -> String {
        self.with("33", text)
    }

    pub(super) fn red(self, text: &str) -> String {
        self.with("31", text)
    }

    pub(super) fn cyan(self, text: &str) -> String {
        self.with("36", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.on { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

#[cfg(test)]
impl Paint {
    pub(super) const OFF: Self = Self { on: false };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_of_others_are_spelled_out() {
        assert_eq!(harmless("a\tb\n"), "a\tb\n");
        assert_eq!(harmless("\u{1b}[2Jx\r"), "\\u{1b}[2Jx\\r");
    }

    #[test]
    fn without_colour_the_words_are_all_there() {
        assert_eq!(Paint::OFF.red("full"), "full");
        assert_eq!(Paint { on: true }.red("full"), "\u{1b}[31mfull\u{1b}[0m");
    }
}
