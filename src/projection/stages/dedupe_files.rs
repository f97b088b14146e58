//! `dedupe_files`: a file's content that is shown already.
//!
//! May drop: a result that an earlier one repeats byte for byte, with no other
//! content of that file shown between. Keeps: the first one in the view; where
//! that leaves the view, the next shows its text again.

use std::collections::HashMap;

use crate::{
    model::{Block, BlockKind, Seq, ToolOutput, policy::DedupeFiles},
    policies::tools,
    projection::text,
    tokens,
};

/// Runs of equal content, per file, in shown order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Runs {
    /// The newest run of each file.
    newest: HashMap<[u8; 32], usize>,
    all: Vec<Run>,
    /// A result's run and its place there, for results that may repeat.
    places: HashMap<(Seq, u32), (usize, usize)>,
    by_round: HashMap<Seq, Vec<(Seq, u32)>>,
}

#[derive(Debug, Clone)]
struct Run {
    content: [u8; 32],
    /// Round and result, in shown order.
    members: Vec<(Seq, (Seq, u32))>,
}

impl Runs {
    /// Enters a result as the newest that is shown.
    pub(crate) fn enter(
        &mut self,
        policy: &DedupeFiles,
        round: Seq,
        at: (Seq, u32),
        tool: &str,
        input: &[u8],
        block: &Block,
    ) {
        if !tools::selects(&policy.tools, tool) {
            return;
        }
        let Some(content) = content_of(block, policy.min_chars) else { return };
        let file = file_of(tool, input);
        let run = self.newest.get(&file).copied().filter(|run| self.all[*run].content == content);
        let Some(run) = run else {
            self.newest.insert(file, self.all.len());
            self.all.push(Run { content, members: vec![(round, at)] });
            return;
        };
        if tokens::count_text(&marker(policy, at)) >= tokens::block(block) {
            return;
        }
        self.places.insert(at, (run, self.all[run].members.len()));
        self.by_round.entry(round).or_default().push(at);
        self.all[run].members.push((round, at));
    }

    pub(crate) fn of_round(&self, round: Seq) -> &[(Seq, u32)] {
        self.by_round.get(&round).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn original_of(
        &self,
        result: (Seq, u32),
        is_shown: impl Fn(Seq, (Seq, u32)) -> bool,
    ) -> Option<(Seq, u32)> {
        let (run, place) = self.places.get(&result)?;
        let earlier = self.all.get(*run)?.members.get(..*place)?;
        earlier.iter().find(|(round, at)| is_shown(*round, *at)).map(|(_, at)| *at)
    }
}

/// What is shown instead of a result that repeats `original`.
pub(crate) fn marker(policy: &DedupeFiles, original: (Seq, u32)) -> String {
    let values: [(&str, &dyn std::fmt::Display); 2] =
        [("original_seq", &original.0), ("original_block", &original.1)];
    text::fill(&policy.marker, &values)
}

/// What a call looks at: the path that it names, or else the call itself.
fn file_of(tool: &str, input: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    if let Some(path) = tools::path_of(tool, input) {
        hasher.update(b"path\0").update(path.as_bytes());
    } else {
        hasher.update(b"call\0").update(tool.as_bytes()).update(b"\0").update(input);
    }
    hasher.finalize().into()
}

/// The content's digest, where it is text alone and long enough.
fn content_of(block: &Block, min_chars: usize) -> Option<[u8; 32]> {
    let BlockKind::ToolResult(result) = &block.kind else { return None };
    let mut hasher = blake3::Hasher::new();
    let mut chars = 0;
    for part in &result.output {
        let ToolOutput::Text(text) = part else { return None };
        hasher.update(text);
        chars += String::from_utf8_lossy(text).chars().count();
    }
    hasher.update(&[u8::from(result.is_error)]);
    (chars >= min_chars.max(1) && !result.is_error).then(|| hasher.finalize().into())
}
