//! What people and callers do to a view beside its policy, as the service lets
//! them: only what makes it smaller, and only while it is as it was planned on.

use concertina::{
    model::{BlockKind, Overlay, OverlayId, OverlayKind, RowSet, Seq, SeqRange},
    projection::{self, Refusal, Segment},
};

use super::support::{Agent, by_hand, clear, summary_of};

/// A segment under work, and what was there when it was leased.
#[derive(Clone)]
pub(crate) struct Prepared {
    segment: Segment,
    pins: Vec<SeqRange>,
}

impl Prepared {
    pub(crate) fn extent(&self) -> RowSet {
        self.segment.extent()
    }
}

impl Agent {
    fn at(&self, share: i64) -> Seq {
        Seq(1 + self.history.newest().0 * share / 1001)
    }

    /// Rows from here to there, in thousandths of the history.
    fn rows(&self, (first, last): (i64, i64)) -> SeqRange {
        SeqRange { first: self.at(first), last: self.at(last) }
    }

    /// Hides rows.
    pub(crate) fn snip(&mut self, shares: (i64, i64)) -> bool {
        let named = projection::manual_snip(&self.history, &self.in_force(), self.rows(shares));
        named.is_some_and(|it| self.commit_by_hand(by_hand(OverlayKind::Snip, it.covered)))
    }

    /// Shows a row's first block otherwise.
    pub(crate) fn clear(&mut self, share: i64) -> bool {
        let seq = self.at(share);
        let Some(row) = self.history.row(seq) else { return false };
        let shown_as = match row.message.blocks.first().map(|block| &block.kind) {
            Some(BlockKind::ToolUse(_)) => "{}",
            Some(BlockKind::Text(_) | BlockKind::ToolResult(_) | BlockKind::Image(_)) => "gone",
            _ => return false,
        };
        let overlay = clear(self, seq, 0, shown_as);
        self.commit_by_hand(overlay)
    }

    /// Shows rows as their summary.
    pub(crate) fn collapse(&mut self, shares: (i64, i64)) -> bool {
        let segment = self.named(shares);
        segment.is_ok_and(|it| self.commit_segment(&it))
    }

    /// Takes rows to be summarized.
    pub(crate) fn prepare(&mut self, shares: (i64, i64)) -> Option<Prepared> {
        let segment = self.named(shares).ok()?;
        if self.leased.iter().any(|it| it.intersects(&segment.extent())) {
            return None;
        }
        self.leased.push(segment.extent());
        Some(Prepared { segment, pins: self.pins.clone() })
    }

    /// Commits a summary of what was taken, where everything there is as it was.
    pub(crate) fn finish(&mut self, prepared: &Prepared) -> bool {
        let extent = prepared.segment.extent();
        self.leased.retain(|it| *it != extent);
        let is_as_it_was = self.is_untouched(prepared) && self.pins == prepared.pins;
        is_as_it_was && self.commit_segment(&prepared.segment)
    }

    /// Says whether the same overlays lie over what was taken as then.
    pub(crate) fn is_untouched(&self, prepared: &Prepared) -> bool {
        let extent = prepared.extent();
        let mut there = self.in_force();
        there.retain(|it| it.covered.intersects(&extent));
        there.iter().map(|it| &it.id).eq(&prepared.segment.overlays)
    }

    fn named(&mut self, shares: (i64, i64)) -> Result<Segment, Refusal> {
        let (rows, in_force) = (self.rows(shares), self.in_force());
        self.with_facts(None, |lens, facts, memo| {
            projection::named_segment(lens, facts, in_force, memo, rows, None)
        })
    }

    fn commit_segment(&mut self, segment: &Segment) -> bool {
        let summary = summary_of(segment).expect("a summary").text;
        self.commit_by_hand(Overlay {
            kept: segment.kept.clone(),
            summary,
            covered_overlays: segment.covered_overlays.clone(),
            source_digest: segment.source_digest,
            ..by_hand(OverlayKind::Collapse, segment.covered.clone())
        })
    }

    fn commit_by_hand(&mut self, mut overlay: Overlay) -> bool {
        self.ids += 1;
        overlay.id = OverlayId::new(&format!("hand{}", self.ids));
        let in_force = self.in_force();
        let (before, after) =
            projection::measure(&self.history, &self.sight, &in_force, &overlay, &mut self.memo);
        (overlay.tokens_before, overlay.tokens_after) = (before, after);
        if after < before {
            self.commit(vec![overlay], &[]);
        }
        after < before
    }

    /// Pins rows.
    pub(crate) fn pin(&mut self, shares: (i64, i64)) {
        let rows = self.rows(shares);
        if rows.last <= self.history.newest() {
            self.pins.push(rows);
        }
    }
}
