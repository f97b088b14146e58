//! The tables: Markdown, or lines of JSON.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{
    cache::Spent,
    numbers::{mean, p95, share},
    run::Results,
    tally::{Collapses, Kept, SORTS, Tally},
};

/// Stages in the order of their columns, with what stands above them.
const STAGES: [(&str, &str); 10] = [
    ("result_cap", "cap"),
    ("batch_budget", "batch"),
    ("dedupe_files", "dedupe"),
    ("strip_images", "images"),
    ("micro_text", "text"),
    ("tool_fold", "fold"),
    ("micro_clear", "clear"),
    ("snip_turns", "snip turns"),
    ("snip_middle", "snip middle"),
    ("collapse", "collapse"),
];

/// Everything, window by window.
pub(crate) fn markdown(all: &[Results]) -> String {
    let mut out = String::new();
    for results in all {
        heading(&mut out, results);
        stages(&mut out, results);
        facts(&mut out, results);
        costs(&mut out, results);
    }
    out
}

fn heading(out: &mut String, results: &Results) {
    let tokens: i64 = results.sessions.iter().map(|(_, tokens)| tokens).sum();
    let _ = writeln!(
        out,
        "### Window of {} tokens: {} sessions, {} tokens\n",
        thousands(results.window),
        results.sessions.len(),
        thousands(tokens),
    );
}

fn stages(out: &mut String, results: &Results) {
    let names: Vec<&str> = STAGES.iter().map(|(_, name)| *name).collect();
    let mut head = vec!["policy", "contexts", "none fits", "usage", "saved"];
    head.extend(names);
    head.extend(["fit", "contexts with `fit`"]);
    row(out, head.iter().map(|it| (*it).to_owned()));
    row(out, head.iter().map(|_| "---".to_owned()));
    for (name, tally) in &results.candidates {
        let mut cells = vec![
            format!("`{name}`"),
            thousands(tally.contexts),
            thousands(tally.irreducible),
            percent(mean_usage(tally)),
            percent(share(tally.history - tally.shown, tally.history)),
        ];
        let saved = |stage: &str| match tally.saved.get(stage) {
            Some(tokens) => percent(share(*tokens, tally.history)),
            None => String::new(),
        };
        cells.extend(STAGES.iter().map(|(stage, _)| saved(stage)));
        cells.extend([saved("fit"), thousands(tally.fitted)]);
        row(out, cells);
    }
    out.push('\n');
}

fn facts(out: &mut String, results: &Results) {
    let head = [
        "policy",
        "collapses",
        "summary tokens: mean",
        "p95",
        "most",
        "paths",
        "requests",
        "failing commands",
        "open to-dos",
    ];
    row(out, head.iter().map(|it| (*it).to_owned()));
    row(out, head.iter().map(|_| "---".to_owned()));
    for (name, tally) in &results.candidates {
        for (collapses, of) in tally.collapses.iter().zip(["segments", "wider"]) {
            let count = i64::try_from(collapses.summaries.len()).unwrap_or(0);
            if count == 0 && of == "wider" {
                continue;
            }
            let number = |it: Option<i64>| it.map_or_else(String::new, thousands);
            let mut cells = vec![
                format!("`{name}`"),
                format!("{} {of}", thousands(count)),
                number(mean(&collapses.summaries)),
                number(p95(&collapses.summaries)),
                number(collapses.summaries.iter().max().copied()),
            ];
            cells.extend(collapses.kept.iter().map(|it| kept(*it)));
            row(out, cells);
        }
    }
    out.push('\n');
}

fn kept(kept: Kept) -> String {
    match share(kept.named, kept.of) {
        Some(share) => format!("{}/{} = {}", kept.named, kept.of, percent(Some(share))),
        None => String::new(),
    }
}

