//! Which overlays to add next: the stages of the policy in their order, each on
//! the view that the one before left.

use super::{
    Composed, Lens, Memo, Wanted, Window,
    bench::{Bench, Circumstances, Collapsing, Proposal},
    compose::compose,
    stages,
};
use crate::model::{
    Overlay, OverlayId, Seq, StageKind,
    shown::{Answer, Entry},
};

/// What a plan came to.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The view with everything that was planned.
    pub composed: Composed,
    /// The overlays in force then.
    pub in_force: Vec<Overlay>,
    /// Overlays to commit, in order.
    pub added: Vec<Overlay>,
    /// Overlays to roll back after that, for a wider one took their place.
    pub superseded: Vec<OverlayId>,
    /// Why each stage of the policy acted or did not, in order.
    pub triggers: Vec<(StageKind, &'static str)>,
    /// Segments that should be summarized; nothing was planned of them.
    pub wanted: Option<Wanted>,
    /// The plan ended at `wanted`: who can wait for it should, and plan anew.
    pub waits: bool,
    /// Set where nothing helps: nothing is to be committed then.
    pub irreducible: Option<Irreducible>,
}

/// The numbers of a context that cannot be made to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Irreducible {
    /// Calibrated tokens of the messages, as small as they get.
    pub messages: i64,
    /// Tokens above the limit.
    pub over: i64,
    /// Bytes above the limit, where tokens are not what is too much.
    pub bytes_over: i64,
    /// The row that holds the largest piece; zero where there is none.
    pub largest_seq: Seq,
    /// What that piece counts as, calibrated.
    pub largest_tokens: i64,
}

/// Runs the stages.
pub fn plan(
    lens: Lens<'_>,
    facts: &Circumstances<'_>,
    in_force: Vec<Overlay>,
    memo: &mut Memo,
    new_id: &mut dyn FnMut() -> OverlayId,
) -> Plan {
    let mut bench = Bench::new(lens, facts, in_force, memo, new_id);
    let window = facts.window;
    if window.fixed >= window.limit() {
        return give_up(bench, "fixed_above_limit", Vec::new());
    }
    let mut triggers = Vec::with_capacity(facts.policy.stages.len());
    let mut is_irreducible = false;
    let mut wanted = None;
    for stage in &facts.policy.stages {
        let trigger = match stage {
            StageKind::ResultCap
            | StageKind::BatchBudget
            | StageKind::DedupeFiles
            | StageKind::StripImages
            | StageKind::MicroText => "always",
            StageKind::MicroClear => {
                let proposal = stages::micro_clear::propose(&bench);
                lay(&mut bench, proposal)
            }
            StageKind::SnipTurns => {
                let proposal = stages::snip_turns::propose(&bench);
                lay(&mut bench, proposal)
            }
            StageKind::SnipMiddle => {
                let proposal = stages::snip_middle::propose(&mut bench);
                lay(&mut bench, proposal)
            }
            StageKind::Fit => match stages::fit::run(&mut bench) {
                Ok(()) => "over_threshold",
                Err(why) => {
                    is_irreducible = why == "irreducible";
                    why
                }
            },
            StageKind::ToolFold => {
                let proposal = stages::tool_fold::propose(&bench);
                lay(&mut bench, proposal)
            }
            StageKind::Collapse => {
                let (trigger, asked) = stages::collapse::run(&mut bench);
                wanted = asked;
                trigger
            }
            StageKind::AutoCompact => stages::auto_compact::trigger(&bench),
            StageKind::Reactive => "not_available",
        };
        triggers.push((*stage, trigger));
        if wanted.as_ref().is_some_and(|it| it.is_urgent) && can_wait(facts) {
            return Plan { waits: true, wanted, ..planned(bench, triggers) };
        }
    }
    if is_irreducible || !stages::fit::fits(&bench) {
        return give_up(bench, "irreducible", triggers);
    }
    Plan { wanted, ..planned(bench, triggers) }
}

fn can_wait(facts: &Circumstances<'_>) -> bool {
    matches!(facts.collapsing, Collapsing::Later { may_wait: true })
}

fn planned(bench: Bench<'_>, triggers: Vec<(StageKind, &'static str)>) -> Plan {
    bench.memo.keep(&bench.composed);
    Plan {
        composed: bench.composed,
        in_force: bench.in_force,
        added: bench.added,
        superseded: bench.superseded,
        triggers,
        wanted: None,
        waits: false,
        irreducible: None,
    }
}

/// The view as it stands: what was shown once, shown again. Nothing is planned,
/// however large it is.
#[must_use]
pub fn as_it_stands(lens: Lens<'_>, in_force: Vec<Overlay>, memo: &mut Memo) -> Plan {
    let why = |stage: &StageKind| {
        if stage.is_fixed_at_first_sight() { "always" } else { "at_revision" }
    };
    let stages = &lens.sight.policy().stages;
    Plan {
        composed: compose(lens, &in_force, memo),
        in_force,
        added: Vec::new(),
        superseded: Vec::new(),
        triggers: stages.iter().map(|stage| (*stage, why(stage))).collect(),
        wanted: None,
        waits: false,
        irreducible: None,
    }
}

fn lay(bench: &mut Bench<'_>, proposal: Result<Proposal, &'static str>) -> &'static str {
    match proposal {
        Err(why) => why,
        Ok(proposal) => {
            let cause = proposal.cause;
            if bench.apply(proposal) { cause_name(cause) } else { "not_smaller" }
        }
    }
}

fn cause_name(cause: crate::model::Cause) -> &'static str {
    match cause {
        crate::model::Cause::ToolCalls => "tool_calls",
        crate::model::Cause::Idle => "idle",
        crate::model::Cause::Pressure
        | crate::model::Cause::Manual
        | crate::model::Cause::Refused
        | crate::model::Cause::Provider => "over_threshold",
    }
}

fn give_up(
    bench: Bench<'_>,
    why: &'static str,
    mut triggers: Vec<(StageKind, &'static str)>,
) -> Plan {
    if triggers.is_empty() {
        triggers = bench.facts.policy.stages.iter().map(|stage| (*stage, why)).collect();
    }
    let window = bench.facts.window;
    let (largest_seq, largest_tokens) = largest(&bench.composed, window);
    let irreducible = Irreducible {
        messages: window.used(bench.composed.tokens) - window.fixed,
        over: (bench.used() - window.fit_limit(bench.facts.policy)).max(0),
        bytes_over: bench.bytes_over(),
        largest_seq,
        largest_tokens,
    };
    Plan {
        composed: bench.composed,
        in_force: bench.in_force,
        added: Vec::new(),
        superseded: Vec::new(),
        triggers,
        wanted: None,
        waits: false,
        irreducible: Some(irreducible),
    }
}

/// The largest block that is shown, and the row that holds it.
fn largest(composed: &Composed, window: Window) -> (Seq, i64) {
    let mut best = (Seq(0), 0);
    let mut look = |seq: Seq, tokens: u32| {
        if i64::from(tokens) > best.1 {
            best = (seq, i64::from(tokens));
        }
    };
    for entry in &composed.entries {
        let Entry::Round(round) = entry else { continue };
        for message in &round.messages {
            for block in &message.blocks {
                look(message.seq, block.tokens);
            }
        }
        for call in &round.calls {
            if let Answer::Result { seq, tokens, .. } = &call.answer {
                look(*seq, *tokens);
            }
        }
    }
    (best.0, crate::tokens::calibrate(best.1, window.factor))
}
