//! A strip in signs: how many there is room for, and what each says.

use std::collections::HashMap;

use super::{
    Fold, WIDTH,
    pieces::{Piece, Sort},
};
use crate::cli::{names, out::Paint};

/// What is printed where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    Row(Sort),
    /// A sign of a block.
    Fold(char),
}

/// The signs of a strip, in its order.
pub(super) struct Cells {
    cells: Vec<Cell>,
    /// How many rows one of them stands for at most.
    pub(super) most_rows: usize,
}

impl Cells {
    pub(super) fn new(
        pieces: &[Piece],
        folds: &[Fold<'_>],
        turns: &HashMap<String, (i64, i64)>,
    ) -> Self {
        let runs: Vec<_> = pieces.iter().filter_map(Piece::run).collect();
        let rows = runs.iter().map(|run| run.len()).sum();
        let labels = labels(folds, turns, rows, runs.len());
        let room = room(&labels).max(runs.len());
        let signs = |run: &[Sort]| {
            if rows <= room {
                return run.len();
            }
            // One each, and the rest by length.
            run.len() * (room - runs.len()) / rows + 1
        };
        let mut made = Self { cells: Vec::new(), most_rows: 1 };
        for piece in pieces {
            match piece {
                Piece::Fold(at) => made.cells.extend(labels[*at].chars().map(Cell::Fold)),
                Piece::Rows(run) => {
                    let signs = signs(run).min(run.len());
                    made.most_rows = made.most_rows.max(run.len().div_ceil(signs));
                    made.cells.extend(scaled(run, signs).map(Cell::Row));
                }
            }
        }
        made
    }

    /// In lines that a terminal shows without folding.
    pub(super) fn lines(&self, paint: Paint) -> impl Iterator<Item = String> + '_ {
        self.cells.chunks(WIDTH).map(move |line| painted(line, paint))
    }
}

/// What stands on each block. Words go before rows do: of these a third of the
/// line stays.
fn labels(
    folds: &[Fold<'_>],
    turns: &HashMap<String, (i64, i64)>,
    rows: usize,
    runs: usize,
) -> Vec<String> {
    let labels: Vec<_> = folds.iter().map(|fold| long_label(fold, turns)).collect();
    if room(&labels) >= rows.min(WIDTH / 3).max(runs) {
        return labels;
    }
    folds.iter().map(|fold| bracketed(fold, &fold.mark)).collect()
}

/// What blocks leave of a line.
fn room(labels: &[String]) -> usize {
    WIDTH.saturating_sub(labels.iter().map(|label| label.chars().count()).sum())
}

/// A run in so many signs. What is kept or pinned shows however small it is; of
/// the rest the larger part does.
fn scaled(run: &[Sort], count: usize) -> impl Iterator<Item = Sort> + '_ {
    (0..count).map(move |at| {
        let part = &run[at * run.len() / count..(at + 1) * run.len() / count];
        match part.iter().copied().max().unwrap_or(Sort::Shown) {
            Sort::Shorter | Sort::Shown => {
                let shorter = part.iter().filter(|sort| **sort == Sort::Shorter).count();
                if shorter * 2 >= part.len().max(1) { Sort::Shorter } else { Sort::Shown }
            }
            strong => strong,
        }
    })
}

/// `[A turns 1–4]`, or the rows where the turns are not known.
fn long_label(fold: &Fold<'_>, turns: &HashMap<String, (i64, i64)>) -> String {
    let what = match turns.get(&fold.overlay.id) {
        Some((first, last)) if first == last => format!("turn {first}"),
        Some((first, last)) => format!("turns {first}–{last}"),
        None => names::rows(&fold.overlay.covered),
    };
    bracketed(fold, &format!("{} {what}", fold.mark))
}

fn bracketed(fold: &Fold<'_>, words: &str) -> String {
    let pinned =
        if fold.holds_pinned { format!(" {}", Sort::Pinned.glyph()) } else { String::new() };
    if fold.overlay.summary.is_empty() {
        format!("‹{words}{pinned}›")
    } else {
        format!("[{words}{pinned}]")
    }
}

fn painted(cells: &[Cell], paint: Paint) -> String {
    let paint_of = |text: &str, cell: Cell| match cell {
        Cell::Fold(_) => paint.cyan(text),
        Cell::Row(Sort::Kept | Sort::Pinned) => paint.yellow(text),
        Cell::Row(Sort::Shorter) => paint.dim(text),
        Cell::Row(Sort::Shown) => text.to_owned(),
    };
    let is_alike = |a: &Cell, b: &Cell| match (a, b) {
        (Cell::Fold(_), Cell::Fold(_)) => true,
        (Cell::Row(a), Cell::Row(b)) => a == b,
        _ => false,
    };
    let sign = |cell: &Cell| match cell {
        Cell::Fold(sign) => *sign,
        Cell::Row(sort) => sort.glyph(),
    };
    cells
        .chunk_by(is_alike)
        .map(|alike| paint_of(&alike.iter().map(sign).collect::<String>(), alike[0]))
        .collect()
}
