//! How full a window is.

use serde::Serialize;

use crate::{cli::names, proto::v1};

/// `TokenBudget`.
#[derive(Serialize)]
pub(in crate::cli) struct BudgetJson<'a> {
    window: i64,
    output_reserve: i64,
    fixed: i64,
    messages: i64,
    available: i64,
    usage_ratio: f64,
    pressure: String,
    spawn_allowed: bool,
    calibration: f64,
    history: i64,
    parts: Vec<PartJson<'a>>,
}

#[derive(Serialize)]
struct PartJson<'a> {
    kind: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    tokens: i64,
}

impl<'a> BudgetJson<'a> {
    pub(in crate::cli) fn new(budget: &'a v1::TokenBudget) -> Self {
        let part = |part: &'a v1::token_budget::Part| PartJson {
            kind: names::part_kind(part.kind),
            name: &part.name,
            tokens: part.tokens,
        };
        Self {
            window: budget.window,
            output_reserve: budget.output_reserve,
            fixed: budget.fixed,
            messages: budget.messages,
            available: budget.available,
            usage_ratio: budget.usage_ratio,
            pressure: names::pressure(budget.pressure),
            spawn_allowed: budget.spawn_allowed,
            calibration: budget.calibration,
            history: budget.history,
            parts: budget.parts.iter().map(part).collect(),
        }
    }
}
