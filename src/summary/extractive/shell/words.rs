//! A shell script as words and operators: enough of the grammar to see which
//! files a command changes, never enough to run it.

/// Longest script that is read, in bytes; what is behind is mostly a file's
/// content.
const LONGEST: usize = 256 << 10;

/// A piece of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word, its quotes taken off.
    Word(String),
    /// What ends a simple command: `;`, `&&`, `|`, a line's end, …
    End,
    /// `>`: the next word is overwritten.
    Write,
    /// `>>`: something is added to the next word.
    Append,
    /// Another redirection: its word is no argument.
    Other,
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    out: Vec<Token>,
    word: Option<String>,
    /// Ends of the here-documents that start after this line.
    heredocs: Vec<(String, bool)>,
    awaits_heredoc: Option<bool>,
}

/// The script's words and operators; here-documents are left out.
pub(super) fn tokens(script: &str) -> Vec<Token> {
    let text = &script[..super::super::super::text::floor(script, LONGEST)];
    let mut scanner = Scanner {
        text,
        at: 0,
        out: Vec::new(),
        word: None,
        heredocs: Vec::new(),
        awaits_heredoc: None,
    };
    while let Some(letter) = scanner.next() {
        scanner.take(letter);
    }
    scanner.end_word();
    scanner.out
}

impl Scanner<'_> {
    fn next(&mut self) -> Option<char> {
        let letter = self.text[self.at..].chars().next()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    fn next_is(&mut self, expected: char) -> bool {
        let is_next = self.text[self.at..].starts_with(expected);
        if is_next {
            self.at += expected.len_utf8();
        }
        is_next
    }

    fn push(&mut self, letter: char) {
        self.word.get_or_insert_default().push(letter);
    }

    fn take(&mut self, letter: char) {
        match letter {
            '\'' => self.quoted('\''),
            '"' => self.quoted('"'),
            '`' => self.raw_until('`'),
            '\\' => match self.next() {
                Some('\n') | None => {}
                Some(letter) => self.push(letter),
            },
            '$' if self.next_is('(') => self.substitution(),
            '#' if self.word.is_none() => self.comment(),
            '\n' => {
                self.end_word();
                self.out.push(Token::End);
                self.skip_heredocs();
            }
            ';' | '|' | '(' | ')' => {
                self.end_word();
                self.out.push(Token::End);
            }
            '&' => self.ampersand(),
            '<' => self.input(),
            '>' => self.output(),
            letter if letter.is_whitespace() => self.end_word(),
            letter => self.push(letter),
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if let Some(is_indented) = self.awaits_heredoc.take() {
            self.heredocs.push((word, is_indented));
        } else {
            self.out.push(Token::Word(word));
        }
    }

    fn quoted(&mut self, quote: char) {
        self.word.get_or_insert_default();
        while let Some(letter) = self.next() {
            match letter {
                letter if letter == quote => return,
                '\\' if quote == '"' => match self.next() {
                    Some('\n') | None => {}
                    Some(letter) => {
                        if !matches!(letter, '"' | '\\' | '$' | '`') {
                            self.push('\\');
                        }
                        self.push(letter);
                    }
                },
                letter => self.push(letter),
            }
        }
    }

    fn raw_until(&mut self, end: char) {
        self.push(end);
        while let Some(letter) = self.next() {
            self.push(letter);
            if letter == end {
                return;
            }
        }
    }

    /// `$( … )` as it stands, with what is nested in it.
    fn substitution(&mut self) {
        self.push('$');
        self.push('(');
        let mut depth = 1;
        while let Some(letter) = self.next() {
            self.push(letter);
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn comment(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.find('\n').unwrap_or(rest.len());
    }

    fn ampersand(&mut self) {
        self.end_word();
        if self.next_is('>') {
            self.next_is('>');
            self.out.push(Token::Other);
        } else {
            self.next_is('&');
            self.out.push(Token::End);
        }
    }

    fn input(&mut self) {
        self.end_word();
        // `<<` starts a here-document; `<` and `<<<` are followed by a word.
        let is_heredoc = self.next_is('<') && !self.next_is('<');
        if is_heredoc {
            self.awaits_heredoc = Some(self.next_is('-'));
        } else {
            self.out.push(Token::Other);
        }
    }

    fn output(&mut self) {
        // A number right before the sign names what is redirected.
        let is_stream = self.word.as_ref().is_some_and(|it| it.bytes().all(|b| b.is_ascii_digit()));
        let stream = if is_stream { self.word.take() } else { None };
        self.end_word();
        let is_append = self.next_is('>');
        self.next_is('|');
        let is_copy = self.next_is('&');
        let is_output = stream.is_none_or(|it| it == "1");
        self.out.push(match (is_copy || !is_output, is_append) {
            (true, _) => Token::Other,
            (false, true) => Token::Append,
            (false, false) => Token::Write,
        });
    }

    fn skip_heredocs(&mut self) {
        for (end, is_indented) in std::mem::take(&mut self.heredocs) {
            while self.at < self.text.len() {
                let rest = &self.text[self.at..];
                let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
                self.at = (self.at + line.len() + 1).min(self.text.len());
                let line = if is_indented { line.trim_start_matches('\t') } else { line };
                if line.trim_end_matches('\r') == end {
                    break;
                }
            }
        }
    }
}
