//! What is known of one row: is it shown, and what shortened or hid it.

use serde::Serialize;

use crate::{
    cli::{json::OverlayJson, names},
    proto::v1::{self, overlay::Kind},
};

/// All that is known of one row in one view.
#[derive(Serialize)]
pub(super) struct Finding<'a> {
    seq: i64,
    pub(super) verdict: Verdict,
    /// Indices into the context's messages.
    pub(super) shown_in_messages: Vec<usize>,
    /// Its blocks that are shown shorter.
    pub(super) reductions: Vec<Reduced<'a>>,
    /// Range overlays that cover it, outermost first; only the first one shows.
    covered_by: Vec<OverlayJson<'a>>,
    /// Overlays that covered or cleared it and are out of force.
    pub(super) rolled_back: Vec<OverlayJson<'a>>,
    /// What the renderer mended in it.
    pub(super) repairs: Vec<&'a str>,
    #[serde(skip)]
    pub(super) covering: Vec<&'a v1::Overlay>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    Shown,
    ShownShorter,
    Covered,
    NotShown,
}

#[derive(Serialize)]
pub(super) struct Reduced<'a> {
    pub(super) block: i32,
    pub(super) stage: &'a str,
    pub(super) overlay_id: &'a str,
    pub(super) tokens_before: i64,
    pub(super) tokens_after: i64,
    pub(super) shown_as: &'a str,
}

impl<'a> Finding<'a> {
    pub(super) fn new(seq: i64, context: &'a v1::Context, overlays: &'a [v1::Overlay]) -> Self {
        let (in_force, gone): (Vec<_>, Vec<_>) =
            overlays.iter().partition(|overlay| overlay.rollback_revision == 0);
        let covering = covering(seq, in_force.iter().copied().chain(&context.overlays));
        let shown_in_messages = shown_in(seq, &context.origins);
        let reductions = reductions(seq, context, &in_force);
        let repairs = context.repairs.iter().filter(|repair| repair.seq == seq);
        Self {
            seq,
            verdict: verdict(!covering.is_empty(), &shown_in_messages, &reductions),
            shown_in_messages,
            reductions,
            covered_by: covering.iter().copied().map(OverlayJson::new).collect(),
            rolled_back: gone
                .into_iter()
                .filter(|overlay| touches(overlay, seq))
                .map(OverlayJson::new)
                .collect(),
            repairs: repairs.map(|repair| repair.reason.as_str()).collect(),
            covering,
        }
    }
}

fn verdict(covered: bool, shown_in: &[usize], reductions: &[Reduced<'_>]) -> Verdict {
    match (covered, shown_in.is_empty(), reductions.is_empty()) {
        (true, ..) => Verdict::Covered,
        (false, true, _) => Verdict::NotShown,
        (false, false, true) => Verdict::Shown,
        (false, false, false) => Verdict::ShownShorter,
    }
}

/// Messages that show the row itself, not a summary of it.
fn shown_in(seq: i64, origins: &[v1::Origin]) -> Vec<usize> {
    let shows =
        |origin: &v1::Origin| origin.overlay_id.is_empty() && names::holds(&origin.rows, seq);
    origins.iter().enumerate().filter(|(_, origin)| shows(origin)).map(|(at, _)| at).collect()
}

/// Range overlays over the row, widest first. A preview's own overlays are
/// among the context's only.
fn covering<'a>(seq: i64, overlays: impl Iterator<Item = &'a v1::Overlay>) -> Vec<&'a v1::Overlay> {
    let mut covering: Vec<&v1::Overlay> = Vec::new();
    for overlay in overlays {
        let known = covering.iter().any(|other| other.id == overlay.id);
        if !known && is_range(overlay) && covers(overlay, seq) {
            covering.push(overlay);
        }
    }
    covering.sort_by_key(|overlay| std::cmp::Reverse(overlay.covered_messages));
    covering
}

fn is_range(overlay: &v1::Overlay) -> bool {
    overlay.kind != i32::from(Kind::Clear)
}

fn covers(overlay: &v1::Overlay, seq: i64) -> bool {
    names::holds(&overlay.covered, seq) && !names::holds(&overlay.kept, seq)
}

fn touches(overlay: &v1::Overlay, seq: i64) -> bool {
    covers(overlay, seq) || cleared(overlay, seq).next().is_some()
}

