//! The projected context of a view: load or reuse, plan, commit, project,
//! render, answer; reusing everything that did not change.

mod assemble;
mod at_revision;
mod produce;
mod stable;

use std::{sync::Arc, time::Duration};

use tokio::sync::OwnedMutexGuard;

use self::produce::{Job, Produced, Summaries};
use super::{
    ContextInput, ContextOutput, Ctx, Error, Result, changes, collapse, factors,
    fields::Fields,
    live::{LiveSession, State},
    model_choice::{self, ModelInput},
    off_thread,
};
use crate::{
    model::{Model, OverlayId, Policy, Revision, Session, TokenBudget, View, ViewName, WireFormat},
    projection::Window,
    store::{self, CommitOverlays, Committed, SessionRef, SetView, SetViewParts, Store},
};

/// Overlays that one preview shows opened.
const MOST_EXPANDED: usize = 1024;
/// A plan that loses a race is made again so many times.
const MOST_ATTEMPTS: usize = 8;

/// The projected context of a view. May commit overlays; asking again is safe.
///
/// # Errors
///
/// * [`Error::InvalidField`], [`Error::InvalidPolicy`], [`Error::UnknownModel`].
/// * [`Error::SessionNotFound`], [`Error::ViewNotFound`],
///   [`Error::RevisionNotFound`], [`Error::OverlayNotFound`] of one to expand.
/// * [`Error::SessionEmpty`] where there is no message to show.
/// * [`Error::ContextIrreducible`] where what must be shown is too large.
pub async fn get_context(ctx: &Ctx, input: ContextInput) -> Result<Arc<ContextOutput>> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", &input.session_id);
    let view = fields.view("view", &input.view);
    check(&mut fields, &input);
    fields.finish()?;
    let Some(format) = input.format else {
        return Err(Error::field("format", "expected a format"));
    };
    if let Some(at) = input.at_revision {
        return at_revision::context(ctx, &session, &view, format, Revision(at), &input).await;
    }
    let asked = Asked { session, view, format, input: &input };
    if let Some(output) = attempt(ctx, &asked, true).await? {
        return Ok(output);
    }
    // The view is from its block ratio on: a collapse comes first, as long as
    // that may take; then whatever stage can help.
    collapse::wait_for(ctx, &asked.session, &asked.view, most_wait(ctx, &asked).await).await;
    attempt(ctx, &asked, false).await?.ok_or_else(|| Error::internal(NoRest))
}

/// What a caller asked for, checked.
struct Asked<'a> {
    session: SessionRef,
    view: ViewName,
    format: WireFormat,
    input: &'a ContextInput,
}

/// An answer; `None` where a collapse has to be waited for.
async fn attempt(
    ctx: &Ctx,
    asked: &Asked<'_>,
    may_wait: bool,
) -> Result<Option<Arc<ContextOutput>>> {
    let Asked { session, view, format, input } = asked;
    let live = ctx.live.get(session);
    let mut state = Arc::clone(&live.state).lock_owned().await;
    let pending = freshen(ctx, &live, &mut state, session).await?;
    if names_first_model(&state, view, input)? {
        // A view keeps the first model it is asked with for good: only one
        // under which it can be shown.
        let mut trial = job(ctx, &state, session, view, *format, input).await?;
        trial.is_preview = true;
        (state, _) = answer(ctx, state, session, trial, pending).await?;
        adopt_model(ctx, &live, &mut state, session, view, input).await?;
    }
    let mut job = job(ctx, &state, session, view, *format, input).await?;
    if !job.is_preview {
        job.summaries = if may_wait { Summaries::Awaited } else { Summaries::None };
    }
    if let Some(served) = reusable(&state, &job) {
        return Ok(Some(told(ctx, asked, served)));
    }
    let (state, output) = answer(ctx, state, session, job, pending).await?;
    let output = output.map(|output| told(ctx, asked, output));
    let bytes = state.bytes();
    drop(state);
    ctx.live.weigh(session, bytes);
    Ok(output)
}

/// Starts the collapse that a context wants, and says so where one is under way
/// already. Under the state's lock, so that none ends in between.
fn told(ctx: &Ctx, asked: &Asked<'_>, output: Arc<ContextOutput>) -> Arc<ContextOutput> {
    if output.preview {
        return output;
    }
    if output.reduction_pending {
        collapse::start(ctx, &asked.session, &asked.view);
        return output;
    }
    if ctx.background.is_running(&asked.session, &asked.view) {
        return Arc::new(ContextOutput { reduction_pending: true, ..(*output).clone() });
    }
    output
}

/// How long a caller may wait for a collapse: the policy's time, and less than
/// the caller's own.
async fn most_wait(ctx: &Ctx, asked: &Asked<'_>) -> Duration {
    let live = ctx.live.get(&asked.session);
    let state = live.state.lock().await;
    let seconds =
        state.views.get(&asked.view).map_or(0, |view| view.policy.collapse.block_wait_seconds);
    let most = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    // A quarter stays for what comes after it.
    asked.input.patience.map_or(most, |patience| most.min(patience * 3 / 4))
}

