//! Which rounds a collapse would cover next.
//!
//! A segment is a run of whole shown rounds, oldest first, that no summary
//! parts. It counts in turns; in rounds inside a turn that is not whole or that
//! alone is more than a segment may be, for a session of one prompt and 200
//! tool rounds is one turn.

mod pieces;

use std::{cell::OnceCell, collections::BTreeSet};

use self::pieces::{Piece, Runs, tokens_of, trim};
use super::{
    bench::{Bench, directly_under, source_digest, widen},
    protect::{Protected, protected},
    window::share_of,
};
use crate::{
    model::{
        Overlay, OverlayId, OverlayKind, RowSet, Seq, StageKind, policy::Collapse, shown::Entry,
    },
    tokens,
};

/// What the words around a summary cost beside it, about: an estimate that
/// only decides how much to take; what is committed is measured.
const ENVELOPE_TOKENS: i64 = 60;

/// Rows that a collapse would cover, with everything that a commit names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Whole rounds and whole overlays.
    pub covered: RowSet,
    /// Protected rounds between them, shown right after the summary.
    pub kept: RowSet,
    /// The overlays directly under it.
    pub covered_overlays: Vec<OverlayId>,
    /// Every overlay in force that shares a row with it, clears too.
    pub overlays: Vec<OverlayId>,
    /// BLAKE3 over the digests of the covered rows.
    pub source_digest: [u8; 32],
    /// Uncalibrated tokens of what it would hide, as shown now.
    pub tokens: i64,
    /// Tokens that its summary should have at least.
    pub min_summary_tokens: i64,
    /// … and may have at most.
    pub max_summary_tokens: i64,
}

impl Segment {
    /// The rows that it reaches over: covered and kept.
    #[must_use]
    pub fn extent(&self) -> RowSet {
        self.covered.union(&self.kept)
    }
}

/// Segments that the policy wants collapsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Oldest first; to be committed together.
    pub segments: Vec<Segment>,
    /// The block ratio was reached: who reads should wait for it.
    pub is_urgent: bool,
}

/// Finds one segment after the other. What was found counts as gone.
pub(crate) struct Finder<'b, 'a> {
    bench: &'b Bench<'a>,
    /// Segments that are not tried again as they are.
    refused: &'b [RowSet],
    /// These three only where a trigger holds: most contexts need none.
    protected: OnceCell<Protected>,
    leased: OnceCell<BTreeSet<Seq>>,
    kept_from: OnceCell<usize>,
    whole_turns: OnceCell<bool>,
    /// What is left to find segments in.
    runs: OnceCell<Runs>,
    /// Uncalibrated tokens of the messages once what was found is summarized.
    messages: i64,
    /// Uncalibrated tokens of all summaries then.
    summaries: i64,
    /// Summaries of the stage that are shown then.
    passes: usize,
}

impl<'b, 'a> Finder<'b, 'a> {
    pub(crate) fn of(bench: &'b Bench<'a>, refused: &'b [RowSet]) -> Self {
        let (summaries, passes) = summaries(bench);
        Self {
            bench,
            refused,
            protected: OnceCell::new(),
            leased: OnceCell::new(),
            kept_from: OnceCell::new(),
            whole_turns: OnceCell::new(),
            runs: OnceCell::new(),
            messages: bench.composed.tokens,
            summaries,
            passes,
        }
    }

    fn protected(&self) -> &Protected {
        self.protected.get_or_init(|| protected(self.bench))
    }

    fn is_leased(&self, round: Seq) -> bool {
        self.leased.get_or_init(|| leased(self.bench)).contains(&round)
    }

