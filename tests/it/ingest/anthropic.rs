use concertina::model::{
    BlockKind, ImageSource, Role, ToolOutput, Usage, WireFormat::AnthropicMessages as FORMAT,
};

use super::{call_of, outline, outlines, output_text, read, refused, result_of, text_of};

#[test]
fn a_response_keeps_its_blocks_and_gives_up_its_usage() {
    let payload = read(
        FORMAT,
        r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[
            {"type":"thinking","thinking":"abc","signature":"s1"},
            {"type":"redacted_thinking","data":"zz"},
            {"type":"text","text":"漢字 😀 \u2028","citations":[{"b":1,"a":2}]},
            {"type":"tool_use","id":"c1","name":"f","input":{"b":1.0, "a":{"z":0,"y":[1,2]}},
             "caller":{"type":"direct"}}],
           "stop_reason":"tool_use","stop_sequence":null,
           "usage":{"input_tokens":1,"cache_read_input_tokens":10,
                    "cache_creation_input_tokens":100,"output_tokens":5}}"#,
    )
    .unwrap();
    let [message] = payload.messages.as_slice() else { panic!("one message") };
    assert_eq!(outline(message), "Assistant [thinking redacted text call:c1]");
    assert_eq!((message.model.as_str(), message.provider_id.as_str()), ("claude-x", "msg_1"));
    assert_eq!(message.format, Some(FORMAT));
    assert_eq!(message.extra_json, "", "what a request may not hold is no extra");
    let usage = Usage {
        input_tokens: 111,
        output_tokens: 5,
        cache_read_tokens: 10,
        cache_write_tokens: 100,
    };
    assert_eq!(message.usage, Some(usage), "n5: cached tokens are part of the input");
    let BlockKind::Thinking(thinking) = &message.blocks[0].kind else { panic!("thinking") };
    assert_eq!((thinking.parts.concat().as_str(), thinking.signature.as_str()), ("abc", "s1"));
    assert_eq!(text_of(&message.blocks[2]), "漢字 😀 \u{2028}");
    assert_eq!(message.blocks[2].extra_json, r#"{"citations":[{"b":1,"a":2}]}"#);
    assert_eq!(call_of(&message.blocks[3]).input_json, r#"{"b":1.0, "a":{"z":0,"y":[1,2]}}"#);
    assert_eq!(message.blocks[3].extra_json, r#"{"caller":{"type":"direct"}}"#);
    assert_eq!(payload.warnings, []);
}

#[test]
fn m1_arguments_keep_order_spacing_digits_and_duplicates() {
    let input = r#"{"b":1,"a":{"z":0,"y":[1,2]},  "n":1.10e+2,"b":2,"\u0062":3}"#;
    let json = format!(
        r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"c","name":"f","input":{input}}}]}}"#
    );
    let payload = read(FORMAT, json).unwrap();
    assert_eq!(call_of(&payload.messages[0].blocks[0]).input_json, input);
}

