//! Cases from the field, each under its number.

use std::sync::Arc;

use bytes::Bytes;
use concertina::{
    model::{
        Block, BlockKind, Opaque, Role, Seq, Text, ToolOutput, ToolResult, ToolUse, WireFormat,
        policy::CacheMark,
        shown::{Answer, ShownMessage, ShownRound},
    },
    render::{self, AssembleOptions, Part, RoundStyle},
};
use serde_json::json;

use super::support::{
    FORMATS, PNG, answered, assistant, call, encrypted, image, joined, message, opaque, options,
    reasons, rendered, rendered_with, result, result_of, round, signed, style, summary, text,
    text_with_id, tool_use, user, values,
};

use WireFormat::{
    AnthropicMessages as Anthropic, OpenAiChat as Chat, OpenAiResponses as Responses,
};

fn parallel() -> ShownRound {
    let calls = vec![call("c1", "read", "{}"), call("c2", "read", "{}")];
    answered(assistant(2, calls), vec![result("c1", "A"), result("c2", "B")])
}

#[test]
fn a3_words_beside_a_result_come_after_it() {
    let mut round = answered(assistant(2, vec![call("c1", "run", "{}")]), vec![result("c1", "ok")]);
    let mut words = message(3, Role::User, vec![text("also rename it to k.rs")]);
    words.blocks[0].index = 1;
    round.messages.push(words);
    let shown = rendered(&[user(1, "go"), round.clone()], Anthropic);
    assert_eq!(
        values(&shown)[2]["content"],
        json!([
            {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "ok"}]},
            {"type": "text", "text": "also rename it to k.rs"},
        ])
    );
    for format in FORMATS {
        assert!(joined(&rendered(&[user(1, "go"), round.clone()], format)).contains("k.rs"));
    }
}

#[test]
fn a9_a_dangling_call_gets_a_synthetic_error() {
    let rounds = [user(1, "deploy"), assistant(2, vec![call("c1", "bash", "{}")]), user(3, "go")];
    for format in FORMATS {
        let shown = rendered(&rounds, format);
        assert!(joined(&shown).contains("No result was recorded"), "{format:?}");
        assert_eq!(reasons(&shown), [(2, "SYNTHETIC_RESULT")]);
    }
    let chat = rendered(&rounds, Chat);
    assert!(chat.origins[2].synthetic && chat.origins[2].rows.is_empty());
    let real = answered(rounds[1].clone(), vec![result("c1", "deployed")]);
    let shown = rendered(&[rounds[0].clone(), real, rounds[2].clone()], Anthropic);
    assert!(joined(&shown).contains("deployed"));
    assert!(!joined(&shown).contains("No result was recorded"));
}

#[test]
fn b1_results_of_parallel_calls_come_together() {
    let rounds = [user(1, "go"), parallel(), user(5, "thanks")];
    let shown = values(&rendered(&rounds, Anthropic));
    assert_eq!(shown.len(), 3);
    let kinds: Vec<_> =
        shown[2]["content"].as_array().unwrap().iter().map(|it| &it["type"]).collect();
    assert_eq!(kinds, ["tool_result", "tool_result", "text"]);
    assert_eq!(shown[2]["content"][0]["tool_use_id"], "c1");

    let shown = values(&rendered(&rounds, Chat));
    let ids: Vec<_> = shown[2..4].iter().map(|it| (&it["role"], &it["tool_call_id"])).collect();
    assert_eq!(ids, [(&json!("tool"), &json!("c1")), (&json!("tool"), &json!("c2"))]);

    let shown = values(&rendered(&rounds, Responses));
    let kinds: Vec<_> = shown.iter().map(|it| it["type"].as_str().unwrap()).collect();
    let (one, two) = ("function_call", "function_call_output");
    assert_eq!(kinds, ["message", one, one, two, two, "message"]);
}

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
fn b5_a_picture_is_content_and_nothing_is_not_a_picture() {
    let picture = message(1, Role::User, vec![Block::new(BlockKind::Image(image()))]);
    let empty = answered(
        assistant(2, vec![call("c1", "run", "{}"), call("c2", "run", "{}")]),
        vec![result("c1", ""), result_of("c2", vec![])],
    );
    for format in FORMATS {
        let shown = joined(&rendered(&[round(picture.clone()), empty.clone()], format));
        assert!(shown.contains("iVBORw0KGgoAAA=="), "{shown}");
        assert_eq!(shown.matches("(no output)").count(), 2);
        let after = shown.split_once('\n').unwrap().1;
        assert!(!after.contains("image"), "{after}");
    }
}

