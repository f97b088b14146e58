//! From the model that a caller names to one with nothing left to look up.

use super::{Ctx, Error, Result, error::Violation, fields::Fields};
use crate::model::{Model, Policy};

/// The window where no model is named.
pub const DEFAULT_WINDOW: i64 = 128_000;
/// Above this a count of tokens is a mistake.
const MOST_TOKENS: i64 = 1_000_000_000;

/// A model as a caller names it; what is unset is zero or empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelInput {
    /// As the provider names it.
    pub name: String,
    /// Tokens; zero: look the name up.
    pub context_window: i64,
    /// Tokens kept free for the answer.
    pub output_reserve: Option<i64>,
    /// Bytes of the rendered request; zero: the server's.
    pub request_bytes_limit: i64,
    /// Tokens of what the caller adds to every request.
    pub caller_fixed_tokens: i64,
}

impl ModelInput {
    /// True where nothing is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Notes what no state could make right; `field` is its path.
    pub fn check(&self, fields: &mut Fields, field: &str) {
        fields.name(&format!("{field}.name"), &self.name);
        let numbers = [
            ("context_window", self.context_window),
            ("output_reserve", self.output_reserve.unwrap_or(0)),
            ("request_bytes_limit", self.request_bytes_limit),
            ("caller_fixed_tokens", self.caller_fixed_tokens),
        ];
        for (name, number) in numbers {
            if !(0..=MOST_TOKENS).contains(&number) {
                fields.wrong(
                    format!("{field}.{name}"),
                    format!("expected 0 to {MOST_TOKENS}, found {number}"),
                );
            }
        }
    }

    /// The model with everything looked up; `None` where none is named.
    ///
    /// # Errors
    ///
    /// * [`Error::UnknownModel`] where neither the caller nor the server knows
    ///   its window.
    /// * [`Error::InvalidField`] where the reserve leaves nothing of it.
    pub fn resolve(&self, ctx: &Ctx, field: &str) -> Result<Option<Model>> {
        if self.is_empty() {
            return Ok(None);
        }
        let base = Model {
            name: String::new(),
            context_window: 0,
            output_reserve: None,
            request_bytes_limit: ctx.limits.rendered_bytes,
            caller_fixed_tokens: 0,
        };
        self.over(&base, ctx, field).map(Some)
    }

    /// The model that this makes of `base`, field by field. Another name brings
    /// its own window, unless this names one.
    ///
    /// # Errors
    ///
    /// As [`ModelInput::resolve`].
    pub fn over(&self, base: &Model, ctx: &Ctx, field: &str) -> Result<Model> {
        let renamed = !self.name.is_empty() && self.name != base.name;
        let name = if renamed { &self.name } else { &base.name };
        let context_window = match (self.context_window, renamed) {
            (0, false) => base.context_window,
            (0, true) => ctx.window_of(name).ok_or_else(|| Error::UnknownModel(name.clone()))?,
            (asked, _) => asked,
        };
        if context_window == 0 {
            return Err(Error::field(field, "expected a name or a context_window"));
        }
        let model = Model {
            name: name.clone(),
            context_window,
            output_reserve: self.output_reserve.or(base.output_reserve),
            request_bytes_limit: or(self.request_bytes_limit, base.request_bytes_limit),
            caller_fixed_tokens: or(self.caller_fixed_tokens, base.caller_fixed_tokens),
        };
        check_reserve(&model, field)?;
        Ok(model)
    }
}

/// What is kept free of `model`'s window for the answer.
#[must_use]
pub fn output_reserve(model: &Model, policy: &Policy) -> i64 {
    model
        .output_reserve
        .unwrap_or_else(|| policy.window.output_reserve_tokens.min(model.context_window / 4))
}

fn or(asked: i64, otherwise: i64) -> i64 {
    if asked == 0 { otherwise } else { asked }
}

fn check_reserve(model: &Model, field: &str) -> Result<()> {
    match model.output_reserve {
        Some(reserve) if reserve >= model.context_window => {
            Err(Error::InvalidField(vec![Violation::new(
                format!("{field}.output_reserve"),
                format!(
                    "expected less than the context_window of {}, found {reserve}",
                    model.context_window
                ),
            )]))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{policies::Presets, store::memory::MemoryStore};

    fn ctx() -> Ctx {
        Ctx::new(Arc::new(MemoryStore::new()))
    }

    fn sized(context_window: i64) -> ModelInput {
        ModelInput { context_window, ..ModelInput::default() }
    }

    #[test]
    fn r4_the_callers_window_wins_over_the_models() {
        let named = ModelInput { name: "claude-sonnet-4-5".into(), ..ModelInput::default() };
        let known = named.resolve(&ctx(), "model").unwrap().unwrap();
        assert!(known.context_window >= 200_000);
        let sized = ModelInput { context_window: 1000, ..named };
        let sized = sized.resolve(&ctx(), "model").unwrap().unwrap();
        assert_eq!((&*sized.name, sized.context_window), ("claude-sonnet-4-5", 1000));
    }

    #[test]
    fn no_model_is_none() {
        assert_eq!(ModelInput::default().resolve(&ctx(), "model").unwrap(), None);
    }

    #[test]
    fn r2_the_reserve_is_the_policys_or_a_quarter_of_a_small_window() {
        let policy = Presets::embedded().resolve("default", b"").unwrap().policy;
        let reserve = |model: ModelInput| {
            output_reserve(&model.resolve(&ctx(), "model").unwrap().unwrap(), &policy)
        };
        assert_eq!(reserve(sized(200_000)), 8192);
        assert_eq!(reserve(sized(8192 * 4)), 8192);
        assert_eq!(reserve(sized(1000)), 250);
        assert_eq!(reserve(ModelInput { output_reserve: Some(0), ..sized(1000) }), 0);
        assert_eq!(reserve(ModelInput { output_reserve: Some(999), ..sized(1000) }), 999);
    }

    #[test]
    fn a_reserve_leaves_something_of_the_window() {
        let model = ModelInput { output_reserve: Some(1000), ..sized(1000) };
        let Err(Error::InvalidField(wrong)) = model.resolve(&ctx(), "model") else {
            panic!("it was taken")
        };
        assert_eq!(wrong[0].field, "model.output_reserve");
    }

    #[test]
    fn a_callers_model_goes_over_the_views_field_by_field() {
        let base = ModelInput { output_reserve: Some(100), ..sized(1000) };
        let base = base.resolve(&ctx(), "model").unwrap().unwrap();
        let same = ModelInput::default().over(&base, &ctx(), "model").unwrap();
        assert_eq!(same, base);
        let fixed = ModelInput { caller_fixed_tokens: 7, ..ModelInput::default() };
        let fixed = fixed.over(&base, &ctx(), "model").unwrap();
        assert_eq!(fixed, Model { caller_fixed_tokens: 7, ..base.clone() });
        let renamed = ModelInput { name: "claude-sonnet-4-5".into(), ..ModelInput::default() };
        let renamed = renamed.over(&base, &ctx(), "model").unwrap();
        assert!(renamed.context_window >= 200_000, "another name brings its own window");
        let smaller = sized(100).over(&base, &ctx(), "model");
        assert!(matches!(smaller, Err(Error::InvalidField(_))), "the reserve takes all of it");
    }
}