fn costs(out: &mut String, results: &Results) {
    let head = [
        "policy",
        "calls",
        "too large",
        "tokens a call",
        "unchanged prefix",
        "cuts",
        "cost a call",
        "of the same uncached",
        "of the whole history uncached",
    ];
    row(out, head.iter().map(|it| (*it).to_owned()));
    row(out, head.iter().map(|_| "---".to_owned()));
    for (name, spent) in spent(results) {
        let a_call = |tokens: i64| thousands(tokens / spent.calls.max(1));
        let cells = [
            name,
            thousands(spent.calls),
            thousands(spent.too_large),
            a_call(spent.sent),
            percent(share(spent.cached, spent.sent)),
            thousands(spent.cuts),
            a_call(spent.cost()),
            percent(share(spent.cost(), spent.sent)),
            percent(share(spent.cost(), spent.whole)),
        ];
        row(out, cells);
    }
    out.push('\n');
}

/// Presets, then the simple policies.
fn spent(results: &Results) -> Vec<(String, Spent)> {
    let candidates = results.candidates.iter().map(|(name, it)| (format!("`{name}`"), it.spent));
    let simple = results.simple.iter().map(|(name, it)| ((*name).to_owned(), *it));
    candidates.chain(simple).collect()
}

fn row(out: &mut String, cells: impl IntoIterator<Item = String>) {
    for cell in cells {
        let _ = write!(out, "| {cell} ");
    }
    out.push_str("|\n");
}

#[expect(clippy::cast_precision_loss, reason = "contexts are far fewer than 2^52")]
fn mean_usage(tally: &Tally) -> Option<f64> {
    (tally.contexts > 0).then(|| tally.usage / tally.contexts as f64)
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(String::new, |it| format!("{:.1} %", it * 100.0))
}

fn thousands(number: i64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && digits.as_bytes()[at - 1] != b'-' {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A line for each policy in each window.
pub(crate) fn json(all: &[Results]) -> String {
    let mut out = String::new();
    for results in all {
        for (name, tally) in &results.candidates {
            let mut members = members(results.window, name, &tally.spent);
            members.extend(tally_members(tally));
            let _ = writeln!(out, "{}", Value::Object(members));
        }
        for (name, spent) in &results.simple {
            let members = members(results.window, name, spent);
            let _ = writeln!(out, "{}", Value::Object(members));
        }
    }
    out
}

fn members(window: i64, name: &str, spent: &Spent) -> Map<String, Value> {
    let all = json!({
        "window": window,
        "policy": name,
        "calls": spent.calls,
        "too_large": spent.too_large,
        "sent_tokens": spent.sent,
        "cached_tokens": spent.cached,
        "cuts": spent.cuts,
        "whole_history_tokens": spent.whole,
        "cost_tokens": spent.cost(),
    });
    if let Value::Object(members) = all { members } else { Map::new() }
}

fn tally_members(tally: &Tally) -> Map<String, Value> {
    let [segments, wider] = &tally.collapses;
    let all = json!({
        "sessions": tally.sessions,
        "contexts": tally.contexts,
        "irreducible": tally.irreducible,
        "contexts_with_fit": tally.fitted,
        "mean_usage": mean_usage(tally),
        "history_tokens": tally.history,
        "shown_tokens": tally.shown,
        "saved_tokens": tally.saved,
        "segments": collapses(segments),
        "wider": collapses(wider),
    });
    if let Value::Object(members) = all { members } else { Map::new() }
}

fn collapses(collapses: &Collapses) -> Value {
    let of = |(sort, kept): (&str, &Kept)| {
        (sort.to_owned(), json!({"named": kept.named, "of": kept.of}))
    };
    let facts: Map<String, Value> = SORTS.into_iter().zip(&collapses.kept).map(of).collect();
    json!({
        "collapses": collapses.summaries.len(),
        "summary_tokens_mean": mean(&collapses.summaries),
        "summary_tokens_p95": p95(&collapses.summaries),
        "summary_tokens_most": collapses.summaries.iter().max(),
        "facts": facts,
    })
}

/// What the summaries do not name: a line of JSON each.
pub(crate) fn losses(all: &[Results]) -> String {
    let mut out = String::new();
    for results in all {
        for (name, tally) in &results.candidates {
            for loss in &tally.losses {
                let line = json!({
                    "window": results.window,
                    "policy": name,
                    "session": loss.session,
                    "first": loss.first,
                    "last": loss.last,
                    "wider": loss.is_wider,
                    "sort": loss.sort,
                    "fact": loss.fact,
                    "summary": loss.summary,
                });
                let _ = writeln!(out, "{line}");
            }
        }
    }
    out
}
