//! A view as a line: rows side by side, what is folded as one block.
//!
//! Everything is drawn from overlays, pins and the number of rows; no row has
//! to be read for it.

mod cells;
mod pieces;

use std::collections::HashMap;

use super::{names, out::Paint};
use crate::proto::v1::{self, overlay::Kind};
use cells::Cells;
use pieces::{Piece, Sort, pieces, pinned_beneath};

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
    /// Somebody pinned a row beneath it; that keeps, but does not open.
    holds_pinned: bool,
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

/// While they are in force they are disjoint or nested; of two that cover the
/// same rows the newer lies outside.
fn lies_under(inner: &v1::Overlay, outer: &v1::Overlay) -> bool {
    let size = |overlay: &v1::Overlay| (overlay.covered_messages, overlay.commit_revision);
    inner.id != outer.id
        && size(outer) > size(inner)
        && names::holds(&outer.covered, first_row(inner))
}

/// The first row that an overlay hides or shows shorter.
pub(super) fn first_row(overlay: &v1::Overlay) -> i64 {
    if is_range(overlay) {
        overlay.covered.first().map_or(0, |range| range.first_seq)
    } else {
        cleared_rows(overlay).into_iter().min().unwrap_or_default()
    }
}

/// The overlays of a range under which all of this one lies, outermost first.
pub(super) fn covers<'a>(
    in_force: &'a [v1::Overlay],
    overlay: &v1::Overlay,
) -> Vec<&'a v1::Overlay> {
    let rows = if is_range(overlay) { vec![] } else { cleared_rows(overlay) };
    let is_over = |other: &&v1::Overlay| {
        if is_range(overlay) {
            lies_under(overlay, other)
        } else {
            !rows.is_empty() && rows.iter().all(|seq| hides(other, *seq))
        }
    };
    let mut covers: Vec<_> = in_force.iter().filter(|it| is_range(it)).filter(is_over).collect();
    covers.sort_by_key(|it| std::cmp::Reverse((it.covered_messages, it.commit_revision)));
    covers
}

/// Says whether the view shows something of an overlay: its block, or a piece
/// that is cleared where nothing folds it.
pub(super) fn is_seen(in_force: &[v1::Overlay], overlay: &v1::Overlay) -> bool {
    if is_range(overlay) {
        return covers(in_force, overlay).is_empty();
    }
    let rows = cleared_rows(overlay);
    rows.iter().any(|seq| !in_force.iter().any(|it| hides(it, *seq)))
}

/// Says whether an overlay keeps a row from being shown as it is.
pub(super) fn hides(overlay: &v1::Overlay, seq: i64) -> bool {
    is_range(overlay) && names::holds(&overlay.covered, seq) && !names::holds(&overlay.kept, seq)
}

/// Says whether a clear shows something shorter that a range overlay covered.
pub(super) fn reaches_into(clear: &v1::Overlay, range: &v1::Overlay) -> bool {
    cleared_rows(clear).into_iter().any(|seq| hides(range, seq))
}

/// The rows of which a clear shows something shorter.
fn cleared_rows(clear: &v1::Overlay) -> Vec<i64> {
    // The pieces are left out of an answer that they would make too large.
    if clear.cleared.is_empty() {
        return clear.covered.iter().flat_map(|it| it.first_seq..=it.last_seq).collect();
    }
    clear.cleared.iter().filter_map(|it| it.content).map(|content| content.seq).collect()
}

/// How a table names what the strip shows: `A`, `in A`, `across A–C`, `▒`; by
/// overlay id.
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

/// The sign of what is seen of it; where nothing is, the blocks that it lies in.
fn mark_of_clear(clear: &v1::Overlay, folds: &[Fold<'_>]) -> String {
    let mut reached = vec![false; folds.len()];
    for seq in cleared_rows(clear) {
        match folds.iter().position(|fold| hides(fold.overlay, seq)) {
            Some(at) => reached[at] = true,
            None => return Sort::Shorter.glyph().to_string(),
        }
    }
    let at = |found: Option<usize>| found.map_or("", |at| folds[at].mark.as_str());
    let first = at(reached.iter().position(|it| *it));
    let last = at(reached.iter().rposition(|it| *it));
    if first == last { format!("in {first}") } else { format!("across {first}–{last}") }
}

/// The overlay in force that goes by a letter of the strip.
pub(super) fn by_mark<'a>(in_force: &'a [v1::Overlay], mark: &str) -> Option<&'a v1::Overlay> {
    folds(in_force).into_iter().find(|fold| fold.mark == mark).map(|fold| fold.overlay)
}

