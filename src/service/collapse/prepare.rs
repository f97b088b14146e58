//! For callers that summarize themselves: a lease with the material, and the
//! summary of exactly that.

use std::{sync::Arc, time::Duration};

use super::{
    AbandonCollapseInput, CommitCollapseInput, PrepareCollapseInput, PreparedCollapse, create,
    leases,
    material::material,
    work::{self, Order},
};
use crate::{
    model::{Overlay, OverlayId, OverlayKind, PlanId, Revision, SeqRange},
    projection::{self, Segment, Written},
    service::{
        Ctx, Error, OverlayOutput, Result, changes, digest_of,
        fields::{Fields, request_key},
        get_context::commit_overlays,
        live::{self, State},
    },
    store::{
        self, CommitOverlays, Committed, NewPlan, Plan, PlanEnd, PlannedOn, RequestKey, SessionRef,
    },
    summary::{self, Limits},
};

/// Of a lease that names no time.
const LEASE: Duration = Duration::from_mins(2);
/// The longest lease.
const MOST_LEASE: Duration = Duration::from_mins(15);
/// Bytes of a summary: what is longer has too many tokens whatever it says.
const MOST_SUMMARY_BYTES: usize = 1024 * 1024;

/// What to summarize, and a lease on it.
///
/// # Errors
///
/// As [`super::create_collapse`], those of a summary aside.
pub async fn prepare_collapse(ctx: &Ctx, input: PrepareCollapseInput) -> Result<PreparedCollapse> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", &input.session_id);
    let view = fields.view("view", &input.view);
    fields.name("author", &input.author);
    fields.request_id(&input.request_id);
    let rows = input.rows.map(|rows| fields.rows("rows", Some(rows)));
    let lease = lease_of(&mut fields, input.lease);
    if input.max_material_tokens < 0 {
        let found = input.max_material_tokens;
        fields.wrong("max_material_tokens", format!("expected at least 0, found {found}"));
    }
    if !matches!(input.kind, Some(OverlayKind::Collapse | OverlayKind::Compact)) {
        fields.wrong("kind", "expected KIND_COLLAPSE or KIND_COMPACT");
    }
    fields.finish()?;
    if input.kind == Some(OverlayKind::Compact) {
        // It needs a sealed transcript.
        return Err(Error::Unimplemented);
    }
    let request = request_key(&input.request_id, || {
        let (first, last) = input.rows.unwrap_or_default();
        digest_of(&[
            b"prepare_collapse",
            view.as_str().as_bytes(),
            &first.to_le_bytes(),
            &last.to_le_bytes(),
            &input.max_material_tokens.to_le_bytes(),
            &lease.as_micros().to_le_bytes(),
            input.author.as_bytes(),
        ])
    });
    let order = Order {
        session,
        view,
        instructions: String::new(),
        author: input.author,
        is_stage: false,
        request: None,
    };
    let mut state = live::loaded(ctx, &order.session).await?;
    let most = (input.max_material_tokens > 0).then_some(input.max_material_tokens);
    if let Some(plan) = replayed(ctx, &order.session, request.as_ref()).await? {
        return answer(&mut state, &order, plan, most);
    }
    let segment = fitting(ctx, &mut state, &order, rows, most).await?;
    let known = work::view_of(&mut state, &order.view)?;
    let new = NewPlan {
        session: order.session.clone(),
        planned_at: known.view.reductions_revision,
        plans: vec![work::plan(ctx, known, &segment, &order, false, lease)],
        request,
    };
    let store = Arc::clone(&ctx.store);
    let prepared = changes::to_the_end(async move { store.prepare(new).await }).await?;
    leases::add(known, &prepared.plans);
    let plan = prepared.plans.into_iter().next().ok_or(Error::NothingToCollapse)?;
    answer(&mut state, &order, plan, most)
}

fn lease_of(fields: &mut Fields, lease: Option<(i64, i32)>) -> Duration {
    let Some((seconds, nanos)) = lease else { return LEASE };
    let lease = u64::try_from(seconds).ok().zip(u32::try_from(nanos).ok());
    let lease = lease.filter(|(_, nanos)| *nanos < 1_000_000_000);
    match lease.map(|(seconds, nanos)| Duration::new(seconds, nanos)) {
        Some(lease) if !lease.is_zero() && lease <= MOST_LEASE => lease,
        _ => {
            fields.wrong("lease", "expected more than nothing and at most 15 minutes");
            LEASE
        }
    }
}

