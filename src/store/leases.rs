//! What the contract says about plans, once, for every backend.

use crate::{
    model::{OverlayId, PinId, RowSet},
    store::{
        CommitOverlays, Error, Plan,
        rules::{InForce, kept, misuse},
    },
};

/// A plan as it is on record when it was made.
pub(super) fn made(new: &Plan) -> Plan {
    Plan {
        create_time: kept(new.create_time),
        expire_time: kept(new.expire_time),
        end: None,
        ..new.clone()
    }
}

/// Checks plans to be made against those that are known, in the order in which
/// they were made.
pub(super) fn check_leases(new: &[Plan], known: &[Plan]) -> Result<(), Error> {
    for (at, plan) in new.iter().enumerate() {
        let rows = plan.rows();
        if new.iter().any(|it| it.view != plan.view) {
            return Err(misuse(format!("plan `{}` is of another view", plan.id)));
        }
        if new.iter().take(at).any(|it| it.id == plan.id || it.sees(&rows)) {
            return Err(misuse(format!("plan `{}` shares what one beside it holds", plan.id)));
        }
        let holds = |it: &&Plan| it.view == plan.view && it.holds_at(kept(plan.create_time));
        if let Some(holder) = known.iter().filter(holds).find(|it| it.sees(&rows)) {
            let (plan, until) = (holder.id.clone(), holder.expire_time);
            return Err(Error::RangeLeased { plan, until });
        }
    }
    Ok(())
}

/// Checks that overlays are what their plans planned, and that the plans hold.
pub(super) fn check_plans(commit: &CommitOverlays, plans: &[Plan]) -> Result<(), Error> {
    for plan in plans {
        if let Some(end) = &plan.end {
            return Err(Error::PlanEnded { plan: plan.id.clone(), end: end.clone() });
        }
        if !plan.holds_at(kept(commit.at)) {
            let (plan, expire_time) = (plan.id.clone(), plan.expire_time);
            return Err(Error::PlanExpired { plan, expire_time });
        }
    }
    if plans.len() != commit.overlays.len() {
        return Err(misuse(format!("{} plans", plans.len())));
    }
    for (at, (overlay, plan)) in commit.overlays.iter().zip(plans).enumerate() {
        let is_planned = plan.view == commit.view
            && overlay.covered == plan.covered
            && overlay.kept == plan.kept
            && overlay.source_digest == plan.source_digest;
        if !is_planned || plans.iter().take(at).any(|it| it.id == plan.id) {
            return Err(misuse(format!("overlay `{}` is not what was planned", overlay.id)));
        }
    }
    Ok(())
}

/// Checks that what a plan saw is in force still, and nothing else is there;
/// the overlays come in the order of their commits.
pub(super) fn check_seen(
    plan: &Plan,
    in_force: &[InForce],
    pins: &[(PinId, RowSet)],
) -> Result<(), Error> {
    let overlays: Vec<&OverlayId> =
        in_force.iter().filter(|it| plan.sees(&it.covered)).map(|it| &it.id).collect();
    let pins: Vec<&PinId> =
        pins.iter().filter(|(_, rows)| plan.sees(rows)).map(|(id, _)| id).collect();
    if let Some(other) = changed(&overlays, &plan.overlays) {
        return Err(Error::PlanOutdated { overlay: Some(other.clone()) });
    }
    match changed(&pins, &plan.pins) {
        Some(other) => Err(Error::PinMoved(other.clone())),
        None => Ok(()),
    }
}

/// The newest that is there and was not seen, or else one that was and is gone.
fn changed<'a, T: PartialEq>(found: &[&'a T], seen: &'a [T]) -> Option<&'a T> {
    let came = found.iter().rev().copied().find(|it| !seen.contains(it));
    came.or_else(|| seen.iter().find(|it| !found.contains(it)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{OverlayKind, PlanId, Seq, SeqRange, Timestamp, ViewName};

    fn rows(first: i64, last: i64) -> RowSet {
        RowSet::of_ranges(vec![SeqRange { first: Seq(first), last: Seq(last) }])
    }

    fn plan(overlays: &[&str], pins: &[&str]) -> Plan {
        Plan {
            id: PlanId::new("l"),
            view: ViewName::main(),
            kind: OverlayKind::Collapse,
            covered: rows(5, 10),
            kept: rows(12, 12),
            overlays: overlays.iter().map(|id| OverlayId::new(id)).collect(),
            pins: pins.iter().map(|id| PinId::new(id)).collect(),
            source_digest: [0; 32],
            max_summary_tokens: 0,
            stage: String::new(),
            is_own: false,
            author: String::new(),
            create_time: Timestamp::default(),
            expire_time: Timestamp::default(),
            end: None,
        }
    }

    fn overlay(id: &str, covered: RowSet, kept: RowSet) -> InForce {
        InForce { id: OverlayId::new(id), is_range: true, covered, kept }
    }

    #[test]
    fn i11_a_plan_sees_what_covers_or_pins_its_rows() {
        let none = RowSet::default;
        let in_force = [
            overlay("before", rows(1, 4), none()),
            overlay("beside", rows(11, 11), none()),
            overlay("keeps", rows(13, 14), rows(10, 12)),
            overlay("a", rows(10, 11), none()),
            overlay("b", rows(12, 13), none()),
        ];
        let pins = [(PinId::new("p"), rows(1, 5)), (PinId::new("q"), rows(11, 11))];
        assert!(check_seen(&plan(&["b", "a"], &["p"]), &in_force, &pins).is_ok());
        for (overlays, pins_seen, expected) in [
            (&["a"][..], &["p"][..], "b"),
            (&["b"], &["p"], "a"),
            (&[], &["p"], "b"),
            (&["a", "b", "gone"], &["p"], "gone"),
            (&["a"], &["gone"], "b"),
        ] {
            let outdated = check_seen(&plan(overlays, pins_seen), &in_force, &pins);
            let Err(Error::PlanOutdated { overlay }) = outdated else { panic!("{overlays:?}") };
            assert_eq!(overlay, Some(OverlayId::new(expected)), "{overlays:?} {pins_seen:?}");
        }
        for (seen, expected) in [(&[][..], "p"), (&["p", "gone"], "gone"), (&["q"], "p")] {
            let outdated = check_seen(&plan(&["a", "b"], seen), &in_force, &pins);
            let Err(Error::PinMoved(pin)) = outdated else { panic!("{seen:?}") };
            assert_eq!(pin, PinId::new(expected), "{seen:?}");
        }
    }
}
