//! Plays the session as an agent would: append, ask for the context, answer.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{DemoSession, script::Line};
use crate::{
    cli::{
        context_view,
        json::BudgetJson,
        names,
        out::{Out, Paint},
        remote::Remote,
        text::{self, bar, by_pressure, percent, thousands},
    },
    proto::v1,
};

const BAR_WIDTH: usize = 22;

/// What is known after the last call.
#[derive(Default)]
pub(super) struct Played {
    /// The context of the last call.
    pub(super) last: v1::Context,
    pub(super) calls: usize,
}

/// Appends every line, asks for the context before each assistant message, and
/// prints how full the window was.
pub(super) async fn play(
    lines: &[Line],
    session: &DemoSession,
    remote: &mut Remote,
    out: &mut Out,
) -> anyhow::Result<Played> {
    let mut played = Played::default();
    let mut brought = String::new();
    let mut calls = Vec::new();
    if !out.is_json() {
        out.line(out.paint().dim(&heading()))?;
    }
    for line in lines {
        let mut fingerprint = String::new();
        if line.is_assistant() {
            let context = remote.get_context(session.context_request()).await?;
            played.calls += 1;
            print_call(&played, &context, &brought, out)?;
            fingerprint.clone_from(&context.fingerprint);
            played.last = context;
            calls = line.calls();
        } else {
            brought = line.brings(&calls);
        }
        remote.append_turn(session.append_request(line, fingerprint)).await?;
    }
    Ok(played)
}

fn heading() -> String {
    format!(
        "{:>4}  {:<37} {:>8} {:>7}  {:<width$}",
        "call",
        "what came before it",
        "history",
        "sent",
        "of the limit",
        width = BAR_WIDTH
    )
}

#[derive(Serialize)]
struct CallJson<'a> {
    call: usize,
    brought: &'a str,
    budget: Option<BudgetJson<'a>>,
    newly_saved: BTreeMap<&'a str, i64>,
    stable_prefix_messages: i32,
}

fn print_call(
    played: &Played,
    context: &v1::Context,
    brought: &str,
    out: &mut Out,
) -> anyhow::Result<()> {
    let acts = newly_saved(&played.last, context);
    if out.is_json() {
        out.json(&CallJson {
            call: played.calls,
            brought,
            budget: context.budget.as_ref().map(BudgetJson::new),
            newly_saved: acts,
            stable_prefix_messages: context.stable_prefix_messages,
        })?;
        return Ok(());
    }
    let paint = out.paint();
    let budget = context.budget.clone().unwrap_or_default();
    out.line(call_line(played.calls, brought, &budget, paint))?;
    let overlays = new_overlays(&played.last, context);
    let recorded = |stage: &str| overlays.iter().any(|overlay| overlay.stage == stage);
    let at_sight: Vec<_> = acts
        .iter()
        .filter(|(stage, _)| !recorded(stage))
        .map(|(stage, saved)| format!("{stage} saves {}", thousands(*saved)))
        .collect();
    let told = overlays.iter().copied().map(overlay_line);
    for line in (!at_sight.is_empty()).then(|| at_sight.join(" · ")).into_iter().chain(told) {
        out.line(paint.cyan(&format!("      ╰─ {line}")))?;
    }
    Ok(())
}

/// `new overlay: clear of 3 messages by micro_clear, 8,423 → 7,020 tokens`.
fn overlay_line(overlay: &v1::Overlay) -> String {
    format!(
        "new overlay: {} of {} by {}, {} → {} tokens",
        names::overlay_kind(overlay.kind),
        context_view::what(overlay),
        overlay.stage,
        thousands(overlay.tokens_before),
        thousands(overlay.tokens_after)
    )
}

fn call_line(call: usize, brought: &str, budget: &v1::TokenBudget, paint: Paint) -> String {
    let pressure = names::pressure(budget.pressure);
    let word = if pressure == "normal" { String::new() } else { format!(" {pressure}") };
    let drawn = by_pressure(paint, budget.pressure, &bar(budget.usage_ratio, BAR_WIDTH));
    format!(
        "{call:>4}  {brought:<37} {:>8} {:>7}  {drawn} {:>5}{word}",
        thousands(budget.history),
        thousands(budget.fixed + budget.messages),
        percent(budget.usage_ratio)
    )
}

/// What each stage saves now beyond what it saved at the call before, where it
/// is worth a word.
fn newly_saved<'a>(before: &v1::Context, now: &'a v1::Context) -> BTreeMap<&'a str, i64> {
    const WORTH_TELLING: i64 = 200;
    let saved = |context: &v1::Context, name: &str| -> i64 {
        let of_stage = context.stages.iter().filter(|stage| stage.stage == name);
        of_stage.map(|stage| stage.tokens_before - stage.tokens_after).sum()
    };
    now.stages
        .iter()
        .map(|stage| (stage.stage.as_str(), saved(now, &stage.stage) - saved(before, &stage.stage)))
        .filter(|(_, more)| *more >= WORTH_TELLING)
        .collect()
}

fn new_overlays<'a>(before: &v1::Context, now: &'a v1::Context) -> Vec<&'a v1::Overlay> {
    let known = |overlay: &&v1::Overlay| before.overlays.iter().any(|it| it.id == overlay.id);
    now.overlays.iter().filter(|overlay| !known(overlay)).collect()
}

/// `12 calls, 96 messages`.
pub(super) fn summary(played: &Played, messages: usize) -> String {
    let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    format!(
        "{} to the model, {} in the history",
        text::count(number(played.calls), "call"),
        text::count(number(messages), "message")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(saved: i64, overlays: &[&str]) -> v1::Context {
        let overlay = |id: &&str| v1::Overlay { id: (*id).to_owned(), ..v1::Overlay::default() };
        v1::Context {
            stages: vec![v1::StageReport {
                stage: "fit".into(),
                tokens_before: 10_000,
                tokens_after: 10_000 - saved,
                ..v1::StageReport::default()
            }],
            overlays: overlays.iter().map(overlay).collect(),
            ..v1::Context::default()
        }
    }

    #[test]
    fn only_what_is_new_since_the_last_call_is_told() {
        let (before, now) = (context(1_000, &["a"]), context(4_000, &["a", "b"]));
        assert_eq!(newly_saved(&before, &now), BTreeMap::from([("fit", 3_000)]));
        assert!(newly_saved(&now, &now).is_empty());
        let new: Vec<_> = new_overlays(&before, &now).iter().map(|it| it.id.as_str()).collect();
        assert_eq!(new, ["b"]);
    }

    #[test]
    fn a_line_fits_a_hundred_columns_and_says_the_pressure() {
        let budget = v1::TokenBudget {
            history: 123_456,
            messages: 23_456,
            usage_ratio: 0.97,
            pressure: v1::Pressure::Critical.into(),
            ..v1::TokenBudget::default()
        };
        let line = call_line(40, &"x".repeat(37), &budget, Paint::OFF);
        assert!(line.chars().count() <= 100, "{line}");
        assert!(line.ends_with("97 % critical"), "{line}");
    }
}
