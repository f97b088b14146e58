//! Segments that a caller names, or asks for by hand.

use std::collections::BTreeSet;

use super::{
    Composed, Lens, Memo, Segment, Wanted,
    bench::{Bench, Circumstances, widen},
    manual::takes,
    protect::protected,
    report::plain_tokens,
    segments::{Finder, of_rounds},
    stages,
};
use crate::model::{Overlay, OverlayId, Seq, SeqRange, StageKind};

/// Why a named range cannot be collapsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Nothing of it is left to cover.
    Nothing,
    /// All of it lies under this overlay.
    Covered(OverlayId),
    /// It holds a pin: its place among those that were given.
    Pinned(usize),
    /// It holds the newest request of a lane.
    NewestRequest(Seq),
}

/// The segment that a named range comes to: widened to whole rounds next to
/// each other and to whole overlays; what is protected there is kept. With
/// `most_tokens` shortened, from its end, to rounds of about so many tokens.
///
/// # Errors
///
/// [`Refusal`] where the range itself names what is protected, or adds nothing.
pub fn named_segment(
    lens: Lens<'_>,
    facts: &Circumstances<'_>,
    in_force: Vec<Overlay>,
    memo: &mut Memo,
    rows: SeqRange,
    most_tokens: Option<i64>,
) -> Result<Segment, Refusal> {
    let holds = |seq: Seq| (rows.first..=rows.last).contains(&seq);
    let pinned = facts.pins.iter().position(|it| it.first <= rows.last && rows.first <= it.last);
    if let Some(pin) = pinned {
        return Err(Refusal::Pinned(pin));
    }
    with_bench(lens, facts, in_force, memo, |bench| {
        let order = lens.history.order();
        let kept = protected(bench);
        if let Some(seq) = kept.newest_requests.iter().find(|seq| holds(**seq)) {
            return Err(Refusal::NewestRequest(*seq));
        }
        let is_taken =
            |id: &Seq| lens.history.round(*id).is_some_and(|it| takes(lens.history, it, rows));
        let first = order.iter().position(is_taken).ok_or(Refusal::Nothing)?;
        let last = order.iter().rposition(is_taken).ok_or(Refusal::Nothing)?;
        let end = most_tokens.map_or(last, |most| fitting(lens, &order[..=last], first, most));
        covering(bench, first, end).ok_or_else(|| {
            let rows = bench.rows_of(&order[first..=last]);
            let over = bench.in_force.iter().filter(|it| it.is_range());
            let over = over.filter(|it| it.covered.contains_all(&rows));
            let outermost = over.max_by_key(|it| it.covered.len());
            outermost.map_or(Refusal::Nothing, |it| Refusal::Covered(it.id.clone()))
        })
    })
}

/// The oldest segment that the policy would take, whether its trigger holds or
/// not.
pub fn oldest_segment(
    lens: Lens<'_>,
    facts: &Circumstances<'_>,
    in_force: Vec<Overlay>,
    memo: &mut Memo,
    most_tokens: Option<i64>,
) -> Option<Segment> {
    with_bench(lens, facts, in_force, memo, |bench| {
        let segment = Finder::of(bench, facts.refused).oldest()?;
        let Some(most) = most_tokens else { return Some(segment) };
        let order = lens.history.order();
        let is_taken = |id: &Seq| {
            let round = lens.history.round(*id);
            round.is_some_and(|it| it.rows.iter().all(|seq| segment.covered.contains(*seq)))
        };
        let first = order.iter().position(is_taken)?;
        let last = order.iter().rposition(is_taken)?;
        covering(bench, first, fitting(lens, &order[..=last], first, most))
    })
}

/// The segments that the policy wants collapsed now; `None` where its trigger
/// does not hold, or nothing is there to collapse.
pub fn wanted(
    lens: Lens<'_>,
    facts: &Circumstances<'_>,
    in_force: Vec<Overlay>,
    memo: &mut Memo,
) -> Option<Wanted> {
    let is_on = facts.policy.stages.contains(&StageKind::Collapse);
    with_bench(lens, facts, in_force, memo, |bench| {
        if is_on { stages::collapse::later(bench).1 } else { None }
    })
}