fn folds(overlays: &[v1::Overlay]) -> Vec<Fold<'_>> {
    let marked = |(at, overlay)| Fold { overlay, mark: letters(at), holds_pinned: false };
    outermost(overlays).into_iter().enumerate().map(marked).collect()
}

/// A, B, … Z, AA, AB, …
pub(super) fn letters(mut number: usize) -> String {
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
    let mut folds = folds(strip.overlays);
    for (fold, holds) in pinned_beneath(strip, &folds).into_iter().enumerate() {
        folds[fold].holds_pinned = holds;
    }
    let pieces = pieces(strip, &folds);
    let cells = Cells::new(&pieces, &folds, strip.turns);
    let mut lines = vec![paint.dim(&scale(strip, &folds, cells.most_rows))];
    lines.extend(cells.lines(paint));
    lines.push(paint.dim(&legend(&pieces, &folds)));
    lines
}

/// How many rows a sign stands for: a block has as many signs as its words need.
fn scale(strip: &Strip<'_>, folds: &[Fold<'_>], most_rows: usize) -> String {
    let rows = format!("rows 1–{}", strip.newest);
    match (folds.is_empty(), most_rows) {
        (true, 1) => format!("{rows}, one sign a row"),
        (true, many) => format!("{rows}, a sign is up to {many} rows"),
        (false, 1) => format!("{rows}: a fold is one block, outside it one sign a row"),
        (false, many) => {
            format!("{rows}: a fold is one block, outside it a sign is up to {many} rows")
        }
    }
}

/// Only of what is there.
fn legend(pieces: &[Piece], folds: &[Fold<'_>]) -> String {
    let has = |wanted: Sort| pieces.iter().filter_map(Piece::run).any(|run| run.contains(&wanted));
    let is_folded = |silent: bool| folds.iter().any(|it| it.overlay.summary.is_empty() == silent);
    let words = [
        (has(Sort::Shown), "█ shown"),
        (has(Sort::Shorter), "▒ cleared"),
        (is_folded(false), "[ ] folded into a text"),
        (is_folded(true), "‹ › hidden"),
        (has(Sort::Kept), "◆ kept"),
        (has(Sort::Pinned) || folds.iter().any(|it| it.holds_pinned), "▲ pinned"),
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
            rows 1–30: a fold is one block, outside it one sign a row
            [A turns 1–4]◆◆██‹B turn 5›█▒██▲█████
            █ shown   ▒ cleared   [ ] folded into a text   ‹ › hidden   ◆ kept   ▲ pinned"]],
        );
    }

    #[test]
    fn a_row_that_is_pinned_under_a_fold_stays_folded_and_marks_it() {
        let overlays = [fold("x", Kind::Collapse, &[range(1, 4)])];
        check(
            &overlays,
            &[pin(range(2, 2))],
            6,
            &expect![[r"
            rows 1–6: a fold is one block, outside it one sign a row
            [A rows 1–4 ▲]██
            █ shown   [ ] folded into a text   ▲ pinned"]],
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
                rows 1–1000: a fold is one block, outside it a sign is up to 8 rows
                [A turns 1–4]█████████████████████████████████████████▲█████████████████████████████████████████
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
            rows 1–90: a fold is one block, outside it one sign a row
            [A]█[B]█[C]█[D]█[E]█[F]█[G]█[H]███████████
            █ shown   [ ] folded into a text"]],
        );
        check(
            &many(40),
            &[],
            400,
            &expect![[r"
            rows 1–400: a fold is one block, outside it one sign a row
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
    fn a_clear_is_in_a_block_only_where_all_of_it_is() {
        let mut across = clear(2);
        across.cleared.extend(clear(11).cleared);
        let mut seen = clear(3);
        seen.cleared.extend(clear(20).cleared);
        let overlays = [
            fold("one", Kind::Collapse, &[range(1, 10)]),
            fold("two", Kind::Snip, &[range(11, 12)]),
            across,
            seen,
        ];
        let marks = marks(&overlays);
        assert_eq!([&marks["clear 2"], &marks["clear 3"]], ["across A–B", "▒"]);
    }

    #[test]
    fn a_block_is_found_by_its_letter() {
        let overlays = [
            fold("inner", Kind::Collapse, &[range(13, 16)]),
            fold("outer", Kind::Collapse, &[range(11, 20)]),
            fold("first", Kind::Snip, &[range(1, 10)]),
        ];
        let found = |mark| by_mark(&overlays, mark).map(|it| it.id.as_str());
        assert_eq!([found("A"), found("B"), found("C")], [Some("first"), Some("outer"), None]);
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
            rows 1–2: a fold is one block, outside it one sign a row
            ▲▲
            ‹ › hidden   ▲ pinned"]],
        );
        check(&[], &[], 0, &expect![["rows 1–0, one sign a row\n"]]);
    }
}
