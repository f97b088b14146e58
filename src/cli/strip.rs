//! A view as a line: rows side by side, what is folded as one block.
//!
//! Everything is drawn from overlays, pins and the number of rows; no row has
//! to be read for it.

use std::collections::HashMap;

use super::{names, out::Paint};
use crate::proto::v1::{self, overlay::Kind};

const WIDTH: usize = 96;

/// What a strip is drawn from.
pub(super) struct Strip<'a> {
    /// Those in force.
    pub(super) overlays: &'a [v1::Overlay],
    /// The pins of the view.
    pub(super) pins: &'a [v1::Pin],
    /// The seq of the newest row; 0 where there is none.
    pub(super) newest: i64,
    /// The first and the last turn under an overlay, by its id, where known.
    pub(super) turns: &'a HashMap<String, (i64, i64)>,
}

/// A range overlay that no other covers, and the letter that it goes by.
struct Fold<'a> {
    overlay: &'a v1::Overlay,
    mark: String,
}

/// How a row is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Shown,
    Shorter,
    /// By an overlay that folds what is around it.
    Kept,
    Pinned,
}

/// A stretch of the strip.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Rows(Vec<Sort>),
    Fold(usize),
}

impl Sort {
    fn glyph(self) -> char {
        match self {
            Self::Shown => '█',
            Self::Shorter => '▒',
            Self::Kept => '◆',
            Self::Pinned => '▲',
        }
    }
}

/// Says whether an overlay hides or replaces whole rows.
pub(super) fn is_range(overlay: &v1::Overlay) -> bool {
    overlay.kind != i32::from(Kind::Clear)
}

/// The overlays that the strip shows as blocks, in its order.
pub(super) fn outermost(overlays: &[v1::Overlay]) -> Vec<&v1::Overlay> {
    let ranges: Vec<_> = overlays.iter().filter(|overlay| is_range(overlay)).collect();
    let mut outermost: Vec<_> = ranges
        .iter()
        .copied()
        .filter(|it| !ranges.iter().any(|other| lies_under(it, other)))
        .collect();
    outermost.sort_by_key(|overlay| first_row(overlay));
    outermost
}

/// While they are in force they are disjoint or nested.
fn lies_under(inner: &v1::Overlay, outer: &v1::Overlay) -> bool {
    inner.id != outer.id
        && outer.covered_messages > inner.covered_messages
        && names::holds(&outer.covered, first_row(inner))
}

fn first_row(overlay: &v1::Overlay) -> i64 {
    overlay.covered.first().map_or(0, |range| range.first_seq)
}

/// How a table names what the strip shows: `A`, `in A`, `▒`; by overlay id.
pub(super) fn marks(overlays: &[v1::Overlay]) -> HashMap<&str, String> {
    let folds = folds(overlays);
    let mark = |overlay: &v1::Overlay| {
        if !is_range(overlay) {
            return mark_of_clear(overlay, &folds);
        }
        let own = folds.iter().find(|fold| fold.overlay.id == overlay.id);
        let outer = || folds.iter().find(|fold| lies_under(overlay, fold.overlay));
        match own {
            Some(fold) => fold.mark.clone(),
            None => outer().map_or_else(String::new, |fold| format!("in {}", fold.mark)),
        }
    };
    overlays.iter().map(|overlay| (overlay.id.as_str(), mark(overlay))).collect()
}

/// The sign of what is seen of it; or the first block in which it lies, where
/// nothing is.
fn mark_of_clear(clear: &v1::Overlay, folds: &[Fold<'_>]) -> String {
    let mut outer = None;
    for seq in clear.cleared.iter().filter_map(|it| it.content).map(|content| content.seq) {
        match folds.iter().find(|fold| fold.hides(seq)) {
            Some(fold) => outer = outer.or(Some(fold)),
            None => return Sort::Shorter.glyph().to_string(),
        }
    }
    outer.map_or_else(String::new, |fold| format!("in {}", fold.mark))
}

impl Fold<'_> {
    fn hides(&self, seq: i64) -> bool {
        names::holds(&self.overlay.covered, seq) && !names::holds(&self.overlay.kept, seq)
    }
}

fn folds(overlays: &[v1::Overlay]) -> Vec<Fold<'_>> {
    let marked = |(at, overlay)| Fold { overlay, mark: letters(at) };
    outermost(overlays).into_iter().enumerate().map(marked).collect()
}

/// A, B, … Z, AA, AB, …
fn letters(mut number: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number % 26]));
        number /= 26;
        if number == 0 {
            break;
        }
        number -= 1;
    }
    letters.iter().rev().collect()
}