    fn rules(&self) -> &'a Collapse {
        &self.bench.facts.policy.collapse
    }

    /// fixed + messages, calibrated, once what was found is summarized.
    fn used(&self) -> i64 {
        self.bench.facts.window.used(self.messages)
    }

    fn at(&self, ratio: f64) -> i64 {
        self.bench.facts.window.at_ratio(self.bench.facts.policy.window.basis, ratio)
    }

    /// Says whether the stage's trigger holds.
    pub(crate) fn is_triggered(&self) -> bool {
        self.used() >= self.at(self.next_ratio().unwrap_or(self.rules().commit_ratio))
    }

    /// Says whether the low mark is reached, or no step of the ladder is.
    pub(crate) fn is_at_the_mark(&self) -> bool {
        match self.next_ratio() {
            Some(ratio) => self.used() < self.at(ratio),
            None => self.used() <= self.at(self.rules().until_ratio),
        }
    }

    /// Says whether readers should wait.
    pub(crate) fn is_urgent(&self) -> bool {
        self.used() >= self.at(self.rules().block_ratio)
    }

    /// The ladder's next step: from which ratio on, and what it takes. Each pass
    /// leaves a summary, so what is shown tells how far the ladder was climbed;
    /// after its last step it starts anew. Where the newest turn alone is left
    /// then, only its top takes rounds out of that.
    fn step(&self) -> Option<(f64, f64)> {
        let rules = self.rules();
        let (steps, top) = (rules.ladder_ratios.len(), *rules.ladder_ratios.last()?);
        let at = self.passes % steps;
        let ratio = *rules.ladder_ratios.get(at)?;
        let is_within_a_turn = self.passes >= steps && !self.has_whole_turns();
        Some((if is_within_a_turn { top } else { ratio }, *rules.ladder_takes.get(at)?))
    }

    fn next_ratio(&self) -> Option<f64> {
        self.step().map(|(ratio, _)| ratio)
    }

    /// The oldest segment, whether the trigger holds or not.
    pub(crate) fn oldest(&mut self) -> Option<Segment> {
        let (run, rounds) = match self.step() {
            Some((_, take)) => self.of_ladder(take),
            None => self.grown(),
        }?;
        if let Some(runs) = self.runs.get_mut() {
            runs.take(run, rounds.len());
        }
        let segment = self.segment(&rounds);
        self.messages -= segment.tokens - segment.max_summary_tokens - ENVELOPE_TOKENS;
        self.summaries += segment.max_summary_tokens + ENVELOPE_TOKENS;
        self.passes += 1;
        Some(segment)
    }

    /// The segments that bring the view to the low mark; on a ladder, one for
    /// each step that is reached.
    pub(crate) fn down_to_the_mark(&mut self) -> Vec<Segment> {
        let mut out = Vec::new();
        while !self.is_at_the_mark() {
            match self.oldest() {
                Some(segment) => out.push(segment),
                None => break,
            }
        }
        out
    }

    /// The oldest half of the summaries, where all together are too many.
    pub(crate) fn merged(&self) -> Option<Segment> {
        let window = self.bench.facts.window;
        let most = share_of(window.room(), self.rules().all_summaries_share);
        if tokens::calibrate(self.summaries, window.factor) <= most {
            return None;
        }
        let order = self.bench.lens.history.order();
        let (summaries, first, last) = self.oldest_summaries()?;
        let protected = self.protected().all();
        let visible: BTreeSet<Seq> = self.bench.composed.visible.iter().copied().collect();
        let is_kept = |id: &Seq| protected.contains(id) && visible.contains(id);
        let all = &order[first..=last];
        if all.iter().any(|id| self.is_leased(*id)) {
            return None;
        }
        let (kept, covered): (Vec<Seq>, Vec<Seq>) = all.iter().partition(|id| is_kept(id));
        let shown = self.bench.tokens_by_round();
        let between: i64 = covered.iter().filter_map(|id| shown.get(id)).sum();
        let ids: Vec<&OverlayId> =
            summaries.iter().map(|index| &self.bench.in_force[*index].id).collect();
        let notices = notices(self.bench).filter(|(overlay, _)| ids.contains(&&overlay.id));
        let notices: i64 = notices.map(|(_, tokens)| tokens).sum();
        let segment = of_rounds(self.bench, &covered, &kept, between + notices);
        let is_refused = self.refused.contains(&segment.covered);
        (!is_refused).then_some(segment)
    }

    /// The oldest half of the summaries, as places in what is in force, with
    /// where in the history's order they start and end. One with a pinned row
    /// beneath stays as it is: who opened a wider one and pinned what it covers
    /// wants to see it.
    fn oldest_summaries(&self) -> Option<(Vec<usize>, usize, usize)> {
        let order = self.bench.lens.history.order();
        let place = |id: &Seq| order.iter().position(|it| it == id);
        let is_pinned = |id: &Seq| self.protected().pinned.contains(id);
        let shown = self.bench.composed.hidden.iter().filter(|(index, _)| {
            let overlay = self.bench.in_force.get(*index);
            overlay.is_some_and(is_summary)
        });
        let shown: Vec<&(usize, Vec<Seq>)> = shown.collect();
        let runs = || shown.split(|(_, rounds)| rounds.iter().any(is_pinned));
        let half = runs().map(<[_]>::len).sum::<usize>().div_ceil(2).max(2);
        let run = runs().find(|run| run.len() >= 2)?;
        let taken = &run[..half.min(run.len())];
        let first = taken.iter().filter_map(|(_, rounds)| place(rounds.first()?)).min()?;
        let last = taken.iter().filter_map(|(_, rounds)| place(rounds.last()?)).max()?;
        Some((taken.iter().map(|(index, _)| *index).collect(), first, last))
    }

    /// One pass of the ladder: a share of the turns that are left, or a number
    /// of them, in one segment.
    fn of_ladder(&self, take: f64) -> Option<(usize, Vec<Piece>)> {
        let runs = self.runs();
        let (index, run) = runs.left().find(|(_, run)| run.iter().any(|it| !it.is_protected))?;
        let units: Vec<Vec<Piece>> = self.units(run).collect();
        let left = units.len() + runs.kept_units;
        let take = if take < 1.0 { portion(left, take) } else { whole(take) };
        let take = take.max(1).min(units.len());
        for take in take..=units.len() {
            let rounds: Vec<Piece> = units[..take].iter().flatten().copied().collect();
            if self.is_worth_it(&rounds) {
                return Some((index, rounds));
            }
        }
        None
    }

    /// A segment of `min_turns` to `max_turns`, or of its share of the limit.
    fn grown(&self) -> Option<(usize, Vec<Piece>)> {
        let rules = self.rules();
        let window = self.bench.facts.window;
        let share = share_of(window.limit(), rules.segment_share);
        for (index, run) in self.runs().left() {
            let mut rounds: Vec<Piece> = Vec::new();
            let mut taken = 0;
            let mut units = self.units(run).peekable();
            while let Some(unit) = units.next() {
                taken += 1;
                rounds.extend(unit);
                let size = tokens::calibrate(tokens_of(&rounds), window.factor);
                let is_grown =
                    taken >= rules.max_turns || (taken >= rules.min_turns && size >= share);
                if (is_grown || units.peek().is_none()) && self.is_worth_it(&rounds) {
                    return Some((index, rounds));
                }
            }
        }
        None
    }

    /// Says whether a summary can be expected to be smaller, and whether it was
    /// not tried in vain already.
    fn is_worth_it(&self, rounds: &[Piece]) -> bool {
        let least = 2 * (self.rules().min_summary_tokens.min(self.most()) / 2 + ENVELOPE_TOKENS);
        let covered = || {
            let ids: Vec<Seq> =
                rounds.iter().filter(|it| !it.is_protected).map(|it| it.id).collect();
            widen(&self.bench.rows_of(&ids), &self.bench.in_force)
        };
        tokens_of(rounds) > least && (self.refused.is_empty() || !self.refused.contains(&covered()))
    }

    /// Tokens that one summary may have at most.
    fn most(&self) -> i64 {
        most_summary_tokens(self.bench)
    }

    fn segment(&self, rounds: &[Piece]) -> Segment {
        let mut rounds = rounds.to_vec();
        trim(&mut rounds);
        let (kept, covered): (Vec<Piece>, Vec<Piece>) =
            rounds.iter().partition(|piece| piece.is_protected);
        let ids = |pieces: &[Piece]| pieces.iter().map(|piece| piece.id).collect::<Vec<_>>();
        of_rounds(self.bench, &ids(&covered), &ids(&kept), tokens_of(&covered))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a number of turns, at least 0"
)]
fn portion(of: usize, share: f64) -> usize {
    (of as f64 * share).floor() as usize
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of turns, checked where the policy is"
)]
fn whole(turns: f64) -> usize {
    turns as usize
}

