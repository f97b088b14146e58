use std::{fmt::Write as _, sync::Arc};

use bytes::Bytes;

use super::*;
use crate::model::{
    Block, BlockKind, BudgetPart, Cause, Cleared, ContentRef, ContextItem, Image, ImageSource,
    Model, Namespace, Opaque, Overlay, OverlayId, OverlayKind, PartKind, Placement, Pressure,
    Revision, Role, RowSet, Seq, SeqRange, Session, SessionId, Text, Thinking, Timestamp,
    TokenBudget, ToolOutput, ToolResult, ToolUse, Usage, View, ViewName, WireFormat,
    overlay::Rollback,
};

/// A message with every sort of block and every field set.
fn every_field() -> Message {
    let blocks = [
        BlockKind::Text(Text {
            text: "zwölf\u{2028}\0".into(),
            provider_id: "t1".into(),
            raw: Bytes::new(),
        }),
        BlockKind::Text(Text { raw: Bytes::from_static(b"A\xed\xa6\x8c B"), ..Text::default() }),
        BlockKind::Thinking(Thinking {
            parts: vec!["a".into(), String::new()],
            signature: "s1".into(),
            encrypted_content: "e".into(),
            provider_id: "rs1".into(),
        }),
        BlockKind::RedactedThinking("zz".into()),
        BlockKind::ToolUse(ToolUse {
            id: "c1".into(),
            name: "bash".into(),
            input_json: Bytes::from_static(b"{\"command\":\"echo hel"),
            provider_id: "fc1".into(),
            wire_type: "custom_tool_call".into(),
        }),
        BlockKind::ToolResult(ToolResult {
            tool_use_id: "c0".into(),
            is_error: true,
            output: vec![
                ToolOutput::Text(Bytes::from_static(b"\xff\xfe\0\n\x80")),
                ToolOutput::Image(Image {
                    media_type: "image/png".into(),
                    source: ImageSource::Data(Bytes::from_static(b"\x89PNG")),
                }),
                ToolOutput::Opaque(opaque()),
            ],
            wire_type: "x".into(),
        }),
        BlockKind::Image(Image {
            media_type: String::new(),
            source: ImageSource::Url("https://e.org/a".into()),
        }),
        BlockKind::Opaque(opaque()),
    ];
    Message {
        role: Role::Assistant,
        blocks: blocks
            .into_iter()
            .map(|kind| {
                Arc::new(Block { kind, extra_json: Bytes::from_static(b"{\"b\":1,\"a\":1.0}") })
            })
            .collect(),
        author: "ann".into(),
        client_time: Some(Timestamp { seconds: -1, nanos: 999_999_999 }),
        usage: Some(Usage {
            input_tokens: 1,
            output_tokens: 2,
            cache_read_tokens: 3,
            cache_write_tokens: 4,
        }),
        model: "m".into(),
        provider_id: "msg_1".into(),
        lane: "l".into(),
        context_fingerprint: "f".into(),
        format: Some(WireFormat::OpenAiResponses),
        extra_json: Bytes::from_static(b"{}"),
    }
}

fn opaque() -> Opaque {
    Opaque {
        format: WireFormat::AnthropicMessages,
        json: Bytes::from_static(b"{\"z\":0, \"z\":1}"),
        call_id: "o".into(),
        is_result: true,
    }
}

fn overlay() -> Overlay {
    let rows =
        |first, last| RowSet::of_ranges(vec![SeqRange { first: Seq(first), last: Seq(last) }]);
    Overlay {
        id: OverlayId::new("o"),
        view: ViewName::main(),
        kind: OverlayKind::Clear,
        covered: rows(1, 4).union(&rows(7, 9)),
        kept: rows(5, 5),
        summary: "s".into(),
        cleared: vec![Cleared {
            content: ContentRef { seq: Seq(2), block: 3, output: Some(1) },
            shown_as: "gone".into(),
        }],
        tokens_before: 10,
        tokens_after: 5,
        summarizer: "extractive".into(),
        cause: Cause::Idle,
        stage: "micro_clear".into(),
        author: "ann".into(),
        commit_revision: Revision(7),
        commit_time: Timestamp { seconds: 5, nanos: 6 },
        rollback: Some(Rollback {
            revision: Revision(9),
            time: Timestamp { seconds: 7, nanos: 8 },
            author: "bob".into(),
            reason: "why".into(),
        }),
        transcript_id: "t".into(),
        covered_overlays: vec![OverlayId::new("p")],
        source_digest: [3; 32],
    }
}