/// The plan of an earlier request of that id, before anything is checked
/// against a state that the earlier request has changed.
async fn replayed(
    ctx: &Ctx,
    session: &SessionRef,
    request: Option<&RequestKey>,
) -> Result<Option<Plan>> {
    let Some(request) = request else { return Ok(None) };
    let ask = NewPlan {
        session: session.clone(),
        planned_at: Revision::default(),
        plans: Vec::new(),
        request: Some(request.clone()),
    };
    match ctx.store.prepare(ask).await {
        Ok(known) => Ok(known.plans.into_iter().next().filter(|_| known.replayed)),
        Err(store::Error::PlanOutdated { .. }) => Ok(None),
        Err(err) => Err(err.into()),
    }
}

/// The segment whose material is at most what the caller takes.
async fn fitting(
    ctx: &Ctx,
    state: &mut State,
    order: &Order,
    rows: Option<SeqRange>,
    most: Option<i64>,
) -> Result<Segment> {
    let mut aim = most;
    loop {
        let segment = create::segment(ctx, state, order, rows, aim).await?;
        let (Some(most), Some(aimed)) = (most, aim) else { return Ok(segment) };
        let in_force = work::view_of(state, &order.view)?.in_force();
        let all = material(&state.history, &segment.covered, &in_force, work::MOST_MATERIAL_TOKENS);
        let tokens = summary::material_text(&all, 0).tokens;
        // What surrounds the rows in the text counts too.
        if tokens <= most {
            return Ok(segment);
        }
        if aimed > 1 {
            aim = Some(aimed / 2);
            continue;
        }
        // A single round that is too long is shortened in the text; nobody is
        // to summarize what he was not shown.
        let least = summary::least_material_tokens(&all);
        if least > most {
            let found = format!("expected at least {least} for that range, found {most}");
            return Err(Error::field("max_material_tokens", found));
        }
        return Ok(segment);
    }
}

fn answer(
    state: &mut State,
    order: &Order,
    plan: Plan,
    most: Option<i64>,
) -> Result<PreparedCollapse> {
    let State { history, views, .. } = state;
    let view =
        views.get_mut(&plan.view).ok_or_else(|| Error::ViewNotFound(order.view.to_string()))?;
    let in_force = view.in_force();
    let before = projection::tokens_of(history, &view.sight, &in_force, &mut view.memo);
    let all = material(history, &plan.covered, &in_force, work::MOST_MATERIAL_TOKENS);
    let rules = &view.policy.collapse;
    let aim = rules.min_summary_tokens.min(plan.max_summary_tokens);
    Ok(PreparedCollapse {
        material: summary::material_text(&all, most.unwrap_or(0)).text,
        instructions: summary::layout_instructions(
            &rules.template,
            aim,
            plan.max_summary_tokens,
            &order.instructions,
        ),
        covered: plan.covered.ranges().to_vec(),
        kept: plan.kept.ranges().to_vec(),
        tokens_before: before,
        max_summary_tokens: plan.max_summary_tokens,
        expire_time: plan.expire_time,
        plan: plan.id,
    })
}

/// Commits a caller's summary of a plan's material. The same summary again
/// returns the same overlay.
///
/// # Errors
///
/// * [`Error::InvalidField`], [`Error::SessionNotFound`].
/// * [`Error::PlanNotFound`], also where it was given back;
///   [`Error::PlanExpired`].
/// * [`Error::SummaryRejected`], [`Error::SummaryTooLong`],
///   [`Error::SummaryNotSmaller`]: the lease holds on.
/// * [`Error::OverlayConflict`], [`Error::PinConflict`] where what was leased is
///   not as it was; [`Error::PlanCommitted`] with another summary.
pub async fn commit_collapse(ctx: &Ctx, input: CommitCollapseInput) -> Result<OverlayOutput> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", &input.session_id);
    let plan = fields.plan("plan_id", &input.plan_id);
    fields.name("author", &input.author);
    fields.text("summary", &input.summary, MOST_SUMMARY_BYTES);
    fields.name("finish_reason", &input.finish_reason);
    fields.finish()?;
    let mut state = live::loaded(ctx, &session).await?;
    let plan = ctx.store.get_plan(&session, &plan).await?;
    if let Some(known) = ended(ctx, &session, &plan, &input.summary).await? {
        return Ok(known);
    }
    let limits = Limits { max_tokens: plan.max_summary_tokens, template: None };
    summary::check(&input.summary, &input.finish_reason, &limits).map_err(work::rejected)?;
    let order = Order {
        session,
        view: plan.view.clone(),
        instructions: String::new(),
        author: input.author,
        is_stage: false,
        request: None,
    };
    let written = Written { text: input.summary, summarizer: "client".to_owned() };
    let committed = commit_plan(ctx, &mut state, &order, &plan, written).await?;
    let revision = committed.revision;
    let overlay = committed.overlays.into_iter().next().ok_or(Error::NothingToCollapse)?;
    Ok(OverlayOutput { overlay, revision })
}

