//! The workbench of a plan: the view as it stands, measured, and the means to
//! lay one more overlay on it.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::Arc,
};

use super::{
    Composed, Lens, Memo, Segment, Window,
    compose::{compose, plain_block},
    laying::Pile,
    segments,
};
use crate::model::{
    Block, BlockKind, Cause, Cleared, ImageSource, Overlay, OverlayId, OverlayKind, Policy,
    Revision, RowSet, Seq, SeqRange, StageKind, Timestamp, ToolOutput, ToolResult, ViewName,
    shown::{Answer, Entry, Notice, ShownRound},
};

/// What a plan looks at besides rows and overlays. Time and ids are passed in.
pub struct Circumstances<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// The window.
    pub window: Window,
    /// Now.
    pub now: Timestamp,
    /// Rows that no automatic stage but `fit` may take.
    pub pins: &'a [SeqRange],
    /// Every overlay that the view ever had, for triggers that fire once.
    pub ever: &'a [Overlay],
    /// The view.
    pub view: &'a ViewName,
    /// Rows that somebody is summarizing: no stage but `fit` touches them.
    pub leased: &'a [RowSet],
    /// Segments whose summary was refused: they are not tried again as they are.
    pub refused: &'a [RowSet],
    /// Where summaries come from.
    pub collapsing: Collapsing<'a>,
}

/// Where the summaries of a plan come from.
#[derive(Clone, Copy)]
pub enum Collapsing<'a> {
    /// From elsewhere and later: the plan only tells what is wanted.
    Later {
        /// From the block ratio on the plan ends with what is wanted, for the
        /// caller can wait for it.
        may_wait: bool,
    },
    /// Later, but from the block ratio on at once: a long history that just
    /// came is not waited for.
    FirstNow(&'a Summarize<'a>),
    /// At once.
    Now(&'a Summarize<'a>),
}

/// Writes a segment's summary; `None` where it has none.
pub type Summarize<'a> = dyn Fn(&Segment) -> Option<Written> + 'a;

/// A summary, and who wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The text, without the envelope.
    pub text: String,
    /// As `Overlay.summarizer` tells it.
    pub summarizer: String,
}

/// A reduction that a stage proposes.
#[derive(Debug, Clone)]
pub(crate) struct Proposal {
    pub stage: StageKind,
    pub cause: Cause,
    pub reduction: Reduction,
}

#[derive(Debug, Clone)]
pub(crate) enum Reduction {
    /// Pieces to show shorter.
    Clear(Vec<Cleared>),
    /// Rounds not to show, the marker, and rounds between them that stay.
    Snip { rounds: Vec<Seq>, kept: Vec<Seq>, marker: String },
    /// A segment to show as its summary.
    Collapse(Segment, Written),
}