/// The strip, its scale above and what its signs mean below.
pub(super) fn lines(strip: &Strip<'_>, paint: Paint) -> Vec<String> {
    let folds = folds(strip.overlays);
    let pieces = pieces(strip, &folds);
    let (cells, rows_a_cell) = cells(&pieces, &folds, strip.turns);
    let scale = match rows_a_cell {
        1 => "one sign a row".to_owned(),
        many => format!("a sign is up to {many} rows"),
    };
    let mut lines = vec![paint.dim(&format!("rows 1–{}, {scale}", strip.newest))];
    for line in cells.chunks(WIDTH) {
        lines.push(painted(line, paint));
    }
    lines.push(paint.dim(&legend(&pieces, &folds)));
    lines
}

fn pieces(strip: &Strip<'_>, folds: &[Fold<'_>]) -> Vec<Piece> {
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

fn rows<T: Clone>(strip: &Strip<'_>, each: T) -> Vec<T> {
    vec![each; usize::try_from(strip.newest).unwrap_or(0)]
}

/// Changes those rows of a range that are there.
fn each<T>(rows: &mut [T], range: &v1::SeqRange, mut change: impl FnMut(&mut T)) {
    let first = usize::try_from(range.first_seq.saturating_sub(1)).unwrap_or(0);
    let last = usize::try_from(range.last_seq).unwrap_or(0).min(rows.len());
    rows.get_mut(first..last).into_iter().flatten().for_each(&mut change);
}

/// What is printed where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    Row(Sort),
    /// A sign of a block.
    Fold(char),
}

