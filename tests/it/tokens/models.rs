//! What the embedded table knows.

use concertina::tokens::{Models, ThinkingRegime};

#[test]
fn r4_a_models_name_tells_its_window() {
    for (name, window) in [
        ("claude-opus-4-5-20251101", 200_000),
        ("claude-sonnet-4-20250514", 200_000),
        ("claude-3-7-sonnet-latest", 200_000),
        ("anthropic/claude-sonnet-4.5", 200_000),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", 200_000),
        ("claude-sonnet-4-5@20250929", 200_000),
        ("claude-sonnet-4-5-20250929[1m]", 1_000_000),
        ("claude-opus-4-6", 1_000_000),
        ("claude-opus-4-8", 1_000_000),
        ("claude-sonnet-5", 1_000_000),
        ("claude-haiku-5-5", 1_000_000),
        ("claude-of-next-year", 200_000),
        ("gpt-3.5-turbo", 16_385),
        ("gpt-4", 8_192),
        ("gpt-4-0613", 8_192),
        ("gpt-4-1106-preview", 128_000),
        ("gpt-4.1-mini", 1_047_576),
        ("gpt-4o-2024-11-20", 128_000),
        ("o1-mini", 128_000),
        ("o3", 200_000),
        ("o4-mini-2025-04-16", 200_000),
        ("gpt-5", 272_000),
        ("gpt-5-chat-latest", 128_000),
        ("gpt-5.1-codex-max", 272_000),
        ("gpt-5.4", 922_000),
        ("gpt-5.4-mini", 272_000),
        ("openai/gpt-oss-120b", 131_072),
        ("gpt-6-sol", 922_000),
        ("models/gemini-2.5-pro", 1_048_576),
        ("gemini-3.1-pro-preview", 1_048_576),
        ("deepseek-chat", 128_000),
        ("deepseek-v4-pro", 1_000_000),
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct", 256_000),
        ("moonshotai/kimi-k2.5", 262_144),
        ("z-ai/glm-4.6", 200_000),
        ("MiniMax-M2.5", 196_000),
        ("devstral-medium-latest", 256_000),
        ("mistral-large-2407", 128_000),
        ("meta-llama/Llama-3.3-70B-Instruct", 128_000),
        ("llama-4-scout", 1_000_000),
        ("grok-4.5", 500_000),
    ] {
        let found = Models::embedded().find(name);
        assert_eq!(found.map(|info| info.context_window), Some(window), "{name}");
    }
    for name in ["", "/", "my-own-model", "gpt", "claude", "*"] {
        assert_eq!(Models::embedded().find(name), None, "{name}");
    }
}

#[test]
fn n5_claude_starts_on_the_safe_side() {
    let info = Models::embedded().find("claude-opus-4-5").unwrap();
    assert_eq!(info.starting_factor.to_bits(), 1.5_f64.to_bits());
    let info = Models::embedded().find("gpt-5").unwrap();
    assert_eq!(info.starting_factor.to_bits(), 1.0_f64.to_bits());
}

#[test]
fn thinking_is_bound_for_the_newer_models_and_for_those_not_known_yet() {
    let unbound = [
        "claude-3-7-sonnet-20250219",
        "claude-sonnet-4-5-20250929",
        "claude-opus-4-8",
        "claude-opus-5",
        "claude-sonnet-5-20260610",
        "gpt-5",
    ];
    for name in unbound {
        let regime = Models::embedded().find(name).unwrap().thinking;
        assert_eq!(regime, ThinkingRegime::Unbound, "{name}");
    }
    let bound = [
        "claude-fable-5-1",
        "claude-opus-5-5",
        "claude-sonnet-5.5",
        "claude-haiku-5-5",
        "claude-mythos-5-2",
        "claude-opus-5-4",
        "claude-opus-7",
    ];
    for name in bound {
        let regime = Models::embedded().find(name).unwrap().thinking;
        assert_eq!(regime, ThinkingRegime::Bound, "{name}");
    }
}
