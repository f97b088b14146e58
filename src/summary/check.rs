//! What a summary must pass before it is shown.

use std::fmt;

use super::Template;
use crate::tokens::count_text;

/// What a summary is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Tokens that it may have at most.
    pub max_tokens: i64,
    /// The layout whose parts it must have; `None` for a caller's own.
    pub template: Option<Template>,
}

/// Why a summary is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// It is no summary.
    #[error("the summary is refused: {0}")]
    Text(Detail),
    /// It is one, but too long.
    #[error("the summary has {tokens} tokens, at most {max} are allowed")]
    TooLong {
        /// Tokens that it has, uncalibrated.
        tokens: i64,
        /// Tokens that it may have.
        max: i64,
    },
}

/// What is wrong with a text that should be a summary. Its `Display` is the
/// error's `detail`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detail {
    /// Nothing but white space.
    Blank,
    /// Its writer was stopped.
    CutOff,
    /// Its writer would not.
    Refused,
    /// Without a letter, a tool call, data, or with control characters.
    NotText,
    /// Nothing but an error message.
    ErrorMessage,
    /// The layout's part of that name is missing.
    SectionMissing(&'static str),
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => f.write_str("blank"),
            Self::CutOff => f.write_str("cut off"),
            Self::Refused => f.write_str("refused"),
            Self::NotText => f.write_str("not text"),
            Self::ErrorMessage => f.write_str("an error message"),
            Self::SectionMissing(name) => write!(f, "section missing: {name}"),
        }
    }
}

/// Says whether a summary may be shown, as far as no view is needed for that.
///
/// `finish_reason` is the writer's own word for why it stopped; empty where it
/// gave none.
///
/// # Errors
///
/// [`Rejected`], with what is wrong.
pub fn check(text: &str, finish_reason: &str, limits: &Limits) -> Result<(), Rejected> {
    let _ = finish_reason;
    if text.trim().is_empty() {
        return Err(Rejected::Text(Detail::Blank));
    }
    let tokens = i64::from(count_text(text));
    if tokens > limits.max_tokens {
        return Err(Rejected::TooLong { tokens, max: limits.max_tokens });
    }
    Ok(())
}