#[test]
fn a_message_comes_back_as_it_was() {
    let message = every_field();
    assert_eq!(decode(encode(&message)).unwrap(), message);
    assert_eq!(decode(&encode(&message)[..]).unwrap(), message);
    let empty = Message::default();
    assert_eq!(decode(encode(&empty)).unwrap(), empty);
}

#[test]
fn i6_a_message_that_was_stored_once_is_read_for_ever() {
    let stored: String = include_str!("fixtures/message-1.hex").split_whitespace().collect();
    let bytes = hex(&stored);
    assert_eq!(to_hex(&encode(&every_field())), stored, "the stored form changed");
    assert_eq!(decode(&bytes[..]).unwrap(), every_field());
    assert_eq!(digest(&bytes), *blake3::hash(&bytes).as_bytes());
}

#[test]
fn an_error_names_the_field() {
    let mut message = to_pb(&every_field());
    if let Some(pb::block::Kind::ToolResult(result)) = &mut message.blocks[5].kind {
        result.output[1].kind = None;
    }
    let err = from_pb(message).unwrap_err();
    assert_eq!(err.to_string(), "`blocks[5].tool_result.output[1].kind` should be set");
    let err = from_pb(pb::Message::default()).unwrap_err();
    assert_eq!(err.field, "role");
    assert_eq!(decode(&b"\xff\xff"[..]).unwrap_err().field, "message");
}

#[test]
fn an_overlay_comes_back_as_it_was() {
    let session = SessionId::new("s");
    let mut overlay = overlay();
    let message = overlay::to_pb(&overlay, &session);
    assert_eq!((message.session_id.as_str(), message.covered_messages), ("s", 7));
    assert_eq!(overlay::from_pb(message).unwrap(), overlay);
    overlay.rollback = None;
    assert_eq!(overlay::from_pb(overlay::to_pb(&overlay, &session)).unwrap(), overlay);
}

#[test]
fn a_session_comes_back_as_far_as_the_contract_tells() {
    let view = View {
        name: ViewName::new("small"),
        preset: "default".into(),
        overrides_json: Bytes::from_static(b"{}"),
        policy_json: Bytes::from_static(b"{\"a\":1}"),
        model: Some(Model {
            name: "m".into(),
            context_window: 1,
            output_reserve: Some(2),
            request_bytes_limit: 3,
            caller_fixed_tokens: 4,
        }),
        reductions_revision: Revision::default(),
    };
    let session = Session {
        namespace: Namespace::new(Namespace::DEFAULT),
        id: SessionId::new("s"),
        display_name: "S".into(),
        labels: [("a".to_owned(), "b".to_owned())].into(),
        create_time: Timestamp::from_micros(5),
        update_time: Timestamp::from_micros(6),
        next_seq: Seq(7),
        revision: Revision(8),
        parent_session_id: "p".into(),
        fork_origin: Some(crate::model::ForkOrigin {
            session_id: SessionId::new("o"),
            seq: Seq(4),
            revision: Revision(5),
        }),
        tokens: 0,
        views: vec![view],
    };
    assert_eq!(session::from_pb(session::to_pb(&session)).unwrap(), session);
}

#[test]
fn an_item_comes_back_as_it_was() {
    let item = ContextItem {
        name: "system".into(),
        placement: Placement::Tools,
        content: Bytes::from_static(b"[]"),
        format: Some(WireFormat::OpenAiChat),
        view: Some(ViewName::main()),
        tokens: 0,
    };
    assert_eq!(session::item_from_pb(session::item_to_pb(&item)).unwrap(), item);
}

#[test]
fn a_budget_comes_back_as_it_was() {
    let budget = TokenBudget {
        window: 100,
        fixed: 10,
        messages: 20,
        output_reserve: 20,
        pressure: Pressure::Elevated,
        spawn_allowed: true,
        calibration: 1.5,
        history: 50,
        parts: vec![BudgetPart { kind: PartKind::Image, name: "n".into(), tokens: 3 }],
    };
    let message = budget::to_pb(&budget);
    assert_eq!(message.available, 50);
    assert_eq!(budget::from_pb(message).unwrap(), budget);
}

#[test]
fn a_range_must_hold_a_row() {
    let range = |first_seq, last_seq| range::from_pb(pb::SeqRange { first_seq, last_seq });
    assert_eq!(range(2, 3).unwrap(), SeqRange { first: Seq(2), last: Seq(3) });
    assert_eq!(range(0, 3).unwrap_err().field, "first_seq");
    assert_eq!(range(3, 2).unwrap_err().field, "last_seq");
}

fn hex(text: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(digit).collect()
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
