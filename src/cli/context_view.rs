//! A context for people: how full, what fills it, what was reduced, how it starts.

use super::{
    names,
    out::Paint,
    rendered,
    text::{self, bar, by_pressure, excerpt, percent, table, thousands},
};
use crate::proto::v1;

/// Messages whose start is shown.
const SHOWN_MESSAGES: usize = 8;
/// Reductions that are listed.
const SHOWN_REDUCTIONS: usize = 30;
const BAR_WIDTH: usize = 40;
const LINE_WIDTH: usize = 96;
/// The trigger of stages in a context of an earlier revision.
const AT_REVISION: &str = "at_revision";

/// The whole view; with `explain` the reductions too.
pub(super) fn lines(context: &v1::Context, paint: Paint, explain: bool) -> Vec<String> {
    let mut lines = vec![title(context, paint)];
    if let Some(budget) = &context.budget {
        lines.push(String::new());
        lines.extend(budget_lines(budget, paint));
        lines.extend(above_limit(budget, &context.stages));
        lines.push(paint.dim(&stable_prefix(context)));
    }
    let counted = counted(context.budget.as_ref());
    let titled = |title: &str| format!("{title}{counted}");
    section(&mut lines, paint, &titled("Stages"), stages(&context.stages));
    section(&mut lines, paint, &titled("Overlays in force"), overlays(&context.overlays));
    if explain {
        section(&mut lines, paint, &titled("Reduced pieces"), reductions(&context.reductions));
    }
    section(&mut lines, paint, "Mended by the renderer", repairs(&context.repairs));
    let start = rendered::start(context, SHOWN_MESSAGES, LINE_WIDTH);
    section(&mut lines, paint, "Start of the messages", Some(start.join("\n")));
    lines
}

fn section(lines: &mut Vec<String>, paint: Paint, title: &str, body: Option<String>) {
    if let Some(body) = body {
        lines.push(String::new());
        lines.push(paint.bold(title));
        lines.extend(body.lines().map(|line| format!("  {line}")));
    }
}

/// The factor by which a budget's counts differ from those of rows, overlays and
/// stages; `None` where they do not.
fn factor(budget: &v1::TokenBudget) -> Option<f64> {
    let is_one = (budget.calibration - 1.0).abs() < 0.005 || budget.calibration <= 0.0;
    (!is_one).then_some(budget.calibration)
}

/// What a title adds where its counts are others than the budget's.
fn counted(budget: Option<&v1::TokenBudget>) -> String {
    budget
        .and_then(factor)
        .map(|factor| format!(" (tokens as counted, without the ×{factor:.2} of the budget)"))
        .unwrap_or_default()
}

/// Where it does not fit: by how much, and why it is shown all the same.
fn above_limit(budget: &v1::TokenBudget, stages: &[v1::StageReport]) -> Option<String> {
    let over = budget.fixed + budget.messages - (budget.window - budget.output_reserve);
    let of_then = stages.iter().any(|stage| stage.trigger == AT_REVISION);
    let why = if of_then { ": shown as it stood then, no stage runs for it" } else { "" };
    (over > 0).then(|| format!("{} above the limit{why}", text::count(over, "token")))
}

fn title(context: &v1::Context, paint: Paint) -> String {
    let sort = if context.preview { " · preview, nothing committed" } else { "" };
    let about = format!(
        "view {} · revision {}{sort} · {}",
        context.view,
        context.revision,
        text::count(i64::try_from(context.messages_json.len()).unwrap_or(i64::MAX), "message"),
    );
    format!("{}  {}", paint.bold(&context.session_id), paint.dim(&about))
}