fn cleared(overlay: &v1::Overlay, seq: i64) -> impl Iterator<Item = &v1::overlay::ClearedContent> {
    overlay.cleared.iter().filter(move |cleared| cleared.content.is_some_and(|at| at.seq == seq))
}

fn reductions<'a>(
    seq: i64,
    context: &'a v1::Context,
    in_force: &[&'a v1::Overlay],
) -> Vec<Reduced<'a>> {
    let of_row = |reduction: &&v1::Reduction| reduction.content.is_some_and(|at| at.seq == seq);
    let reduced = |reduction: &'a v1::Reduction| {
        let at = reduction.content.unwrap_or_default();
        let overlays = in_force.iter().copied().chain(&context.overlays);
        Reduced {
            block: at.block,
            stage: &reduction.stage,
            overlay_id: &reduction.overlay_id,
            tokens_before: reduction.tokens_before,
            tokens_after: reduction.tokens_after,
            shown_as: shown_as(at, &reduction.overlay_id, overlays),
        }
    };
    context.reductions.iter().filter(of_row).map(reduced).collect()
}

fn shown_as<'a>(
    content: v1::ContentRef,
    overlay_id: &str,
    mut overlays: impl Iterator<Item = &'a v1::Overlay>,
) -> &'a str {
    let overlay = overlays.find(|overlay| overlay.id == overlay_id && !overlay_id.is_empty());
    overlay
        .and_then(|overlay| cleared(overlay, content.seq).find(|it| it.content == Some(content)))
        .map_or("", |cleared| cleared.shown_as.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first_seq: i64, last_seq: i64) -> v1::SeqRange {
        v1::SeqRange { first_seq, last_seq }
    }

    fn snip(id: &str, covered: v1::SeqRange, kept: Vec<v1::SeqRange>) -> v1::Overlay {
        v1::Overlay {
            id: id.into(),
            kind: Kind::Snip.into(),
            covered_messages: covered.last_seq - covered.first_seq + 1,
            covered: vec![covered],
            kept,
            stage: "snip_turns".into(),
            ..v1::Overlay::default()
        }
    }

    fn nine_and_ten() -> v1::Context {
        let origin = v1::Origin { rows: vec![range(9, 10)], ..v1::Origin::default() };
        v1::Context { origins: vec![origin], ..v1::Context::default() }
    }

    #[test]
    fn a_covered_row_names_the_outermost_overlay_first() {
        let overlays = [snip("inner", range(3, 4), vec![]), snip("outer", range(1, 6), vec![])];
        let context = nine_and_ten();
        let finding = Finding::new(3, &context, &overlays);
        assert_eq!(finding.verdict, Verdict::Covered);
        let ids: Vec<_> = finding.covering.iter().map(|overlay| overlay.id.as_str()).collect();
        assert_eq!(ids, ["outer", "inner"]);
    }

    #[test]
    fn a_kept_row_is_not_covered_and_a_row_in_flight_is_not_shown() {
        let overlays = [snip("o", range(1, 10), vec![range(9, 9)])];
        let context = nine_and_ten();
        assert_eq!(Finding::new(9, &context, &overlays).verdict, Verdict::Shown);
        assert_eq!(Finding::new(12, &context, &overlays).verdict, Verdict::NotShown);
    }

    #[test]
    fn a_cleared_block_tells_stage_overlay_and_what_is_shown() {
        let cleared_block = v1::ContentRef { seq: 10, block: 0, output: None };
        let clear = v1::Overlay {
            id: "c".into(),
            kind: Kind::Clear.into(),
            cleared: vec![v1::overlay::ClearedContent {
                content: Some(cleared_block),
                shown_as: "[gone]".into(),
            }],
            ..v1::Overlay::default()
        };
        let mut context = nine_and_ten();
        context.reductions.push(v1::Reduction {
            content: Some(cleared_block),
            stage: "micro_clear".into(),
            overlay_id: "c".into(),
            tokens_before: 900,
            tokens_after: 12,
        });
        let overlays = [clear];
        let finding = Finding::new(10, &context, &overlays);
        assert_eq!(finding.verdict, Verdict::ShownShorter);
        let reduced = &finding.reductions[0];
        assert_eq!((reduced.stage, reduced.overlay_id), ("micro_clear", "c"));
        assert_eq!(reduced.shown_as, "[gone]");
    }
}