#[test]
fn a_string_is_one_text() {
    let payload = read(FORMAT, r#"{"role":"user","content":"hi\n","x":[1, 2]}"#).unwrap();
    assert_eq!(text_of(&payload.messages[0].blocks[0]), "hi\n");
    assert_eq!(payload.messages[0].extra_json, r#"{"x":[1, 2]}"#);
}

#[test]
fn tool_results_hold_text_images_and_what_has_no_shape() {
    let payload = read(
        FORMAT,
        r#"[{"role":"user","content":[
            {"type":"tool_result","tool_use_id":"c1","content":"plain"},
            {"type":"tool_result","tool_use_id":"c1","is_error":true,"content":[
                {"type":"text","text":"one"},
                {"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},
                {"type":"image","source":{"type":"url","url":"https://a/b.png"}},
                {"type":"image","source":{"type":"base64","media_type":"image/png","data":"REDACTED-"}},
                {"type":"search_result","source":"s","title":"t","content":[]}]},
            {"type":"tool_result","tool_use_id":"c3"}]}]"#,
    )
    .unwrap();
    let blocks = &payload.messages[0].blocks;
    assert_eq!(outline(&payload.messages[0]), "User [result:c1 result:c1 result:c3]");
    assert_eq!(output_text(&result_of(&blocks[0]).output[0]), b"plain");
    let second = result_of(&blocks[1]);
    assert!(second.is_error);
    let [
        ToolOutput::Text(_),
        ToolOutput::Image(data),
        ToolOutput::Image(url),
        ToolOutput::Opaque(broken),
        ToolOutput::Opaque(found),
    ] = second.output.as_slice()
    else {
        panic!("five parts, found {:?}", second.output);
    };
    assert_eq!(data.source, ImageSource::Data(b"\x89PNG\r\n\x1a\n".as_slice().into()));
    assert_eq!(url.source, ImageSource::Url("https://a/b.png".into()));
    assert!(broken.json.ends_with(br#""data":"REDACTED-"}}"#));
    assert_eq!(found.json, r#"{"type":"search_result","source":"s","title":"t","content":[]}"#);
    assert!(result_of(&blocks[2]).output.is_empty());
}

#[test]
fn b9_marks_for_the_cache_are_on_record_and_in_no_opaque_block() {
    let payload = read(
        FORMAT,
        r#"{"role":"user","content":[
            {"type":"text","text":"a","cache_control":{"type":"ephemeral"}},
            {"type":"document","source":{"type":"text","data":"d"},"cache_control":{"type":"ephemeral"},"title":"t"},
            {"type":"tool_result","tool_use_id":"c","content":[
                {"type":"text","text":"x","cache_control":{"ttl":"1h"}}]}]}"#,
    )
    .unwrap();
    let blocks = &payload.messages[0].blocks;
    assert_eq!(blocks[0].extra_json, r#"{"cache_control":{"type":"ephemeral"}}"#);
    assert_eq!(blocks[1].extra_json, r#"{"cache_control":{"type":"ephemeral"}}"#);
    let BlockKind::Opaque(document) = &blocks[1].kind else { panic!("opaque") };
    let kept = r#"{"type":"document","source":{"type":"text","data":"d"},"title":"t"}"#;
    assert_eq!(document.json, kept);
    assert_eq!(blocks[2].extra_json, r#"{"cache_control":{"ttl":"1h"}}"#);
    assert_eq!(output_text(&result_of(&blocks[2]).output[0]), b"x");
}

#[test]
fn server_tools_name_their_call() {
    let payload = read(
        FORMAT,
        r#"{"role":"assistant","content":[
            {"type":"server_tool_use","id":"srv1","name":"web_search","input":{"q":"x"}},
            {"type":"web_search_tool_result","tool_use_id":"srv1","content":[]},
            {"type":"compaction","content":"sum"}]}"#,
    )
    .unwrap();
    assert_eq!(outline(&payload.messages[0]), "Assistant [opaque>srv1 opaque<srv1 opaque]");
}

#[test]
fn c1_ids_stay_as_they_came() {
    let payload = read(
        FORMAT,
        r#"[{"role":"assistant","content":[
              {"type":"tool_use","id":"c1","name":"read","input":{"p":"a"}},
              {"type":"tool_use","id":"c1","name":"read","input":{"p":"b"}},
              {"type":"tool_use","id":"","name":"read","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"A"}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"B"}]}]"#,
    )
    .unwrap();
    let expected = ["Assistant [call:c1 call:c1 call:]", "User [result:c1]", "User [result:c1]"];
    assert_eq!(outlines(&payload.messages), expected);
}

#[test]
fn l1_lone_surrogates_are_kept_and_warned_of() {
    let payload = read(
        FORMAT,
        r#"[{"role":"assistant","content":[{"type":"text","text":"x\ud800"},
              {"type":"tool_use","id":"c1","name":"ask","input":{"q":"A\ud99c B"}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"\udc00"}]}]"#,
    )
    .unwrap();
    let BlockKind::Text(text) = &payload.messages[0].blocks[0].kind else { panic!("text") };
    assert_eq!((text.text.as_str(), &*text.raw), ("", b"x\xed\xa0\x80".as_slice()));
    assert_eq!(call_of(&payload.messages[0].blocks[1]).input_json, r#"{"q":"A\ud99c B"}"#);
    let result = result_of(&payload.messages[1].blocks[0]);
    assert_eq!(output_text(&result.output[0]), b"\xed\xb0\x80");
    let reasons: Vec<_> =
        payload.warnings.iter().map(|it| (it.message, it.reason.name())).collect();
    assert_eq!(reasons, [(0, "INVALID_TEXT"), (1, "INVALID_TEXT")]);
}

#[test]
fn l5_unusual_characters_come_through() {
    let json = "{\"role\":\"user\",\"content\":\"\\u0000\\r\\n\u{2028}\u{2029}\u{feff}\\u001b\"}";
    let payload = read(FORMAT, json).unwrap();
    let expected = "\0\r\n\u{2028}\u{2029}\u{feff}\u{1b}";
    assert_eq!(text_of(&payload.messages[0].blocks[0]), expected);
}

#[test]
fn a_system_message_in_the_middle_is_one() {
    let payload = read(FORMAT, r#"{"role":"system","content":"from now on"}"#).unwrap();
    assert_eq!(payload.messages[0].role, Role::System);
}

#[test]
fn what_is_not_a_message_is_refused_with_its_place() {
    let user = |block: &str| format!(r#"[{{"role":"user","content":[{block}]}}]"#);
    refused(
        FORMAT,
        &user(r#"{"type":"tool_use","id":"a","name":"b","input":{}}"#),
        "[0].content[0]",
        "expected what a user message holds, found `tool_use`",
    );
    refused(
        FORMAT,
        r#"{"role":"assistant","content":[{"type":"tool_result","tool_use_id":"a"}]}"#,
        "content[0]",
        "expected what an assistant message holds, found `tool_result`",
    );
    refused(FORMAT, &user("7"), "[0].content[0]", "expected an object, found a number");
    refused(
        FORMAT,
        &user(r#"{"type":"text","text":null}"#),
        "[0].content[0].text",
        "expected a string, found null",
    );
    refused(
        FORMAT,
        &user(r#"{"text":"a"}"#),
        "[0].content[0]",
        "expected a field `type`, found none",
    );
    refused(
        FORMAT,
        r#"{"role":"user","content":{}}"#,
        "content",
        "expected a string or an array, found an object",
    );
    refused(
        FORMAT,
        r#"{"role":"robot","content":""}"#,
        "role",
        "expected `user`, `assistant` or `system`, found `robot`",
    );
    refused(FORMAT, r#"{"messages":[]}"#, "the payload", "expected a field `role`, found none");
    refused(FORMAT, "", "line 1 column 0", "expected JSON, found: EOF while parsing a value");
    refused(FORMAT, "[1,\n2}", "line 2 column 2", "expected JSON, found: expected `,` or `]`");
    refused(FORMAT, &"[".repeat(200), "byte 128", "expected at most 128 levels, found more");
    let err = read(FORMAT, b"\"\xff\"").unwrap_err();
    assert_eq!(
        err.to_string(),
        "the payload is not of Anthropic Messages: byte 1: expected UTF-8, found other bytes"
    );
}
