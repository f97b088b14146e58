//! A line of shell as words and what joins them. Not a shell: what it does not
//! know, it says.

use std::{iter::Peekable, str::Chars};

/// What follows in a command is not looked at.
const MOST_BYTES: usize = 16 * 1024;
const MOST_WORDS: usize = 512;

/// A part of a command between two pipes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Stage {
    pub words: Vec<Word>,
    /// What its output is written into.
    pub into: Vec<Word>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub text: String,
    /// True where it is what it says: no variable, no pattern.
    pub is_plain: bool,
}

/// A command's pipelines, each of its stages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Split {
    pub pipelines: Vec<Vec<Stage>>,
    /// False where something in it is beyond this reader.
    pub is_whole: bool,
}

pub(super) fn split(command: &str) -> Split {
    let mut end = command.len().min(MOST_BYTES);
    while !command.is_char_boundary(end) {
        end -= 1;
    }
    let mut splitter = Splitter {
        chars: command[..end].chars().peekable(),
        out: Split { pipelines: Vec::new(), is_whole: end == command.len() },
        pipeline: Vec::new(),
        stage: Stage::default(),
        word: None,
        goes: Goes::On,
        heredoc: None,
        words: 0,
    };
    splitter.run();
    splitter.out
}

/// What becomes of the next word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goes {
    On,
    /// It is what the output goes into.
    Into,
    /// Nothing that matters.
    Away,
    /// It ends what is typed in below.
    Heredoc,
}

struct Splitter<'a> {
    chars: Peekable<Chars<'a>>,
    out: Split,
    pipeline: Vec<Stage>,
    stage: Stage,
    word: Option<Word>,
    goes: Goes,
    heredoc: Option<String>,
    words: usize,
}