/// The overlay of a plan that was committed with the same summary; an error
/// where the plan ended otherwise.
async fn ended(
    ctx: &Ctx,
    session: &SessionRef,
    plan: &Plan,
    summary: &str,
) -> Result<Option<OverlayOutput>> {
    match &plan.end {
        Some(PlanEnd::Committed(id)) => {
            let overlay = ctx.store.get_overlay(session, id).await?;
            if overlay.summary != summary {
                return Err(Error::PlanCommitted(id.clone()));
            }
            Ok(Some(OverlayOutput { revision: overlay.commit_revision, overlay }))
        }
        Some(PlanEnd::Abandoned) => Err(Error::PlanNotFound(plan.id.to_string())),
        None if plan.holds_at(ctx.clock.now()) => Ok(None),
        None => {
            Err(Error::PlanExpired { plan: plan.id.to_string(), expire_time: plan.expire_time })
        }
    }
}

/// Commits a plan with its summary, where the view gets smaller by it.
async fn commit_plan(
    ctx: &Ctx,
    state: &mut State,
    order: &Order,
    plan: &Plan,
    written: Written,
) -> Result<Committed> {
    let State { history, views, .. } = state;
    let view =
        views.get_mut(&plan.view).ok_or_else(|| Error::ViewNotFound(plan.view.to_string()))?;
    let in_force = view.in_force();
    let there: Vec<&OverlayId> =
        in_force.iter().filter(|it| plan.sees(&it.covered)).map(|it| &it.id).collect();
    // What was leased comes first: against another view no size means anything.
    let came = there.iter().copied().find(|id| !plan.overlays.contains(id));
    let ended = plan.overlays.iter().find(|id| !there.contains(id));
    if let Some(other) = came.or(ended) {
        return Err(Error::OverlayConflict(Some(other.clone())));
    }
    let overlay = work::overlay(ctx, order, &segment_of(plan, &in_force), written);
    let overlays: Vec<Overlay> = work::laid(history, view, vec![overlay]).collect::<Result<_>>()?;
    let commit = CommitOverlays {
        session: order.session.clone(),
        view: plan.view.clone(),
        planned_on: PlannedOn::Plans(vec![plan.id.clone()]),
        overlays,
        supersedes: Vec::new(),
        author: order.author.clone(),
        at: ctx.clock.now(),
        request: None,
    };
    let committed = commit_overlays(ctx, &order.session, commit).await?;
    leases::remove(view, [&plan.id]);
    Ok(committed)
}

/// The segment that a plan leased.
fn segment_of(plan: &Plan, in_force: &[Overlay]) -> Segment {
    Segment {
        covered_overlays: projection::directly_under(&plan.covered, in_force),
        covered: plan.covered.clone(),
        kept: plan.kept.clone(),
        overlays: plan.overlays.clone(),
        source_digest: plan.source_digest,
        tokens: 0,
        min_summary_tokens: 0,
        max_summary_tokens: plan.max_summary_tokens,
    }
}

/// Gives a lease back. Doing so again changes nothing.
///
/// # Errors
///
/// [`Error::InvalidField`], [`Error::SessionNotFound`], [`Error::PlanNotFound`].
pub async fn abandon_collapse(ctx: &Ctx, input: AbandonCollapseInput) -> Result<()> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", &input.session_id);
    let plan: PlanId = fields.plan("plan_id", &input.plan_id);
    fields.finish()?;
    let ended = plan.clone();
    let (store, of) = (Arc::clone(&ctx.store), session.clone());
    changes::to_the_end(async move { store.abandon_plans(&of, &[ended]).await }).await?;
    if let Some(live) = ctx.live.find(&session) {
        let mut state = live.state.lock().await;
        for view in state.views.values_mut() {
            leases::remove(view, [&plan]);
        }
    }
    Ok(())
}
