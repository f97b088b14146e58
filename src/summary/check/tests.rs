use super::*;

const WIDE: Limits = Limits { max_tokens: 1000, template: None };

#[track_caller]
fn refused(text: &str, reason: &str, detail: &Detail) {
    assert_eq!(
        check(text, reason, &WIDE),
        Err(Rejected::Text(detail.clone())),
        "{text:?} {reason}"
    );
}

#[track_caller]
fn taken(text: &str, reason: &str) {
    assert_eq!(check(text, reason, &WIDE), Ok(()), "{text:?} {reason}");
}

#[test]
fn g5_what_says_nothing_is_no_summary() {
    for text in ["", "  \n", "\t", "\u{a0}"] {
        refused(text, "", &Detail::Blank);
    }
    for text in ["…", "----", "1234 5678", "12:30", "🙂", "a\u{0}b", "a\u{1b}[0m b"] {
        refused(text, "", &Detail::NotText);
    }
}

#[test]
fn g5_a_tool_call_or_data_alone_is_no_summary() {
    for text in [
        "{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}",
        "[{\"type\":\"tool_use\",\"id\":\"a\"}]",
        "```json\n{\"summary\":\"x\"}\n```",
        "{\"a\":1}\n{\"b\":2}",
        "\"quoted\"",
        "<tool_call>\n{\"name\":\"x\"}\n</tool_call>",
        "<function_calls><invoke name=\"x\"></invoke></function_calls>",
        "<function=bash>\n<parameter=command>ls</parameter>\n</function>",
        "[TOOL_CALLS] [{\"name\": \"x\"}]",
        "<think>hm, what to say</think>\n",
        "<thinking>never ends",
    ] {
        refused(text, "", &Detail::NotText);
    }
    taken("<think>hm</think>The user asked for a table.", "");
    taken("{x} is the placeholder that the user wants kept.", "");
    taken("`[1, 2]` is what the port list must be.", "");
}

#[test]
fn g5_an_error_message_alone_is_no_summary() {
    for text in [
        "429",
        "429 Too Many Requests",
        "HTTP 429",
        "Error: something broke",
        "error",
        "rate limit",
        "Rate limit exceeded, please try again later.",
        "API Error: 529 overloaded_error",
        "Request timed out.",
        "503 Service Unavailable",
        "Internal Server Error",
    ] {
        refused(text, "", &Detail::ErrorMessage);
    }
    for text in [
        "404 pages were translated and pushed to the staging branch for review.",
        "Error handling was moved to `src/error.rs`.",
        "User asked about authentication.",
        "Rate limit handling moved to src/limit.rs; timeouts are next.",
        "The server error was a missing index; fixed.",
    ] {
        taken(text, "");
    }
    taken("User wants X.", "");
}

#[test]
fn g5_a_cut_off_answer_is_refused() {
    for reason in [
        "length",
        "max_tokens",
        "MAX_TOKENS",
        "max_output_tokens",
        "incomplete",
        "model_context_window_exceeded",
        "pause_turn",
        "error",
        "what",
    ] {
        refused("The user asked for a table.", reason, &Detail::CutOff);
    }
    for reason in ["content_filter", "refusal", "SAFETY"] {
        refused("The user asked for a table.", reason, &Detail::Refused);
    }
    for reason in ["tool_calls", "tool_use", "function_call"] {
        refused("The user asked for a table.", reason, &Detail::NotText);
    }
    for reason in ["", "end_turn", "stop", "stop_sequence", "completed", "STOP"] {
        taken("The user asked for a table.", reason);
    }
    refused("I'm sorry, but I can't help with that.", "", &Detail::Refused);
}

#[test]
fn a_summary_above_its_cap_is_too_long() {
    let text = "word ".repeat(20);
    let tokens = i64::from(count_text(&text));
    let within = |max_tokens| check(&text, "", &Limits { max_tokens, template: None });
    assert_eq!(within(tokens), Ok(()));
    assert_eq!(within(tokens - 1), Err(Rejected::TooLong { tokens, max: tokens - 1 }));
}

#[test]
fn r71_every_part_of_the_layout_must_be_there() {
    let limits = Limits { max_tokens: 300, template: Some(Template::FourParts) };
    let whole = "## Summary of Previous Work\n### Tasks Completed\n- a\n**Files Modified:** none\n3. Current state: b\nPENDING ITEMS: none";
    assert_eq!(check(whole, "", &limits), Ok(()));
    let part = whole.replace("Files Modified", "Files");
    let missing = Detail::SectionMissing("Files Modified");
    assert_eq!(missing.to_string(), "section missing: Files Modified");
    assert_eq!(check(&part, "", &limits), Err(Rejected::Text(missing)));
    // Where nobody could fill them, and for running text, none is asked for.
    assert_eq!(check("All done.", "", &Limits { max_tokens: 20, ..limits }), Ok(()));
    assert_eq!(
        check("All done.", "", &Limits { template: Some(Template::Span), ..limits }),
        Ok(())
    );
}
