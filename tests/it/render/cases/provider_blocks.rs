//! What only its provider knows: opaque blocks, extras, marks.

use std::sync::Arc;

use bytes::Bytes;
use concertina::{
    model::{
        Block, BlockKind, Opaque, Role, Seq, ToolOutput, ToolResult, ToolUse, WireFormat,
        policy::CacheMark,
        shown::{Answer, ShownMessage, ShownRound},
    },
    render::AssembleOptions,
};
use serde_json::json;

use super::super::support::{
    FORMATS, answered, assistant, joined, message, opaque, options, reasons, rendered,
    rendered_with, round, text, tool_use, user, values,
};

use WireFormat::{
    AnthropicMessages as Anthropic, OpenAiChat as Chat, OpenAiResponses as Responses,
};

#[test]
fn b9_marks_that_came_in_are_not_rendered() {
    let mark = r#"{"cache_control":{"type":"ephemeral"}}"#;
    let rounds: Vec<ShownRound> = (1..=40)
        .map(|seq| {
            let role = if seq % 2 == 1 { Role::User } else { Role::Assistant };
            let mut words = text("words");
            words.extra_json = Bytes::from_static(mark.as_bytes());
            let mut it = message(seq, role, vec![words]);
            it.format = Some(Anthropic);
            it.extra_json = Bytes::from_static(mark.as_bytes());
            round(it)
        })
        .collect();
    let all = [CacheMark::Tools, CacheMark::System, CacheMark::LastSummary, CacheMark::LastMessage];
    let options = AssembleOptions { cache_marks: &all, ..options(Anthropic) };
    assert_eq!(joined(&rendered_with(&rounds, &options)).matches("cache_control").count(), 1);
    for format in FORMATS {
        assert!(!joined(&rendered(&rounds, format)).contains("cache_control"));
    }
}

#[test]
fn a_providers_own_compaction_may_come_first() {
    let blocks = |format, kind: &str| {
        let block = opaque(format, &format!(r#"{{"type":"{kind}","content":"so far"}}"#));
        round(message(1, Role::Assistant, vec![block]))
    };
    for (format, kind) in [(Anthropic, "compaction"), (Responses, "compaction")] {
        let shown = rendered(&[blocks(format, kind), user(2, "on")], format);
        assert_eq!(reasons(&shown), []);
        assert!(joined(&shown).lines().next().unwrap().contains("so far"));
    }
    let elsewhere = joined(&rendered(&[blocks(Anthropic, "compaction"), user(2, "on")], Chat));
    assert!(elsewhere.contains("[compaction: 40 bytes]") && !elsewhere.contains("so far"));
}

#[test]
fn opaque_blocks_keep_their_bytes_in_their_own_format() {
    let json = r#"{ "type":"document", "source":{"type":"base64","media_type":"application/pdf","data":"QQ=="} }"#;
    let rounds = [round(message(1, Role::User, vec![opaque(Anthropic, json), text("read")]))];
    assert!(joined(&rendered(&rounds, Anthropic)).contains(json));
    for format in [Chat, Responses] {
        let shown = joined(&rendered(&rounds, format));
        let line = format!("[document: application/pdf, {} bytes]", json.len());
        assert!(shown.contains(&line) && !shown.contains("QQ=="), "{shown}");
    }
}

#[test]
fn opaque_calls_go_with_their_results_or_become_words() {
    let opaque = |json: &str, is_result| {
        Block::new(BlockKind::Opaque(Opaque {
            format: Responses,
            json: Bytes::copy_from_slice(json.as_bytes()),
            call_id: "c1".to_owned(),
            is_result,
        }))
    };
    let made = opaque(r#"{"type":"shell_call","call_id":"c1","action":{"b":1,"a":2}}"#, false);
    let came = opaque(r#"{"type":"shell_call_output","call_id":"c1","output":[{"x":1}]}"#, true);
    let mut round = assistant(2, vec![made]);
    let answer = |block| Answer::Result { seq: Seq(3), index: 0, block, tokens: 1, moved: false };
    round.calls = vec![concertina::model::shown::ShownCall {
        seq: Seq(2),
        block: 0,
        id: Arc::from("c1"),
        repeats: false,
        answer: answer(Arc::new(came)),
    }];
    let own = joined(&rendered(&[user(1, "go"), round.clone()], Responses));
    assert!(own.contains(r#"{"type":"shell_call","call_id":"c1","action":{"b":1,"a":2}}"#));
    assert!(own.contains(r#"{"type":"shell_call_output","call_id":"c1","output":[{"x":1}]}"#));
    for format in [Anthropic, Chat] {
        let shown = joined(&rendered(&[user(1, "go"), round.clone()], format));
        assert!(shown.contains("[shell_call: ") && shown.contains("[shell_call_output: "));
    }
    round.calls[0].answer = Answer::Missing;
    let shown = joined(&rendered(&[user(1, "go"), round], Responses));
    assert!(shown.contains("[shell_call: ") && !shown.contains("\"call_id\""));
}

#[test]
fn custom_calls_keep_their_kind_in_their_own_format() {
    let patch = "*** Begin Patch\n\"x\"";
    let wire_type = "custom_tool_call".to_owned();
    let made = ToolUse { wire_type, ..tool_use("c1", "apply_patch", patch) };
    let round = answered(
        assistant(2, vec![Block::new(BlockKind::ToolUse(made))]),
        vec![Block::new(BlockKind::ToolResult(ToolResult {
            tool_use_id: "c1".to_owned(),
            output: vec![ToolOutput::Text(Bytes::from_static(b"done"))],
            wire_type: "custom_tool_call_output".to_owned(),
            is_error: false,
        }))],
    );
    let rounds = [user(1, "go"), round];
    let own = values(&rendered(&rounds, Responses));
    assert_eq!((&own[1]["type"], &own[1]["input"]), (&json!("custom_tool_call"), &json!(patch)));
    assert_eq!(own[2]["type"], "custom_tool_call_output");
    let shown = values(&rendered(&rounds, Anthropic));
    assert_eq!(shown[1]["content"][0]["input"], json!({"input": patch}));
}

fn with_extras(format: WireFormat) -> ShownMessage {
    let mut words = text("ok");
    words.extra_json =
        Bytes::from_static(br#"{"citations":[{"b":1.0,"a":2}],"type":"x","cache_control":{}}"#);
    let mut it = message(2, Role::Assistant, vec![words]);
    it.format = Some(format);
    it.extra_json = Bytes::from_static(br#"{"role":"x","name":"ann"}"#);
    it
}

#[test]
fn extras_go_back_into_the_format_that_they_came_in() {
    for came_in in FORMATS {
        for format in FORMATS {
            let shown = joined(&rendered(&[user(1, "go"), round(with_extras(came_in))], format));
            let has_extras = shown.contains(r#""citations":[{"b":1.0,"a":2}]"#);
            assert_eq!(has_extras, came_in == format, "{shown}");
            assert_eq!(shown.contains(r#""name":"ann""#), came_in == format, "{shown}");
            assert!(!shown.contains(r#":"x""#) && !shown.contains("cache_control"), "{shown}");
        }
    }
}
