//! From segments to committed overlays: lease, summarize, check, commit.

use std::{sync::Arc, time::Duration};

use super::{leases, material::material};
use crate::{
    model::{
        Cause, Overlay, OverlayId, OverlayKind, PlanId, Policy, Revision, RowSet, SeqRange,
        StageKind, Timestamp, ViewName,
    },
    projection::{self, Circumstances, Collapsing, Lens, Memo, Segment, Window, Written},
    service::{
        Ctx, Error, Result, changes,
        get_context::{commit_overlays, view_window},
        live::{LiveSession, State, ViewState},
    },
    store::{CommitOverlays, Committed, NewPlan, Plan, PlannedOn, RequestKey, SessionRef},
    summary::{self, Limits, Rejected, Task, Template},
};

/// How long the server leases what it works on; it renews while it works.
const LEASE: Duration = Duration::from_mins(2);
/// Material above so many tokens is made of earlier summaries where there are
/// some: what a merge costs must not grow with the whole history.
pub(super) const MOST_MATERIAL_TOKENS: i64 = 400_000;

/// No summary is asked to be shorter.
const LEAST_TOKENS: i64 = 24;

/// Who wants segments collapsed, and how.
#[derive(Debug, Clone)]
pub(super) struct Order {
    pub session: SessionRef,
    pub view: ViewName,
    pub instructions: String,
    pub author: String,
    /// A stage's own; else by hand.
    pub is_stage: bool,
    pub request: Option<RequestKey>,
}

/// Leased segments, and what their summarizer gets.
pub(super) struct Leased {
    pub plans: Vec<Plan>,
    pub segments: Vec<Segment>,
    pub tasks: Vec<Task>,
}

/// What became of leased segments.
pub(super) struct Collapsed {
    pub committed: Option<Committed>,
    /// Those whose summary was refused, and why.
    pub refused: Vec<(RowSet, Error)>,
}

/// The view, loaded.
pub(super) fn view_of<'a>(state: &'a mut State, view: &ViewName) -> Result<&'a mut ViewState> {
    state.views.get_mut(view).ok_or_else(|| Error::ViewNotFound(view.to_string()))
}

/// A summary by the embedded summarizer, at once.
pub(in crate::service) fn extractive(
    history: &projection::History,
    in_force: &[Overlay],
    template: &str,
    segment: &Segment,
) -> Option<Written> {
    let task = task(history, in_force, template, segment, "");
    let text = summary::extractive(&task);
    let limits = limits(&task);
    summary::check(&text, "", &limits).ok()?;
    Some(Written { text, summarizer: summary::Extractive::NAME.to_owned() })
}

fn task(
    history: &projection::History,
    in_force: &[Overlay],
    template: &str,
    segment: &Segment,
    instructions: &str,
) -> Task {
    // What is to be smaller than its source had better be half of it at most.
    let max_tokens = segment.max_summary_tokens.min((segment.tokens / 2).max(LEAST_TOKENS));
    Task {
        material: material(history, &segment.covered, in_force, MOST_MATERIAL_TOKENS),
        template: template.to_owned(),
        min_tokens: segment.min_summary_tokens.min(max_tokens),
        max_tokens,
        instructions: instructions.to_owned(),
    }
}

fn limits(task: &Task) -> Limits {
    Limits { max_tokens: task.max_tokens, template: Template::from_name(&task.template) }
}

/// A plan over a segment, for the store.
pub(super) fn plan(
    ctx: &Ctx,
    view: &ViewState,
    segment: &Segment,
    order: &Order,
    is_own: bool,
    lease: Duration,
) -> Plan {
    let now = ctx.clock.now();
    let extent = segment.extent();
    let pins = view.pins.iter().filter(|pin| {
        let rows = RowSet::of_ranges(vec![pin.rows]);
        rows.intersects(&extent)
    });
    Plan {
        id: PlanId::new(&ctx.ids.next()),
        view: order.view.clone(),
        kind: OverlayKind::Collapse,
        covered: segment.covered.clone(),
        kept: segment.kept.clone(),
        overlays: segment.overlays.clone(),
        pins: pins.map(|pin| pin.id.clone()).collect(),
        source_digest: segment.source_digest,
        max_summary_tokens: segment.max_summary_tokens,
        stage: if order.is_stage { StageKind::Collapse.name().to_owned() } else { String::new() },
        is_own,
        author: order.author.clone(),
        create_time: now,
        expire_time: later(now, lease),
        end: None,
    }
}

pub(super) fn later(now: Timestamp, by: Duration) -> Timestamp {
    let micros = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_micros(now.as_micros().saturating_add(micros))
}

