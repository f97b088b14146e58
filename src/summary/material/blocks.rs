//! One message as text.

use std::fmt::Write as _;

use crate::{
    model::{Block, BlockKind, Opaque, Role, Row, ToolOutput},
    summary::text::{ceil, flat, floor},
};

/// Bytes that the parts of a message may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes {
    /// One result.
    result: usize,
    /// The arguments of one call.
    arguments: usize,
    /// One text.
    text: usize,
}

impl Sizes {
    /// From the widest to the tightest.
    pub(super) const ALL: [Self; 4] = [
        Self { result: 8000, arguments: 6000, text: 64_000 },
        Self { result: 2400, arguments: 2000, text: 16_000 },
        Self { result: 600, arguments: 600, text: 4000 },
        Self { result: 160, arguments: 200, text: 1200 },
    ];
}

/// Writes a message: who, and then its blocks.
pub(super) fn row(row: &Row, sizes: Sizes, out: &mut String) {
    let message = &row.message;
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System => "system",
    };
    let mut body = String::new();
    for block in &message.blocks {
        self::block(block, sizes, &mut body);
    }
    if body.is_empty() {
        return;
    }
    let _ = write!(out, "[message {}, {role}", row.seq);
    if !message.author.is_empty() {
        let _ = write!(out, ", author {}", flat(&message.author, 80));
    }
    if !message.lane.is_empty() {
        let _ = write!(out, ", lane {}", flat(&message.lane, 80));
    }
    let _ = write!(out, "]\n{body}");
}

fn block(block: &Block, sizes: Sizes, out: &mut String) {
    match &block.kind {
        BlockKind::Text(text) => {
            let raw;
            let words = if text.text.is_empty() && !text.raw.is_empty() {
                raw = String::from_utf8_lossy(&text.raw).into_owned();
                &raw
            } else {
                &text.text
            };
            if !words.trim().is_empty() {
                let _ = writeln!(out, "{}", shown(words, sizes.text));
            }
        }
        BlockKind::ToolUse(call) => {
            let arguments = String::from_utf8_lossy(&call.input_json);
            let name = flat(&call.name, 200);
            let _ = writeln!(out, "call {name} {}", shown(&arguments, sizes.arguments));
        }
        BlockKind::ToolResult(result) => {
            let what = if result.is_error { "failed result" } else { "result" };
            let _ = writeln!(out, "{}", fenced(what, &output(&result.output, sizes.result)));
        }
        BlockKind::Image(image) => {
            let _ = writeln!(out, "(image, {})", flat(&image.media_type, 80));
        }
        BlockKind::Opaque(opaque) => {
            let _ = writeln!(out, "({})", self::opaque(opaque));
        }
        // Reasoning is its provider's.
        BlockKind::Thinking(_) | BlockKind::RedactedThinking(_) => {}
    }
}

fn output(parts: &[ToolOutput], most: usize) -> String {
    let mut out = String::new();
    for part in parts {
        if !out.is_empty() {
            out.push('\n');
        }
        match part {
            ToolOutput::Text(bytes) => out.push_str(&shown(&String::from_utf8_lossy(bytes), most)),
            ToolOutput::Image(image) => {
                let _ = write!(out, "(image, {})", flat(&image.media_type, 80));
            }
            ToolOutput::Opaque(opaque) => {
                let _ = write!(out, "({})", self::opaque(opaque));
            }
        }
    }
    out
}

/// What a provider's block is called; what is in it is for the provider alone.
fn opaque(opaque: &Opaque) -> String {
    #[derive(serde::Deserialize)]
    struct Typed {
        #[serde(default, rename = "type")]
        kind: String,
    }
    let typed: Option<Typed> = serde_json::from_slice(&opaque.json).ok();
    match typed.map(|it| flat(&it.kind, 80)).filter(|it| !it.is_empty()) {
        Some(kind) => format!("{kind} block"),
        None => "a provider's block".to_owned(),
    }
}

/// A run of base64 that is longer holds bytes, not words.
const LONGEST_RUN: usize = 256;

/// Text without control characters and encoded bytes, in at most `most` bytes
/// of head and tail.
fn shown(text: &str, most: usize) -> String {
    let text = without_bytes(text);
    if text.len() <= most {
        return text;
    }
    let head = floor(&text, most * 3 / 5);
    let tail = ceil(&text, text.len() - most * 2 / 5).max(head);
    let removed = tail - head;
    format!("{} …[{removed} bytes left out]… {}", &text[..head], &text[tail..])
}

fn without_bytes(text: &str) -> String {
    let is_code = |it: char| it.is_ascii_alphanumeric() || matches!(it, '+' | '/' | '=');
    let mut out = String::with_capacity(text.len().min(1 << 20));
    let mut rest = text;
    while !rest.is_empty() {
        let run = rest.find(|it| !is_code(it)).unwrap_or(rest.len());
        if run > LONGEST_RUN && !is_words(&rest[..run]) {
            let _ = write!(out, "({run} encoded characters)");
        } else {
            out.push_str(&rest[..run]);
        }
        rest = &rest[run..];
        let other = rest.find(is_code).unwrap_or(rest.len());
        let is_kept = |it: &char| !it.is_control() || matches!(it, '\n' | '\t');
        out.extend(rest[..other].chars().filter(is_kept));
        rest = &rest[other..];
    }
    out
}

/// A long path or one letter over and over is no encoding.
fn is_words(run: &str) -> bool {
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    let upper = run.bytes().filter(u8::is_ascii_uppercase).count();
    digits * 50 < run.len() || upper * 50 < run.len()
}

/// Data in a fence of more backticks than stand in a row within it, so that
/// nothing in it can end it.
pub(super) fn fenced(what: &str, data: &str) -> String {
    let (mut longest, mut run) = (0, 0);
    for letter in data.chars() {
        run = if letter == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}{what}\n{data}\n{fence}")
}
