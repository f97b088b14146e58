//! What a summary must pass before it is shown: as far as no view is needed.
//!
//! A summary is untrusted text, whoever wrote it. Whether it makes the context
//! smaller is for the caller to say, who has the view.

use std::fmt;

use serde_json::Value;

use super::{
    Template,
    layout::{has_headings, least_tokens, sections},
    text::floor,
};
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
    /// Its writer was stopped before the end.
    CutOff,
    /// Its writer would not write it.
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
    let found = wrong_finish(finish_reason)
        .or_else(|| wrong_text(text))
        .or_else(|| missing_section(text, limits));
    if let Some(detail) = found {
        return Err(Rejected::Text(detail));
    }
    let tokens = i64::from(count_text(text));
    if tokens > limits.max_tokens {
        return Err(Rejected::TooLong { tokens, max: limits.max_tokens });
    }
    Ok(())
}

/// Only the words for a natural end are let through: a reason that nobody knows
/// may mean anything.
fn wrong_finish(reason: &str) -> Option<Detail> {
    let plain: String =
        reason.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    match plain.as_str() {
        "" | "stop" | "endturn" | "stopsequence" | "completed" | "complete" | "eos" | "end"
        | "done" | "finished" | "success" | "finishreasonstop" => None,
        "contentfilter"
        | "refusal"
        | "refused"
        | "safety"
        | "recitation"
        | "blocklist"
        | "prohibitedcontent"
        | "guardrailintervened" => Some(Detail::Refused),
        "toolcalls" | "tooluse" | "functioncall" => Some(Detail::NotText),
        _ => Some(Detail::CutOff),
    }
}

pub(super) fn wrong_text(text: &str) -> Option<Detail> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Some(Detail::Blank);
    }
    if is_error_message(trimmed) {
        return Some(Detail::ErrorMessage);
    }
    let is_odd = |it: char| it.is_control() && !matches!(it, '\n' | '\t' | '\r');
    let is_text = trimmed.chars().any(char::is_alphabetic) && !text.chars().any(is_odd);
    if !is_text || is_data(trimmed) || is_call(trimmed) || is_thinking(trimmed) {
        return Some(Detail::NotText);
    }
    is_refusal(trimmed).then_some(Detail::Refused)
}

/// Longest text that can be nothing but an error message, in bytes.
const LONGEST_ERROR: usize = 400;

/// Nothing but what a provider or a program says when something went wrong.
fn is_error_message(text: &str) -> bool {
    if text.len() > LONGEST_ERROR || text.lines().count() > 4 {
        return false;
    }
    let lower = text.trim_matches(|it: char| !it.is_alphanumeric()).to_lowercase();
    let bare = ["http ", "status "].iter().find_map(|it| lower.strip_prefix(it)).unwrap_or(&lower);
    is_status(bare) || is_led_by_error(bare) || is_mostly_failure(bare)
}

/// `429`, `429 too many requests`, but not `404 pages were translated …`.
fn is_status(text: &str) -> bool {
    const CODES: [&str; 16] = [
        "400", "401", "402", "403", "404", "408", "409", "413", "422", "429", "500", "501", "502",
        "503", "504", "529",
    ];
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let (code, rest) = text.split_at(end);
    CODES.contains(&code) && (rest.split_whitespace().count() <= 3 || is_mostly_failure(rest))
}

fn is_led_by_error(text: &str) -> bool {
    const STARTS: [&str; 12] = [
        "error:",
        "error -",
        "error code",
        "error 4",
        "error 5",
        "api error",
        "exception:",
        "request failed",
        "internal server error",
        "failed to connect",
        "failed to fetch",
        "failed to generate",
    ];
    let is_one_line = text.lines().count() == 1;
    text == "error" || (is_one_line && STARTS.iter().any(|it| text.starts_with(it)))
}

/// Half of it and more is phrases that only errors use.
fn is_mostly_failure(text: &str) -> bool {
    const PHRASES: [&str; 29] = [
        "rate limit",
        "rate_limit",
        "exceeded",
        "too many requests",
        "overloaded",
        "_error",
        "quota",
        "insufficient_quota",
        "unauthorized",
        "forbidden",
        "bad gateway",
        "gateway timeout",
        "service unavailable",
        "internal server error",
        "request timed out",
        "timed out",
        "timeout",
        "connection refused",
        "connection reset",
        "connection error",
        "invalid api key",
        "invalid_api_key",
        "authentication failed",
        "prompt is too long",
        "context length",
        "bad request",
        "server error",
        "try again later",
        "payment required",
    ];
    let found = PHRASES.iter().filter(|it| text.contains(*it)).map(|it| it.len()).sum::<usize>();
    found > 0 && found * 2 >= text.trim().len()
}

/// JSON alone, fenced or not: a call's arguments, a list of blocks.
fn is_data(text: &str) -> bool {
    let inner = text
        .strip_prefix("```")
        .and_then(|it| it.strip_suffix("```"))
        .map_or(text, |it| it.trim_start_matches(|it: char| it.is_ascii_alphabetic()).trim());
    let is_one = inner.starts_with(['{', '[', '"']);
    // Lines of JSON are data too.
    is_one && serde_json::Deserializer::from_str(inner).into_iter::<Value>().all(|it| it.is_ok())
}

/// A tool call in one of the shapes that models write as text.
fn is_call(text: &str) -> bool {
    const TAGS: [&str; 8] = [
        "function_calls",
        "function_call",
        "tool_call",
        "tool_use",
        "invoke",
        "function=",
        "tool_code",
        "antml:",
    ];
    let Some(rest) = text.strip_prefix('<') else { return text.starts_with("[TOOL_CALLS]") };
    let rest = rest.trim_start_matches(['|', '/']);
    TAGS.iter().any(|it| rest.starts_with(it)) && text.ends_with(['>', '}', ']'])
}

/// Reasoning alone, in the tags that some models put it in.
fn is_thinking(text: &str) -> bool {
    ["think", "thinking", "analysis", "reasoning"].iter().any(|tag| {
        let Some(rest) = text.strip_prefix(&format!("<{tag}>")) else { return false };
        rest.split_once(&format!("</{tag}>")).is_none_or(|(_, after)| after.trim().is_empty())
    })
}

/// A short answer that says no.
fn is_refusal(text: &str) -> bool {
    let starts = [
        "i'm sorry",
        "i’m sorry",
        "sorry, ",
        "i cannot ",
        "i can't ",
        "i can’t ",
        "i'm unable to",
        "i am unable to",
        "as an ai ",
    ];
    let start = &text[..floor(text, 40)];
    text.len() <= LONGEST_ERROR && starts.iter().any(|it| start.to_lowercase().starts_with(it))
}

/// The first part of the layout that is not there under its heading. A cap that
/// leaves no room for them asks for none.
fn missing_section(text: &str, limits: &Limits) -> Option<Detail> {
    let template = limits.template.filter(|it| has_headings(*it))?;
    if limits.max_tokens < least_tokens(template) {
        return None;
    }
    let mut titles = sections(template).iter().map(|it| it.title);
    titles
        .find(|title| !text.lines().any(|line| is_heading(line, title)))
        .map(Detail::SectionMissing)
}

/// A line that starts with the title, behind the marks and numbers that models
/// put before a heading.
fn is_heading(line: &str, title: &str) -> bool {
    let bare = line.trim_start_matches(|it: char| !it.is_alphabetic());
    bare.get(..title.len()).is_some_and(|it| it.eq_ignore_ascii_case(title))
        && !bare[title.len()..].starts_with(char::is_alphanumeric)
}

#[cfg(test)]
mod tests;
