//! Collapse in the background: one worker per view, started where a context
//! wants it, and awaited where one cannot do without.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::watch;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::work::{self, Order};
use crate::{
    model::{RowSet, ViewName},
    projection::{self, Lens, Segment},
    service::{
        Ctx, Error, Result,
        live::{self, State},
    },
    store::SessionRef,
};

/// A worker goes on while more is wanted, at most so many times.
const MOST_ROUNDS: usize = 16;

/// The workers that run.
#[derive(Default)]
pub struct Background {
    running: Mutex<HashMap<(SessionRef, ViewName), watch::Receiver<bool>>>,
    tasks: TaskTracker,
    stopping: CancellationToken,
}

impl Background {
    /// Says whether a worker runs for a view.
    pub(in crate::service) fn is_running(&self, session: &SessionRef, view: &ViewName) -> bool {
        let running = self.lock();
        !running.is_empty() && running.contains_key(&(session.clone(), view.clone()))
    }

    /// Waits until no worker runs.
    pub async fn settled(&self) {
        loop {
            let next = self.lock().values().next().cloned();
            match next {
                Some(mut done) => {
                    let _ = done.wait_for(|done| *done).await;
                    tokio::task::yield_now().await;
                }
                None => return,
            }
        }
    }

    /// Gives up what runs, and waits until nothing does. What it leased ends
    /// when the store is opened again.
    pub async fn stop(&self) {
        self.stopping.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn lock(
        &self,
    ) -> std::sync::MutexGuard<'_, HashMap<(SessionRef, ViewName), watch::Receiver<bool>>> {
        // Nothing under the lock can be left half done by a panic.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts a worker for a view, unless one runs; what it gives is true once it
/// has ended.
pub(in crate::service) fn start(
    ctx: &Ctx,
    session: &SessionRef,
    view: &ViewName,
) -> watch::Receiver<bool> {
    let key = (session.clone(), view.clone());
    let mut running = ctx.background.lock();
    if let Some(done) = running.get(&key) {
        return done.clone();
    }
    let (tell, done) = watch::channel(false);
    running.insert(key.clone(), done.clone());
    drop(running);
    let own = ctx.clone();
    ctx.background.tasks.spawn(async move {
        let end = End { ctx: own, key, tell };
        let mut refused = Vec::new();
        let work = run(&end.ctx, &end.key.0, &end.key.1, &mut refused);
        let outcome = end.ctx.background.stopping.run_until_cancelled(work).await;
        if let Some(Err(err)) = &outcome {
            tracing::warn!(view = %end.key.1, error = %err, "a background collapse failed");
        }
        if let Some(outcome) = outcome {
            end.remember(refused, outcome.is_err()).await;
        }
    });
    done
}

/// Tells the end of a worker, however it came.
struct End {
    ctx: Ctx,
    key: (SessionRef, ViewName),
    tell: watch::Sender<bool>,
}

impl End {
    /// Leaves in the view what was tried in vain. The worker ends under the
    /// state's lock: no context that says it is under way outlives it.
    async fn remember(self, refused: Vec<RowSet>, has_failed: bool) {
        let (session, name) = self.key.clone();
        let Some(live) = self.ctx.live.find(&session) else { return };
        let mut state = live.state.lock().await;
        if let Err(err) = state.refresh(&self.ctx, &session).await {
            tracing::debug!(error = %err, "what a collapse came to is not remembered");
        }
        let revision = state.session.as_ref().map(|it| it.revision);
        if let Some(view) = state.views.get_mut(&name) {
            view.attempts.refuse(view.view.reductions_revision, refused);
            if let Some(revision) = revision.filter(|_| has_failed) {
                view.attempts.fail(revision);
            }
            view.served.retain(|_, served| !served.output.reduction_pending);
        }
        drop(self);
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.ctx.background.lock().remove(&self.key);
        self.tell.send_replace(true);
    }
}

/// Starts a worker where none runs, and waits for it, at most so long.
pub(in crate::service) async fn wait_for(
    ctx: &Ctx,
    session: &SessionRef,
    view: &ViewName,
    most: Duration,
) {
    let mut done = start(ctx, session, view);
    let _ = tokio::time::timeout(most, done.wait_for(|done| *done)).await;
}

/// Collapses what is wanted until nothing is.
async fn run(
    ctx: &Ctx,
    session: &SessionRef,
    view: &ViewName,
    refused: &mut Vec<RowSet>,
) -> Result<()> {
    let order = Order {
        session: session.clone(),
        view: view.clone(),
        instructions: String::new(),
        author: String::new(),
        is_stage: true,
        request: None,
    };
    for _ in 0..MOST_ROUNDS {
        let leased = {
            let mut state = live::loaded(ctx, session).await?;
            add_known(&state, view, refused);
            let segments = wanted(ctx, &mut state, &order, refused).await?;
            if segments.is_empty() {
                return Ok(());
            }
            work::lease(ctx, &mut state, &order, segments).await?
        };
        let live = ctx.live.get(session);
        match work::carry_out(ctx, &live, &order, leased).await {
            Ok(done) => {
                if done.committed.is_none()
                    && let Some((_, why)) = done.refused.iter().find(|(_, why)| is_final(why))
                {
                    return Err(Error::SummarizerUnavailable(why.to_string()));
                }
                refused.extend(done.refused.into_iter().map(|(rows, _)| rows));
            }
            Err(err) if work::is_race(&err) => {}
            Err(err) => return Err(err),
        }
    }
    Ok(())
}

/// Adds what earlier workers tried in vain.
fn add_known(state: &State, view: &ViewName, refused: &mut Vec<RowSet>) {
    let Some(view) = state.views.get(view) else { return };
    let known = view.attempts.refused(view.view.reductions_revision);
    let more: Vec<RowSet> = known.iter().filter(|it| !refused.contains(it)).cloned().collect();
    refused.splice(0..0, more);
}

/// What trying other rows does not help.
fn is_final(why: &Error) -> bool {
    !matches!(why, Error::SummaryNotSmaller { .. })
}

/// The segments that the policy wants collapsed now.
async fn wanted(
    ctx: &Ctx,
    state: &mut State,
    order: &Order,
    refused: &[RowSet],
) -> Result<Vec<Segment>> {
    let facts = work::facts(ctx, state, &order.session, &order.view).await?;
    let facts = work::Facts { refused: refused.to_vec(), ..facts };
    facts.look(state, |lens: Lens<'_>, facts, in_force, memo| {
        projection::wanted(lens, facts, in_force, memo).map_or_else(Vec::new, |it| it.segments)
    })
}