/// The signs of the strip, and how many rows one of them stands for at most.
fn cells(
    pieces: &[Piece],
    folds: &[Fold<'_>],
    turns: &HashMap<String, (i64, i64)>,
) -> (Vec<Cell>, usize) {
    let runs =
        || pieces.iter().filter_map(|it| if let Piece::Rows(run) = it { Some(run) } else { None });
    let rows: usize = runs().map(Vec::len).sum();
    let blocks = |label: &dyn Fn(&Fold<'_>) -> String| -> Vec<String> {
        let labels = folds.iter().map(label);
        labels.collect()
    };
    let room = |blocks: &[String]| {
        WIDTH.saturating_sub(blocks.iter().map(|block| block.chars().count()).sum())
    };
    let mut labels = blocks(&|fold| long_label(fold, turns));
    // Words go before rows do: these stay readable down to a third of the line.
    if room(&labels) < rows.min(WIDTH / 3).max(runs().count()) {
        labels = blocks(&|fold| bracketed(fold, &fold.mark));
    }
    let room = room(&labels).max(runs().count());
    let a_cell = |run: &[Sort]| {
        if rows <= room { run.len() } else { (run.len() * (room - runs().count()) / rows).max(1) }
    };
    let mut cells = Vec::new();
    let mut most = 1;
    for piece in pieces {
        match piece {
            Piece::Fold(at) => cells.extend(labels[*at].chars().map(Cell::Fold)),
            Piece::Rows(run) => {
                let count = a_cell(run);
                most = most.max(run.len().div_ceil(count));
                cells.extend(scaled(run, count).map(Cell::Row));
            }
        }
    }
    (cells, most)
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
    if fold.overlay.summary.is_empty() { format!("‹{words}›") } else { format!("[{words}]") }
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

/// Only of what is there.
fn legend(pieces: &[Piece], folds: &[Fold<'_>]) -> String {
    let has = |wanted: Sort| {
        pieces.iter().any(|piece| matches!(piece, Piece::Rows(run) if run.contains(&wanted)))
    };
    let is_folded = |silent: bool| folds.iter().any(|it| it.overlay.summary.is_empty() == silent);
    let words = [
        (has(Sort::Shown), "█ shown"),
        (has(Sort::Shorter), "▒ cleared"),
        (is_folded(false), "[ ] folded into a text"),
        (is_folded(true), "‹ › hidden"),
        (has(Sort::Kept), "◆ kept"),
        (has(Sort::Pinned), "▲ pinned"),
    ];
    let there: Vec<_> = words.iter().filter(|(is, _)| *is).map(|(_, words)| *words).collect();
    there.join("   ")
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn range(first_seq: i64, last_seq: i64) -> v1::SeqRange {
        v1::SeqRange { first_seq, last_seq }
    }

    fn fold(id: &str, kind: Kind, covered: &[v1::SeqRange]) -> v1::Overlay {
        let summary = if kind == Kind::Collapse { "what was done" } else { "" };
        v1::Overlay {
            id: id.into(),
            kind: kind.into(),
            covered: covered.to_vec(),
            covered_messages: covered.iter().map(|it| it.last_seq - it.first_seq + 1).sum(),
            summary: summary.into(),
            ..v1::Overlay::default()
        }
    }

    fn clear(seq: i64) -> v1::Overlay {
        let content = v1::ContentRef { seq, ..v1::ContentRef::default() };
        let cleared =
            v1::overlay::ClearedContent { content: Some(content), shown_as: "gone".into() };
        v1::Overlay {
            id: format!("clear {seq}"),
            kind: Kind::Clear.into(),
            cleared: vec![cleared],
            ..v1::Overlay::default()
        }
    }

    fn pin(rows: v1::SeqRange) -> v1::Pin {
        v1::Pin { rows: Some(rows), ..v1::Pin::default() }
    }

    #[track_caller]
    fn check(overlays: &[v1::Overlay], pins: &[v1::Pin], newest: i64, expected: &Expect) {
        let turns = HashMap::from([("c".to_owned(), (1, 4)), ("one".to_owned(), (5, 5))]);
        let strip = Strip { overlays, pins, newest, turns: &turns };
        let lines = lines(&strip, Paint::OFF);
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH), "{lines:?}");
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn what_is_folded_is_one_block_and_what_is_kept_or_pinned_stands_out() {
        let mut collapse = fold("c", Kind::Collapse, &[range(1, 4), range(7, 12)]);
        collapse.kept = vec![range(5, 6)];
        let snip = fold("one", Kind::Snip, &[range(15, 20)]);
        let overlays = [collapse, clear(22), snip];
        check(
            &overlays,
            &[pin(range(25, 25))],
            30,
            &expect![[r"
            rows 1–30, one sign a row
            [A turns 1–4]◆◆██‹B turn 5›█▒██▲█████
            █ shown   ▒ cleared   [ ] folded into a text   ‹ › hidden   ◆ kept   ▲ pinned"]],
        );
    }

    #[test]
    fn a_row_that_was_pinned_under_an_overlay_stays_folded() {
        let overlays = [fold("x", Kind::Collapse, &[range(1, 4)])];
        check(
            &overlays,
            &[pin(range(2, 2))],
            6,
            &expect![[r"
            rows 1–6, one sign a row
            [A rows 1–4]██
            █ shown   [ ] folded into a text"]],
        );
    }

    #[test]
    fn many_rows_share_a_sign_and_a_single_pinned_one_is_seen_all_the_same() {
        let overlays = [fold("c", Kind::Collapse, &[range(1, 400)])];
        check(
            &overlays,
            &[pin(range(700, 700))],
            1_000,
            &expect![[r"
                rows 1–1000, a sign is up to 8 rows
                [A turns 1–4]████████████████████████████████████████▲█████████████████████████████████████████
                █ shown   [ ] folded into a text   ▲ pinned"]],
        );
    }

    #[test]
    fn many_blocks_lose_their_words_and_then_go_on_in_the_next_line() {
        let many = |count: i64| -> Vec<v1::Overlay> {
            let one =
                |at: i64| fold(&at.to_string(), Kind::Collapse, &[range(at * 10 + 1, at * 10 + 9)]);
            (0..count).map(one).collect()
        };
        check(
            &many(8),
            &[],
            90,
            &expect![[r"
            rows 1–90, one sign a row
            [A]█[B]█[C]█[D]█[E]█[F]█[G]█[H]███████████
            █ shown   [ ] folded into a text"]],
        );
        check(
            &many(40),
            &[],
            400,
            &expect![[r"
            rows 1–400, one sign a row
            [A]█[B]█[C]█[D]█[E]█[F]█[G]█[H]█[I]█[J]█[K]█[L]█[M]█[N]█[O]█[P]█[Q]█[R]█[S]█[T]█[U]█[V]█[W]█[X]█
            [Y]█[Z]█[AA]█[AB]█[AC]█[AD]█[AE]█[AF]█[AG]█[AH]█[AI]█[AJ]█[AK]█[AL]█[AM]█[AN]█
            █ shown   [ ] folded into a text"]],
        );
    }

    #[test]
    fn a_nested_overlay_goes_by_what_it_lies_in() {
        let overlays = [
            fold("inner", Kind::Collapse, &[range(3, 6)]),
            fold("outer", Kind::Collapse, &[range(1, 10)]),
            fold("next", Kind::Snip, &[range(11, 12)]),
            clear(20),
            clear(11),
        ];
        let marks = marks(&overlays);
        let of = |id: &str| marks[id].as_str();
        assert_eq!([of("inner"), of("outer"), of("next")], ["in A", "A", "B"]);
        assert_eq!([of("clear 20"), of("clear 11")], ["▒", "in B"]);
    }

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!([0, 25, 26, 27, 701, 702].map(letters), ["A", "Z", "AA", "AB", "ZZ", "AAA"]);
    }

    #[test]
    fn an_empty_session_and_ranges_beyond_it_draw_nothing_wrong() {
        let overlays = [fold("x", Kind::Snip, &[range(5, i64::MAX)])];
        check(
            &overlays,
            &[pin(range(i64::MIN + 1, 9))],
            2,
            &expect![[r"
            rows 1–2, one sign a row
            ▲▲
            ‹ › hidden   ▲ pinned"]],
        );
        check(&[], &[], 0, &expect![["rows 1–0, one sign a row\n"]]);
    }
}
