//! The rules that a single value keeps.

use std::fmt::Display;

use super::PolicyError;

/// Above every size and count there is; keeps sums and products of them in
/// range whatever a patch says.
const MOST: usize = 1_000_000_000;
/// Longest marker or envelope, in bytes.
const MOST_MARKER_BYTES: usize = 4096;
/// Longest list of names or steps.
pub(super) const MOST_NAMES: usize = 256;

pub(super) type Outcome = Result<(), PolicyError>;

/// A ratio at which something starts, or the like: zero is no meaning of it.
pub(super) fn trigger(key: &str, ratio: f64) -> Outcome {
    // Written so that NaN is refused.
    if ratio > 0.0 && ratio <= 1.0 {
        return Ok(());
    }
    refuse(key, "a ratio above 0 and at most 1", ratio)
}

pub(super) fn share(key: &str, share: f64) -> Outcome {
    if (0.0..=1.0).contains(&share) {
        return Ok(());
    }
    refuse(key, "a ratio from 0 to 1", share)
}

pub(super) fn count(key: &str, count: usize) -> Outcome {
    at_most(key, count, "any size there is:", MOST)
}

pub(super) fn positive(key: &str, size: usize) -> Outcome {
    if size == 0 {
        return refuse(key, "at least 1", size);
    }
    count(key, size)
}

pub(super) fn tokens(key: &str, tokens: i64) -> Outcome {
    within(key, tokens, i64::try_from(MOST).unwrap_or(i64::MAX))
}

pub(super) fn within(key: &str, number: i64, most: i64) -> Outcome {
    if (0..=most).contains(&number) {
        return Ok(());
    }
    refuse(key, format_args!("a number from 0 to {most}"), number)
}

pub(super) fn at_most<T: PartialOrd + Display + Copy>(
    key: &str,
    value: T,
    of: &str,
    most: T,
) -> Outcome {
    if value <= most {
        return Ok(());
    }
    refuse(key, format_args!("at most {of} ({most})"), value)
}

pub(super) fn summary_size(stage: &str, least: i64, most: i64) -> Outcome {
    let key = format!("{stage}.min_summary_tokens");
    tokens(&format!("{stage}.max_summary_tokens"), most)?;
    at_most(&key, least, "max_summary_tokens", most)?;
    if least < 1 { refuse(&key, "at least 1", least) } else { Ok(()) }
}

pub(super) fn marker(key: &str, text: &str) -> Outcome {
    if text.len() > MOST_MARKER_BYTES {
        let expected = format_args!("at most {MOST_MARKER_BYTES} bytes");
        return refuse(key, expected, format_args!("{} bytes", text.len()));
    }
    Ok(())
}

pub(super) fn envelope(key: &str, text: &str) -> Outcome {
    marker(key, text)?;
    if text.contains("{summary}") {
        return Ok(());
    }
    refuse(key, "a text with {summary} in it", format_args!("`{text}`"))
}

pub(super) fn names(key: &str, names: &[String]) -> Outcome {
    if names.len() > MOST_NAMES {
        return refuse(key, format_args!("at most {MOST_NAMES} names"), names.len());
    }
    match names.iter().position(String::is_empty) {
        Some(at) => refuse(&format!("{key}[{at}]"), "a tool or class", "an empty name"),
        None => Ok(()),
    }
}

pub(super) fn one_of(key: &str, name: &str, known: &[&str]) -> Outcome {
    if known.contains(&name) {
        return Ok(());
    }
    refuse(key, format_args!("one of {}", known.join(", ")), format_args!("`{name}`"))
}

pub(super) fn refuse(key: &str, expected: impl Display, found: impl Display) -> Outcome {
    Err(PolicyError::new(key, expected, found))
}