/// The bar and what fills it.
fn budget_lines(budget: &v1::TokenBudget, paint: Paint) -> Vec<String> {
    let used = budget.fixed + budget.messages;
    let limit = budget.window - budget.output_reserve;
    let bar = by_pressure(paint, budget.pressure, &bar(budget.usage_ratio, BAR_WIDTH));
    let pressure = names::pressure(budget.pressure);
    let estimated =
        factor(budget).map(|factor| format!(", estimated ×{factor:.2}")).unwrap_or_default();
    let mut lines = vec![
        format!(
            "▕{bar}▏ {} of {} tokens{estimated} · {} · {pressure}",
            thousands(used),
            thousands(limit),
            percent(budget.usage_ratio)
        ),
        paint.dim(&format!(
            "window {} − {} kept for the answer · whole history {} · calibration ×{:.2}",
            thousands(budget.window),
            thousands(budget.output_reserve),
            thousands(budget.history),
            budget.calibration
        )),
    ];
    if !budget.spawn_allowed {
        lines.push("too full to start sub-agents".to_owned());
    }
    lines.extend(
        budget.parts.iter().filter(|part| part.tokens > 0).map(|part| part_line(part, used)),
    );
    lines
}

/// `prompt cache: the first 12 of 30 messages (5,120 tokens) are as they were sent last`.
pub(super) fn stable_prefix(context: &v1::Context) -> String {
    if context.stable_prefix_messages == 0 {
        return "prompt cache: no message is as it was sent last".to_owned();
    }
    let is_estimated = context.budget.as_ref().and_then(factor).is_some();
    let counted = if is_estimated { " as counted" } else { "" };
    let tokens = match context.stable_prefix_tokens {
        0 => String::new(),
        tokens => format!(" ({}{counted})", text::count(tokens, "token")),
    };
    format!(
        "prompt cache: the first {} of {}{tokens} are as they were sent last",
        context.stable_prefix_messages,
        text::count(i64::try_from(context.messages_json.len()).unwrap_or(i64::MAX), "message"),
    )
}

fn part_line(part: &v1::token_budget::Part, used: i64) -> String {
    let mut name = names::part_kind(part.kind).replace('_', " ");
    if !part.name.is_empty() {
        name = format!("{name} `{}`", part.name);
    }
    let share = share(part.tokens, used);
    format!("  {:<28} {:>10}  {}", excerpt(&name, 28), thousands(part.tokens), bar(share, 20))
}

