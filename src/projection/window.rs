//! How much fits: the window, what is fixed in it, and the calibration.

use crate::{
    model::{
        Pressure,
        policy::{Basis, Policy, Warnings},
    },
    tokens,
};

/// A window and what stands in it besides messages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Tokens of the model's whole window.
    pub window: i64,
    /// Tokens kept free for the answer.
    pub reserve: i64,
    /// Calibrated tokens of context items and of what the caller adds.
    pub fixed: i64,
    /// The calibration factor of message tokens.
    pub factor: f64,
    /// True where nobody told what goes around the messages.
    pub is_fixed_unstated: bool,
    /// Bytes of the rendered request.
    pub bytes_limit: i64,
    /// Rendered bytes per estimated byte; 1.0 until a rendering was measured.
    pub bytes_ratio: f64,
}

impl Window {
    /// window − reserve: what a context may be.
    #[must_use]
    pub fn limit(&self) -> i64 {
        self.window - self.reserve
    }

    /// limit − fixed: what messages may be.
    #[must_use]
    pub fn room(&self) -> i64 {
        (self.limit() - self.fixed).max(0)
    }

    /// fixed + messages, calibrated.
    #[must_use]
    pub fn used(&self, messages: i64) -> i64 {
        self.fixed.saturating_add(tokens::calibrate(messages, self.factor))
    }

    /// `share` of the policy's basis, at most the limit: where a ratio fires.
    #[must_use]
    pub fn at_ratio(&self, basis: Basis, ratio: f64) -> i64 {
        let of = match basis {
            Basis::Window => self.window,
            Basis::Limit => self.limit(),
        };
        share_of(of, ratio).min(self.limit())
    }

    /// A size in tokens, capped by a share of limit − fixed.
    #[must_use]
    pub fn capped(&self, tokens: i64, share: f64) -> i64 {
        tokens.min(share_of(self.room(), share))
    }

    /// How full, in words.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
    pub fn pressure(&self, warnings: &Warnings, used: i64) -> Pressure {
        let ratio = used as f64 / self.limit().max(1) as f64;
        if ratio >= warnings.critical_ratio {
            Pressure::Critical
        } else if ratio >= warnings.warning_ratio {
            Pressure::Warning
        } else if ratio >= warnings.elevated_ratio {
            Pressure::Elevated
        } else {
            Pressure::Normal
        }
    }

    /// What `fit` lets through: the limit, less the margin where nobody told
    /// what goes around the messages.
    #[must_use]
    pub fn fit_limit(&self, policy: &Policy) -> i64 {
        let margin = if self.is_fixed_unstated { policy.fit.unstated_fixed_share } else { 0.0 };
        self.limit() - share_of(self.limit(), margin)
    }
}

/// `share` of `tokens`, rounded up, so that a ratio fires at the first whole
/// token that reaches it.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "token counts are far below 2^52"
)]
pub fn share_of(tokens: i64, share: f64) -> i64 {
    // Shares such as 0.7 have no exact binary form: what is within a millionth
    // of a whole number is that number.
    let exact = tokens as f64 * share;
    let near = exact.round();
    if (exact - near).abs() < 1e-6 { near as i64 } else { exact.ceil() as i64 }
}

/// The reserve where the model names none: the policy's, at most a quarter of
/// the window.
#[must_use]
pub fn default_reserve(policy: &Policy, window: i64) -> i64 {
    policy.window.output_reserve_tokens.min(window / 4)
}
