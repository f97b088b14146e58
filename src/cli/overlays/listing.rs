//! Which overlays a table lists, and in which order.

use crate::{cli::strip, proto::v1};

/// The overlays in force, as they lie over each other.
pub(super) struct Listing<'a> {
    pub(super) lines: Vec<Line<'a>>,
    /// How many more there are that nothing is seen of.
    pub(super) beneath: usize,
}

/// One of them.
pub(super) struct Line<'a> {
    pub(super) overlay: &'a v1::Overlay,
    /// How many lie over it.
    pub(super) depth: usize,
}

/// How far down a listing goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Depth {
    /// What is seen: outermost folds, and clears of rows that are not folded.
    Shown,
    /// What lies beneath them too.
    Nested,
}

/// Among siblings: folds in the order of rows, then clears that are seen, then
/// clears that are spread over several folds.
type Place = (u8, i64, usize);

impl<'a> Listing<'a> {
    pub(super) fn new(in_force: &'a [v1::Overlay], depth: Depth) -> Self {
        let mut all: Vec<(Vec<Place>, &v1::Overlay)> = in_force
            .iter()
            .map(|overlay| {
                let covers = strip::covers(in_force, overlay);
                let path = covers.into_iter().chain([overlay]);
                (path.map(|it| place(it, in_force)).collect(), overlay)
            })
            .collect();
        // What covers stands before what it covers: its path is the start of theirs.
        all.sort_by(|a, b| a.0.cmp(&b.0));
        let lines: Vec<_> = all
            .into_iter()
            .filter(|(path, overlay)| {
                depth == Depth::Nested || path.len() == 1 && strip::is_seen(in_force, overlay)
            })
            .map(|(path, overlay)| Line { overlay, depth: path.len() - 1 })
            .collect();
        let beneath = in_force.len() - lines.len();
        Self { lines, beneath }
    }
}

fn place(overlay: &v1::Overlay, in_force: &[v1::Overlay]) -> Place {
    let at = in_force.iter().position(|it| it.id == overlay.id).unwrap_or_default();
    let sort = match (strip::is_range(overlay), strip::is_seen(in_force, overlay)) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => 2,
    };
    (sort, strip::first_row(overlay), at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cli::samples::fold,
        proto::v1::overlay::{ClearedContent, Kind},
    };

    fn clear(id: &str, seqs: &[i64]) -> v1::Overlay {
        let piece = |seq: &i64| ClearedContent {
            content: Some(v1::ContentRef { seq: *seq, ..v1::ContentRef::default() }),
            shown_as: "gone".into(),
        };
        v1::Overlay {
            id: id.into(),
            kind: Kind::Clear.into(),
            cleared: seqs.iter().map(piece).collect(),
            ..v1::Overlay::default()
        }
    }

    fn told(listing: &Listing<'_>) -> Vec<(usize, String)> {
        listing.lines.iter().map(|line| (line.depth, line.overlay.id.clone())).collect()
    }

    fn stack() -> Vec<v1::Overlay> {
        vec![
            clear("across", &[2, 32]),
            clear("deep", &[3]),
            fold("inner", 1, 5),
            fold("second", 6, 9),
            clear("seen", &[4, 41]),
            fold("next", 31, 35),
            fold("wide", 1, 20),
        ]
    }

    #[test]
    fn what_is_shown_is_listed_in_the_order_of_rows_and_the_rest_counted() {
        let stack = stack();
        let listing = Listing::new(&stack, Depth::Shown);
        let expected = [(0, "wide"), (0, "next"), (0, "seen")];
        assert_eq!(told(&listing), expected.map(|(depth, id)| (depth, id.to_owned())));
        assert_eq!(listing.beneath, 4);
    }

    #[test]
    fn nested_each_stands_beneath_the_innermost_that_covers_all_of_it() {
        let stack = stack();
        let listing = Listing::new(&stack, Depth::Nested);
        let expected = [
            (0, "wide"),
            (1, "inner"),
            (2, "deep"),
            (1, "second"),
            (0, "next"),
            (0, "seen"),
            (0, "across"),
        ];
        assert_eq!(told(&listing), expected.map(|(depth, id)| (depth, id.to_owned())));
        assert_eq!(listing.beneath, 0);
    }
}
