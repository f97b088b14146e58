//! What a caller's model is told about the summary it shall write.

use super::Template;

/// How a summary is to be laid out, for callers that summarize themselves.
///
/// `template` is a policy's name of a layout; an unknown one is as `free`.
/// `instructions` are a caller's words about what to keep, and may be empty.
#[must_use]
pub fn layout_instructions(
    template: &str,
    min_tokens: i64,
    max_tokens: i64,
    instructions: &str,
) -> String {
    let layout = Template::from_name(template).unwrap_or(Template::Free);
    format!(
        "Summarize the material in {min_tokens} to {max_tokens} tokens, laid out as {}. {instructions}",
        layout.name()
    )
}