impl Splitter<'_> {
    fn run(&mut self) {
        while let Some(next) = self.chars.next() {
            match next {
                ' ' | '\t' | '\r' => self.end_word(),
                '\'' => self.quote(),
                '"' => self.double_quote(),
                '\\' => {
                    if let Some(next) = self.chars.next().filter(|it| *it != '\n') {
                        self.push(next);
                    }
                }
                '|' if !self.next_is('|') => self.end_stage(),
                '\n' => {
                    self.end_pipeline();
                    self.skip_heredoc();
                }
                '&' if self.next_is('>') => {
                    self.next_is('>');
                    self.expect(Goes::Into);
                }
                ';' | '|' | '&' => self.end_pipeline(),
                '>' => self.redirect(),
                '<' => self.input(),
                '#' if self.word.is_none() => {
                    while self.chars.next_if(|it| *it != '\n').is_some() {}
                }
                '`' | '(' | ')' => {
                    // What runs inside another command is not looked at.
                    self.out.is_whole = false;
                    break;
                }
                '$' if self.chars.peek() == Some(&'(') => {
                    self.out.is_whole = false;
                    break;
                }
                '$' | '*' | '?' | '[' | '{' => {
                    self.push(next);
                    self.is_not_plain();
                }
                next => self.push(next),
            }
            if self.words >= MOST_WORDS {
                self.out.is_whole = false;
                break;
            }
        }
        self.end_pipeline();
    }

    fn next_is(&mut self, wanted: char) -> bool {
        self.chars.next_if_eq(&wanted).is_some()
    }

    fn push(&mut self, next: char) {
        self.word
            .get_or_insert_with(|| Word { text: String::new(), is_plain: true })
            .text
            .push(next);
    }

    fn is_not_plain(&mut self) {
        if let Some(word) = &mut self.word {
            word.is_plain = false;
        }
    }

    fn open_word(&mut self) {
        self.word.get_or_insert_with(|| Word { text: String::new(), is_plain: true });
    }

    fn quote(&mut self) {
        self.open_word();
        for next in self.chars.by_ref() {
            if next == '\'' {
                return;
            }
            if let Some(word) = &mut self.word {
                word.text.push(next);
            }
        }
    }

    fn double_quote(&mut self) {
        self.open_word();
        while let Some(next) = self.chars.next() {
            match next {
                '"' => return,
                '\\' => {
                    let escaped = self.chars.next_if(|it| matches!(it, '"' | '\\' | '$' | '`'));
                    self.push(escaped.unwrap_or('\\'));
                }
                '$' | '`' => {
                    self.out.is_whole &= next == '$' && self.chars.peek() != Some(&'(');
                    self.push(next);
                    self.is_not_plain();
                }
                next => self.push(next),
            }
        }
    }

    fn redirect(&mut self) {
        // A number right before it says which output goes there.
        if self.word.as_ref().is_some_and(|it| it.text.bytes().all(|c| c.is_ascii_digit())) {
            self.word = None;
        }
        self.next_is('>');
        let goes = if self.next_is('&') { Goes::Away } else { Goes::Into };
        self.expect(goes);
    }

    fn input(&mut self) {
        let goes = match (self.next_is('<'), self.next_is('<')) {
            (true, false) => {
                self.next_is('-');
                Goes::Heredoc
            }
            _ => Goes::Away,
        };
        self.expect(goes);
    }

    fn expect(&mut self, goes: Goes) {
        self.end_word();
        self.goes = goes;
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        self.words += 1;
        match std::mem::replace(&mut self.goes, Goes::On) {
            Goes::On => self.stage.words.push(word),
            Goes::Into => self.stage.into.push(word),
            Goes::Away => {}
            Goes::Heredoc => self.heredoc = Some(word.text),
        }
    }

    fn end_stage(&mut self) {
        self.end_word();
        self.goes = Goes::On;
        let stage = std::mem::take(&mut self.stage);
        if !stage.words.is_empty() || !stage.into.is_empty() {
            self.pipeline.push(stage);
        }
    }

    fn end_pipeline(&mut self) {
        self.end_stage();
        let pipeline = std::mem::take(&mut self.pipeline);
        if !pipeline.is_empty() {
            self.out.pipelines.push(pipeline);
        }
    }

    fn skip_heredoc(&mut self) {
        let Some(end) = self.heredoc.take() else { return };
        let mut line = String::new();
        loop {
            let next = self.chars.next();
            match next {
                Some('\n') | None => {
                    if line.trim() == end || next.is_none() {
                        return;
                    }
                    line.clear();
                }
                Some(next) => line.push(next),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(command: &str) -> Vec<Vec<Vec<String>>> {
        let stage = |stage: &Stage| {
            let words = stage.words.iter().map(|it| it.text.clone());
            words.chain(stage.into.iter().map(|it| format!(">{}", it.text))).collect()
        };
        let split = split(command);
        split.pipelines.iter().map(|pipeline| pipeline.iter().map(stage).collect()).collect()
    }

    #[test]
    fn a_command_falls_into_pipelines_stages_and_words() {
        let cases: [(&str, Vec<Vec<Vec<&str>>>); 8] = [
            ("cat a.rs", vec![vec![vec!["cat", "a.rs"]]]),
            (
                "a | b && c; d || e",
                vec![vec![vec!["a"], vec!["b"]], vec![vec!["c"]], vec![vec!["d"]], vec![vec!["e"]]],
            ),
            (r#"grep "a b" 'c|d' e\ f"#, vec![vec![vec!["grep", "a b", "c|d", "e f"]]]),
            ("x 2>&1 >out 2>/dev/null", vec![vec![vec!["x", ">out", ">/dev/null"]]]),
            ("x &> log", vec![vec![vec!["x", ">log"]]]),
            ("cat > f <<'EOF'\nrm -rf x\nEOF\nls", vec![vec![vec!["cat", ">f"]], vec![vec!["ls"]]]),
            ("a # b\nc <<< d", vec![vec![vec!["a"]], vec![vec!["c"]]]),
            ("", vec![]),
        ];
        for (command, expected) in cases {
            assert_eq!(texts(command), expected, "{command}");
        }
    }

    #[test]
    fn what_it_does_not_understand_is_said() {
        for command in ["cat $(ls)", "(cd x; ls)", "echo \"`x`\"", "echo \"$(x)\""] {
            assert!(!split(command).is_whole, "{command}");
        }
        assert!(!split(&"a ".repeat(600)).is_whole);
        assert!(!split(&"é".repeat(10_000)).is_whole);
        let plain = split("cat $HOME/x '*.rs' *.rs \"$x\"");
        let plain: Vec<bool> = plain.pipelines[0][0].words.iter().map(|it| it.is_plain).collect();
        assert_eq!(plain, [true, false, true, false, false]);
    }
}
