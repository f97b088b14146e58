//! Plans: leases on ranges, and what a commit owes to them.

use super::SessionState;
use crate::{
    model::{Pin, PlanId, Revision, RowSet, Timestamp, ViewName},
    store::{CommitOverlays, Entity, Error, NewPlan, Plan, PlanEnd, PlannedOn, leases, rules},
};

impl SessionState {
    pub(in super::super) fn prepare(&mut self, prepare: &NewPlan) -> Result<Vec<Plan>, Error> {
        let Some(view) = prepare.plans.first().map(|it| &it.view) else { return Ok(Vec::new()) };
        self.check_planned_at(view, prepare.planned_at)?;
        leases::check_leases(&prepare.plans, &self.plans)?;
        if let Some(taken) = prepare.plans.iter().find(|it| self.plan(&it.id).is_ok()) {
            return Err(rules::misuse(format!("plan `{}` exists already", taken.id)));
        }
        let plans: Vec<Plan> = prepare.plans.iter().map(leases::made).collect();
        self.plans.extend_from_slice(&plans);
        Ok(plans)
    }

    pub(in super::super) fn plan(&self, id: &PlanId) -> Result<&Plan, Error> {
        let plan = self.plans.iter().find(|it| it.id == *id);
        plan.ok_or_else(|| Error::NotFound(Entity::Plan(id.to_string())))
    }

    pub(in super::super) fn plans_of<'a>(
        &'a self,
        view: &'a ViewName,
        now: Timestamp,
    ) -> impl Iterator<Item = &'a Plan> {
        self.plans.iter().filter(move |it| it.view == *view && it.holds_at(now))
    }

    pub(in super::super) fn renew_plans(
        &mut self,
        plans: &[PlanId],
        now: Timestamp,
        until: Timestamp,
    ) -> Result<(), Error> {
        self.check_plans_are_there(plans)?;
        for plan in self.plans.iter_mut().filter(|it| plans.contains(&it.id) && it.holds_at(now)) {
            plan.expire_time = plan.expire_time.max(rules::kept(until));
        }
        Ok(())
    }

    pub(in super::super) fn abandon_plans(&mut self, plans: &[PlanId]) -> Result<(), Error> {
        self.check_plans_are_there(plans)?;
        for plan in self.plans.iter_mut().filter(|it| plans.contains(&it.id) && it.end.is_none()) {
            plan.end = Some(PlanEnd::Abandoned);
        }
        Ok(())
    }

    pub(in super::super) fn forget_plans(&mut self, now: Timestamp) {
        self.plans.retain(|it| !rules::may_be_forgotten(it.expire_time, now));
    }

    fn check_plans_are_there(&self, plans: &[PlanId]) -> Result<(), Error> {
        plans.iter().try_for_each(|id| self.plan(id).map(|_| ()))
    }

    /// Checks that what a commit was planned on still holds.
    pub(super) fn check_planned_on(&mut self, commit: &CommitOverlays) -> Result<(), Error> {
        let ids = match &commit.planned_on {
            PlannedOn::View(planned_at) => {
                return self.check_planned_at(&commit.view, *planned_at);
            }
            PlannedOn::Plans(ids) => ids,
        };
        self.view_mut(&commit.view)?;
        let plans: Vec<Plan> =
            ids.iter().map(|id| self.plan(id).cloned()).collect::<Result<_, _>>()?;
        leases::check_plans(commit, &plans)?;
        let in_force = self.in_force(&commit.view);
        let rows = |it: &Pin| (it.id.clone(), RowSet::of_ranges(vec![it.rows]));
        let pins: Vec<_> = self.pins_of(&commit.view).map(rows).collect();
        plans.iter().try_for_each(|plan| leases::check_seen(plan, &in_force, &pins))
    }

    fn check_planned_at(&mut self, view: &ViewName, planned_at: Revision) -> Result<(), Error> {
        if self.view_mut(view)?.reductions_revision == planned_at {
            return Ok(());
        }
        let came = self
            .overlays_of(view)
            .filter(|it| it.rollback.is_none() && it.commit_revision > planned_at)
            .last();
        Err(Error::PlanOutdated { overlay: came.map(|it| it.id.clone()) })
    }

    /// Ends the plans of a commit with it.
    pub(super) fn end_plans(&mut self, commit: &CommitOverlays) {
        let PlannedOn::Plans(ids) = &commit.planned_on else { return };
        for (id, overlay) in ids.iter().zip(&commit.overlays) {
            if let Some(plan) = self.plans.iter_mut().find(|it| it.id == *id) {
                plan.end = Some(PlanEnd::Committed(overlay.id.clone()));
            }
        }
    }
}
