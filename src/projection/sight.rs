//! What each row looks like at first sight: the stages whose outcome never
//! changes afterwards.
//!
//! A pure function of the policy, the window as the view was set, and the rows
//! up to the row judged. Only a new policy moves it.

use std::{collections::HashMap, sync::Arc};

use super::{History, stages};
use crate::{
    model::{Block, BlockKind, Policy, Role, Row, Seq, StageKind, ToolOutput, ToolResult},
    rounds::{CallKey, Placement},
    tokens,
};

/// First-sight outcomes of all rows of a history, under one policy.
#[derive(Debug, Clone)]
pub struct Sight {
    policy: Arc<Policy>,
    sizes: Sizes,
    seen: HashMap<(Seq, u32), Seen>,
    batch_used: HashMap<Seq, usize>,
    runs: stages::dedupe_files::Runs,
}

/// Sizes of the stages that are fixed at first sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Tokens of window − reserve, as the view was set.
    pub limit_tokens: i64,
}

impl Sizes {
    /// `share` of the limit, in characters at four a token.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "windows are far below 2^52 tokens, shares within 0..=1"
    )]
    pub fn chars(self, share: f64) -> usize {
        (self.limit_tokens.max(0) as f64 * 4.0 * share).floor().max(0.0) as usize
    }
}

/// A block that is shown otherwise than it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// As it is shown; `None`: not at all.
    pub block: Option<Arc<Block>>,
    /// What that counts as.
    pub tokens: u32,
    /// What each stage made of it, in order.
    pub steps: Vec<Step>,
}

/// One stage's part in a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The stage.
    pub stage: StageKind,
    /// Tokens before it.
    pub before: u32,
    /// Tokens after it.
    pub after: u32,
}

impl Sight {
    /// Of an empty history.
    #[must_use]
    pub fn new(policy: Arc<Policy>, sizes: Sizes) -> Self {
        Self {
            policy,
            sizes,
            seen: HashMap::new(),
            batch_used: HashMap::new(),
            runs: stages::dedupe_files::Runs::default(),
        }
    }

    /// Of a history that is there already.
    #[must_use]
    pub fn of(policy: Arc<Policy>, sizes: Sizes, history: &History) -> Self {
        let mut sight = Self::new(policy, sizes);
        let mut replay = History::new();
        for row in history.rows() {
            let placement = replay.push(Arc::clone(row));
            sight.see(&replay, &placement);
        }
        sight
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// The sizes.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// How a block is shown, where that is not as it is stored. Duplicates are
    /// told apart, by [`Sight::original_of`]: they depend on the view.
    #[must_use]
    pub fn seen(&self, seq: Seq, block: u32) -> Option<&Seen> {
        self.seen.get(&(seq, block))
    }

    /// The earlier result that `result` repeats, among those that `is_shown`
    /// in full; with the marker to show instead.
    pub fn original_of(
        &self,
        result: (Seq, u32),
        is_shown: impl Fn(Seq, (Seq, u32)) -> bool,
    ) -> Option<(Seq, u32)> {
        self.runs.original_of(result, is_shown)
    }

    /// The results that may turn out to be duplicates, of one round.
    #[must_use]
    pub fn may_repeat(&self, round: Seq) -> &[(Seq, u32)] {
        self.runs.of_round(round)
    }

    /// Judges the row that was just pushed onto `history`.
    pub fn see(&mut self, history: &History, placement: &Placement) {
        let Some(row) = history.row(placement.seq) else { return };
        let policy = Arc::clone(&self.policy);
        let mut drafts = Drafts::of(row, placement);
        for stage in &policy.stages {
            match stage {
                StageKind::ResultCap => {
                    stages::result_cap::apply(&policy.result_cap, self.sizes, history, &mut drafts);
                }
                StageKind::BatchBudget => stages::batch_budget::apply(
                    &policy.batch_budget,
                    self.sizes,
                    &mut self.batch_used,
                    &mut drafts,
                ),
                StageKind::StripImages => {
                    stages::strip_images::apply(&policy.strip_images, row, &mut drafts);
                }
                StageKind::MicroText if row.message.role == Role::Assistant => {
                    stages::micro_text::apply(&policy.micro_text, row, &mut drafts);
                }
                _ => {}
            }
        }
        self.seen.extend(drafts.finish(row.seq));
        if policy.stages.contains(&StageKind::DedupeFiles) {
            for round in &placement.settles {
                self.find_repeats(history, *round);
            }
        }
    }

    /// Enters a round's results among the file contents shown so far. Only
    /// those that came in time: a late one is never anything's original, and
    /// what was shown in full stays so.
    fn find_repeats(&mut self, history: &History, round: Seq) {
        let Some(it) = history.round(round) else { return };
        for call in &it.calls {
            let Some(answer) = call.answers.first().filter(|answer| !answer.is_late) else {
                continue;
            };
            let at = (answer.seq, answer.block);
            let key = CallKey { seq: round, block: call.block };
            let block = self.block_at_first_sight(history, at);
            if let (Some((tool, input)), Some(block)) = (history.call(key), block) {
                self.runs.enter(&self.policy.dedupe_files, round, at, tool, input, &block);
            }
        }
    }

    /// A block as it is shown at first sight.
    #[must_use]
    pub fn block_at_first_sight(&self, history: &History, at: (Seq, u32)) -> Option<Arc<Block>> {
        match self.seen.get(&at) {
            Some(seen) => seen.block.clone(),
            None => {
                history.row(at.0)?.message.blocks.get(usize::try_from(at.1).ok()?).map(Arc::clone)
            }
        }
    }
}

/// The blocks of one row on their way through the stages.
pub(crate) struct Drafts {
    seq: Seq,
    blocks: Vec<Draft>,
}

pub(crate) struct Draft {
    /// Index in the stored message.
    pub index: u32,
    /// For a result: the call that it answers.
    pub call: Option<CallKey>,
    pub block: Option<Arc<Block>>,
    pub tokens: u32,
    stored: Arc<Block>,
    steps: Vec<Step>,
}

impl Drafts {
    fn of(row: &Row, placement: &Placement) -> Self {
        let call_of = |index: u32| {
            placement.answers.iter().find(|answer| answer.block == index).map(|answer| answer.call)
        };
        let blocks = row.message.blocks.iter().zip(0_u32..).map(|(block, index)| Draft {
            index,
            call: call_of(index),
            block: Some(Arc::clone(block)),
            tokens: row.tokens.blocks.get(index as usize).copied().unwrap_or(0),
            stored: Arc::clone(block),
            steps: Vec::new(),
        });
        Self { seq: row.seq, blocks: blocks.collect() }
    }