fn check(fields: &mut Fields, input: &ContextInput) {
    input.model.check(fields, "model");
    at_revision::check(fields, input);
    fields.name("lane", &input.lane);
    if input.format.is_none() {
        fields.wrong("format", "expected a format, found none");
    }
    if !input.preview && !input.policy_overrides_json.is_empty() {
        fields.wrong("policy_overrides_json", "expected with `preview` only");
    }
    if !input.preview && !input.expand_overlay_ids.is_empty() {
        fields.wrong("expand_overlay_ids", "expected with `preview` only");
    }
    let opened = input.expand_overlay_ids.len();
    if opened > MOST_EXPANDED {
        let found = format!("expected at most {MOST_EXPANDED}, found {opened}");
        fields.wrong("expand_overlay_ids", found);
    }
}

/// Brings the state up to the newest revision that it was told of. Returns the
/// bytes of rows that no context was made of yet.
async fn freshen(
    ctx: &Ctx,
    live: &LiveSession,
    state: &mut State,
    session: &SessionRef,
) -> Result<usize> {
    let is_new = state.session.as_ref().is_some_and(|known| known.revision >= live.newest());
    if !is_new {
        let came = state.refresh(ctx, session).await;
        if matches!(came, Err(Error::SessionNotFound(_))) {
            ctx.live.forget(session);
        }
        came?;
    }
    state.catch_up();
    Ok(std::mem::take(&mut state.fresh_bytes))
}

#[derive(Debug, thiserror::Error)]
#[error("the plans for a context never came to rest")]
struct NoRest;

/// Says whether the view has no model and the caller names one to keep.
fn names_first_model(state: &State, view: &ViewName, input: &ContextInput) -> Result<bool> {
    let known = state.views.get(view).ok_or_else(|| Error::ViewNotFound(view.to_string()))?;
    let names_one = !input.model.name.is_empty() || input.model.context_window > 0;
    Ok(known.view.model.is_none() && !input.preview && names_one)
}

/// A view without a model takes the first one that a caller names.
async fn adopt_model(
    ctx: &Ctx,
    live: &LiveSession,
    state: &mut State,
    session: &SessionRef,
    view: &ViewName,
    input: &ContextInput,
) -> Result<()> {
    let Some(known) = state.views.get(view) else {
        return Err(Error::ViewNotFound(view.to_string()));
    };
    let model = input.model.resolve(ctx, "model")?;
    let set = SetView {
        session: session.clone(),
        view: view.clone(),
        parts: SetViewParts {
            preset: known.view.preset.clone(),
            overrides_json: known.view.overrides_json.clone(),
            policy_json: known.view.policy_json.clone(),
            model,
        },
        only_without_model: true,
        author: String::new(),
        at: ctx.clock.now(),
    };
    let work = |store: Arc<dyn Store>| async move { store.set_view(set).await };
    match changes::write(ctx, session, work, |(_, revision)| *revision).await {
        Ok(_) => {
            freshen(ctx, live, state, session).await?;
            Ok(())
        }
        // What cannot be written now is not adopted now; the answer is a
        // preview then, for the model differs from the view's.
        Err(store::Error::Full(_) | store::Error::Busy(_) | store::Error::Overloaded) => Ok(()),
        Err(err) => Err(err.into()),
    }
}

async fn job(
    ctx: &Ctx,
    state: &State,
    session: &SessionRef,
    view: &ViewName,
    format: WireFormat,
    input: &ContextInput,
) -> Result<Job> {
    let known = state.views.get(view).ok_or_else(|| Error::ViewNotFound(view.to_string()))?;
    let base = known.view.model.clone().unwrap_or_else(|| default_model(ctx));
    let model = input.model.over(&base, ctx, "model")?;
    let same_but_fixed = Model { caller_fixed_tokens: base.caller_fixed_tokens, ..model.clone() };
    let overrides = overridden(ctx, &known.view, &input.policy_overrides_json)?;
    let expand: Vec<OverlayId> =
        input.expand_overlay_ids.iter().map(|id| OverlayId::new(id)).collect();
    if let Some(unknown) = expand.iter().find(|id| known.overlays.iter().all(|it| it.id != **id)) {
        return Err(Error::OverlayNotFound(unknown.to_string()));
    }
    Ok(Job {
        session: session.clone(),
        view: view.clone(),
        format,
        lane: input.lane.clone(),
        factor: factors::factor(ctx, session.namespace.as_str(), &model.name).await?,
        is_preview: input.preview || same_but_fixed != base,
        model,
        overrides,
        expand,
        explain: input.explain,
        now: ctx.clock.now(),
        summaries: Summaries::AtOnce,
        has_given_up: state
            .session
            .as_ref()
            .is_some_and(|session| known.attempts.has_failed(session.revision)),
        fired: Vec::new(),
    })
}

