//! Texts that no two messages share, the same in every run.

/// What texts are made of: words as prose, code and logs have them.
const WORDS: [&str; 32] = [
    "the",
    "session",
    "returns",
    "error:",
    "fn",
    "src/main.rs",
    "let",
    "value",
    "=",
    "0x7f3a",
    "line",
    "of",
    "expected",
    "found",
    "while",
    "reading",
    "{",
    "}",
    "\n",
    "async",
    "server",
    "and",
    "1024",
    "bytes",
    "->",
    "Result<()>",
    "cannot",
    "open",
    "file",
    "warning",
    "tests",
    "passed",
];

/// A source of texts.
pub(crate) struct Words(u64);

impl Words {
    /// Texts of one author.
    pub(crate) fn of(author: usize) -> Self {
        Self((author as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A text of exactly `bytes`.
    pub(crate) fn text(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 16);
        while text.len() < bytes {
            let number = self.next();
            let word = usize::try_from(number % WORDS.len() as u64).unwrap_or_default();
            text.push_str(WORDS.get(word).copied().unwrap_or_default());
            text.push(' ');
        }
        text.truncate(bytes);
        text
    }

    /// Xorshift: any sequence will do.
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }
}
