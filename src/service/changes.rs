//! Writes, and telling what is in memory of them.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::runtime::Handle;

use super::{Ctx, factors, fingerprint::Fingerprint, live::State};
use crate::{
    model::{Message, Revision, Role, Timestamp, TokenBudget, ViewName},
    projection::Window,
    store::{self, Appended, NewRow, SessionRef, Store},
    tokens,
};

/// What a write came to, in the store's words.
pub(super) type Written<T> = Result<T, store::Error>;

/// Runs a write to its end, whatever becomes of the caller, and tells the
/// revision that it made: else a state in memory would not know that it is old.
pub(super) async fn write<T, F>(
    ctx: &Ctx,
    session: &SessionRef,
    work: impl FnOnce(Arc<dyn Store>) -> F,
    revision: impl Fn(&T) -> Revision + Send + 'static,
) -> Written<T>
where
    T: Send + 'static,
    F: Future<Output = Written<T>> + Send + 'static,
{
    let (live, session) = (Arc::clone(&ctx.live), session.clone());
    let work = work(Arc::clone(&ctx.store));
    let told = async move {
        let done = work.await?;
        live.note(&session, revision(&done));
        Ok(done)
    };
    to_the_end(told).await
}

/// Runs work to its end, whatever becomes of the caller.
pub(super) async fn to_the_end<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> T {
    Unbroken(Some(Box::pin(work))).await
}

/// Work that goes on by itself where who waits for it goes away. Where nobody
/// does, as mostly, it needs no task of its own.
struct Unbroken<T: Send + 'static>(Option<Pin<Box<dyn Future<Output = T> + Send>>>);

impl<T: Send + 'static> Future for Unbroken<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        // Out of its place meanwhile: work that panics is not gone on with.
        let Some(mut work) = self.0.take() else { return Poll::Pending };
        let polled = work.as_mut().poll(cx);
        if polled.is_pending() {
            self.0 = Some(work);
        }
        polled
    }
}

impl<T: Send + 'static> Drop for Unbroken<T> {
    fn drop(&mut self) {
        if let (Some(work), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(work);
        }
    }
}

/// Rows came: takes them into memory, learns from the usage that they report,
/// and returns how full the view is now; where it is in memory and nobody works
/// on it.
pub(super) async fn rows_appended(
    ctx: &Ctx,
    session: &SessionRef,
    view: &ViewName,
    rows: &[NewRow],
    appended: &Appended,
    at: Timestamp,
) -> Option<TokenBudget> {
    let live = ctx.live.find(session)?;
    let (reports, budget, came) = {
        let mut state = live.state.try_lock().ok()?;
        if appended.replayed {
            return state.views.get(view)?.budget.clone();
        }
        let reports: Vec<Report> =
            rows.iter().filter_map(|row| report(&state, view, &row.message)).collect();
        let came = state.follow(rows, appended, at);
        (reports, grow(&mut state, view, rows), came)
    };
    ctx.live.grow(session, came);
    for report in reports {
        let Report { model, estimated, reported } = report;
        let learned =
            factors::learn(ctx, session.namespace.as_str(), &model, estimated, reported).await;
        if let Err(err) = learned {
            // A factor that is not learned now is learned from the next report.
            tracing::warn!(model, error = %err, "could not store a calibration");
        }
    }
    budget
}

struct Report {
    model: String,
    estimated: i64,
    reported: i64,
}

/// What a message tells of a known context: one that was committed, and that
/// the view has not reduced since.
fn report(state: &State, view: &ViewName, message: &Message) -> Option<Report> {
    let usage = message.usage.filter(|_| message.role == Role::Assistant)?;
    let named = &message.context_fingerprint;
    let print = if named.is_empty() {
        let (lane, last) = state.views.get(view)?.last_served.as_ref()?;
        Fingerprint::parse(last).filter(|_| *lane == message.lane)?
    } else {
        Fingerprint::parse(named)?
    };
    let known = state.views.get(&print.view)?;
    let newest = state.session.as_ref()?.revision;
    let is_current = print.revision >= known.view.reductions_revision && print.revision <= newest;
    if print.is_preview || !is_current {
        return None;
    }
    Some(Report {
        model: known.view.model.as_ref()?.name.clone(),
        estimated: print.estimate,
        reported: usage.input_tokens - print.caller_fixed_tokens,
    })
}