/// Covers these rounds and whatever overlay they touch.
pub(crate) fn of_rounds(bench: &Bench<'_>, covered: &[Seq], kept: &[Seq], tokens: i64) -> Segment {
    let covered = widen(&bench.rows_of(covered), &bench.in_force);
    let kept = bench.rows_of(kept);
    let kept = RowSet::of(kept.iter().filter(|seq| !covered.contains(*seq)).collect());
    let extent = covered.union(&kept);
    let there = bench.in_force.iter().filter(|it| it.covered.intersects(&extent));
    let covered_overlays = directly_under(&covered, &bench.in_force);
    Segment {
        overlays: there.map(|it| it.id.clone()).collect(),
        source_digest: source_digest(bench.lens, &covered),
        tokens,
        min_summary_tokens: bench.facts.policy.collapse.min_summary_tokens,
        max_summary_tokens: most_wider_tokens(bench, &covered_overlays),
        covered_overlays,
        covered,
        kept,
    }
}

/// Tokens that the summary of a segment may have at most, uncalibrated: the
/// policy's number, and its share of the room.
pub(crate) fn most_summary_tokens(bench: &Bench<'_>) -> i64 {
    bench.facts.policy.collapse.max_summary_tokens.min(share_of_room(bench)).max(1)
}

/// … and that of one over these overlays: a share of what their summaries take,
/// for it says what several said. No summary is above its share of the room.
fn most_wider_tokens(bench: &Bench<'_>, covered: &[OverlayId]) -> i64 {
    if covered.is_empty() {
        return most_summary_tokens(bench);
    }
    let under = notices(bench).filter(|(overlay, _)| covered.contains(&overlay.id));
    let tokens = under.map(|(_, tokens)| tokens).sum();
    let share = share_of(tokens, bench.facts.policy.collapse.wider_share);
    share.min(share_of_room(bench)).max(most_summary_tokens(bench))
}

