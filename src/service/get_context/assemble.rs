//! A plan and its rendering into the answer.

use std::{borrow::Cow, collections::HashSet, sync::Arc};

use bytes::Bytes;

use super::{
    produce::Job,
    stable::{self, Stable},
};
use crate::{
    codec,
    model::{
        BudgetPart, Cause, ContextItem, Overlay, PartKind, Placement, Policy, Seq, Session,
        TokenBudget, WireFormat,
    },
    projection::{Composed, History, Lens, Plan, Window, report},
    render::Rendered,
    service::{
        ContextBody, ContextOutput, Encoded, Origin, Reduction, Repair, StageReport,
        fingerprint::{self, Fingerprint},
        live::{Pieces, Served},
    },
    tokens,
};

/// Everything that an answer is made of.
pub(super) struct Made<'a> {
    pub plan: Plan,
    pub rendered: Rendered,
    pub window: Window,
    pub session: &'a Session,
    pub items: &'a [ContextItem],
    pub lens: Lens<'a>,
}

/// Bytes of the rendered request.
pub(super) fn bytes(rendered: &Rendered) -> i64 {
    let messages: usize = rendered.messages.iter().map(|message| message.len() + 1).sum();
    let all = messages + rendered.system_json.len() + rendered.tools_json.len();
    i64::try_from(all).unwrap_or(i64::MAX)
}

/// The answer. `pieces` are its bytes, `before` what the view served last in
/// this format.
pub(super) fn output(
    made: &Made<'_>,
    job: &Job,
    pieces: &Pieces,
    before: Option<&Pieces>,
) -> ContextOutput {
    let composed = &made.plan.composed;
    let same = before.map_or(0, |before| {
        if before.fixed == pieces.fixed {
            stable::leading_equal(&before.messages, &pieces.messages)
        } else {
            0
        }
    });
    let origins_of_same = made.rendered.origins.get(..same).unwrap_or(&made.rendered.origins);
    ContextOutput {
        session: made.session.id.clone(),
        view: job.view.clone(),
        revision: made.session.revision,
        fingerprint: fingerprint(made, job, pieces),
        body: body(&made.rendered, job.format),
        origins: origins(&made.rendered),
        unchanged_prefix: 0,
        fixed_unchanged: false,
        budget: budget(
            composed,
            made.window,
            made.session,
            made.items,
            job,
            made.lens.sight.policy(),
        ),
        stages: stages(made, job),
        overlays: overlays(&made.plan, made.lens.history, job.explain),
        reductions: if job.explain { reductions(made) } else { Vec::new() },
        stable_prefix_messages: same,
        stable_prefix_tokens: Stable::of(origins_of_same, job.format).tokens(&composed.entries),
        context_management_json: Bytes::new(),
        repairs: repairs(&made.rendered),
        thinking_dropped: false,
        reduction_pending: made.plan.wanted.is_some() && !job.has_given_up,
        rounds_in_flight: made.lens.history.in_flight(),
        preview: job.is_preview,
        encoded: Encoded::default(),
    }
}

/// What is kept of an answer, to give it again and to compare the next with.
pub(super) fn served(
    made: &Made<'_>,
    job: &Job,
    ever: &[Overlay],
    output: &Arc<ContextOutput>,
) -> Served {
    Served {
        revision: made.session.revision,
        factor: job.factor,
        caller_fixed_tokens: job.model.caller_fixed_tokens,
        idle_at: idle_at(made, job, ever),
        output: Arc::clone(output),
    }
}

/// When (microseconds) the idle trigger could fire next; `None`: not before
/// something else changes.
fn idle_at(made: &Made<'_>, job: &Job, ever: &[Overlay]) -> Option<i64> {
    let minutes = made.lens.sight.policy().micro_clear.idle_minutes;
    let last = made.lens.history.last_assistant_at()?;
    let acted = ever.iter().any(|it| it.cause == Cause::Idle && it.commit_time >= last);
    let at = last.as_micros().saturating_add(minutes.saturating_mul(60_000_000));
    (minutes > 0 && !acted && at > job.now.as_micros()).then_some(at)
}

/// The rendered bytes in pieces that are compared.
pub(super) fn pieces(rendered: &Rendered, format: WireFormat) -> Pieces {
    let messages = if format == WireFormat::Typed {
        rendered.typed.iter().map(codec::encode).collect()
    } else {
        rendered.messages.clone()
    };
    Pieces { fixed: [rendered.system_json.clone(), rendered.tools_json.clone()], messages }
}

fn fingerprint(made: &Made<'_>, job: &Job, pieces: &Pieces) -> String {
    let around: i64 = made.items.iter().map(|item| item.tokens).sum();
    Fingerprint {
        view: job.view.clone(),
        revision: made.session.revision,
        format: job.format,
        estimate: made.plan.composed.tokens + around,
        caller_fixed_tokens: job.model.caller_fixed_tokens,
        is_preview: job.is_preview,
        digest: fingerprint::digest(pieces.fixed.iter().chain(&pieces.messages)),
    }
    .to_string()
}

