//! Segments of recorded sessions, summarized within what a segment may have.

use std::{path::PathBuf, time::Instant};

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

#[derive(Default)]
struct Shares {
    paths: Share,
    requests: Share,
    commands: Share,
    segments: usize,
    tokens: i64,
}

fn measure(name: &str, rounds: &[MaterialRound], shares: &mut Shares) {
    for segment in segments(rounds) {
        let material = material(segment);
        let expected = expected(&material);
        let text = extractive(&task(material, "four_parts_and_range", CAP));
        let tokens = i64::from(count_text(&text));
        assert!(tokens <= CAP, "{name}: {tokens} tokens\n{text}");
        let limits = Limits { max_tokens: CAP, template: Some(Template::FourPartsAndRange) };
        assert_eq!(check(&text, "", &limits), Ok(()), "{name}\n{text}");
        shares.segments += 1;
        shares.tokens += tokens;
        let mut missing = Vec::new();
        for path in &expected.paths {
            let is_named = names_path(&text, path);
            shares.paths.count(is_named);
            missing.extend((!is_named).then(|| format!("path {path}")));
        }
        for request in &expected.requests {
            let is_named = names_request(&text, request);
            shares.requests.count(is_named);
            missing.extend((!is_named).then(|| format!("request {request:.80}")));
        }
        for command in &expected.commands {
            let is_named = names_command(&text, command);
            shares.commands.count(is_named);
            missing.extend((!is_named).then(|| format!("command {command:.80}")));
        }
        if super::corpus::is_verbose() && !missing.is_empty() {
            eprintln!("==== {name}\n{text}\n---- missing: {missing:#?}");
        }
    }
}

pub(super) fn is_verbose() -> bool {
    #[expect(clippy::disallowed_methods, reason = "for somebody who looks")]
    std::env::var("CONCERTINA_SUMMARIES").is_ok()
}

#[test]
fn r81_whole_sessions_are_summarized_within_what_a_compaction_may_have() {
    for path in conversations() {
        let conversation = Conversation::read(&path);
        let rounds = rounds(conversation.messages);
        let bytes: usize = rounds.iter().map(bytes).sum();
        for template in Template::COMPACT {
            let task = task(material(&rounds), template.name(), 5000);
            let start = Instant::now();
            let text = extractive(&task);
            let took = start.elapsed();
            let limits = Limits { max_tokens: 5000, template: Some(template) };
            assert_eq!(check(&text, "", &limits), Ok(()), "{}\n{text}", conversation.name);
            if template == Template::AllParts {
                let tokens = count_text(&text);
                eprintln!(
                    "{:44} {bytes:8} bytes to {tokens:4} tokens: {} ms",
                    conversation.name,
                    took.as_millis()
                );
            }
            if is_verbose() {
                eprintln!("==== whole {} {}\n{text}", conversation.name, template.name());
            }
        }
    }
}

#[test]
fn r64_segments_of_recorded_sessions_name_what_matters() {
    let mut total = Shares::default();
    for path in conversations() {
        let conversation = Conversation::read(&path);
        let mut shares = Shares::default();
        let rounds = rounds(conversation.messages);
        let start = Instant::now();
        measure(&conversation.name, &rounds, &mut shares);
        eprintln!(
            "{:44} {:4} segments, {:3} tokens each; paths {:3} % of {}, requests {:3} % of {}, failing commands {:3} % of {}; {} ms",
            conversation.name,
            shares.segments,
            shares.tokens / shares.segments.max(1) as i64,
            shares.paths.percent(),
            shares.paths.of,
            shares.requests.percent(),
            shares.requests.of,
            shares.commands.percent(),
            shares.commands.of,
            start.elapsed().as_millis(),
        );
        total.segments += shares.segments;
        total.tokens += shares.tokens;
        total.paths.add(shares.paths);
        total.requests.add(shares.requests);
        total.commands.add(shares.commands);
    }
    eprintln!(
        "all: {} segments; paths {} % of {}, requests {} % of {}, failing commands {} % of {}",
        total.segments,
        total.paths.percent(),
        total.paths.of,
        total.requests.percent(),
        total.requests.of,
        total.commands.percent(),
        total.commands.of,
    );
    assert!(total.segments > 0);
}
