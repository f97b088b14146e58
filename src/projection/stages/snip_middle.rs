//! `snip_middle`: above a number of messages, the head and the tail are shown
//! and one marker stands for the middle.
//!
//! May drop: whole rounds between head and tail. Keeps: both, and what is
//! protected. Counts what would be shown without it, so that the marker never
//! counts itself.

use crate::{
    model::{Cause, OverlayKind, RowSet, Seq, StageKind},
    projection::{
        bench::{Bench, Proposal, Reduction},
        compose::compose,
        protect::protected,
        text,
    },
};

pub(crate) fn propose(bench: &mut Bench<'_>) -> Result<Proposal, &'static str> {
    let rules = &bench.facts.policy.snip_middle;
    let mine = StageKind::SnipMiddle.name();
    let others: Vec<_> = bench
        .in_force
        .iter()
        .filter(|it| it.kind != OverlayKind::Snip || it.stage != mine)
        .cloned()
        .collect();
    let whole = compose(bench.lens, &others, bench.memo);
    let rows = |id: &Seq| bench.lens.history.round(*id).map_or(0, |round| round.rows.len());
    if whole.visible.iter().map(rows).sum::<usize>() <= rules.max_messages {
        return Err("below_threshold");
    }
    let head = first_rounds(whole.visible.iter().map(rows), rules.keep_head);
    let tail = first_rounds(whole.visible.iter().rev().map(rows), rules.keep_tail);
    let tail = whole.visible.len() - tail;
    if head >= tail {
        return Err("head_meets_tail");
    }
    let protected = protected(bench).all();
    let (kept, rounds): (Vec<Seq>, Vec<Seq>) =
        whole.visible[head..tail].iter().partition(|id| protected.contains(id));
    // Under an overlay of another stage there is nothing to see; it goes along
    // where it lies between.
    let covered = bench.rows_of(&rounds);
    let is_there = bench
        .in_force
        .iter()
        .any(|it| it.stage == mine && it.is_range() && it.covered.contains_all(&covered));
    if rounds.is_empty() || is_there {
        return Err("unchanged");
    }
    // The new one takes the place of the old ones, and so must wait for who
    // summarizes rows under one of them.
    let is_leased = |rows: &RowSet| bench.facts.leased.iter().any(|it| it.intersects(rows));
    if bench.in_force.iter().any(|it| it.stage == mine && is_leased(&it.covered)) {
        return Err("leased");
    }
    let marker = text::fill(&rules.marker, &[("count", &covered.len())]);
    Ok(Proposal {
        stage: StageKind::SnipMiddle,
        cause: Cause::Pressure,
        reduction: Reduction::Snip { rounds, kept, marker },
    })
}

/// How many leading rounds hold at least `messages` messages.
fn first_rounds(rows: impl Iterator<Item = usize>, messages: usize) -> usize {
    let mut sum = 0;
    rows.take_while(|rows| {
        let goes_on = sum < messages;
        sum += rows;
        goes_on
    })
    .count()
}
