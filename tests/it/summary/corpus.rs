//! Segments of recorded sessions, summarized within what a segment may have.

use std::{fmt, path::PathBuf, time::Instant};

use concertina::{
    model::{BlockKind, ToolOutput},
    policies::Template,
    summary::{Limits, MaterialRound, check, extractive},
    tokens::count_text,
};

use super::{
    oracle::{Share, expected, names_command, names_path, names_request},
    support::{material, rounds, task},
};
use crate::corpus::read::{Conversation, files};

const CAP: i64 = 300;

fn conversations() -> Vec<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the corpus is not part of the repository")]
    let folder = std::env::var("CONCERTINA_CORPUS").ok().filter(|it| !it.is_empty());
    match folder {
        Some(folder) => files(&PathBuf::from(folder)),
        None => vec![PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/demo/session.jsonl"))],
    }
}

/// A tenth of a window of 200,000 tokens, at four bytes a token.
const SEGMENT_BYTES: usize = 20_000 * 4;

/// Segments as a policy takes them: so many rounds, or so many turns, but no
/// more than a tenth of the window.
fn segments(rounds: &[MaterialRound]) -> Vec<&[MaterialRound]> {
    let mut out: Vec<&[MaterialRound]> = Vec::new();
    for size in [5, 10] {
        out.extend(rounds.chunks(size));
        let mut from = 0;
        while from < rounds.len() {
            let (mut to, mut turns, mut bytes) = (from, 0, 0);
            while let Some(round) = rounds.get(to) {
                turns += usize::from(to == from || rounds[to - 1].turn != round.turn);
                bytes += self::bytes(round);
                if to > from && (turns > size || bytes > SEGMENT_BYTES) {
                    break;
                }
                to += 1;
            }
            out.push(&rounds[from..to]);
            from = to;
        }
    }
    out
}

fn bytes(round: &MaterialRound) -> usize {
    let blocks = round.rows.iter().flat_map(|row| &row.message.blocks);
    let bytes = blocks.map(|block| match &block.kind {
        BlockKind::Text(text) => text.text.len(),
        BlockKind::ToolUse(call) => call.input_json.len(),
        BlockKind::ToolResult(result) => result.output.iter().map(output_bytes).sum(),
        _ => 0,
    });
    bytes.sum()
}

fn output_bytes(output: &ToolOutput) -> usize {
    match output {
        ToolOutput::Text(bytes) => bytes.len(),
        _ => 0,
    }
}

/// How many of what a conversation holds its summaries name.
#[derive(Default)]
struct Shares {
    paths: Share,
    requests: Share,
    commands: Share,
}

impl Shares {
    fn add(&mut self, other: &Self) {
        self.paths.add(other.paths);
        self.requests.add(other.requests);
        self.commands.add(other.commands);
    }
}

impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { paths, requests, commands } = self;
        write!(f, "changed paths {paths}, requests {requests}, failing commands {commands}")
    }
}

#[expect(clippy::print_stderr, reason = "for somebody who looks")]
fn print(line: &str) {
    eprintln!("{line}");
}

/// Set, it prints every summary that misses something.
fn is_verbose() -> bool {
    #[expect(clippy::disallowed_methods, reason = "for somebody who looks")]
    std::env::var("CONCERTINA_SUMMARIES").is_ok()
}

fn measure(name: &str, segment: &[MaterialRound], shares: &mut Shares) {
    let material = material(segment);
    let expected = expected(&material);
    let text = extractive(&task(material, "four_parts_and_range", CAP));
    let limits = Limits { max_tokens: CAP, template: Some(Template::FourPartsAndRange) };
    assert_eq!(check(&text, "", &limits), Ok(()), "{name}\n{text}");
    let mut missing = Vec::new();
    let mut count = |share: &mut Share, is_named: bool, what: &str| {
        share.count(is_named);
        missing.extend((!is_named).then(|| format!("{what:.80}")));
    };
    for path in &expected.paths {
        count(&mut shares.paths, names_path(&text, path), path);
    }
    for request in &expected.requests {
        count(&mut shares.requests, names_request(&text, request), request);
    }
    for command in &expected.commands {
        count(&mut shares.commands, names_command(&text, command), command);
    }
    if is_verbose() && !missing.is_empty() {
        print(&format!("==== {name}\n{text}\n---- missing: {missing:#?}"));
    }
}

#[test]
fn r64_segments_of_recorded_sessions_name_what_matters() {
    let mut total = Shares::default();
    for path in conversations() {
        let conversation = Conversation::read(&path);
        let mut shares = Shares::default();
        let rounds = rounds(conversation.messages);
        for segment in segments(&rounds) {
            measure(&conversation.name, segment, &mut shares);
        }
        print(&format!("{:44} {shares}", conversation.name));
        total.add(&shares);
    }
    print(&format!("all: {total}"));
    assert!(total.paths.of > 0 && total.requests.of > 0, "{total}");
    assert!(total.paths.percent() >= 95 && total.requests.percent() >= 95, "{total}");
    assert!(total.commands.percent() >= 80, "{total}");
}

#[test]
fn r81_whole_sessions_are_summarized_within_what_a_compaction_may_have() {
    for path in conversations() {
        let conversation = Conversation::read(&path);
        let rounds = rounds(conversation.messages);
        for template in Template::COMPACT {
            let start = Instant::now();
            let text = extractive(&task(material(&rounds), template.name(), 5000));
            let took = start.elapsed().as_millis();
            let limits = Limits { max_tokens: 5000, template: Some(template) };
            assert_eq!(check(&text, "", &limits), Ok(()), "{}\n{text}", conversation.name);
            let tokens = count_text(&text);
            let bytes: usize = rounds.iter().map(bytes).sum();
            let name = &conversation.name;
            if template == Template::AllParts {
                print(&format!("{name:44} {bytes:8} bytes to {tokens:4} tokens: {took} ms"));
            }
            if is_verbose() {
                print(&format!("==== whole {name} {}\n{text}", template.name()));
            }
        }
    }
}
