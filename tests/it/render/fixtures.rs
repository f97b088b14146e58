//! Bytes that must stay the same in every release: a provider caches by them.

use std::path::PathBuf;

use bytes::Bytes;
use concertina::{
    model::{
        Block, BlockKind, ContextItem, Placement, Role, ToolOutput, ToolUse, WireFormat,
        policy::CacheMark, shown::ShownRound,
    },
    render::{self, AssembleOptions, Part, Rendered, check},
};

use super::support::{
    answered, assistant, call, encrypted, image, joined, message, opaque, result, result_of, round,
    signed, style, summary, text, text_with_id, tool_use, user,
};

/// A few rounds with something of everything.
fn rounds() -> Vec<ShownRound> {
    let read = answered(
        assistant(
            2,
            vec![
                signed("Two files.", "c2ln"),
                text("I will read both."),
                call("toolu_1", "read_file", r#"{"path": "a.rs", "limit": 1.0}"#),
                call("a call/with spaces", "mcp.server/read", r#"{"path":"b.rs""#),
            ],
        ),
        vec![
            result("toolu_1", "fn main() {}\n"),
            result_of(
                "x",
                vec![ToolOutput::Text(Bytes::from_static(b"\xff")), ToolOutput::Image(image())],
            ),
        ],
    );
    let mut reasoned = message(
        7,
        Role::Assistant,
        vec![
            encrypted("rs_1"),
            text_with_id("Done: ─ \u{1f600} \u{7}", "msg_1"),
            opaque(WireFormat::AnthropicMessages, r#"{"type":"server_tool_use","id":"s1"}"#),
        ],
    );
    reasoned.format = Some(WireFormat::OpenAiResponses);
    reasoned.extra_json = Bytes::from_static(br#"{"phase":"final"}"#);
    let picture = Block::new(BlockKind::Image(image()));
    let wire_type = "custom_tool_call".to_owned();
    let patch = ToolUse { wire_type, ..tool_use("c9", "apply_patch", "*** Begin Patch") };
    vec![
        user(1, "Read \"a.rs\" and b.rs"),
        read,
        round(message(5, Role::System, vec![text("Be brief.")])),
        round(message(6, Role::User, vec![text("Like this?"), picture])),
        round(reasoned),
        user(8, ""),
        round(message(9, Role::User, vec![result("gone", "late")])),
        assistant(10, vec![Block::new(BlockKind::ToolUse(patch))]),
    ]
}

fn items() -> Vec<ContextItem> {
    let item = |name: &str, placement, content: &str| ContextItem {
        name: name.to_owned(),
        placement,
        content: Bytes::copy_from_slice(content.as_bytes()),
        format: None,
        view: None,
        tokens: 0,
    };
    vec![
        item("prompt", Placement::System, "You write code."),
        item("memory", Placement::UserContext, "The user likes tests."),
        item("todo", Placement::Reminder, "1. read"),
        item(
            "tools",
            Placement::Tools,
            r#"[{"name":"mcp.server/read","input_schema":{"type":"object"}}]"#,
        ),
    ]
}

fn all(format: WireFormat) -> Rendered {
    let marks =
        [CacheMark::Tools, CacheMark::System, CacheMark::LastSummary, CacheMark::LastMessage];
    let written: Vec<_> = rounds().iter().map(|it| render::round(it, &style(format))).collect();
    let notice = summary("o1", "<summary of messages 1 to 9>");
    let items = items();
    let mut parts = vec![Part::Notice(&notice)];
    parts.extend(written.iter().map(Part::Round));
    render::assemble(&parts, &AssembleOptions { format, cache_marks: &marks, items: &items })
}

fn listing(rendered: &Rendered) -> String {
    let around = [&rendered.system_json, &rendered.tools_json];
    let around = around.map(|json| String::from_utf8(json.to_vec()).expect("JSON is UTF-8"));
    let repairs: Vec<String> =
        rendered.repairs.iter().map(|it| format!("{} {}", it.seq, it.reason.name())).collect();
    format!("{}\n{}\n\n{}\n", around.join("\n"), joined(rendered), repairs.join("\n"))
}

#[track_caller]
fn check(format: WireFormat, name: &str) {
    let rendered = all(format);
    assert_eq!(check::violations(format, &rendered), vec![]);
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/render").join(name);
    expect_test::expect_file![path].assert_eq(&listing(&rendered));
}

#[test]
fn i6_anthropic_bytes_stay() {
    check(WireFormat::AnthropicMessages, "anthropic.txt");
}

#[test]
fn i6_chat_bytes_stay() {
    check(WireFormat::OpenAiChat, "chat.txt");
}

#[test]
fn i6_responses_bytes_stay() {
    check(WireFormat::OpenAiResponses, "responses.txt");
}