fn with_bench<T>(
    lens: Lens<'_>,
    facts: &Circumstances<'_>,
    in_force: Vec<Overlay>,
    memo: &mut Memo,
    work: impl FnOnce(&Bench<'_>) -> T,
) -> T {
    // Nothing is laid on this bench, so nothing needs an id.
    let mut no_id = || OverlayId::new("");
    work(&Bench::new(lens, facts, in_force, memo, &mut no_id))
}

/// The last place up to which rounds hold at most `most` tokens, one at least.
fn fitting(lens: Lens<'_>, order: &[Seq], first: usize, most: i64) -> usize {
    let mut sum = 0;
    let mut last = first;
    for (at, id) in order.iter().enumerate().skip(first) {
        sum += plain_tokens(lens, *id);
        if sum > most && at > first {
            break;
        }
        last = at;
    }
    last
}

/// Covers the settled rounds from one place in the order to another, and
/// whatever that touches.
fn covering(bench: &Bench<'_>, mut first: usize, mut last: usize) -> Option<Segment> {
    let order = bench.lens.history.order();
    let kept_ids = protected(bench);
    let visible: BTreeSet<Seq> = bench.composed.visible.iter().copied().collect();
    let stays = |id: &Seq| {
        let is_kept = kept_ids.newest_requests.contains(id)
            || kept_ids.pinned.contains(id)
            || kept_ids.unanswered.contains(id);
        is_kept && visible.contains(id)
    };
    // Whole overlays may reach further than the rounds that were named; what
    // lies between goes along.
    let (covered, kept) = loop {
        let (kept, covered): (Vec<Seq>, Vec<Seq>) =
            order[first..=last].iter().partition(|id| stays(id));
        let rows = widen(&bench.rows_of(&covered), &bench.in_force);
        let is_in = |id: &Seq| {
            let round = bench.lens.history.round(*id);
            round.is_some_and(|it| it.rows.iter().any(|seq| rows.contains(*seq)))
        };
        let from = order.iter().position(is_in)?.min(first);
        let to = order.iter().rposition(is_in)?.max(last);
        if (from, to) == (first, last) {
            break (covered, kept);
        }
        (first, last) = (from, to);
    };
    // What is kept at an end is not between anything.
    let place = |id: &Seq| order.iter().position(|it| it == id);
    let (start, end) = (covered.first().and_then(place)?, covered.last().and_then(place)?);
    let is_between = |id: &Seq| place(id).is_some_and(|at| (start..=end).contains(&at));
    let kept: Vec<Seq> = kept.into_iter().filter(is_between).collect();
    let segment = of_rounds(bench, &covered, &kept, shown_tokens(bench, &covered));
    let adds_nothing =
        bench.in_force.iter().any(|it| it.is_range() && it.covered.contains_all(&segment.covered));
    (!adds_nothing && !segment.covered.is_empty()).then_some(segment)
}

/// What the rounds show now: themselves, or what stands for them.
fn shown_tokens(bench: &Bench<'_>, rounds: &[Seq]) -> i64 {
    let covered: BTreeSet<Seq> = rounds.iter().copied().collect();
    let shown: i64 =
        bench.composed.rounds().filter(|it| covered.contains(&it.id)).map(|it| it.tokens).sum();
    shown + hidden_tokens(&bench.composed, &bench.in_force, &covered)
}

fn hidden_tokens(composed: &Composed, in_force: &[Overlay], covered: &BTreeSet<Seq>) -> i64 {
    let tokens = |index: usize| {
        let overlay = in_force.get(index)?;
        composed.notice_of(&overlay.id).map(|notice| notice.tokens)
    };
    let inside =
        composed.hidden.iter().filter(|(_, rounds)| rounds.iter().any(|id| covered.contains(id)));
    inside.filter_map(|(index, _)| tokens(*index)).sum()
}
