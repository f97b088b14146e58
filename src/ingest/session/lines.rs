//! Lines of bounded length.

use std::io::{self, BufRead};

/// Reads line by line and never holds more than one.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    number: u64,
    longest: usize,
}

/// A line, numbered from 1.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Its bytes, without the line break.
    Whole(u64, Vec<u8>),
    /// It was longer than allowed and is gone.
    TooLong(u64),
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R, longest: usize) -> Self {
        Self { input, number: 0, longest }
    }

    /// The next line; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        let (mut line, mut is_too_long, mut has_any) = (Vec::new(), false, false);
        loop {
            let ready = match self.input.fill_buf() {
                Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
                ready => ready?,
            };
            if ready.is_empty() {
                break;
            }
            has_any = true;
            let end = ready.iter().position(|byte| *byte == b'\n');
            let piece = ready.get(..end.unwrap_or(ready.len())).unwrap_or_default();
            if line.len() + piece.len() > self.longest {
                (is_too_long, line) = (true, Vec::new());
            } else if !is_too_long {
                line.extend_from_slice(piece);
            }
            let used = piece.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                break;
            }
        }
        if !has_any {
            return Ok(None);
        }
        self.number += 1;
        let number = self.number;
        Ok(Some(if is_too_long { Line::TooLong(number) } else { Line::Whole(number, line) }))
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn a_line_too_long_is_told_and_the_next_is_read() {
        let input = BufReader::with_capacity(3, b"abc\n\nabcdefgh\nxyz".as_slice());
        let mut lines = Lines::new(input, 4);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            seen.push(line);
        }
        let whole = |number, text: &str| Line::Whole(number, text.into());
        assert_eq!(seen, [whole(1, "abc"), whole(2, ""), Line::TooLong(3), whole(4, "xyz")]);
    }
}
