//! `auto_compact`: everything but the newest turns as one summary. When it
//! would act; the act itself needs a sealed transcript and is not built yet.

use crate::{
    model::{StageKind, policy::CollapseAndCompact},
    projection::bench::Bench,
};

/// Why it does not act.
pub(crate) fn trigger(bench: &Bench<'_>) -> &'static str {
    if bench.used() < threshold(bench) {
        return "below_threshold";
    }
    "not_available"
}

/// From how many tokens on it acts.
///
/// The policy's own trigger; where collapse replaces it, never below collapse's
/// block ratio unless an override sets it, for what collapse can cope with is
/// collapse's. Chained, it looks at what collapse left, as every stage does;
/// overlapping, each has its own.
pub(crate) fn threshold(bench: &Bench<'_>) -> i64 {
    let policy = bench.facts.policy;
    let rules = &policy.auto_compact;
    let window = bench.facts.window;
    let basis = policy.window.basis;
    let at = |ratio: f64| window.at_ratio(basis, ratio);
    let buffer = window.capped(rules.buffer_tokens, rules.buffer_share);
    // Sizes fire above, ratios at.
    let by_buffer = (rules.buffer_tokens > 0).then_some(window.limit() - buffer + 1);
    let by_ratio = (rules.start_ratio > 0.0).then(|| at(rules.start_ratio));
    let own = by_ratio.into_iter().chain(by_buffer).min().unwrap_or(i64::MAX);
    if rules.override_ratio > 0.0 {
        let set = at(rules.override_ratio);
        return if rules.override_only_lowers { own.min(set) } else { set };
    }
    let collapses = policy.stages.contains(&StageKind::Collapse);
    if collapses && policy.collapse.with_auto_compact == CollapseAndCompact::Replaced {
        return own.max(at(policy.collapse.block_ratio));
    }
    own
}
