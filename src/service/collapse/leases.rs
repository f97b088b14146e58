//! Leases in memory: which rows of a view somebody is summarizing.

use crate::{
    model::{PlanId, RowSet, Timestamp},
    service::live::ViewState,
    store::Plan,
};

/// Rows under work, and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::service) struct Lease {
    plan: PlanId,
    rows: RowSet,
    until: Timestamp,
}

impl Lease {
    /// Of a plan.
    pub(in crate::service) fn of(plan: &Plan) -> Self {
        Self {
            plan: plan.id.clone(),
            rows: plan.covered.union(&plan.kept),
            until: plan.expire_time,
        }
    }
}

/// The leased rows of a view at `now`.
pub(in crate::service) fn leased_rows(view: &ViewState, now: Timestamp) -> Vec<RowSet> {
    view.leases.iter().filter(|it| it.until > now).map(|it| it.rows.clone()).collect()
}

/// The plan of the view whose lease ends first.
pub(super) fn holder(view: &ViewState, now: Timestamp) -> Option<PlanId> {
    let held = view.leases.iter().filter(|it| it.until > now);
    held.min_by_key(|it| it.until).map(|it| it.plan.clone())
}

pub(super) fn add(view: &mut ViewState, plans: &[Plan]) {
    view.leases.extend(plans.iter().map(Lease::of));
}

pub(super) fn remove<'a>(view: &mut ViewState, plans: impl IntoIterator<Item = &'a PlanId>) {
    let ended: Vec<&PlanId> = plans.into_iter().collect();
    view.leases.retain(|lease| !ended.contains(&&lease.plan));
}

pub(super) fn renew(view: &mut ViewState, plans: &[PlanId], until: Timestamp) {
    for lease in view.leases.iter_mut().filter(|it| plans.contains(&it.plan)) {
        lease.until = until;
    }
}
