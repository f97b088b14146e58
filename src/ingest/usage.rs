//! Token counts as each provider reports them.

use super::{fault::Fault, json::Value, object::Object};
use crate::model::Usage;

/// Anthropic reports cached tokens beside `input_tokens`; here they are part
/// of it.
pub(super) fn anthropic(value: Value<'_>) -> Result<Option<Usage>, Fault> {
    let mut object = value.object()?;
    let fresh = count(&mut object, "input_tokens")?;
    let cache_read_tokens = count(&mut object, "cache_read_input_tokens")?;
    let cache_write_tokens = count(&mut object, "cache_creation_input_tokens")?;
    Ok(some(Usage {
        input_tokens: fresh.saturating_add(cache_read_tokens).saturating_add(cache_write_tokens),
        output_tokens: count(&mut object, "output_tokens")?,
        cache_read_tokens,
        cache_write_tokens,
    }))
}

/// Chat Completions: cached tokens are part of `prompt_tokens`.
pub(super) fn chat(value: Value<'_>) -> Result<Option<Usage>, Fault> {
    openai(value, "prompt_tokens", "completion_tokens", "prompt_tokens_details")
}

/// Responses: cached tokens are part of `input_tokens`.
pub(super) fn responses(value: Value<'_>) -> Result<Option<Usage>, Fault> {
    openai(value, "input_tokens", "output_tokens", "input_tokens_details")
}

fn openai(
    value: Value<'_>,
    input: &str,
    output: &str,
    details: &str,
) -> Result<Option<Usage>, Fault> {
    let mut object = value.object()?;
    let details = object.take_some(details)?.map(Value::object).transpose()?;
    let cached = details.map(|mut it| count(&mut it, "cached_tokens")).transpose()?;
    Ok(some(Usage {
        input_tokens: count(&mut object, input)?,
        output_tokens: count(&mut object, output)?,
        cache_read_tokens: cached.unwrap_or(0),
        cache_write_tokens: 0,
    }))
}

/// A Codex rollout's `last_token_usage`: cached tokens are part of the input.
pub(super) fn codex(value: Value<'_>) -> Result<Option<Usage>, Fault> {
    let mut object = value.object()?;
    Ok(some(Usage {
        input_tokens: count(&mut object, "input_tokens")?,
        output_tokens: count(&mut object, "output_tokens")?,
        cache_read_tokens: count(&mut object, "cached_input_tokens")?,
        cache_write_tokens: 0,
    }))
}

/// pi reports cached tokens beside `input`, as Anthropic does, for every
/// provider.
pub(super) fn pi(value: Value<'_>) -> Result<Option<Usage>, Fault> {
    let mut object = value.object()?;
    let fresh = count(&mut object, "input")?;
    let cache_read_tokens = count(&mut object, "cacheRead")?;
    let cache_write_tokens = count(&mut object, "cacheWrite")?;
    Ok(some(Usage {
        input_tokens: fresh.saturating_add(cache_read_tokens).saturating_add(cache_write_tokens),
        output_tokens: count(&mut object, "output")?,
        cache_read_tokens,
        cache_write_tokens,
    }))
}

/// A report without a prompt is no report: an estimate must not learn from it.
fn some(usage: Usage) -> Option<Usage> {
    (usage.input_tokens > 0).then_some(usage)
}

fn count(object: &mut Object<'_>, key: &str) -> Result<i64, Fault> {
    let value = object.take_some(key)?;
    let count = value.map(Value::count).transpose().map_err(|fault| fault.under(key))?;
    Ok(count.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: i64, output: i64, read: i64, write: i64) -> Usage {
        Usage {
            input_tokens: input,
            output_tokens: output,
            cache_read_tokens: read,
            cache_write_tokens: write,
        }
    }

    #[test]
    fn n5_cached_tokens_are_part_of_the_input() {
        let parse = |text| Value::parse(text, 8).unwrap();
        let told = r#"{"input_tokens":3,"cache_creation_input_tokens":11377,
            "cache_read_input_tokens":22248,"output_tokens":109,"service_tier":"standard"}"#;
        assert_eq!(anthropic(parse(told)).unwrap(), Some(usage(33628, 109, 22248, 11377)));
        let told = r#"{"prompt_tokens":10,"completion_tokens":2,
            "prompt_tokens_details":{"cached_tokens":7}}"#;
        assert_eq!(chat(parse(told)).unwrap(), Some(usage(10, 2, 7, 0)));
        let told = r#"{"input_tokens":10,"output_tokens":2,
            "input_tokens_details":{"cached_tokens":7}}"#;
        assert_eq!(responses(parse(told)).unwrap(), Some(usage(10, 2, 7, 0)));
        let told = r#"{"input_tokens":10,"cached_input_tokens":7,"output_tokens":2}"#;
        assert_eq!(codex(parse(told)).unwrap(), Some(usage(10, 2, 7, 0)));
        let told = r#"{"input":3,"output":2,"cacheRead":4,"cacheWrite":5}"#;
        assert_eq!(pi(parse(told)).unwrap(), Some(usage(12, 2, 4, 5)));
    }

    #[test]
    fn a_report_of_nothing_is_none() {
        let told = Value::parse(r#"{"input_tokens":0,"output_tokens":0}"#, 8).unwrap();
        assert_eq!(anthropic(told).unwrap(), None);
    }
}
