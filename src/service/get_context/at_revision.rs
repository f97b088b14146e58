//! What a view showed at an earlier revision: the rows, overlays, items, policy
//! and model of then, composed and rendered anew.
//!
//! Nothing is planned and nothing is committed, so what was shown in full then
//! is shown in full now, whatever the window. The bytes are those that a
//! committed context had (I8): first sight, composing and rendering are
//! functions of exactly what is put together here.

use std::{collections::HashMap, sync::Arc};

use super::{
    assemble::{self, Made},
    default_model,
    produce::{self, Job, Summaries},
};
use crate::{
    model::{
        ContextItem, Model, OverlayId, Policy, Revision, Row, Session, View, ViewName, WireFormat,
    },
    projection::{self, History, Lens, Memo, Sight, Sizes},
    service::{
        ContextInput, ContextOutput, Ctx, Error, ModelInput, Result, factors,
        fields::Fields,
        live::{self, Pieces},
        off_thread,
    },
    store::{ItemAt, SessionRef, StateAt},
};

/// About what a row costs to be looked at again, in bytes of work.
const ROW_WORK_BYTES: usize = 512;

/// Everything that was there then.
struct Past {
    session: Session,
    rows: Vec<Arc<Row>>,
    items: Vec<ContextItem>,
    policy: Arc<Policy>,
    sizes: Sizes,
    state: StateAt,
    /// What the view served last, for telling what is the same.
    newest: Option<Pieces>,
}

/// Notes what makes no sense beside `at_revision`: what counted then counts.
pub(super) fn check(fields: &mut Fields, input: &ContextInput) {
    if input.at_revision.is_none() {
        return;
    }
    if input.preview && !input.policy_overrides_json.is_empty() {
        fields.wrong("policy_overrides_json", "expected none beside `at_revision`");
    }
    let named = ModelInput { caller_fixed_tokens: 0, ..input.model.clone() };
    if !named.is_empty() {
        fields.wrong("model", "expected `caller_fixed_tokens` alone beside `at_revision`");
    }
}

/// The context of the view at revision `at`.
///
/// # Errors
///
/// * [`Error::SessionNotFound`], [`Error::ViewNotFound`] where the view was not
///   then, [`Error::RevisionNotFound`], [`Error::OverlayNotFound`].
/// * [`Error::SessionEmpty`] where there was no message to show.
pub(super) async fn context(
    ctx: &Ctx,
    session: &SessionRef,
    view: &ViewName,
    format: WireFormat,
    at: Revision,
    input: &ContextInput,
) -> Result<Arc<ContextOutput>> {
    let past = past(ctx, session, view, format, at).await?;
    let expand = expanded(ctx, session, &past, input).await?;
    let job = job(ctx, session, &past.state.view, format, expand, input).await?;
    let work = past.rows.len().saturating_mul(ROW_WORK_BYTES);
    let output = off_thread(work, move || show(&past, &job)).await??;
    Ok(Arc::new(output))
}

async fn past(
    ctx: &Ctx,
    session: &SessionRef,
    view: &ViewName,
    format: WireFormat,
    at: Revision,
) -> Result<Past> {
    let mut then = ctx.store.state_at(session, view, at).await?;
    live::as_of(at, &mut then.overlays);
    let items = ctx.store.list_items(session, ItemAt::Revision(at)).await?;
    let policy = ctx.presets.from_resolved(&then.view.policy_json).map_err(Error::internal)?;
    let mut state = live::loaded(ctx, session).await?;
    if state.history.newest().next() < then.next_seq {
        state.refresh(ctx, session).await?;
    }
    let rows: Vec<Arc<Row>> =
        state.history.rows().iter().take_while(|row| row.seq < then.next_seq).cloned().collect();
    let known = state.session.as_ref().ok_or(Error::SessionEmpty)?;
    let tokens = rows.iter().map(|row| row.tokens.total).sum();
    Ok(Past {
        session: Session { revision: at, next_seq: then.next_seq, tokens, ..known.clone() },
        rows,
        items,
        sizes: live::sizes(&then.view, &policy),
        policy: Arc::new(policy),
        newest: state.views.get(view).and_then(|it| it.newest.get(&format)).cloned(),
        state: then,
    })
}

/// The overlays to show opened. One of this view that was not in force then is
/// open anyway.
async fn expanded(
    ctx: &Ctx,
    session: &SessionRef,
    past: &Past,
    input: &ContextInput,
) -> Result<Vec<OverlayId>> {
    let mut ids = Vec::with_capacity(input.expand_overlay_ids.len());
    for id in input.expand_overlay_ids.iter().map(|id| OverlayId::new(id)) {
        if past.state.overlays.iter().all(|it| it.id != id)
            && ctx.store.get_overlay(session, &id).await?.view != past.state.view.name
        {
            return Err(Error::OverlayNotFound(id.to_string()));
        }
        ids.push(id);
    }
    Ok(ids)
}

/// A preview: its usage must not calibrate what is shown now.
async fn job(
    ctx: &Ctx,
    session: &SessionRef,
    view: &View,
    format: WireFormat,
    expand: Vec<OverlayId>,
    input: &ContextInput,
) -> Result<Job> {
    let base: Model = view.model.clone().unwrap_or_else(|| default_model(ctx));
    let model = input.model.over(&base, ctx, "model")?;
    Ok(Job {
        session: session.clone(),
        view: view.name.clone(),
        format,
        lane: input.lane.clone(),
        factor: factors::factor(ctx, session.namespace.as_str(), &model.name).await?,
        model,
        is_preview: true,
        overrides: None,
        expand,
        explain: input.explain,
        now: ctx.clock.now(),
        summaries: Summaries::None,
        has_given_up: false,
        fired: Vec::new(),
    })
}

fn show(past: &Past, job: &Job) -> Result<ContextOutput> {
    let mut history = History::new();
    let mut sight = Sight::new(Arc::clone(&past.policy), past.sizes);
    for row in &past.rows {
        let placement = history.push(Arc::clone(row));
        sight.see(&history, &placement);
    }
    let lens = Lens { history: &history, sight: &sight, shown: history.shown_to(job.lane()) };
    let is_closed = |id: &OverlayId| !job.expand.contains(id);
    let in_force = past.state.overlays.iter().filter(|it| is_closed(&it.id)).cloned().collect();
    let plan = projection::as_it_stands(lens, in_force, &mut Memo::default());
    let items = produce::shown_items(&past.items, &job.view);
    let rendered = produce::render(&plan, &past.policy, job.format, &items, &mut HashMap::new())?;
    let window = produce::window(job, &past.policy, &items);
    let made = Made { plan, rendered, window, session: &past.session, items: &items, lens };
    let pieces = assemble::pieces(&made.rendered, job.format);
    Ok(assemble::output(&made, job, &pieces, past.newest.as_ref()))
}