#[test]
fn b5_pictures_of_results_survive() {
    let output = vec![ToolOutput::Text(Bytes::from_static(b"shot")), ToolOutput::Image(image())];
    let blocks = vec![call("c1", "screen", "{}"), call("c2", "run", "{}")];
    let round = answered(assistant(2, blocks), vec![result_of("c1", output), result("c2", "B")]);
    let rounds = [user(1, "go"), round];
    let shown = values(&rendered(&rounds, Anthropic));
    assert_eq!(shown[2]["content"][0]["content"][1]["type"], "image");
    let shown = values(&rendered(&rounds, Chat));
    let roles: Vec<_> = shown.iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "user"]);
    assert_eq!(shown[4]["content"][1]["type"], "image_url");
    let shown = values(&rendered(&rounds, Responses));
    assert_eq!(shown[3]["output"][1]["type"], "input_image");
    assert_eq!(PNG.len(), 10);
}

#[test]
fn b7_arguments_cut_off_are_wrapped() {
    let mut failed = result("c1", "bad arguments");
    if let BlockKind::ToolResult(it) = &mut failed.kind {
        it.is_error = true;
    }
    let cut = call("c1", "bash", r#"{"command":"echo hel"#);
    let rounds = [user(1, "go"), answered(assistant(2, vec![cut]), vec![failed]), user(4, "again")];
    let shown = rendered(&rounds, Anthropic);
    assert_eq!(
        values(&shown)[1]["content"][0]["input"],
        json!({"_raw": "{\"command\":\"echo hel"})
    );
    assert_eq!(values(&shown)[2]["content"][0]["is_error"], true);
    assert_eq!(reasons(&shown), [(2, "INPUT_WRAPPED")]);
    assert_eq!(values(&rendered(&rounds, Chat))[2]["content"], "Error: bad arguments");
    assert_eq!(values(&rendered(&rounds, Responses))[2]["output"], "Error: bad arguments");
}

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
fn c1_an_id_that_repeats_is_aliased_and_paired_in_order() {
    let calls = vec![call("c1", "read", r#"{"f":"a"}"#), call("c1", "read", r#"{"f":"b"}"#)];
    let mut round = answered(assistant(2, calls), vec![result("c1", "A"), result("c1", "B")]);
    round.calls[1].repeats = true;
    for format in FORMATS {
        let shown = rendered(&[user(1, "go"), round.clone()], format);
        assert_eq!(reasons(&shown), [(2, "ID_ALIASED")]);
        assert_eq!(shown, rendered(&[user(1, "go"), round.clone()], format));
    }
    let shown = values(&rendered(&[user(1, "go"), round], Anthropic));
    let alias = &shown[1]["content"][1]["id"];
    assert_eq!(shown[1]["content"][0]["id"], "c1");
    assert!(alias.as_str().unwrap().starts_with("c1_"));
    assert_eq!(shown[2]["content"][1]["tool_use_id"], *alias);
    assert_eq!(shown[2]["content"][1]["content"][0]["text"], "B");
}

#[test]
fn c3_long_ids_are_aliased_where_the_format_needs_it() {
    let long = format!("mcp__server__{}", "a".repeat(60));
    let (one, two) = (format!("{long}-01"), format!("{long}-02"));
    let calls = vec![call(&one, "read", "{}"), call(&two, "read", "{}")];
    let round = answered(assistant(2, calls), vec![result(&one, "A"), result(&two, "B")]);
    let rounds = [user(1, "go"), round];
    let shown = values(&rendered(&rounds, Responses));
    assert_ne!(shown[1]["call_id"], shown[2]["call_id"]);
    assert_eq!(shown[1]["call_id"], shown[3]["call_id"]);
    assert_eq!(shown[2]["call_id"], shown[4]["call_id"]);
    let shown = rendered(&rounds, Anthropic);
    assert_eq!(values(&shown)[1]["content"][0]["id"], one);
    assert_eq!(reasons(&shown), []);
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

#[test]
fn g7_a_summary_is_user_text_as_the_projection_worded_it() {
    for format in FORMATS {
        let notice = summary("o1", "<summary>User wants X.</summary>");
        let shown = render::assemble(&[Part::Notice(&notice)], &options(format));
        assert_eq!(values(&shown)[0]["role"], "user");
        assert!(joined(&shown).contains("<summary>User wants X.</summary>"));
        assert_eq!(shown.origins[0].overlay, Some(notice.overlay));
    }
}

#[test]
fn l1_lone_surrogates_become_replacement_characters() {
    let words = Block::new(BlockKind::Text(Text {
        raw: Bytes::from_static(b"half \xed\xa0\xbd."),
        ..Text::default()
    }));
    let asked = call("c1", "ask", r#"{"q":"A\ud99c B"}"#);
    let round = answered(assistant(2, vec![words, asked]), vec![result("c1", r#"{"x":"\udc00"}"#)]);
    let rounds = [user(1, "go"), round];
    for format in FORMATS {
        let shown = rendered(&rounds, format);
        let replaced = (2, "INVALID_TEXT_REPLACED");
        assert_eq!(reasons(&shown), [replaced, replaced]);
        assert!(joined(&shown).contains("half \u{fffd}."));
    }
    let shown = values(&rendered(&rounds, Anthropic));
    assert_eq!(shown[1]["content"][1]["input"]["q"], "A\u{fffd} B");
    assert_eq!(shown[2]["content"][0]["content"][0]["text"], r#"{"x":"\udc00"}"#);
    let shown = values(&rendered(&rounds, Chat));
    assert_eq!(shown[1]["tool_calls"][0]["function"]["arguments"], r#"{"q":"A\ufffd B"}"#);
}

#[test]
fn l5_output_that_is_no_text_is_shown_as_text() {
    let raw = b"\xff\xfe\x00\x0a\x80 \xe2\x80\xa8 \xe2\x80\xa9 \r\n \xef\xbb\xbf";
    let output = result_of("c1", vec![ToolOutput::Text(Bytes::from_static(raw))]);
    let round = answered(assistant(2, vec![call("c1", "run", "{}")]), vec![output]);
    for format in FORMATS {
        let shown = rendered(&[user(1, "go"), round.clone()], format);
        assert_eq!(reasons(&shown), [(2 + 1, "INVALID_TEXT_REPLACED")]);
        assert_eq!(joined(&shown).lines().count(), shown.messages.len());
    }
    let shown = values(&rendered(&[user(1, "go"), round], Chat));
    let expected = "\u{fffd}\u{fffd}\0\n\u{fffd} \u{2028} \u{2029} \r\n \u{feff}";
    assert_eq!(shown[2]["content"], expected);
}

#[test]
fn m1_arguments_keep_their_bytes() {
    let input = r#"{"b":1.00, "a":{"z":0,"y":[1,2]},"b":1e3}"#;
    let round = answered(assistant(2, vec![call("c1", "run", input)]), vec![result("c1", "ok")]);
    let rounds = [user(1, "go"), round, user(4, "more")];
    assert!(joined(&rendered(&rounds, Anthropic)).contains(&format!(r#""input":{input}"#)));
    let chat = values(&rendered(&rounds, Chat));
    assert_eq!(chat[1]["tool_calls"][0]["function"]["arguments"], input);
    assert_eq!(values(&rendered(&rounds, Responses))[1]["arguments"], input);
    for format in FORMATS {
        let (short, long) = (rendered(&rounds[..2], format), rendered(&rounds, format));
        let last = short.messages.len() - 1;
        assert_eq!(short.messages[..last], long.messages[..last]);
        assert!(!reasons(&long).iter().any(|(_, reason)| *reason == "INPUT_WRAPPED"));
    }
}

#[test]
fn p1_a_picture_that_cannot_be_sent_is_a_line() {
    let mut odd = image();
    odd.media_type = "image/x-icon".to_owned();
    odd.source = concertina::model::ImageSource::Data(Bytes::from_static(b"icon"));
    let blocks = vec![Block::new(BlockKind::Image(odd))];
    let shown = joined(&rendered(&[round(message(1, Role::User, blocks))], Anthropic));
    assert!(shown.contains("[image: image/x-icon, 4 bytes]"), "{shown}");
}

#[test]
fn orphans_are_labelled_user_text() {
    let output = vec![ToolOutput::Text(Bytes::from_static(b"late")), ToolOutput::Image(image())];
    let loose = round(message(3, Role::User, vec![result_of("c9", output), text("and?")]));
    for format in FORMATS {
        let shown = rendered(&[user(1, "go"), loose.clone()], format);
        let all = joined(&shown);
        assert!(
            all.contains("[result of tool call c9]\\nlate") && all.contains("iVBORw0KGgoAAA==")
        );
        assert_eq!(reasons(&shown), [(3, "ORPHAN_RESULT_TO_TEXT")]);
    }
}

#[test]
fn a_late_answer_is_reported_as_moved() {
    let mut round = answered(assistant(2, vec![call("c1", "run", "{}")]), vec![result("c1", "ok")]);
    if let Answer::Result { moved, seq, .. } = &mut round.calls[0].answer {
        *moved = true;
        *seq = Seq(9);
    }
    let shown = rendered(&[user(1, "go"), round], Anthropic);
    assert_eq!(reasons(&shown), [(9, "RESULT_MOVED")]);
    assert!(shown.origins[2].rows.contains(Seq(9)));
}

#[test]
fn names_are_aliased_the_same_in_every_call() {
    let name = "mcp.server/read file";
    let calls = vec![call("c1", name, "{}"), call("c2", name, "{}")];
    let shown = rendered(&[user(1, "go"), assistant(2, calls)], Chat);
    let calls = &values(&shown)[1]["tool_calls"];
    assert_eq!(calls[0]["function"]["name"], calls[1]["function"]["name"]);
    let aliased = reasons(&shown).iter().filter(|it| it.1 == "NAME_ALIASED").count();
    assert_eq!(aliased, 2);
}

#[test]
fn system_messages_have_a_place_or_a_label() {
    let mut it = message(2, Role::System, vec![text("be brief")]);
    it.format = Some(Responses);
    it.extra_json = Bytes::from_static(br#"{"role":"developer"}"#);
    let rounds = [user(1, "go"), round(it)];
    let shown = rendered(&rounds, Anthropic);
    assert_eq!(reasons(&shown), [(2, "SYSTEM_AS_USER")]);
    assert_eq!(values(&shown)[0]["content"][1]["text"], "[system message]");
    assert_eq!(values(&rendered(&rounds, Chat))[1]["role"], "system");
    assert_eq!(values(&rendered(&rounds, Responses))[1]["role"], "developer");
}

#[test]
fn empty_blocks_and_empty_messages_are_left_out() {
    let rounds = [user(1, "go"), user(2, ""), assistant(3, vec![text(" \n"), text("ok")])];
    let shown = rendered(&rounds, Anthropic);
    let dropped = "EMPTY_BLOCK_DROPPED";
    assert_eq!(reasons(&shown), [(2, dropped), (3, dropped)]);
    assert_eq!(shown.messages.len(), 2);
    assert_eq!(reasons(&rendered(&rounds, Chat)), [(2, dropped)]);
}

#[test]
fn a_history_that_starts_with_the_assistant_gets_a_line() {
    for format in FORMATS {
        let shown = rendered(&[assistant(1, vec![text("hello")]), user(2, "hi")], format);
        assert_eq!(reasons(&shown), [(1, "STARTS_WITH_ASSISTANT")]);
        assert_eq!(values(&shown)[0]["role"], "user");
        assert!(shown.origins[0].synthetic);
    }
}

#[test]
fn a_history_that_ends_with_the_assistant_is_left_to_end_so() {
    for format in FORMATS {
        let shown = rendered(&[user(1, "hi"), assistant(2, vec![text("hello")])], format);
        let last = shown.repairs.last().map(|it| (it.seq, it.reason.name()));
        assert_eq!(last, Some((Seq(2), "ENDS_WITH_ASSISTANT")));
        assert_eq!(shown.messages.len(), 2);
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
    let answer = |block| Answer::Result { seq: Seq(3), index: 0, block, moved: false };
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

#[test]
fn authors_are_told_where_the_policy_asks_for_it() {
    let mut it = user(1, "hi");
    let labelled = RoundStyle { label_authors: true, ..style(Chat) };
    let shown = |it: &ShownRound| {
        let written = render::round(it, &labelled);
        joined(&render::assemble(&[Part::Round(&written)], &options(Chat)))
    };
    assert!(shown(&it).contains(r#""hi""#));
    it.lane = Arc::from("worker");
    assert!(shown(&it).contains(r#""[worker] hi""#));
    it.messages[0].author = Arc::from("ann");
    assert!(shown(&it).contains(r#""[ann] hi""#));
}