/// What one summary may take of the room, uncalibrated.
fn share_of_room(bench: &Bench<'_>) -> i64 {
    let (rules, window) = (&bench.facts.policy.collapse, bench.facts.window);
    tokens::uncalibrate(share_of(window.room(), rules.summary_share), window.factor)
}

fn is_summary(overlay: &Overlay) -> bool {
    overlay.kind == OverlayKind::Collapse
}

/// The collapses that are shown, in order, with the tokens of their notices.
fn notices<'b>(bench: &'b Bench<'_>) -> impl Iterator<Item = (&'b Overlay, i64)> {
    bench.composed.entries.iter().filter_map(|entry| {
        let Entry::Notice(notice) = entry else { return None };
        let overlay = bench.in_force.iter().find(|it| it.id == notice.overlay)?;
        is_summary(overlay).then_some((overlay, notice.tokens))
    })
}

/// Tokens of the shown summaries, and how many of them the stage made.
fn summaries(bench: &Bench<'_>) -> (i64, usize) {
    let own = StageKind::Collapse.name();
    notices(bench).fold((0, 0), |(tokens, passes), (overlay, more)| {
        (tokens + more, passes + usize::from(overlay.stage == own))
    })
}

/// Rounds that somebody is summarizing.
pub(crate) fn leased(bench: &Bench<'_>) -> BTreeSet<Seq> {
    let rows = bench.facts.leased.iter().flat_map(RowSet::iter);
    rows.filter_map(|seq| bench.lens.history.round_of(seq)).map(|round| round.id).collect()
}