#[expect(clippy::cast_precision_loss, reason = "a share to be drawn")]
fn share(part: i64, whole: i64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// One row per stage of the policy, and what it saves now.
pub(super) fn stages(stages: &[v1::StageReport]) -> Option<String> {
    let row = |stage: &v1::StageReport| {
        let saved = stage.tokens_before - stage.tokens_after;
        [
            stage.stage.clone(),
            stage.trigger.clone(),
            thousands(stage.tokens_before),
            thousands(stage.tokens_after),
            thousands(saved),
            stage.messages_reduced.to_string(),
        ]
    };
    let header = ["stage", "why", "#without", "#with", "#saved", "#messages"];
    (!stages.is_empty()).then(|| table(header, stages.iter().map(row).collect()))
}

/// One row per overlay.
pub(super) fn overlays(overlays: &[v1::Overlay]) -> Option<String> {
    let row = |overlay: &v1::Overlay| {
        let state = match overlay.rollback_revision {
            0 => "in force".to_owned(),
            at => format!("rolled back at {at}"),
        };
        [
            overlay.id.clone(),
            names::overlay_kind(overlay.kind),
            by(overlay),
            what(overlay),
            thousands(overlay.tokens_before),
            thousands(overlay.tokens_after),
            state,
        ]
    };
    let header = ["id", "kind", "by", "covers", "#before", "#after", "state"];
    (!overlays.is_empty()).then(|| table(header, overlays.iter().map(row).collect()))
}

/// The stage that made it, or that somebody did.
pub(super) fn by(overlay: &v1::Overlay) -> String {
    if overlay.stage.is_empty() { names::cause(overlay.cause) } else { overlay.stage.clone() }
}

/// What it covers, in a few words.
pub(super) fn what(overlay: &v1::Overlay) -> String {
    if overlay.kind != i32::from(v1::overlay::Kind::Clear) {
        return names::rows(&overlay.covered);
    }
    if overlay.cleared.is_empty() {
        return text::count(overlay.covered_messages, "message");
    }
    text::count(i64::try_from(overlay.cleared.len()).unwrap_or(i64::MAX), "piece")
}

fn reductions(reductions: &[v1::Reduction]) -> Option<String> {
    let row = |reduction: &v1::Reduction| {
        let content = reduction.content.unwrap_or_default();
        [
            content.seq.to_string(),
            content.block.to_string(),
            reduction.stage.clone(),
            thousands(reduction.tokens_before),
            thousands(reduction.tokens_after),
            reduction.overlay_id.clone(),
        ]
    };
    let header = ["#seq", "#block", "stage", "#before", "#after", "overlay"];
    let rows = reductions.iter().take(SHOWN_REDUCTIONS).map(row).collect();
    let more = reductions.len().saturating_sub(SHOWN_REDUCTIONS);
    let rest =
        if more > 0 { format!("\n… and {more} more: --output json") } else { String::new() };
    (!reductions.is_empty()).then(|| table(header, rows) + &rest)
}

fn repairs(repairs: &[v1::Repair]) -> Option<String> {
    let row = |repair: &v1::Repair| [repair.seq.to_string(), repair.reason.clone()];
    let header = ["#seq", "reason"];
    (!repairs.is_empty())
        .then(|| table(header, repairs.iter().take(SHOWN_REDUCTIONS).map(row).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_says_in_words_what_its_colour_says() {
        let budget = v1::TokenBudget {
            window: 32_000,
            output_reserve: 8_000,
            messages: 21_600,
            usage_ratio: 0.9,
            pressure: v1::Pressure::Warning.into(),
            spawn_allowed: true,
            calibration: 1.0,
            ..v1::TokenBudget::default()
        };
        let lines = budget_lines(&budget, Paint::OFF);
        assert!(lines[0].ends_with("21,600 of 24,000 tokens · 90 % · warning"), "{}", lines[0]);
    }
    #[test]
    fn counts_that_differ_by_a_factor_are_labelled() {
        let budget = v1::TokenBudget {
            window: 24_000,
            messages: 15_782,
            calibration: 1.5,
            ..v1::TokenBudget::default()
        };
        let stage = v1::StageReport { stage: "fit".into(), ..v1::StageReport::default() };
        let mut context = v1::Context {
            budget: Some(budget),
            stages: vec![stage],
            stable_prefix_messages: 2,
            stable_prefix_tokens: 100,
            ..v1::Context::default()
        };
        let told = lines(&context, Paint::OFF, false).join("\n");
        for expected in [
            "15,782 of 24,000 tokens, estimated ×1.50 ·",
            "Stages (tokens as counted, without the ×1.50 of the budget)\n",
            "(100 tokens as counted)",
        ] {
            assert!(told.contains(expected), "{expected} in:\n{told}");
        }
        context.budget.as_mut().expect("it is there").calibration = 1.0;
        let told = lines(&context, Paint::OFF, false).join("\n");
        assert!(!told.contains("estimated") && !told.contains("as counted"), "{told}");
    }

    #[test]
    fn an_earlier_state_above_the_limit_says_so_and_why() {
        let budget = v1::TokenBudget {
            window: 10_000,
            output_reserve: 2_000,
            messages: 9_500,
            ..v1::TokenBudget::default()
        };
        let stage = v1::StageReport { trigger: AT_REVISION.into(), ..v1::StageReport::default() };
        let expected = "1,500 tokens above the limit: shown as it stood then, no stage runs for it";
        assert_eq!(above_limit(&budget, &[stage]).as_deref(), Some(expected));
        let now = above_limit(&budget, &[]);
        assert_eq!(now.as_deref(), Some("1,500 tokens above the limit"));
        let fits = v1::TokenBudget { messages: 8_000, ..budget };
        assert_eq!(above_limit(&fits, &[]), None);
    }
}
