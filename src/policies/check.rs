//! Which values a policy's parameters may have.
//!
//! Types are read before; here are ranges, and what must agree. Zero means
//! *off* only where the parameter's comment in [`crate::model::policy`] says so.
//! A whole stage is switched off by leaving it out of `stages`.

use super::{
    Template,
    rules::{
        MOST_NAMES, Outcome, at_most, count, envelope, marker, names, one_of, positive, refuse,
        share, summary_size, tokens, trigger, within,
    },
};
use crate::model::policy::{
    AutoCompact, Collapse, MicroClear, Policy, Recovery, ResultCap, SnipMiddle, StageKind, Warnings,
};

const MOST_MINUTES: i64 = 60 * 24 * 3650;
const MOST_SECONDS: i64 = 60 * 60 * 24 * 30;
/// `GetContext` waits no longer than any deadline that makes sense.
const MOST_WAIT_SECONDS: i64 = 600;

/// Steps of recovery that are no stage.
const STEPS: [&str; 4] =
    ["drain", "emergency_compact", "clear_all_but_newest_round", "summary_and_last_messages"];

/// Refuses what no policy can be.
pub(super) fn check(policy: &Policy) -> Outcome {
    stages(&policy.stages)?;
    tokens("window.output_reserve_tokens", policy.window.output_reserve_tokens)?;
    warnings(&policy.warnings)?;
    protect_and_render(policy)?;
    result_cap(&policy.result_cap)?;
    fixed_at_first_sight(policy)?;
    micro_clear(&policy.micro_clear)?;
    folds_and_snips(policy)?;
    snip_middle(&policy.snip_middle)?;
    collapse(&policy.collapse)?;
    auto_compact(&policy.auto_compact)?;
    recovery(&policy.recovery)?;
    fit(policy)
}

fn stages(stages: &[StageKind]) -> Outcome {
    let mut under_pressure = false;
    for (at, stage) in stages.iter().enumerate() {
        let key = format!("stages[{at}]");
        if stages[..at].contains(stage) {
            return refuse(&key, "each stage once", format_args!("`{}` again", stage.name()));
        }
        if *stage == StageKind::Fit && at + 1 != stages.len() {
            return refuse(&key, "`fit` as the last stage", "a stage after it");
        }
        // What is fixed at first sight never changes afterwards, so nothing
        // that comes and goes may run before it.
        if is_fixed_at_first_sight(*stage) && under_pressure {
            let expected = "it before every stage that waits for pressure";
            return refuse(&key, expected, format_args!("`{}` after one", stage.name()));
        }
        under_pressure |= !is_fixed_at_first_sight(*stage);
    }
    Ok(())
}

fn is_fixed_at_first_sight(stage: StageKind) -> bool {
    use StageKind as S;
    matches!(stage, S::ResultCap | S::BatchBudget | S::DedupeFiles | S::StripImages | S::MicroText)
}

fn warnings(warnings: &Warnings) -> Outcome {
    trigger("warnings.elevated_ratio", warnings.elevated_ratio)?;
    trigger("warnings.warning_ratio", warnings.warning_ratio)?;
    trigger("warnings.critical_ratio", warnings.critical_ratio)?;
    trigger("warnings.spawn_blocked_ratio", warnings.spawn_blocked_ratio)?;
    at_most(
        "warnings.elevated_ratio",
        warnings.elevated_ratio,
        "warning_ratio",
        warnings.warning_ratio,
    )?;
    at_most(
        "warnings.warning_ratio",
        warnings.warning_ratio,
        "critical_ratio",
        warnings.critical_ratio,
    )
}

fn protect_and_render(policy: &Policy) -> Outcome {
    let protect = &policy.protect;
    count("protect.active_lane_rounds", protect.active_lane_rounds)?;
    share("protect.newest_requests_share", protect.newest_requests_share)?;
    count("protect.unanswered_rounds", protect.unanswered_rounds)?;
    let marks = &policy.render.cache_marks;
    if marks.len() > 4 {
        return refuse("render.cache_marks", "at most 4 marks", marks.len());
    }
    match marks.iter().enumerate().find(|(at, mark)| marks[..*at].contains(mark)) {
        Some((at, _)) => {
            refuse(&format!("render.cache_marks[{at}]"), "each mark once", "one again")
        }
        None => Ok(()),
    }
}

