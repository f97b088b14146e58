//! From bytes to messages.

use std::io::{self, BufRead, Read};

use super::{
    claude_code::ClaudeCode,
    codex::Codex,
    entry::{Imported, LIMITS, Out, Place, Understand},
    lines::{Line, Lines},
    openhands::OpenHands,
    pi::Pi,
    plain::{Anthropic, Chat},
    source::{Layout, Source, SourceFormat},
    swe_agent::SweAgent,
};
use crate::ingest::{fault::Fault, json::Value};

/// How much of a file is held at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    /// One line; a longer one is damage.
    pub line_bytes: usize,
    /// One document; a larger one is damage.
    pub document_bytes: usize,
}

impl Default for FileLimits {
    fn default() -> Self {
        Self { line_bytes: 64 << 20, document_bytes: 256 << 20 }
    }
}

/// Reads a recorded session: an iterator that ends after the first error of its
/// input.
///
/// Messages come in the order in which they belong; what is skipped or damaged
/// comes at once, so it may overtake a message that is still being joined.
pub struct Reader<R> {
    input: Option<Input<R>>,
    format: Box<dyn Understand + Send>,
    out: Out,
}

enum Input<R> {
    Lines(Lines<R>),
    Document(R, usize),
}

impl<R: BufRead> Reader<R> {
    /// A reader of `input`, with the usual limits.
    pub fn new(source: Source, input: R) -> Self {
        Self::with_limits(source, input, FileLimits::default())
    }

    /// A reader with limits of its own.
    pub fn with_limits(source: Source, input: R, limits: FileLimits) -> Self {
        let input = match source.layout {
            Layout::Lines => Input::Lines(Lines::new(input, limits.line_bytes)),
            Layout::Document => Input::Document(input, limits.document_bytes),
        };
        let format: Box<dyn Understand + Send> = match source.format {
            SourceFormat::ClaudeCode => Box::<ClaudeCode>::default(),
            SourceFormat::Codex => Box::<Codex>::default(),
            SourceFormat::OpenHands => Box::<OpenHands>::default(),
            SourceFormat::Pi => Box::<Pi>::default(),
            SourceFormat::SweAgent => Box::<SweAgent>::default(),
            SourceFormat::TauBench | SourceFormat::OpenAiChat => Box::<Chat>::default(),
            SourceFormat::Anthropic => Box::<Anthropic>::default(),
        };
        Self { input: Some(input), format, out: Out::default() }
    }

    /// Reads on until there is something to yield or nothing left to read.
    fn advance(&mut self) -> io::Result<()> {
        while self.out.0.is_empty() {
            match &mut self.input {
                None => return Ok(()),
                Some(Input::Lines(lines)) => match lines.next()? {
                    Some(line) => self.take_line(line),
                    None => self.finish(),
                },
                Some(Input::Document(input, longest)) => {
                    let text = read_document(input, *longest)?;
                    self.take_document(text);
                    self.finish();
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self) {
        self.input = None;
        self.format.finish(&mut self.out);
    }

    fn take_line(&mut self, line: Line) {
        let (line, bytes) = match line {
            Line::Whole(line, bytes) => (line, bytes),
            Line::TooLong(line) => return self.out.damaged(line, "expected a shorter line"),
        };
        let bytes = if line == 1 { without_mark(&bytes) } else { &bytes };
        if bytes.trim_ascii().is_empty() {
            return;
        }
        let at = Place { line, size: bytes.len() };
        let value = parse(bytes).map_err(Fault::in_one_line);
        let taken = value.and_then(|value| self.format.entry(at, value, &mut self.out));
        if let Err(fault) = taken {
            self.out.damaged(line, fault.to_string());
        }
    }

    fn take_document(&mut self, text: Option<Vec<u8>>) {
        let Some(text) = text else { return self.out.damaged(1, "expected a smaller document") };
        let taken =
            parse(without_mark(&text)).and_then(|value| self.format.document(value, &mut self.out));
        if let Err(fault) = taken {
            self.out.damaged(1, fault.to_string());
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = io::Result<Imported>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Err(err) = self.advance() {
            self.input = None;
            return Some(Err(err));
        }
        self.out.0.pop_front().map(Ok)
    }
}

fn parse(bytes: &[u8]) -> Result<Value<'_>, Fault> {
    let text = std::str::from_utf8(bytes).map_err(|err| {
        let offset = err.valid_up_to();
        Fault::new("expected UTF-8, found other bytes").within(format!("byte {offset}"))
    })?;
    Value::parse(text, LIMITS.depth)
}

/// `None` where there is more than `longest`.
fn read_document(input: &mut impl BufRead, longest: usize) -> io::Result<Option<Vec<u8>>> {
    let mut text = Vec::new();
    let most = u64::try_from(longest).unwrap_or(u64::MAX).saturating_add(1);
    input.take(most).read_to_end(&mut text)?;
    Ok((text.len() <= longest).then_some(text))
}

/// Some editors put a byte order mark first.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}
