//! Thinking and reasoning: replayed as it came, or left out.

use concertina::model::{Block, BlockKind, Role, ToolUse, WireFormat, shown::ShownRound};

use super::super::support::{
    answered, assistant, call, encrypted, joined, message, opaque, rendered, result, round, signed,
    text, text_with_id, tool_use, user, values,
};

use WireFormat::{
    AnthropicMessages as Anthropic, OpenAiChat as Chat, OpenAiResponses as Responses,
};

fn two_reasoned(first_is_there: bool) -> ShownRound {
    let mut blocks = message(
        2,
        Role::Assistant,
        vec![
            encrypted("rs1"),
            text_with_id("a", "msg1"),
            encrypted("rs2"),
            text_with_id("b", "msg2"),
        ],
    );
    blocks.format = Some(Responses);
    if !first_is_there {
        blocks.blocks.remove(0);
    }
    round(blocks)
}

#[test]
fn b3_an_item_loses_its_id_with_its_reasoning() {
    let ids = |round| {
        let shown = rendered(&[user(1, "go"), round], Responses);
        values(&shown)[1..]
            .iter()
            .map(|it| it["id"].as_str().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let some = |id: &str| Some(id.to_owned());
    assert_eq!(ids(two_reasoned(true)), [some("rs1"), some("msg1"), some("rs2"), some("msg2")]);
    assert_eq!(ids(two_reasoned(false)), [None, some("rs2"), some("msg2")]);
}

#[test]
fn b3_the_same_holds_for_calls() {
    let with_id = |id: &str, provider_id: &str| {
        let provider_id = provider_id.to_owned();
        Block::new(BlockKind::ToolUse(ToolUse { provider_id, ..tool_use(id, "run", "{}") }))
    };
    let blocks = vec![encrypted("rs1"), with_id("c1", "fc1"), with_id("c2", "fc2")];
    let shown = values(&rendered(&[user(1, "go"), assistant(2, blocks)], Responses));
    assert_eq!(shown[2]["id"], "fc1");
    assert_eq!(shown[3].get("id"), None);
}

#[test]
fn b3_reasoning_goes_with_the_item_that_follows() {
    let mut it =
        message(2, Role::Assistant, vec![encrypted("rs1"), text(""), call("c1", "run", "{}")]);
    it.format = Some(Responses);
    let shown = values(&rendered(&[user(1, "go"), round(it)], Responses));
    let kinds: Vec<_> = shown.iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "function_call", "function_call_output"]);
}

#[test]
fn b3_a_hosted_call_whose_reasoning_is_gone_is_a_line() {
    let search =
        opaque(Responses, r#"{"type":"web_search_call","id":"ws_1","status":"completed"}"#);
    let mut it = message(2, Role::Assistant, vec![encrypted("rs1"), search, text("found")]);
    let whole = joined(&rendered(&[user(1, "go"), round(it.clone())], Responses));
    assert!(whole.contains(r#""id":"ws_1""#));
    it.blocks.remove(0);
    let cut = joined(&rendered(&[user(1, "go"), round(it)], Responses));
    assert!(!cut.contains("ws_1") && cut.contains("[web_search_call: 59 bytes]"), "{cut}");
}

#[test]
fn d1_signed_thinking_is_replayed_byte_for_byte() {
    let first = answered(
        assistant(2, vec![signed("abc", "s1"), call("c1", "run", "{}")]),
        vec![result("c1", "ok")],
    );
    let redacted = Block::new(BlockKind::RedactedThinking("zz".to_owned()));
    let second = answered(
        assistant(4, vec![signed("def", "s2"), redacted, call("c2", "run", "{}")]),
        vec![result("c2", "ok")],
    );
    let shown = joined(&rendered(&[user(1, "go"), first, second], Anthropic));
    assert!(shown.contains(
        r#"[{"type":"thinking","thinking":"def","signature":"s2"},{"type":"redacted_thinking","data":"zz"},{"type":"tool_use","id":"c2""#
    ));
    assert!(shown.contains(r#"[{"type":"thinking","thinking":"abc","signature":"s1"},"#));
}

#[test]
fn d1_thinking_that_would_not_come_first_or_come_last_goes_as_a_whole() {
    let words = assistant(2, vec![text("well"), signed("x", "s"), call("c1", "run", "{}")]);
    let shown = joined(&rendered(&[user(1, "go"), words], Anthropic));
    assert!(!shown.contains("signature") && shown.contains("well"));
    let merged = [
        user(1, "go"),
        assistant(2, vec![text("well")]),
        assistant(3, vec![signed("x", "s"), call("c1", "run", "{}")]),
    ];
    assert!(!joined(&rendered(&merged, Anthropic)).contains("signature"));
    let last = assistant(2, vec![text("well"), signed("x", "s")]);
    assert!(!joined(&rendered(&[user(1, "go"), last], Anthropic)).contains("signature"));
    let alone = assistant(2, vec![signed("x", "s")]);
    assert_eq!(rendered(&[user(1, "go"), alone], Anthropic).messages.len(), 1);
}

#[test]
fn d3_thinking_is_never_visible_elsewhere() {
    let first = assistant(2, vec![signed("secret plan", "s"), text("ok"), call("c1", "run", "{}")]);
    let second = assistant(4, vec![call("c2", "run", "{}")]);
    let rounds = [
        user(1, "go"),
        answered(first, vec![result("c1", "A")]),
        answered(second, vec![result("c2", "B")]),
    ];
    for format in [Chat, Responses] {
        let shown = joined(&rendered(&rounds, format));
        assert!(!shown.contains("secret plan") && shown.contains("ok"));
    }
    let shown = values(&rendered(&rounds, Anthropic));
    assert_eq!(shown[1]["content"][0]["thinking"], "secret plan");
    assert_eq!(shown[3]["content"].as_array().unwrap().len(), 1);
    let reasoned = assistant(2, vec![encrypted("rs1"), text("ok")]);
    let unsigned = assistant(3, vec![signed("secret plan", ""), text("ok")]);
    let shown = joined(&rendered(&[user(1, "go"), reasoned, unsigned], Anthropic));
    assert!(!shown.contains("secret") && !shown.contains("thinking"));
}
