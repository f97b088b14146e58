//! The contract's own messages: paired, otherwise as they are.

use std::sync::Arc;

use bytes::Bytes;
use concertina::model::{Block, BlockKind, Role, Seq, WireFormat::Typed, shown::ShownRound};

use super::super::support::{
    answered, assistant, call, message, reasons, rendered, result, round, signed, text, user,
};

fn kinds(blocks: &[Arc<Block>]) -> Vec<&'static str> {
    let kind = |block: &Arc<Block>| match block.kind {
        BlockKind::Text(_) => "text",
        BlockKind::Thinking(_) => "thinking",
        BlockKind::ToolUse(_) => "call",
        BlockKind::ToolResult(_) => "result",
        _ => "other",
    };
    blocks.iter().map(kind).collect()
}

fn shared_with(round: &ShownRound, shown: &Arc<Block>) -> bool {
    let blocks = round.messages.iter().flat_map(|message| &message.blocks);
    blocks.into_iter().any(|it| Arc::ptr_eq(&it.block, shown))
}

#[test]
fn results_come_in_a_message_of_their_own() {
    let blocks = vec![signed("abc", "s"), text("ok"), call("c1", "run", "{}")];
    let round = answered(assistant(2, blocks), vec![result("c1", "done")]);
    let shown = rendered(&[user(1, "go"), round.clone(), user(4, "on")], Typed);
    let roles: Vec<Role> = shown.typed.iter().map(|it| it.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::User, Role::User]);
    assert_eq!(kinds(&shown.typed[1].blocks), ["thinking", "text", "call"]);
    assert_eq!(kinds(&shown.typed[2].blocks), ["result"]);
    assert!(shown.typed[1].blocks.iter().all(|block| shared_with(&round, block)));
    assert!(shown.origins[2].rows.contains(Seq(3)));
}

#[test]
fn a9_a_call_without_a_result_has_a_synthetic_one() {
    let shown = rendered(&[user(1, "go"), assistant(2, vec![call("c1", "run", "{}")])], Typed);
    let BlockKind::ToolResult(made_up) = &shown.typed[2].blocks[0].kind else { panic!() };
    assert!(made_up.is_error && made_up.tool_use_id == "c1");
    assert!(shown.origins[2].synthetic);
    assert_eq!(reasons(&shown), [(2, "SYNTHETIC_RESULT")]);
}

#[test]
fn c1_an_id_that_repeats_is_aliased_on_both_sides() {
    let calls = vec![call("c1", "read", "{}"), call("c1", "read", "{}")];
    let mut round = answered(assistant(2, calls), vec![result("c1", "A"), result("c1", "B")]);
    round.calls[1].repeats = true;
    let shown = rendered(&[user(1, "go"), round], Typed);
    let BlockKind::ToolUse(made) = &shown.typed[1].blocks[1].kind else { panic!() };
    let BlockKind::ToolResult(came) = &shown.typed[2].blocks[1].kind else { panic!() };
    assert_ne!(made.id, "c1");
    assert_eq!(made.id, came.tool_use_id);
}

#[test]
fn b9_marks_that_came_in_are_left_out() {
    let mut words = text("go");
    words.extra_json = Bytes::from_static(br#"{"a":1,"cache_control":{"type":"ephemeral"}}"#);
    let loose = message(2, Role::User, vec![words, result("gone", "late")]);
    let shown = rendered(&[user(1, "go"), round(loose)], Typed);
    assert_eq!(shown.typed[1].blocks[0].extra_json, r#"{"a":1}"#);
    assert_eq!(kinds(&shown.typed[1].blocks), ["text", "text"]);
    assert_eq!(reasons(&shown), [(2, "ORPHAN_RESULT_TO_TEXT")]);
}
