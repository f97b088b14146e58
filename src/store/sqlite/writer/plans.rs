//! Plans: leases on ranges, and what a commit owes to them.

use super::{
    super::{
        command::RenewPlans,
        error::Failure,
        read, statements,
        values::{json, ranges},
    },
    Writer,
    heads::{Head, micros},
    overlays::{Standing, check_planned_at},
    requests::Scope,
};
use crate::{
    codec::overlay::kind_to_pb,
    model::{OverlayId, PinId, PlanId, RowSet},
    store::{CommitOverlays, NewPlan, Plan, Prepared, SessionRef, leases},
};

/// What is answered to a repeated preparation: the plans' ids.
type Known = Vec<String>;

impl Writer {
    pub(super) async fn prepare(&mut self, prepare: NewPlan) -> Result<Prepared, Failure> {
        let head = self.head(&prepare.session).await?;
        let done = self.add_plans(&head, &prepare).await;
        self.put_back(&prepare.session, head, &done);
        done
    }

    async fn add_plans(&mut self, head: &Head, prepare: &NewPlan) -> Result<Prepared, Failure> {
        let scope = Scope::Session(head.key);
        if let Some(ids) = self.known::<Known>(scope, prepare.request.as_ref()).await? {
            let ids: Vec<PlanId> = ids.iter().map(|id| PlanId::new(id)).collect();
            let plans = read::get_plans(&mut self.conn, &prepare.session, &ids).await?;
            return Ok(Prepared { plans, replayed: true });
        }
        let plans: Vec<Plan> = prepare.plans.iter().map(leases::made).collect();
        let Some(first) = plans.first() else {
            return Ok(Prepared { plans, replayed: false });
        };
        let reduced_at = self.reduced_at(head, &first.view).await?;
        if reduced_at != prepare.planned_at {
            let in_force = self.in_force(head.key, &first.view).await?;
            check_planned_at(prepare.planned_at, reduced_at, &in_force)?;
        }
        let earliest = plans.iter().map(|it| it.create_time).min().unwrap_or_default();
        let known =
            read::list_plans(&mut self.conn, &prepare.session, &first.view, earliest).await?;
        leases::check_leases(&plans, &known)?;
        let ids: Vec<&str> = plans.iter().map(|it| it.id.as_str()).collect();
        let request = prepare.request.as_ref();
        let statement = sqlx::query(statements::PREPARE)
            .bind(head.key)
            .bind(plan_rows(&plans))
            .bind(plans.iter().flat_map(|it| it.source_digest).collect::<Vec<u8>>())
            .bind(request.map(|it| it.id.as_str()))
            .bind(request.map(|it| it.digest.as_slice()))
            .bind(request.map(|_| json(&ids)))
            .bind(micros(first.create_time));
        self.write(statement).await?;
        Ok(Prepared { plans, replayed: false })
    }

    pub(super) async fn renew_plans(&mut self, renew: RenewPlans) -> Result<(), Failure> {
        let ids = self.known_plans(&renew.session, &renew.plans).await?;
        let head = self.head(&renew.session).await?;
        let statement = sqlx::query(statements::RENEW_PLANS)
            .bind(head.key)
            .bind(ids)
            .bind(micros(renew.now))
            .bind(micros(renew.until));
        self.heads.put(&renew.session, head);
        self.write_one(statement).await
    }

    pub(super) async fn abandon_plans(
        &mut self,
        session: &SessionRef,
        plans: &[PlanId],
    ) -> Result<(), Failure> {
        let ids = self.known_plans(session, plans).await?;
        let head = self.head(session).await?;
        let statement = sqlx::query(statements::ABANDON_PLANS).bind(head.key).bind(ids);
        self.heads.put(session, head);
        self.write_one(statement).await
    }

    /// The ids as a JSON array, where all of them are there.
    async fn known_plans(
        &mut self,
        session: &SessionRef,
        plans: &[PlanId],
    ) -> Result<String, Failure> {
        read::get_plans(&mut self.conn, session, plans).await?;
        Ok(json(&plans.iter().map(PlanId::as_str).collect::<Vec<_>>()))
    }

    /// Checks that the plans of a commit hold, and what they saw.
    pub(super) async fn check_plans(
        &mut self,
        commit: &CommitOverlays,
        plans: &[PlanId],
        in_force: &[Standing],
    ) -> Result<(), Failure> {
        let plans = read::get_plans(&mut self.conn, &commit.session, plans).await?;
        leases::check_plans(commit, &plans)?;
        let pins = read::list_pins(&mut self.conn, &commit.session, &commit.view).await?;
        let pins: Vec<(PinId, RowSet)> =
            pins.into_iter().map(|it| (it.id, RowSet::of_ranges(vec![it.rows]))).collect();
        let in_force: Vec<_> = in_force.iter().map(|it| it.rule.clone()).collect();
        Ok(plans.iter().try_for_each(|plan| leases::check_seen(plan, &in_force, &pins))?)
    }
}

/// The plans as a JSON array of rows, their digests aside.
fn plan_rows(plans: &[Plan]) -> String {
    let row = |it: &Plan| {
        json(&(
            it.id.as_str(),
            it.view.as_str(),
            i32::from(kind_to_pb(it.kind)),
            ranges(&it.covered),
            ranges(&it.kept),
            it.overlays.iter().map(OverlayId::as_str).collect::<Vec<_>>(),
            it.pins.iter().map(PinId::as_str).collect::<Vec<_>>(),
            it.max_summary_tokens,
            it.stage.as_str(),
            i64::from(it.is_own),
            it.author.as_str(),
            micros(it.create_time),
            micros(it.expire_time),
        ))
    };
    format!("[{}]", plans.iter().map(row).collect::<Vec<_>>().join(","))
}
