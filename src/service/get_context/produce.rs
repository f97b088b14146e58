//! From a loaded state to an answer, or to overlays that must be committed
//! first. No await: the caller holds the state.

use std::{collections::HashMap, sync::Arc};

use super::assemble::{self, Made};
use crate::{
    id::IdSource,
    model::{
        ContextItem, Model, Overlay, OverlayId, Policy, Revision, RowSet, SeqRange, StageKind,
        Timestamp, TokenBudget, ViewName, WireFormat, shown::Entry,
    },
    projection::{
        self, Circumstances, Collapsing, History, Irreducible, Lens, Memo, Plan, Segment, Sight,
        Window,
    },
    render::{self, AssembleOptions, Part, Rendered, RoundStyle},
    service::{
        ContextOutput, Error, Result,
        collapse::{self, leased_rows},
        live::{Rendering, Served, State, ViewState},
        model_choice,
    },
    store::{CommitOverlays, PlannedOn, SessionRef},
    tokens,
};

/// What to produce.
pub(super) struct Job {
    pub session: SessionRef,
    pub view: ViewName,
    pub format: WireFormat,
    pub lane: String,
    pub model: Model,
    pub factor: f64,
    pub is_preview: bool,
    pub overrides: Option<Arc<Policy>>,
    pub expand: Vec<OverlayId>,
    pub explain: bool,
    pub now: Timestamp,
    /// Where the summaries of a collapse come from.
    pub summaries: Summaries,
    /// The background could get none for the session as it is: nobody waits for
    /// it, and it is not asked again.
    pub has_given_up: bool,
    /// Stages that acted in an earlier attempt, and why.
    pub fired: Vec<(StageKind, &'static str)>,
}

/// Where the summaries of a collapse come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Summaries {
    /// The embedded summarizer, at once: for who only looks.
    AtOnce,
    /// The background; the caller can wait for it.
    Awaited,
    /// Nowhere: the view as it is.
    None,
}

pub(super) enum Produced {
    Answer(Arc<ContextOutput>),
    Commit(Box<CommitOverlays>),
    /// A collapse must come first: ask again once it has, or was waited for.
    Wait,
}

/// A second rendering is allowed for so much of a difference in bytes.
const BYTES_SLACK: f64 = 1.02;
/// Renderings until the bytes fit.
const MOST_RENDERINGS: usize = 4;

/// Sight, memo and rendering of a preview under another policy: nothing of
/// them stays.
struct Apart {
    sight: Sight,
    memo: Memo,
    rendering: Rendering,
}

impl Apart {
    fn of(job: &Job, view: &ViewState, history: &History) -> Option<Self> {
        job.overrides.as_ref().map(|policy| Self {
            sight: Sight::of(Arc::clone(policy), view.sight.sizes(), history),
            memo: Memo::default(),
            rendering: HashMap::new(),
        })
    }
}

pub(super) fn produce(state: &mut State, job: &mut Job, ids: &dyn IdSource) -> Result<Produced> {
    let State { session, items, history, views, .. } = state;
    let session = session.as_ref().ok_or(Error::SessionEmpty)?;
    let view = views.get_mut(&job.view).ok_or_else(|| Error::ViewNotFound(job.view.to_string()))?;
    let mut apart = Apart::of(job, view, history);
    let (leased, pinned) = (leased_rows(view, job.now), pinned(view, job));
    let ViewState { view: set, overlays, attempts, sight, memo, rendered, served, newest, .. } =
        view;
    // Under another policy a summary may be shorter.
    let refused = if apart.is_some() { &[] } else { attempts.refused(set.reductions_revision) };
    let recorded = Recorded { overlays, pinned: &pinned, leased: &leased, refused };
    let (sight, memo, rendering) = match &mut apart {
        None => (&*sight, memo, rendered.entry(job.format).or_default()),
        Some(apart) => (&apart.sight, &mut apart.memo, &mut apart.rendering),
    };
    let items = shown_items(items, &job.view);
    let lens = Lens { history, sight, shown: history.shown_to(job.lane()) };
    let mut window = window(job, sight.policy(), &items);
    for _ in 0..MOST_RENDERINGS {
        let plan = run_plan(lens, recorded, memo, job, window, ids);
        if let Some(stuck) = plan.irreducible {
            return Err(irreducible(window, stuck));
        }
        if !plan.added.is_empty() && !job.is_preview {
            note_fired(job, &plan);
            let commit = commit(job, plan, set.reductions_revision);
            return Ok(Produced::Commit(Box::new(commit)));
        }
        if plan.waits {
            return Ok(Produced::Wait);
        }
        let rendered = render(&plan, sight.policy(), job.format, &items, rendering)?;
        let bytes = assemble::bytes(&rendered);
        if bytes > window.bytes_limit {
            window.bytes_ratio = ratio(bytes, plan.composed.bytes()) * BYTES_SLACK;
            continue;
        }
        let made = Made { plan, rendered, window, session, items: &items, lens };
        let pieces = assemble::pieces(&made.rendered, job.format);
        let before = newest.get(&job.format);
        let output = Arc::new(assemble::output(&made, job, &pieces, before));
        if !job.is_preview {
            newest.insert(job.format, pieces);
            let as_served = assemble::served(&made, job, overlays, &output);
            served.insert((job.format, job.lane.clone()), as_served);
            bound(served, job);
        }
        return Ok(Produced::Answer(output));
    }
    // Renderings that never came down to the limit: a byte too many, at least.
    Err(irreducible(window, Irreducible { bytes_over: 1, ..Irreducible::default() }))
}