fn result_cap(cap: &ResultCap) -> Outcome {
    positive("result_cap.limit_chars", cap.limit_chars)?;
    at_most("result_cap.keep_chars", cap.keep_chars, "limit_chars", cap.limit_chars)?;
    share("result_cap.head_ratio", cap.head_ratio)?;
    trigger("result_cap.window_share", cap.window_share)?;
    marker("result_cap.marker", &cap.marker)?;
    if cap.per_tool_chars.len() > MOST_NAMES {
        let expected = format_args!("at most {MOST_NAMES} tools");
        return refuse("result_cap.per_tool_chars", expected, cap.per_tool_chars.len());
    }
    for (tool, limit) in &cap.per_tool_chars {
        let key = format!("result_cap.per_tool_chars.{tool}");
        positive(&key, *limit)?;
        if tool.is_empty() {
            return refuse(&key, "a tool or class", "an empty name");
        }
    }
    Ok(())
}

fn fixed_at_first_sight(policy: &Policy) -> Outcome {
    let batch = &policy.batch_budget;
    positive("batch_budget.limit_chars", batch.limit_chars)?;
    at_most("batch_budget.preview_chars", batch.preview_chars, "limit_chars", batch.limit_chars)?;
    at_most("batch_budget.floor_chars", batch.floor_chars, "limit_chars", batch.limit_chars)?;
    trigger("batch_budget.window_share", batch.window_share)?;
    marker("batch_budget.marker", &batch.marker)?;
    names("dedupe_files.tools", &policy.dedupe_files.tools)?;
    count("dedupe_files.min_chars", policy.dedupe_files.min_chars)?;
    marker("dedupe_files.marker", &policy.dedupe_files.marker)?;
    marker("strip_images.marker", &policy.strip_images.marker)?;
    count("micro_text.max_blank_lines", policy.micro_text.max_blank_lines)
}

fn micro_clear(clear: &MicroClear) -> Outcome {
    count("micro_clear.first_calls", clear.first_calls)?;
    count("micro_clear.every_calls", clear.every_calls)?;
    within("micro_clear.idle_minutes", clear.idle_minutes, MOST_MINUTES)?;
    share("micro_clear.start_ratio", clear.start_ratio)?;
    share("micro_clear.until_ratio", clear.until_ratio)?;
    // Without a ratio that starts it, the one it goes down to means nothing.
    if clear.start_ratio > 0.0 {
        at_most("micro_clear.until_ratio", clear.until_ratio, "start_ratio", clear.start_ratio)?;
    }
    count("micro_clear.keep_results", clear.keep_results)?;
    share("micro_clear.keep_share", clear.keep_share)?;
    count("micro_clear.keep_turns", clear.keep_turns)?;
    names("micro_clear.tools", &clear.tools)?;
    names("micro_clear.exclude_tools", &clear.exclude_tools)?;
    count("micro_clear.min_chars", clear.min_chars)?;
    share("micro_clear.at_least_ratio", clear.at_least_ratio)?;
    marker("micro_clear.placeholder", &clear.placeholder)
}

fn folds_and_snips(policy: &Policy) -> Outcome {
    let fold = &policy.tool_fold;
    trigger("tool_fold.start_ratio", fold.start_ratio)?;
    share("tool_fold.until_ratio", fold.until_ratio)?;
    at_most("tool_fold.until_ratio", fold.until_ratio, "start_ratio", fold.start_ratio)?;
    let snip = &policy.snip_turns;
    tokens("snip_turns.buffer_tokens", snip.buffer_tokens)?;
    share("snip_turns.buffer_share", snip.buffer_share)?;
    trigger("snip_turns.until_ratio", snip.until_ratio)?;
    count("snip_turns.keep_turns", snip.keep_turns)
}

fn snip_middle(snip: &SnipMiddle) -> Outcome {
    positive("snip_middle.max_messages", snip.max_messages)?;
    count("snip_middle.keep_head", snip.keep_head)?;
    count("snip_middle.keep_tail", snip.keep_tail)?;
    marker("snip_middle.marker", &snip.marker)?;
    if snip.keep_head + snip.keep_tail > snip.max_messages {
        let expected = format_args!("at most max_messages ({}) with keep_head", snip.max_messages);
        return refuse("snip_middle.keep_tail", expected, snip.keep_head + snip.keep_tail);
    }
    Ok(())
}

