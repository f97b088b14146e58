//! What lies where in a strip, before anything is drawn.

use super::{Fold, Strip};
use crate::proto::v1;

/// How a row is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sort {
    Shown,
    Shorter,
    /// By an overlay that folds what is around it.
    Kept,
    Pinned,
}

/// A stretch of the strip.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Rows(Vec<Sort>),
    /// Which of the folds.
    Fold(usize),
}

impl Piece {
    /// The rows of it that are not folded.
    pub(super) fn run(&self) -> Option<&[Sort]> {
        match self {
            Self::Rows(run) => Some(run),
            Self::Fold(_) => None,
        }
    }
}

impl Sort {
    /// The sign that it has in the strip.
    pub(super) fn glyph(self) -> char {
        match self {
            Self::Shown => '█',
            Self::Shorter => '▒',
            Self::Kept => '◆',
            Self::Pinned => '▲',
        }
    }
}

/// The strip's stretches, in its order.
pub(super) fn pieces(strip: &Strip<'_>, folds: &[Fold<'_>]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut drawn = vec![false; folds.len()];
    for (fold, sort) in folded(strip, folds).into_iter().zip(sorts(strip, folds)) {
        match (fold, pieces.last_mut()) {
            (Some(fold), _) => {
                if !std::mem::replace(&mut drawn[fold], true) {
                    pieces.push(Piece::Fold(fold));
                }
            }
            (None, Some(Piece::Rows(run))) => run.push(sort),
            (None, _) => pieces.push(Piece::Rows(vec![sort])),
        }
    }
    pieces
}

/// Which block each row lies in, if any.
fn folded(strip: &Strip<'_>, folds: &[Fold<'_>]) -> Vec<Option<usize>> {
    let mut folded = rows(strip, None);
    for (at, fold) in folds.iter().enumerate() {
        fold.overlay.covered.iter().for_each(|range| each(&mut folded, range, |it| *it = Some(at)));
        fold.overlay.kept.iter().for_each(|range| each(&mut folded, range, |it| *it = None));
    }
    folded
}

/// How each row is shown where it is; the strongest word counts.
fn sorts(strip: &Strip<'_>, folds: &[Fold<'_>]) -> Vec<Sort> {
    let mut sorts = rows(strip, Sort::Shown);
    let mut say = |range: &v1::SeqRange, sort: Sort| {
        each(&mut sorts, range, |known: &mut Sort| *known = sort.max(*known));
    };
    for content in strip.overlays.iter().flat_map(|it| &it.cleared).filter_map(|it| it.content) {
        let row = v1::SeqRange { first_seq: content.seq, last_seq: content.seq };
        say(&row, Sort::Shorter);
    }
    folds.iter().flat_map(|fold| &fold.overlay.kept).for_each(|range| say(range, Sort::Kept));
    let pinned = strip.pins.iter().filter_map(|pin| pin.rows.as_ref());
    pinned.for_each(|range| say(range, Sort::Pinned));
    sorts
}

/// Of which blocks a row beneath is pinned.
pub(super) fn pinned_beneath(strip: &Strip<'_>, folds: &[Fold<'_>]) -> Vec<bool> {
    let mut folded = folded(strip, folds);
    let mut pinned = vec![false; folds.len()];
    for range in strip.pins.iter().filter_map(|pin| pin.rows.as_ref()) {
        each(&mut folded, range, |fold| {
            if let Some(fold) = fold {
                pinned[*fold] = true;
            }
        });
    }
    pinned
}

fn rows<T: Clone>(strip: &Strip<'_>, each: T) -> Vec<T> {
    vec![each; usize::try_from(strip.newest).unwrap_or(0)]
}

/// Changes those rows of a range that are there.
fn each<T>(rows: &mut [T], range: &v1::SeqRange, mut change: impl FnMut(&mut T)) {
    let first = usize::try_from(range.first_seq.saturating_sub(1)).unwrap_or(0);
    let last = usize::try_from(range.last_seq).unwrap_or(0).min(rows.len());
    rows.get_mut(first..last).into_iter().flatten().for_each(&mut change);
}