/// Leases segments of a loaded view for the server's own work.
pub(super) async fn lease(
    ctx: &Ctx,
    state: &mut State,
    order: &Order,
    segments: Vec<Segment>,
) -> Result<Leased> {
    let State { history, views, .. } = state;
    let view =
        views.get_mut(&order.view).ok_or_else(|| Error::ViewNotFound(order.view.to_string()))?;
    let in_force = view.in_force();
    let template = &view.policy.collapse.template;
    let tasks = segments
        .iter()
        .map(|it| task(history, &in_force, template, it, &order.instructions))
        .collect();
    let plans = segments.iter().map(|it| plan(ctx, view, it, order, true, LEASE)).collect();
    let new = NewPlan {
        session: order.session.clone(),
        planned_at: view.view.reductions_revision,
        plans,
        request: None,
    };
    let store = Arc::clone(&ctx.store);
    let prepared = changes::to_the_end(async move { store.prepare(new).await }).await?;
    leases::add(view, &prepared.plans);
    Ok(Leased { plans: prepared.plans, segments, tasks })
}

/// Summarizes leased segments outside every lock, then checks and commits those
/// that pass, together. The leases end whatever comes of it.
pub(super) async fn carry_out(
    ctx: &Ctx,
    live: &LiveSession,
    order: &Order,
    leased: Leased,
) -> Result<Collapsed> {
    let ids: Vec<PlanId> = leased.plans.iter().map(|plan| plan.id.clone()).collect();
    let texts = tokio::select! {
        texts = summaries(ctx, &leased.tasks) => texts,
        never = renewing(ctx, live, order, &ids) => match never {},
    };
    let mut state = live.state.lock().await;
    let outcome = commit(ctx, &mut state, order, &leased, texts).await;
    if let Ok(view) = view_of(&mut state, &order.view) {
        leases::remove(view, &ids);
    }
    drop(state);
    let is_whole = matches!(&outcome, Ok(it) if it.refused.is_empty());
    if !is_whole {
        give_back(ctx, &order.session, ids).await;
    }
    outcome
}

/// Gives leases back; those that ended with a commit stay ended.
pub(super) async fn give_back(ctx: &Ctx, session: &SessionRef, plans: Vec<PlanId>) {
    let (store, session) = (Arc::clone(&ctx.store), session.clone());
    let given_back =
        changes::to_the_end(async move { store.abandon_plans(&session, &plans).await }).await;
    if let Err(err) = given_back {
        // It expires by itself.
        tracing::warn!(error = %err, "could not give a lease back");
    }
}

enum Never {}

/// Keeps leases alive as long as somebody waits for this.
async fn renewing(ctx: &Ctx, live: &LiveSession, order: &Order, plans: &[PlanId]) -> Never {
    loop {
        tokio::time::sleep(LEASE / 3).await;
        let now = ctx.clock.now();
        let until = later(now, LEASE);
        match ctx.store.renew_plans(&order.session, plans, now, until).await {
            Ok(()) => {
                if let Ok(view) = view_of(&mut *live.state.lock().await, &order.view) {
                    leases::renew(view, plans, until);
                }
            }
            Err(err) => tracing::warn!(error = %err, "could not renew a lease"),
        }
    }
}

type Text = std::result::Result<summary::Summary, Error>;

async fn summaries(ctx: &Ctx, tasks: &[Task]) -> Vec<Text> {
    let mut out = Vec::with_capacity(tasks.len());
    for task in tasks {
        let made = tokio::time::timeout(ctx.limits.summarizer, ctx.summarizer.summarize(task));
        out.push(match made.await {
            Ok(Ok(summary)) => Ok(summary),
            Ok(Err(err)) => Err(Error::SummarizerUnavailable(err.to_string())),
            Err(_) => Err(Error::SummarizerUnavailable("it did not answer in time".to_owned())),
        });
    }
    out
}

pub(super) fn rejected(err: Rejected) -> Error {
    match err {
        Rejected::Text(detail) => Error::SummaryRejected(detail.to_string()),
        Rejected::TooLong { tokens, max } => Error::SummaryTooLong { tokens, max_tokens: max },
    }
}