/// A view under work.
pub(crate) struct Bench<'a> {
    pub lens: Lens<'a>,
    pub facts: &'a Circumstances<'a>,
    pub memo: &'a mut Memo,
    pub in_force: Vec<Overlay>,
    pub composed: Composed,
    pub added: Vec<Overlay>,
    pub superseded: Vec<OverlayId>,
    pub new_id: &'a mut dyn FnMut() -> OverlayId,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(
        lens: Lens<'a>,
        facts: &'a Circumstances<'a>,
        in_force: Vec<Overlay>,
        memo: &'a mut Memo,
        new_id: &'a mut dyn FnMut() -> OverlayId,
    ) -> Self {
        let composed = compose(lens, &in_force, memo);
        Self {
            lens,
            facts,
            memo,
            in_force,
            composed,
            added: Vec::new(),
            superseded: Vec::new(),
            new_id,
        }
    }

    /// fixed + messages, calibrated.
    pub(crate) fn used(&self) -> i64 {
        self.facts.window.used(self.composed.tokens)
    }

    /// Says whether the rendered request would be above the limit of bytes.
    #[expect(clippy::cast_precision_loss, reason = "requests are far below 2^52 bytes")]
    pub(crate) fn is_over_bytes(&self) -> bool {
        let window = self.facts.window;
        self.composed.bytes() as f64 * window.bytes_ratio > window.bytes_limit as f64
    }

    /// About how many bytes a rendering has too many, where its tokens fit.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "requests are far below 2^52 bytes"
    )]
    pub(crate) fn bytes_over(&self) -> i64 {
        let window = self.facts.window;
        if self.used() > window.fit_limit(self.facts.policy) {
            return 0;
        }
        let rendered = (self.composed.bytes() as f64 * window.bytes_ratio) as i64;
        (rendered - window.bytes_limit).max(0)
    }

    /// Lays a reduction on the view. Says whether it made the view smaller;
    /// where it did not, the view stays as it was.
    pub(crate) fn apply(&mut self, proposal: Proposal) -> bool {
        let overlay = self.overlay(proposal);
        let supersedes = self.superseded_by(&overlay);
        let mut in_force: Vec<Overlay> =
            self.in_force.iter().filter(|it| !supersedes.contains(&it.id)).cloned().collect();
        in_force.push(overlay);
        let composed = compose(self.lens, &in_force, self.memo);
        let saves_bytes = || self.is_over_bytes() && composed.bytes() < self.composed.bytes();
        let is_smaller = composed.tokens < self.composed.tokens
            || (composed.tokens == self.composed.tokens && saves_bytes());
        if !is_smaller {
            return false;
        }
        if let Some(overlay) = in_force.last_mut() {
            overlay.tokens_before = self.composed.tokens;
            overlay.tokens_after = composed.tokens;
            self.added.retain(|it| !supersedes.contains(&it.id));
            self.added.push(overlay.clone());
        }
        // One that this very plan had proposed was never in force.
        let was_stored = |id: &OverlayId| self.facts.ever.iter().any(|it| it.id == *id);
        let stored = supersedes.iter().filter(|id| was_stored(id)).cloned();
        self.superseded.extend(stored);
        self.in_force = in_force;
        self.composed = composed;
        true
    }

    /// Lays segments that share no row on the view, each as its summary. Says of
    /// each whether it made the view smaller; where it did not, it is not laid.
    pub(crate) fn collapse(&mut self, cause: Cause, written: Vec<(Segment, Written)>) -> Vec<bool> {
        let overlays = written.into_iter().map(|(segment, written)| {
            let reduction = Reduction::Collapse(segment, written);
            self.overlay(Proposal { stage: StageKind::Collapse, cause, reduction })
        });
        let overlays = overlays.collect();
        let mut laid = Vec::new();
        let mut pile = Pile {
            lens: self.lens,
            memo: &mut *self.memo,
            in_force: mem::take(&mut self.in_force),
            composed: mem::take(&mut self.composed),
        };
        pile.lay(overlays, &mut laid);
        (self.in_force, self.composed) = (pile.in_force, pile.composed);
        let is_laid = laid.iter().map(Result::is_ok).collect();
        self.added.extend(laid.into_iter().flatten());
        is_laid
    }

    fn overlay(&mut self, proposal: Proposal) -> Overlay {
        let mut summarizer = String::new();
        let (kind, covered, kept, summary, cleared) = match proposal.reduction {
            Reduction::Clear(cleared) => {
                let rows = cleared.iter().map(|it| it.content.seq).collect();
                (OverlayKind::Clear, RowSet::of(rows), RowSet::default(), String::new(), cleared)
            }
            Reduction::Snip { rounds, kept, marker } => {
                let covered = widen(&self.rows_of(&rounds), &self.in_force);
                let kept = self.rows_of(&kept);
                let kept = RowSet::of(kept.iter().filter(|seq| !covered.contains(*seq)).collect());
                (OverlayKind::Snip, covered, kept, marker, Vec::new())
            }
            Reduction::Collapse(segment, written) => {
                summarizer = written.summarizer;
                (OverlayKind::Collapse, segment.covered, segment.kept, written.text, Vec::new())
            }
        };
        let source_digest = source_digest(self.lens, &covered);
        let covered_overlays = if kind == OverlayKind::Clear {
            Vec::new()
        } else {
            directly_under(&covered, &self.in_force)
        };
        Overlay {
            id: (self.new_id)(),
            view: self.facts.view.clone(),
            kind,
            covered,
            kept,
            summary,
            cleared,
            tokens_before: 0,
            tokens_after: 0,
            summarizer,
            cause: proposal.cause,
            stage: proposal.stage.name().to_owned(),
            author: String::new(),
            commit_revision: Revision::default(),
            commit_time: Timestamp::default(),
            rollback: None,
            transcript_id: String::new(),
            covered_overlays,
            source_digest,
        }
    }

    /// The rows of whole rounds.
    pub(crate) fn rows_of(&self, rounds: &[Seq]) -> RowSet {
        let rows = rounds.iter().filter_map(|id| self.lens.history.round(*id));
        RowSet::of(rows.flat_map(|round| round.rows.iter().copied()).collect())
    }

    /// A snip takes the place of those of its stage that lie inside it.
    fn superseded_by(&self, overlay: &Overlay) -> Vec<OverlayId> {
        if overlay.kind != OverlayKind::Snip || overlay.stage.is_empty() {
            return Vec::new();
        }
        self.in_force
            .iter()
            .filter(|it| {
                it.kind == OverlayKind::Snip
                    && it.stage == overlay.stage
                    && overlay.covered.contains_all(&it.covered)
            })
            .map(|it| it.id.clone())
            .collect()
    }

    /// The settled rounds from the first to that of the visible position
    /// `last`, those in `kept` aside: what a snip of the oldest covers. None
    /// where all of them are hidden already.
    pub(crate) fn prefix_through(&self, last: usize, kept: &BTreeSet<Seq>) -> (Vec<Seq>, Vec<Seq>) {
        let Some(end) = self.composed.visible.get(last) else { return Default::default() };
        let order = self.lens.history.order();
        let end = order.iter().position(|id| id == end).map_or(0, |at| at + 1);
        let visible: BTreeSet<Seq> = self.composed.visible.iter().copied().collect();
        let stays = self.stays_hidden();
        let is_kept = |id: &Seq| kept.contains(id) && visible.contains(id);
        let there = order[..end].iter().copied().filter(|id| !stays.contains(id));
        let (rounds, kept): (Vec<Seq>, Vec<Seq>) = there.partition(|id| !is_kept(id));
        if rounds.iter().any(|id| visible.contains(id)) {
            (rounds, kept)
        } else {
            Default::default()
        }
    }

    /// Hidden rounds that no snip takes along. Summaries stay: they are small,
    /// and all that is left of what they cover. So does what lies under an
    /// overlay that belongs to what somebody summarizes.
    fn stays_hidden(&self) -> BTreeSet<Seq> {
        let leased = segments::leased(self);
        let hidden = self.composed.hidden.iter().filter(|(index, rounds)| {
            let is_summary = self
                .in_force
                .get(*index)
                .is_some_and(|it| matches!(it.kind, OverlayKind::Collapse | OverlayKind::Compact));
            is_summary || rounds.iter().any(|id| leased.contains(id))
        });
        hidden.flat_map(|(_, rounds)| rounds.iter().copied()).collect()
    }

    /// Positions in `visible` at which a turn starts; the first round always
    /// starts one.
    pub(crate) fn turn_starts(&self) -> Vec<usize> {
        let is_start = |id: &Seq| self.lens.history.round(*id).is_some_and(|it| it.starts_turn);
        self.composed
            .visible
            .iter()
            .enumerate()
            .filter(|(at, id)| *at == 0 || is_start(id))
            .map(|(at, _)| at)
            .collect()
    }

    /// The position in `visible` from which the newest `turns` stand; in rounds
    /// where no whole turn lies before them.
    pub(crate) fn newest_turns(&self, turns: usize) -> usize {
        let starts = self.turn_starts();
        if turns < starts.len() {
            if turns == 0 { self.composed.visible.len() } else { starts[starts.len() - turns] }
        } else {
            self.composed.visible.len().saturating_sub(turns)
        }
    }

    /// Tokens of each shown round, uncalibrated.
    pub(crate) fn tokens_by_round(&self) -> BTreeMap<Seq, i64> {
        self.composed.rounds().map(|round| (round.id, round.tokens)).collect()
    }

    /// About how many bytes a shown round renders to.
    pub(crate) fn bytes_of(&self, id: Seq) -> i64 {
        self.composed.rounds().find(|round| round.id == id).map_or(0, round_bytes)
    }

    /// The shown rounds with their positions in `visible`; a late answer that
    /// has lost its round stands at the position of the next.
    pub(crate) fn placed_rounds(&self) -> impl Iterator<Item = (usize, &ShownRound)> {
        let mut next = 0;
        self.composed.rounds().map(move |round| {
            let at = next;
            if self.composed.visible.get(next) == Some(&round.id) {
                next += 1;
            }
            (at, round)
        })
    }

    /// A tool result as it is stored.
    pub(crate) fn stored_result(&self, seq: Seq, block: u32) -> Option<&ToolResult> {
        let blocks = &self.lens.history.row(seq)?.message.blocks;
        match &blocks.get(usize::try_from(block).ok()?)?.kind {
            BlockKind::ToolResult(result) => Some(result),
            _ => None,
        }
    }

    /// A stored block as it looked at first sight.
    pub(crate) fn plain_block(&self, seq: Seq, block: u32) -> Option<Arc<Block>> {
        let row = self.lens.history.row(seq)?;
        plain_block(self.lens, row, block).map(|(block, _)| block)
    }
}