    pub(crate) fn seq(&self) -> Seq {
        self.seq
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Draft> {
        self.blocks.iter_mut()
    }

    fn finish(self, seq: Seq) -> impl Iterator<Item = ((Seq, u32), Seen)> {
        self.blocks.into_iter().filter(|draft| !draft.steps.is_empty()).map(move |draft| {
            let seen = Seen { block: draft.block, tokens: draft.tokens, steps: draft.steps };
            ((seq, draft.index), seen)
        })
    }
}

impl Draft {
    /// The result that it is, where it is one.
    pub(crate) fn result(&self) -> Option<&ToolResult> {
        match &self.block.as_ref()?.kind {
            BlockKind::ToolResult(result) => Some(result),
            _ => None,
        }
    }

    /// Says whether a stage made it smaller.
    pub(crate) fn was_reduced_by(&self, stage: StageKind) -> bool {
        self.steps.iter().any(|step| step.stage == stage)
    }

    /// The result to cut: as it is stored, so that no cut is cut again and a
    /// marker tells the sizes of what it stands for; but without the pictures
    /// that are described already.
    pub(crate) fn uncut(&self) -> Option<&ToolResult> {
        let is_stripped = self.was_reduced_by(StageKind::StripImages);
        match &self.stored.kind {
            BlockKind::ToolResult(result) if !is_stripped => Some(result),
            _ => self.result(),
        }
    }

    /// Shows `kind` instead, where that is smaller; says whether it is.
    pub(crate) fn replace(&mut self, stage: StageKind, kind: Option<BlockKind>) -> bool {
        let Some(old) = &self.block else { return false };
        let block = kind.map(|kind| Arc::new(Block { kind, extra_json: old.extra_json.clone() }));
        let tokens = block.as_ref().map_or(0, |block| tokens::block(block));
        if tokens >= self.tokens && block.is_some() {
            return false;
        }
        match self.steps.last_mut() {
            Some(last) if last.stage == stage => last.after = tokens,
            _ => self.steps.push(Step { stage, before: self.tokens, after: tokens }),
        }
        (self.block, self.tokens) = (block, tokens);
        true
    }
}

/// The characters of a result's text.
pub(crate) fn result_chars(result: &ToolResult) -> usize {
    result
        .output
        .iter()
        .map(|part| match part {
            ToolOutput::Text(bytes) => String::from_utf8_lossy(bytes).chars().count(),
            _ => 0,
        })
        .sum()
}

/// The bytes of a result's text.
pub(crate) fn result_bytes(result: &ToolResult) -> usize {
    result
        .output
        .iter()
        .map(|part| match part {
            ToolOutput::Text(bytes) => bytes.len(),
            _ => 0,
        })
        .sum()
}