/// What the view showed last, plus what came.
fn grow(state: &mut State, view: &ViewName, rows: &[NewRow]) -> Option<TokenBudget> {
    let view = state.views.get_mut(view)?;
    let warnings = &view.policy.warnings;
    let budget = view.budget.as_mut()?;
    let came = rows.iter().map(|row| row.tokens.total).sum();
    let came = tokens::calibrate(came, budget.calibration);
    budget.messages += came;
    budget.history += came;
    let window = Window {
        window: budget.window,
        reserve: budget.output_reserve,
        fixed: budget.fixed,
        factor: budget.calibration,
        is_fixed_unstated: false,
        bytes_limit: i64::MAX,
        bytes_ratio: 1.0,
    };
    budget.pressure = window.pressure(warnings, budget.fixed + budget.messages);
    budget.spawn_allowed = budget.usage_ratio() < warnings.spawn_blocked_ratio;
    Some(budget.clone())
}

/// Says whether a context could have had this fingerprint.
pub(super) fn knows_fingerprint(fingerprint: &str) -> bool {
    Fingerprint::parse(fingerprint).is_some()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::{
        model::{Block, Message, Namespace, Role, Row, Session, SessionId, WireFormat},
        service::{
            AppendTurn, ContextInput, ContextOutput, CreateSession, Ctx, append_turn,
            create_session, get_context,
        },
        store::{SessionRef, memory::MemoryStore},
    };

    async fn append(ctx: &Ctx, roles: &[Role]) {
        let messages = roles.iter().map(|role| Message {
            role: *role,
            blocks: vec![Arc::new(Block::text("words"))],
            ..Message::default()
        });
        let turn = AppendTurn {
            session_id: "s".into(),
            messages: messages.collect(),
            ..AppendTurn::default()
        };
        append_turn(ctx, turn).await.unwrap();
    }

    async fn context(ctx: &Ctx) -> Arc<ContextOutput> {
        let input = ContextInput {
            session_id: "s".into(),
            format: Some(WireFormat::OpenAiChat),
            ..ContextInput::default()
        };
        get_context(ctx, input).await.unwrap()
    }

    async fn state(ctx: &Ctx) -> (Option<Session>, Vec<Arc<Row>>) {
        let session =
            SessionRef { namespace: Namespace::new(Namespace::DEFAULT), id: SessionId::new("s") };
        let live = ctx.live.find(&session).expect("it is in memory");
        let mut state = live.state.lock().await;
        state.catch_up();
        (state.session.clone(), state.history.rows().to_vec())
    }

    #[tokio::test]
    async fn i6_a_state_that_followed_an_append_is_the_one_that_is_read() {
        let store = Arc::new(MemoryStore::new());
        let ctx = Ctx::new(store.clone());
        let new = CreateSession { session_id: "s".into(), ..CreateSession::default() };
        create_session(&ctx, new).await.unwrap();
        append(&ctx, &[Role::User]).await;
        context(&ctx).await;
        append(&ctx, &[Role::Assistant, Role::User]).await;
        append(&ctx, &[Role::Assistant]).await;

        let followed = state(&ctx).await;
        assert_eq!(followed.1.len(), 4, "nothing is left to read");

        let anew = Ctx::new(store);
        let read = context(&anew).await;
        assert_eq!(context(&ctx).await.fingerprint, read.fingerprint);
        assert_eq!(followed, state(&anew).await);
    }
}
