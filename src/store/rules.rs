//! What the contract says about overlays, pins and time, once, for every backend.

use std::cmp::Ordering;

use crate::{
    model::{Overlay, OverlayId, Pin, Revision, RowSet, Timestamp, ViewName},
    store::{Error, NewPin, PinRows, RollbackOverlay},
};

/// How long a request id is remembered at least, in seconds.
const REQUEST_LIFE_SECONDS: i64 = 24 * 60 * 60;

/// How many forks are named where they keep a session from being deleted.
pub(super) const FORKS_TOLD: usize = 10;

/// A moment as every backend keeps it: to the microsecond.
pub(super) fn kept(at: Timestamp) -> Timestamp {
    Timestamp::from_micros(at.as_micros())
}

/// Says whether a request id that came at `at`, or a plan that held until then,
/// may be forgotten by `now`.
pub(super) fn may_be_forgotten(at: Timestamp, now: Timestamp) -> bool {
    at.as_micros() <= forgotten_before(now)
}

/// What is at least as old as this, in microseconds, may be forgotten by `now`.
pub(super) fn forgotten_before(now: Timestamp) -> i64 {
    now.as_micros().saturating_sub(REQUEST_LIFE_SECONDS.saturating_mul(1_000_000))
}

/// What the rules need to know of an overlay in force.
#[derive(Debug, Clone)]
pub(super) struct InForce {
    /// Its id.
    pub id: OverlayId,
    /// True for a snip, a collapse and a compaction.
    pub is_range: bool,
    /// The rows it covers.
    pub covered: RowSet,
    /// The rows between them that it shows.
    pub kept: RowSet,
}

impl InForce {
    pub(super) fn of(overlay: &Overlay) -> Self {
        Self {
            id: overlay.id.clone(),
            is_range: overlay.is_range(),
            covered: overlay.covered.clone(),
            kept: overlay.kept.clone(),
        }
    }

    /// Says whether `rows` lie wholly under it. A row that it keeps lies
    /// between those it covers: an inner overlay may have covered it.
    fn holds(&self, rows: &RowSet) -> bool {
        self.covered.intersects(rows) && self.covered.union(&self.kept).contains_all(rows)
    }

    fn crosses(&self, other: &Self) -> bool {
        self.covered.intersects(&other.covered)
            && !self.holds(&other.covered)
            && !other.holds(&self.covered)
    }
}

/// Checks that each new range overlay is disjoint from, or nested with, those
/// in force and those before it in the same commit, once those that it
/// supersedes, each named once, are gone.
pub(super) fn check_ranges(
    new: &[Overlay],
    supersedes: &[OverlayId],
    mut in_force: Vec<InForce>,
) -> Result<(), Error> {
    let is_repeated = |(at, id): (usize, &OverlayId)| supersedes.iter().take(at).any(|it| it == id);
    if supersedes.iter().enumerate().any(is_repeated) {
        return Err(misuse("an overlay is superseded twice".to_owned()));
    }
    in_force.retain(|it| it.is_range && !supersedes.contains(&it.id));
    for overlay in new.iter().filter(|it| it.is_range()) {
        let overlay = InForce::of(overlay);
        if let Some(crossed) = in_force.iter().find(|it| it.crosses(&overlay)) {
            return Err(Error::Overlaps(crossed.id.clone()));
        }
        in_force.push(overlay);
    }
    Ok(())
}

/// The outermost range overlay in force under which `rows` lie.
///
/// Of two that cover the same rows the newer lies outside; `in_force` is in the
/// order of commits.
pub(super) fn hidden_by(rows: &RowSet, in_force: &[InForce]) -> Option<OverlayId> {
    in_force
        .iter()
        .filter(|it| it.is_range && it.holds(rows))
        .max_by_key(|it| it.covered.len() + it.kept.len())
        .map(|it| it.id.clone())
}

/// The clears in force that lie wholly inside `rows`.
pub(super) fn clears_inside(rows: &RowSet, in_force: &[InForce]) -> Vec<OverlayId> {
    in_force
        .iter()
        .filter(|it| !it.is_range && rows.contains_all(&it.covered))
        .map(|it| it.id.clone())
        .collect()
}

/// What whoever calls the store must not do: no client can cause it.
pub(super) fn misuse(what: String) -> Error {
    Error::Backend(what.into())
}

/// The order in which a session's views are listed: `main`, then by name.
pub(super) fn in_order(a: &ViewName, b: &ViewName) -> Ordering {
    let rank = |it: &ViewName| *it != ViewName::main();
    rank(a).cmp(&rank(b)).then_with(|| a.cmp(b))
}

/// A pin as it will hold; from which revision on is not known yet.
pub(super) fn pin(new: NewPin) -> Pin {
    Pin {
        id: new.id,
        view: new.view,
        rows: new.rows,
        reason: new.reason,
        author: new.author,
        create_time: kept(new.at),
        since: Revision::default(),
        until: None,
    }
}

/// The pin that comes with a rollback; likewise.
pub(super) fn pin_beside(rollback: &RollbackOverlay, view: &ViewName) -> Option<Pin> {
    let PinRows { id, rows } = rollback.pin.clone()?;
    Some(pin(NewPin {
        session: rollback.session.clone(),
        view: view.clone(),
        id,
        rows,
        reason: rollback.reason.clone(),
        author: rollback.author.clone(),
        at: rollback.at,
        request: None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Seq, SeqRange};

    fn rows(first: i64, last: i64) -> RowSet {
        RowSet::of_ranges(vec![SeqRange { first: Seq(first), last: Seq(last) }])
    }

    fn range(id: &str, first: i64, last: i64, kept: Option<i64>) -> InForce {
        let kept = kept.map_or_else(RowSet::default, |seq| rows(seq, seq));
        let covered =
            RowSet::of(rows(first, last).iter().filter(|it| !kept.contains(*it)).collect());
        InForce { id: OverlayId::new(id), is_range: true, covered, kept }
    }

    #[test]
    fn i2_ranges_are_disjoint_or_nested() {
        let crosses = |a: &InForce, b: &InForce| {
            assert_eq!(a.crosses(b), b.crosses(a));
            a.crosses(b)
        };
        let middle = range("a", 5, 10, None);
        assert!(crosses(&middle, &range("b", 1, 5, None)));
        assert!(crosses(&middle, &range("b", 10, 12, None)));
        assert!(!crosses(&middle, &range("b", 1, 4, None)));
        assert!(!crosses(&middle, &range("b", 6, 7, None)));
        assert!(!crosses(&middle, &range("b", 1, 20, None)));
        assert!(!crosses(&middle, &middle));
    }

    #[test]
    fn i2_a_kept_row_may_lie_under_an_inner_overlay() {
        assert!(!range("a", 5, 10, None).crosses(&range("b", 1, 20, Some(6))));
        assert!(!range("a", 5, 10, Some(7)).crosses(&range("b", 7, 7, None)));
    }

    #[test]
    fn the_outermost_hides() {
        let all = [range("in", 5, 10, None), range("out", 1, 20, None), range("far", 30, 40, None)];
        assert_eq!(hidden_by(&rows(6, 7), &all), Some(OverlayId::new("out")));
        assert_eq!(hidden_by(&rows(20, 21), &all), None);
        let same = [range("old", 5, 10, None), range("new", 5, 10, None)];
        assert_eq!(hidden_by(&rows(5, 5), &same), Some(OverlayId::new("new")));
    }
}