/// How full the view is, without rendering it.
pub(super) fn budget(state: &mut State, job: &Job, ids: &dyn IdSource) -> Result<TokenBudget> {
    let State { session, items, history, views, .. } = state;
    let session = session.as_ref().ok_or(Error::SessionEmpty)?;
    let view = views.get_mut(&job.view).ok_or_else(|| Error::ViewNotFound(job.view.to_string()))?;
    let items = shown_items(items, &job.view);
    let window = window(job, &view.policy, &items);
    let lens = Lens { history, sight: &view.sight, shown: history.shown_to(job.lane()) };
    let (leased, pinned) = (leased_rows(view, job.now), pinned(view, job));
    let refused = view.attempts.refused(view.view.reductions_revision);
    let recorded = Recorded { overlays: &view.overlays, pinned: &pinned, leased: &leased, refused };
    let plan = run_plan(lens, recorded, &mut view.memo, job, window, ids);
    Ok(assemble::budget(&plan.composed, window, session, &items, job, &view.policy))
}

impl Job {
    pub(super) fn lane(&self) -> Option<&str> {
        (!self.lane.is_empty()).then_some(self.lane.as_str())
    }
}

/// Lanes that a format keeps an answer for.
const MOST_SERVED: usize = 64;

/// Bounds what is kept: lanes are named by clients.
fn bound(served: &mut HashMap<(WireFormat, String), Served>, job: &Job) {
    if served.len() > MOST_SERVED {
        let oldest = served
            .iter()
            .filter(|((format, lane), _)| (*format, lane) != (job.format, &job.lane))
            .min_by_key(|(key, it)| (it.revision, (*key).clone()))
            .map(|(key, _)| key.clone());
        if let Some(oldest) = oldest {
            served.remove(&oldest);
        }
    }
}

/// The items that a view shows, in the order of their names.
pub(super) fn shown_items(items: &[ContextItem], view: &ViewName) -> Vec<ContextItem> {
    let mut shown: Vec<ContextItem> = items
        .iter()
        .filter(|it| it.view.as_ref().is_none_or(|name| name == view))
        .cloned()
        .collect();
    shown.sort_by(|a, b| a.name.cmp(&b.name));
    shown
}

pub(super) fn window(job: &Job, policy: &Policy, items: &[ContextItem]) -> Window {
    use crate::model::Placement;
    let around: i64 = items.iter().map(|item| item.tokens).sum();
    let tells = |item: &ContextItem| matches!(item.placement, Placement::System | Placement::Tools);
    Window {
        window: job.model.context_window,
        reserve: model_choice::output_reserve(&job.model, policy),
        fixed: tokens::calibrate(around, job.factor) + job.model.caller_fixed_tokens,
        factor: job.factor,
        is_fixed_unstated: job.model.caller_fixed_tokens == 0 && !items.iter().any(tells),
        bytes_limit: job.model.request_bytes_limit,
        bytes_ratio: 1.0,
    }
}

/// The rows that no automatic stage takes: the pinned ones, and what a preview
/// opens, for else pressure would close it again at once.
fn pinned(view: &ViewState, job: &Job) -> Vec<SeqRange> {
    let opened = view.overlays.iter().filter(|overlay| job.expand.contains(&overlay.id));
    let opened = opened.flat_map(|overlay| overlay.covered.ranges());
    let rows = view.pins.iter().map(|pin| &pin.rows).chain(opened);
    RowSet::of_ranges(rows.copied().collect()).ranges().to_vec()
}

/// What of a view is on record beside rows.
#[derive(Clone, Copy)]
struct Recorded<'a> {
    overlays: &'a [Overlay],
    pinned: &'a [SeqRange],
    leased: &'a [RowSet],
    refused: &'a [RowSet],
}