fn body(rendered: &Rendered, format: WireFormat) -> ContextBody {
    if format == WireFormat::Typed {
        return ContextBody::Typed(rendered.typed.iter().cloned().map(Arc::new).collect());
    }
    ContextBody::Json {
        system: rendered.system_json.clone(),
        tools: rendered.tools_json.clone(),
        messages: rendered.messages.clone(),
    }
}

fn origins(rendered: &Rendered) -> Vec<Origin> {
    let origins = rendered.origins.iter().map(|origin| Origin {
        rows: origin.rows.clone(),
        overlay: origin.overlay.clone(),
        synthetic: origin.synthetic,
    });
    origins.collect()
}

fn repairs(rendered: &Rendered) -> Vec<Repair> {
    let repairs = rendered
        .repairs
        .iter()
        .map(|repair| Repair { seq: repair.seq, reason: Cow::Borrowed(repair.reason.name()) });
    repairs.collect()
}

fn stages(made: &Made<'_>, job: &Job) -> Vec<StageReport> {
    let composed = &made.plan.composed;
    let savings = report::savings(made.lens, composed, &made.plan.in_force);
    let reports = made.plan.triggers.iter().map(|(stage, trigger)| {
        let saving = savings.get(stage.name()).copied().unwrap_or_default();
        let fired = job.fired.iter().find(|(it, _)| it == stage).map(|(_, why)| *why);
        StageReport {
            stage: Cow::Borrowed(stage.name()),
            trigger: Cow::Borrowed(fired.unwrap_or(trigger)),
            tokens_before: composed.tokens + saving.tokens,
            tokens_after: composed.tokens,
            messages_reduced: usize::try_from(saving.messages).unwrap_or(0),
        }
    });
    reports.collect()
}

fn reductions(made: &Made<'_>) -> Vec<Reduction> {
    let all = report::reductions(made.lens, &made.plan.composed, &made.plan.in_force);
    let all = all.into_iter().map(|it| Reduction {
        content: it.content,
        stage: Cow::Owned(it.stage),
        overlay: it.overlay,
        tokens_before: it.before,
        tokens_after: it.after,
    });
    all.collect()
}

/// The outermost range overlays in the order in which they are shown, then the
/// clears that something shown has.
fn overlays(plan: &Plan, history: &History, whole: bool) -> Vec<Arc<Overlay>> {
    let ranges = plan.composed.hidden.iter().filter_map(|(index, _)| plan.in_force.get(*index));
    let visible: HashSet<Seq> = plan.composed.visible.iter().copied().collect();
    let is_shown = |seq| history.round_of(seq).is_some_and(|round| visible.contains(&round.id));
    let clears = plan.in_force.iter().filter(|overlay| !overlay.is_range());
    let clears = clears.filter(|overlay| overlay.covered.iter().any(is_shown));
    let shown = ranges.chain(clears).map(|overlay| {
        if whole {
            return Arc::new(overlay.clone());
        }
        Arc::new(Overlay { summary: String::new(), cleared: Vec::new(), ..overlay.clone() })
    });
    shown.collect()
}

/// How full the window is, and what fills it.
pub(super) fn budget(
    composed: &Composed,
    window: Window,
    session: &Session,
    items: &[ContextItem],
    job: &Job,
    policy: &Policy,
) -> TokenBudget {
    let used = window.used(composed.tokens);
    let mut parts: Vec<BudgetPart> = items
        .iter()
        .map(|item| BudgetPart {
            kind: match item.placement {
                Placement::System => PartKind::System,
                Placement::Tools => PartKind::Tools,
                Placement::UserContext | Placement::Reminder => PartKind::ContextItem,
            },
            name: item.name.clone(),
            tokens: tokens::calibrate(item.tokens, window.factor),
        })
        .collect();
    if job.model.caller_fixed_tokens > 0 {
        parts.push(BudgetPart {
            kind: PartKind::Caller,
            name: String::new(),
            tokens: job.model.caller_fixed_tokens,
        });
    }
    parts.extend(report::budget_parts(&report::parts(composed), window.factor));
    let mut budget = TokenBudget {
        window: window.window,
        fixed: window.fixed,
        messages: used - window.fixed,
        output_reserve: window.reserve,
        pressure: window.pressure(&policy.warnings, used),
        spawn_allowed: true,
        calibration: window.factor,
        history: tokens::calibrate(session.tokens, window.factor),
        parts,
    };
    budget.spawn_allowed = budget.usage_ratio() < policy.warnings.spawn_blocked_ratio;
    budget
}