impl Composed {
    /// The shown rounds.
    pub fn rounds(&self) -> impl Iterator<Item = &ShownRound> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Round(round) => Some(round.as_ref()),
            Entry::Notice(_) => None,
        })
    }

    /// What is shown for overlays, in order.
    pub fn notices(&self) -> impl Iterator<Item = &Notice> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Notice(notice) => Some(notice),
            Entry::Round(_) => None,
        })
    }

    /// What is shown for an overlay, where it is the outermost.
    #[must_use]
    pub fn notice_of(&self, overlay: &OverlayId) -> Option<&Notice> {
        self.notices().find(|notice| notice.overlay == *overlay)
    }

    /// About how many bytes a rendered request of it has: text as it is, images
    /// as base64.
    #[must_use]
    pub fn bytes(&self) -> i64 {
        self.rounds().map(round_bytes).sum()
    }
}

fn round_bytes(round: &ShownRound) -> i64 {
    let blocks = round.messages.iter().flat_map(|message| &message.blocks);
    let blocks = blocks.map(|block| block.block.as_ref());
    let answers = round.calls.iter().filter_map(|call| match &call.answer {
        Answer::Result { block, .. } => Some(block.as_ref()),
        Answer::Missing => None,
    });
    let bytes = blocks.chain(answers).map(|block| kind_bytes(&block.kind) + 64).sum::<usize>();
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

pub(crate) fn kind_bytes(kind: &BlockKind) -> usize {
    let image = |source: &ImageSource| match source {
        ImageSource::Data(data) => data.len().div_ceil(3) * 4,
        ImageSource::Url(url) => url.len(),
    };
    match kind {
        BlockKind::Text(text) => text.text.len() + text.raw.len(),
        BlockKind::Thinking(thinking) => {
            thinking.parts.iter().map(String::len).sum::<usize>()
                + thinking.signature.len()
                + thinking.encrypted_content.len()
        }
        BlockKind::RedactedThinking(data) => data.len(),
        BlockKind::ToolUse(call) => call.name.len() + call.input_json.len(),
        BlockKind::ToolResult(result) => {
            let parts = result.output.iter().map(|part| match part {
                ToolOutput::Text(text) => text.len(),
                ToolOutput::Image(it) => image(&it.source),
                ToolOutput::Opaque(opaque) => opaque.json.len(),
            });
            parts.sum()
        }
        BlockKind::Image(it) => image(&it.source),
        BlockKind::Opaque(opaque) => opaque.json.len(),
    }
}

/// `rows` and every range overlay that they touch, whole.
#[must_use]
pub(crate) fn widen(rows: &RowSet, overlays: &[Overlay]) -> RowSet {
    let mut rows = rows.clone();
    loop {
        let crossing = overlays.iter().find(|it| {
            it.is_range() && rows.intersects(&it.covered) && !rows.contains_all(&it.covered)
        });
        match crossing {
            Some(overlay) => rows = rows.union(&overlay.covered),
            None => return rows,
        }
    }
}

/// The range overlays that lie under `covered` and under nothing else there.
#[must_use]
pub fn directly_under(covered: &RowSet, overlays: &[Overlay]) -> Vec<OverlayId> {
    let inside: Vec<&Overlay> =
        overlays.iter().filter(|it| it.is_range() && covered.contains_all(&it.covered)).collect();
    inside
        .iter()
        .filter(|it| {
            !inside.iter().any(|other| {
                other.id != it.id
                    && other.covered != it.covered
                    && other.covered.contains_all(&it.covered)
            })
        })
        .map(|it| it.id.clone())
        .collect()
}

/// BLAKE3 over the digests of the covered rows, in order.
#[must_use]
pub(crate) fn source_digest(lens: Lens<'_>, covered: &RowSet) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for row in covered.iter().filter_map(|seq| lens.history.row(seq)) {
        hasher.update(&row.digest);
    }
    hasher.finalize().into()
}