fn run_plan(
    lens: Lens<'_>,
    recorded: Recorded<'_>,
    memo: &mut Memo,
    job: &Job,
    window: Window,
    ids: &dyn IdSource,
) -> Plan {
    let ever = recorded.overlays;
    let in_force = ever.iter().filter(|overlay| overlay.rollback.is_none());
    let in_force = in_force.filter(|overlay| !job.expand.contains(&overlay.id));
    let in_force: Vec<Overlay> = in_force.cloned().collect();
    let template = &lens.sight.policy().collapse.template;
    let at_once =
        |segment: &Segment| collapse::extractive(lens.history, &in_force, template, segment);
    // Who only looks waits for nobody, and neither does who asks for the first
    // context of a long history that just came.
    let is_first = !ever.iter().any(|it| it.stage == StageKind::Collapse.name());
    let collapsing = match job.summaries {
        Summaries::AtOnce => Collapsing::Now(&at_once),
        Summaries::Awaited if is_first => Collapsing::FirstNow(&at_once),
        Summaries::Awaited => Collapsing::Later { may_wait: !job.has_given_up },
        Summaries::None => Collapsing::Later { may_wait: false },
    };
    let facts = Circumstances {
        policy: lens.sight.policy(),
        window,
        now: job.now,
        pins: recorded.pinned,
        ever,
        view: &job.view,
        leased: recorded.leased,
        refused: recorded.refused,
        collapsing,
    };
    // What is only looked at gets no id that anybody could ask for, and the
    // same preview is the same bytes.
    let mut previewed = 0;
    let mut new_id = || {
        if job.is_preview {
            previewed += 1;
            return OverlayId::new(&format!("preview-{previewed}"));
        }
        OverlayId::new(&ids.next())
    };
    projection::plan(lens, &facts, in_force.clone(), memo, &mut new_id)
}

fn note_fired(job: &mut Job, plan: &Plan) {
    let acted = plan
        .triggers
        .iter()
        .filter(|(stage, _)| plan.added.iter().any(|overlay| overlay.stage == stage.name()));
    job.fired.extend(acted.copied());
}

fn commit(job: &Job, plan: Plan, planned_at: Revision) -> CommitOverlays {
    CommitOverlays {
        session: job.session.clone(),
        view: job.view.clone(),
        planned_on: PlannedOn::View(planned_at),
        overlays: plan.added,
        supersedes: plan.superseded,
        author: String::new(),
        at: job.now,
        request: None,
    }
}

/// The request. [`Error::SessionEmpty`] where nothing is shown.
pub(super) fn render(
    plan: &Plan,
    policy: &Policy,
    format: WireFormat,
    items: &[ContextItem],
    rendering: &mut Rendering,
) -> Result<Rendered> {
    let style = RoundStyle { format, label_authors: policy.render.label_authors };
    let entries = &plan.composed.entries;
    if entries.is_empty() {
        return Err(Error::SessionEmpty);
    }
    if rendering.len() > 2 * entries.len() + 64 {
        let shown: std::collections::HashSet<_> =
            plan.composed.rounds().map(|round| round.id).collect();
        rendering.retain(|id, _| shown.contains(id));
    }
    for entry in entries {
        let Entry::Round(shown) = entry else { continue };
        let is_there = rendering.get(&shown.id).is_some_and(|(known, _)| Arc::ptr_eq(known, shown));
        if !is_there {
            let rendered = Arc::new(render::round(shown, &style));
            rendering.insert(shown.id, (Arc::clone(shown), rendered));
        }
    }
    let parts: Vec<Part<'_>> = entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Round(shown) => {
                rendering.get(&shown.id).map(|(_, rendered)| Part::Round(rendered))
            }
            Entry::Notice(notice) => Some(Part::Notice(notice)),
        })
        .collect();
    let options = AssembleOptions { format, cache_marks: &policy.render.cache_marks, items };
    let rendered = render::assemble(&parts, &options);
    if rendered.messages.is_empty() && rendered.typed.is_empty() {
        // Rounds without content: a request without messages is none.
        return Err(Error::SessionEmpty);
    }
    Ok(rendered)
}

#[expect(clippy::cast_precision_loss, reason = "requests are far below 2^52 bytes")]
fn ratio(bytes: i64, estimated: i64) -> f64 {
    bytes as f64 / estimated.max(1) as f64
}

fn irreducible(window: Window, stuck: Irreducible) -> Error {
    Error::ContextIrreducible {
        window: window.window,
        output_reserve: window.reserve,
        fixed: window.fixed,
        messages: stuck.messages,
        bytes_over: stuck.bytes_over,
        over: stuck.over,
        largest_seq: stuck.largest_seq,
        largest_tokens: stuck.largest_tokens,
    }
}