/// Commits the summaries that pass every check.
async fn commit(
    ctx: &Ctx,
    state: &mut State,
    order: &Order,
    leased: &Leased,
    texts: Vec<Text>,
) -> Result<Collapsed> {
    state.refresh(ctx, &order.session).await?;
    let State { history, views, .. } = state;
    let view =
        views.get_mut(&order.view).ok_or_else(|| Error::ViewNotFound(order.view.to_string()))?;
    let (mut written, mut parts, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    for (((plan, segment), task), text) in
        leased.plans.iter().zip(&leased.segments).zip(&leased.tasks).zip(texts)
    {
        let checked = text.and_then(|it| {
            summary::check(&it.text, &it.finish_reason, &limits(task)).map_err(rejected)?;
            Ok(it.text)
        });
        match checked {
            Ok(text) => {
                let by = Written { text, summarizer: ctx.summarizer.name() };
                written.push(overlay(ctx, order, segment, by));
                parts.push((plan, segment));
            }
            Err(err) => refused.push((segment.covered.clone(), err)),
        }
    }
    let (mut overlays, mut plans) = (Vec::new(), Vec::new());
    let laid = laid(history, view, written);
    for (laid, (plan, segment)) in laid.zip(parts) {
        match laid {
            Ok(overlay) => {
                overlays.push(overlay);
                plans.push(plan.id.clone());
            }
            Err(why) => refused.push((segment.covered.clone(), why)),
        }
    }
    if overlays.is_empty() {
        return Ok(Collapsed { committed: None, refused });
    }
    let commit = CommitOverlays {
        session: order.session.clone(),
        view: order.view.clone(),
        planned_on: PlannedOn::Plans(plans),
        overlays,
        supersedes: Vec::new(),
        author: order.author.clone(),
        at: ctx.clock.now(),
        request: order.request.clone(),
    };
    let committed = commit_overlays(ctx, &order.session, commit).await?;
    Ok(Collapsed { committed: Some(committed), refused })
}

/// An overlay over a segment; sizes are still to be measured.
pub(super) fn overlay(ctx: &Ctx, order: &Order, segment: &Segment, written: Written) -> Overlay {
    Overlay {
        id: OverlayId::new(&ctx.ids.next()),
        view: order.view.clone(),
        kind: OverlayKind::Collapse,
        covered: segment.covered.clone(),
        kept: segment.kept.clone(),
        summary: written.text,
        cleared: Vec::new(),
        tokens_before: 0,
        tokens_after: 0,
        summarizer: written.summarizer,
        cause: if order.is_stage { Cause::Pressure } else { Cause::Manual },
        stage: if order.is_stage { StageKind::Collapse.name().to_owned() } else { String::new() },
        author: order.author.clone(),
        commit_revision: Revision::default(),
        commit_time: ctx.clock.now(),
        rollback: None,
        transcript_id: String::new(),
        covered_overlays: segment.covered_overlays.clone(),
        source_digest: segment.source_digest,
    }
}

/// The overlays with their sizes, those that make the view smaller.
pub(super) fn laid(
    history: &projection::History,
    view: &mut ViewState,
    overlays: Vec<Overlay>,
) -> impl Iterator<Item = Result<Overlay>> + use<> {
    let laid = projection::lay(history, &view.sight, view.in_force(), overlays, &mut view.memo);
    laid.into_iter().map(|it| {
        it.map_err(|(tokens_before, tokens)| Error::SummaryNotSmaller { tokens, tokens_before })
    })
}

/// Says whether a commit lost a race that may be run again.
pub(super) fn is_race(err: &Error) -> bool {
    matches!(err, Error::OverlayConflict(_) | Error::PinConflict(_) | Error::RangeLeased { .. })
}

/// What a plan over a loaded view looks at, owned.
pub(super) struct Facts {
    pub view: ViewName,
    pub policy: Arc<Policy>,
    pub window: Window,
    pub now: Timestamp,
    pub pins: Vec<SeqRange>,
    pub leased: Vec<RowSet>,
    pub refused: Vec<RowSet>,
}

pub(super) async fn facts(
    ctx: &Ctx,
    state: &mut State,
    session: &SessionRef,
    view: &ViewName,
) -> Result<Facts> {
    let window = view_window(ctx, state, session, view).await?;
    let known = view_of(state, view)?;
    let now = ctx.clock.now();
    let pins = RowSet::of_ranges(known.pins.iter().map(|pin| pin.rows).collect());
    Ok(Facts {
        view: view.clone(),
        policy: Arc::clone(&known.policy),
        window,
        now,
        pins: pins.ranges().to_vec(),
        leased: leases::leased_rows(known, now),
        refused: Vec::new(),
    })
}

impl Facts {
    /// Looks at a view with them.
    pub(super) fn look<T>(
        &self,
        state: &mut State,
        look: impl FnOnce(Lens<'_>, &Circumstances<'_>, Vec<Overlay>, &mut Memo) -> T,
    ) -> Result<T> {
        let State { history, views, .. } = state;
        let view =
            views.get_mut(&self.view).ok_or_else(|| Error::ViewNotFound(self.view.to_string()))?;
        let in_force = view.in_force();
        let lens = Lens { history, sight: &view.sight, shown: history.order().len() };
        let facts = Circumstances {
            policy: &self.policy,
            window: self.window,
            now: self.now,
            pins: &self.pins,
            ever: &view.overlays,
            view: &self.view,
            leased: &self.leased,
            refused: &self.refused,
            collapsing: Collapsing::Later { may_wait: false },
        };
        Ok(look(lens, &facts, in_force, &mut view.memo))
    }
}
