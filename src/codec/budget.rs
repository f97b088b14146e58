//! How full the window is.

use super::{Error, error::each};
use crate::{
    model::{BudgetPart, PartKind, Pressure, TokenBudget},
    proto::v1::{self as pb, token_budget::Part, token_budget::part::Kind},
};

/// To the contract's form.
#[must_use]
pub fn to_pb(budget: &TokenBudget) -> pb::TokenBudget {
    pb::TokenBudget {
        window: budget.window,
        fixed: budget.fixed,
        messages: budget.messages,
        output_reserve: budget.output_reserve,
        available: budget.available(),
        usage_ratio: budget.usage_ratio(),
        pressure: pressure_to_pb(budget.pressure).into(),
        spawn_allowed: budget.spawn_allowed,
        calibration: budget.calibration,
        history: budget.history,
        parts: budget.parts.iter().map(part_to_pb).collect(),
    }
}

/// From the contract's form; what follows from the other numbers is not taken.
///
/// # Errors
///
/// Names the field that is not as expected.
pub fn from_pb(budget: pb::TokenBudget) -> Result<TokenBudget, Error> {
    Ok(TokenBudget {
        window: budget.window,
        fixed: budget.fixed,
        messages: budget.messages,
        output_reserve: budget.output_reserve,
        pressure: pressure_from_pb(budget.pressure)?,
        spawn_allowed: budget.spawn_allowed,
        calibration: budget.calibration,
        history: budget.history,
        parts: each("parts", budget.parts, part_from_pb)?,
    })
}

fn pressure_to_pb(pressure: Pressure) -> pb::Pressure {
    match pressure {
        Pressure::Normal => pb::Pressure::Normal,
        Pressure::Elevated => pb::Pressure::Elevated,
        Pressure::Warning => pb::Pressure::Warning,
        Pressure::Critical => pb::Pressure::Critical,
    }
}

fn pressure_from_pb(pressure: i32) -> Result<Pressure, Error> {
    match pb::Pressure::try_from(pressure) {
        Ok(pb::Pressure::Normal) => Ok(Pressure::Normal),
        Ok(pb::Pressure::Elevated) => Ok(Pressure::Elevated),
        Ok(pb::Pressure::Warning) => Ok(Pressure::Warning),
        Ok(pb::Pressure::Critical) => Ok(Pressure::Critical),
        Ok(pb::Pressure::Unspecified) | Err(_) => Err(Error::new("pressure", "a known PRESSURE")),
    }
}

fn part_to_pb(part: &BudgetPart) -> Part {
    let kind = match part.kind {
        PartKind::System => Kind::System,
        PartKind::Tools => Kind::Tools,
        PartKind::ContextItem => Kind::ContextItem,
        PartKind::Caller => Kind::Caller,
        PartKind::User => Kind::User,
        PartKind::Assistant => Kind::Assistant,
        PartKind::Thinking => Kind::Thinking,
        PartKind::ToolUse => Kind::ToolUse,
        PartKind::ToolResult => Kind::ToolResult,
        PartKind::Image => Kind::Image,
        PartKind::Summary => Kind::Summary,
    };
    Part { kind: kind.into(), name: part.name.clone(), tokens: part.tokens }
}

fn part_from_pb(part: Part) -> Result<BudgetPart, Error> {
    let kind = match Kind::try_from(part.kind) {
        Ok(Kind::System) => PartKind::System,
        Ok(Kind::Tools) => PartKind::Tools,
        Ok(Kind::ContextItem) => PartKind::ContextItem,
        Ok(Kind::Caller) => PartKind::Caller,
        Ok(Kind::User) => PartKind::User,
        Ok(Kind::Assistant) => PartKind::Assistant,
        Ok(Kind::Thinking) => PartKind::Thinking,
        Ok(Kind::ToolUse) => PartKind::ToolUse,
        Ok(Kind::ToolResult) => PartKind::ToolResult,
        Ok(Kind::Image) => PartKind::Image,
        Ok(Kind::Summary) => PartKind::Summary,
        Ok(Kind::Unspecified) | Err(_) => return Err(Error::new("kind", "a known KIND")),
    };
    Ok(BudgetPart { kind, name: part.name, tokens: part.tokens })
}