/// What stands in for a model where nobody named one.
fn default_model(ctx: &Ctx) -> Model {
    Model {
        name: String::new(),
        context_window: model_choice::DEFAULT_WINDOW,
        output_reserve: None,
        request_bytes_limit: ctx.limits.rendered_bytes,
        caller_fixed_tokens: 0,
    }
}

/// The view's policy under a merge patch; `None` without one.
fn overridden(ctx: &Ctx, view: &View, patch: &[u8]) -> Result<Option<Arc<Policy>>> {
    if patch.is_empty() {
        return Ok(None);
    }
    let resolved = ctx.presets.patch(&view.policy_json, patch)?;
    Ok(Some(Arc::new(resolved.policy)))
}

/// The answer that was given last, where it is still the answer.
fn reusable(state: &State, job: &Job) -> Option<Arc<ContextOutput>> {
    if job.is_preview || job.explain || !job.expand.is_empty() {
        return None;
    }
    let session = state.session.as_ref()?;
    let served = state.views.get(&job.view)?.served.get(&(job.format, job.lane.clone()))?;
    let is_same = served.revision == session.revision
        && served.factor.to_bits() == job.factor.to_bits()
        && served.caller_fixed_tokens == job.model.caller_fixed_tokens
        && served.idle_at.is_none_or(|at| job.now.as_micros() < at);
    is_same.then(|| Arc::clone(&served.output))
}

/// Plans, commits what was planned, and renders; again where something came
/// between.
async fn answer(
    ctx: &Ctx,
    mut state: OwnedMutexGuard<State>,
    session: &SessionRef,
    mut job: Job,
    pending_bytes: usize,
) -> Result<(OwnedMutexGuard<State>, Option<Arc<ContextOutput>>)> {
    for attempt in 0..MOST_ATTEMPTS {
        if attempt + 1 == MOST_ATTEMPTS {
            job.is_preview = true;
        }
        let ids = Arc::clone(&ctx.ids);
        let produced;
        (state, job, produced) = off_thread(pending_bytes, move || {
            let produced = produce::produce(&mut state, &mut job, &*ids);
            (state, job, produced)
        })
        .await?;
        let commit = match produced? {
            Produced::Answer(output) => {
                note_served(&mut state, &job, &output);
                return Ok((state, Some(output)));
            }
            Produced::Wait => return Ok((state, None)),
            Produced::Commit(commit) => *commit,
        };
        match commit_overlays(ctx, session, commit).await {
            Ok(_) | Err(store::Error::PlanOutdated { .. } | store::Error::Overlaps(_)) => {
                // Whatever it was, the store knows better now.
                state.refresh(ctx, session).await?;
            }
            Err(store::Error::Full(_) | store::Error::Busy(_) | store::Error::Overloaded) => {
                job.is_preview = true;
            }
            Err(err) => return Err(err.into()),
        }
    }
    Err(Error::internal(NoRest))
}

/// Commits overlays, and tells the revision.
pub(super) async fn commit_overlays(
    ctx: &Ctx,
    session: &SessionRef,
    commit: CommitOverlays,
) -> changes::Written<Committed> {
    let work = |store: Arc<dyn Store>| async move { store.commit_overlays(commit).await };
    changes::write(ctx, session, work, |committed: &Committed| committed.revision).await
}

fn note_served(state: &mut State, job: &Job, output: &Arc<ContextOutput>) {
    if let Some(view) = state.views.get_mut(&job.view) {
        view.budget = Some(output.budget.clone());
        if !job.is_preview {
            view.last_served = Some((job.lane.clone(), output.fingerprint.clone()));
        }
    }
}

/// How full a view is: what `get_context` would tell, without committing.
pub(super) async fn view_budget(
    ctx: &Ctx,
    session: &Session,
    view: &View,
) -> Result<Option<TokenBudget>> {
    let id = SessionRef { namespace: session.namespace.clone(), id: session.id.clone() };
    let live = ctx.live.get(&id);
    let mut state = Arc::clone(&live.state).lock_owned().await;
    let pending = freshen(ctx, &live, &mut state, &id).await?;
    let input = ContextInput { preview: true, model: ModelInput::default(), ..Default::default() };
    let mut job = job(ctx, &state, &id, &view.name, WireFormat::Typed, &input).await?;
    job.summaries = Summaries::None;
    let ids = Arc::clone(&ctx.ids);
    let budget = off_thread(pending, move || {
        let budget = produce::budget(&mut state, &job, &*ids);
        (state.bytes(), budget)
    })
    .await?;
    ctx.live.weigh(&id, budget.0);
    Ok(Some(budget.1?))
}

/// The window of a view under its own model, and what stands in it besides
/// messages.
pub(super) async fn view_window(
    ctx: &Ctx,
    state: &State,
    session: &SessionRef,
    view: &ViewName,
) -> Result<Window> {
    let known = state.views.get(view).ok_or_else(|| Error::ViewNotFound(view.to_string()))?;
    let input = ContextInput { preview: true, ..Default::default() };
    let job = job(ctx, state, session, view, WireFormat::Typed, &input).await?;
    Ok(produce::window(&job, &known.policy, &produce::shown_items(&state.items, view)))
}