fn collapse(collapse: &Collapse) -> Outcome {
    trigger("collapse.commit_ratio", collapse.commit_ratio)?;
    trigger("collapse.block_ratio", collapse.block_ratio)?;
    at_most("collapse.commit_ratio", collapse.commit_ratio, "block_ratio", collapse.block_ratio)?;
    share("collapse.until_ratio", collapse.until_ratio)?;
    at_most("collapse.until_ratio", collapse.until_ratio, "commit_ratio", collapse.commit_ratio)?;
    ladder(collapse)?;
    positive("collapse.min_turns", collapse.min_turns)?;
    count("collapse.max_turns", collapse.max_turns)?;
    at_most("collapse.min_turns", collapse.min_turns, "max_turns", collapse.max_turns)?;
    trigger("collapse.segment_share", collapse.segment_share)?;
    count("collapse.keep_turns", collapse.keep_turns)?;
    share("collapse.keep_share", collapse.keep_share)?;
    summary_size("collapse", collapse.min_summary_tokens, collapse.max_summary_tokens)?;
    trigger("collapse.summary_share", collapse.summary_share)?;
    trigger("collapse.all_summaries_share", collapse.all_summaries_share)?;
    share("collapse.wider_share", collapse.wider_share)?;
    template("collapse.template", &collapse.template, &Template::COLLAPSE)?;
    envelope("collapse.envelope", &collapse.envelope)?;
    within("collapse.block_wait_seconds", collapse.block_wait_seconds, MOST_WAIT_SECONDS)
}

fn ladder(collapse: &Collapse) -> Outcome {
    let (ratios, takes) = (&collapse.ladder_ratios, &collapse.ladder_takes);
    if ratios.len() != takes.len() || ratios.len() > MOST_NAMES {
        let expected = format_args!("one for each of the {} ladder_ratios", ratios.len());
        return refuse("collapse.ladder_takes", expected, takes.len());
    }
    let mut last = 0.0;
    for (at, (&ratio, &take)) in ratios.iter().zip(takes).enumerate() {
        let key = format!("collapse.ladder_ratios[{at}]");
        trigger(&key, ratio)?;
        if ratio <= last {
            return refuse(&key, "more than the one before", ratio);
        }
        last = ratio;
        let is_share = take > 0.0 && take < 1.0;
        let is_number = (1.0..=1_000_000.0).contains(&take) && take.fract() == 0.0;
        if !is_share && !is_number {
            let expected = "a share above 0 and below 1, or a whole number of turns";
            return refuse(&format!("collapse.ladder_takes[{at}]"), expected, take);
        }
    }
    Ok(())
}

fn auto_compact(compact: &AutoCompact) -> Outcome {
    share("auto_compact.start_ratio", compact.start_ratio)?;
    tokens("auto_compact.buffer_tokens", compact.buffer_tokens)?;
    share("auto_compact.buffer_share", compact.buffer_share)?;
    share("auto_compact.override_ratio", compact.override_ratio)?;
    count("auto_compact.min_turns_between", compact.min_turns_between)?;
    count("auto_compact.keep_turns", compact.keep_turns)?;
    summary_size("auto_compact", compact.min_summary_tokens, compact.max_summary_tokens)?;
    template("auto_compact.template", &compact.template, &Template::COMPACT)?;
    envelope("auto_compact.envelope", &compact.envelope)?;
    positive("auto_compact.breaker_failures", compact.breaker_failures)?;
    let key = "auto_compact.breaker_cooldown_seconds";
    within(key, compact.breaker_cooldown_seconds, MOST_SECONDS)
}

fn template(key: &str, name: &str, known: &[Template]) -> Outcome {
    one_of(key, name, &known.iter().map(|it| it.name()).collect::<Vec<_>>())
}

fn recovery(recovery: &Recovery) -> Outcome {
    if recovery.steps.len() > MOST_NAMES {
        let expected = format_args!("at most {MOST_NAMES} steps");
        return refuse("recovery.steps", expected, recovery.steps.len());
    }
    for (at, step) in recovery.steps.iter().enumerate() {
        let stages_only = step.split('+').all(|name| StageKind::from_name(name).is_some());
        if !stages_only && !STEPS.contains(&step.as_str()) {
            let expected = format_args!("stages joined by `+`, or one of {}", STEPS.join(", "));
            return refuse(&format!("recovery.steps[{at}]"), expected, format_args!("`{step}`"));
        }
    }
    count("recovery.keep_messages", recovery.keep_messages)?;
    count("recovery.cycles_a_turn", recovery.cycles_a_turn)?;
    envelope("recovery.envelope", &recovery.envelope)
}

fn fit(policy: &Policy) -> Outcome {
    let fit = &policy.fit;
    trigger("fit.until_ratio", fit.until_ratio)?;
    marker("fit.marker", &fit.marker)?;
    marker("fit.cut_marker", &fit.cut_marker)?;
    share("fit.unstated_fixed_share", fit.unstated_fixed_share)?;
    if fit.unstated_fixed_share >= 1.0 {
        let expected = "a share below 1, so that room is left for messages";
        return refuse("fit.unstated_fixed_share", expected, fit.unstated_fixed_share);
    }
    Ok(())
}
