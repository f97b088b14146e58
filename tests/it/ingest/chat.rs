use concertina::model::{BlockKind, ImageSource, Role, Usage, WireFormat::OpenAiChat as FORMAT};

use super::{call_of, outline, outlines, output_text, read, refused, result_of, text_of};

#[test]
fn a_conversation_becomes_messages_and_results_share_one() {
    let payload = read(
        FORMAT,
        r#"[{"role":"developer","content":"be brief"},
            {"role":"user","name":"ann","content":[{"type":"text","text":"hi"},
                {"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo=","detail":"low"}},
                {"type":"image_url","image_url":{"url":"https://a/b.png"}},
                {"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}}]},
            {"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[
                {"id":"a","type":"function","function":{"name":"f","arguments":"{\"b\":1, \"a\":2}"},"index":0},
                {"id":"a","type":"function","function":{"name":"f","arguments":""}},
                {"id":"c","type":"custom","custom":{"name":"patch","input":"*** Begin"}}]},
            {"role":"tool","tool_call_id":"a","name":"f","content":"one"},
            {"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"two"},{"type":"file","file":{}}]},
            {"role":"user","content":"next"},
            {"role":"tool","tool_call_id":"c","content":"late"}]"#,
    )
    .unwrap();
    let expected = [
        "System [text]",
        "User [text image image opaque]",
        "Assistant [call:a call:a call:c]",
        "User [result:a result:a]",
        "User [text]",
        "User [result:c]",
    ];
    assert_eq!(outlines(&payload.messages), expected);
    let messages = &payload.messages;
    assert!(messages.iter().all(|it| it.format == Some(FORMAT)));
    assert_eq!(messages[1].extra_json, r#"{"name":"ann"}"#);
    assert_eq!(messages[1].blocks[1].extra_json, r#"{"detail":"low"}"#);
    let BlockKind::Image(image) = &messages[1].blocks[1].kind else { panic!("image") };
    assert_eq!(image.source, ImageSource::Data(b"\x89PNG\r\n\x1a\n".as_slice().into()));
    assert_eq!(messages[2].extra_json, r#"{"reasoning_content":"hm"}"#);
    assert_eq!(call_of(&messages[2].blocks[0]).input_json, r#"{"b":1, "a":2}"#);
    assert_eq!(messages[2].blocks[0].extra_json, r#"{"index":0}"#);
    let custom = call_of(&messages[2].blocks[2]);
    assert_eq!(
        (custom.wire_type.as_str(), &*custom.input_json),
        ("custom", b"*** Begin".as_slice())
    );
    assert_eq!(messages[3].blocks[0].extra_json, r#"{"name":"f"}"#);
    assert_eq!(output_text(&result_of(&messages[3].blocks[1]).output[0]), b"two");
}

#[test]
fn b7_arguments_that_were_cut_off_keep_their_bytes() {
    let payload = read(
        FORMAT,
        r#"{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function",
            "function":{"name":"bash","arguments":"{\"command\":\"echo hel"}}]}"#,
    )
    .unwrap();
    let call = call_of(&payload.messages[0].blocks[1]);
    assert_eq!(call.input_json, r#"{"command":"echo hel"#);
    let [warning] = payload.warnings.as_slice() else { panic!("one warning") };
    assert_eq!(warning.reason.name(), "INVALID_TOOL_INPUT");
    assert_eq!(warning.detail, "block 1: the arguments of `bash`");
}

#[test]
fn l1_arguments_with_a_lone_surrogate_keep_their_bytes() {
    let call = |arguments: &str| {
        let json = format!(
            r#"{{"role":"assistant","tool_calls":[{{"id":"c1","type":"function","function":{{"name":"ask","arguments":"{arguments}"}}}}]}}"#
        );
        let payload = read(FORMAT, json).unwrap();
        call_of(&payload.messages[0].blocks[0]).input_json.clone()
    };
    assert_eq!(call(r#"{\"q\":\"A\\ud99c B\"}"#), r#"{"q":"A\ud99c B"}"#);
    assert_eq!(call(r#"{\"q\":\"A\ud99c B\"}"#), b"{\"q\":\"A\xed\xa6\x9c B\"}".as_slice());
}

#[test]
fn n5_a_response_gives_its_usage() {
    let payload = read(
        FORMAT,
        r#"{"id":"chatcmpl-1","object":"chat.completion","model":"gpt-x","choices":[{"index":0,
            "finish_reason":"stop","message":{"role":"assistant","content":"ok","refusal":null,
            "annotations":[]}}],"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13,
            "prompt_tokens_details":{"cached_tokens":8}}}"#,
    )
    .unwrap();
    let message = &payload.messages[0];
    assert_eq!(outline(message), "Assistant [text]");
    assert_eq!((message.model.as_str(), message.provider_id.as_str()), ("gpt-x", "chatcmpl-1"));
    assert_eq!(message.extra_json, r#"{"annotations":[]}"#);
    let usage =
        Usage { input_tokens: 10, output_tokens: 3, cache_read_tokens: 8, cache_write_tokens: 0 };
    assert_eq!(message.usage, Some(usage));
}

#[test]
fn a_refusal_is_a_block() {
    let payload =
        read(FORMAT, r#"{"role":"assistant","content":null,"refusal":"no \u00e9"}"#).unwrap();
    let BlockKind::Opaque(opaque) = &payload.messages[0].blocks[0].kind else { panic!("opaque") };
    assert_eq!(opaque.json, r#"{"type":"refusal","refusal":"no \u00e9"}"#);
}

#[test]
fn the_calls_of_old_have_no_id() {
    let payload = read(
        FORMAT,
        r#"[{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},
            {"role":"function","name":"f","content":"ok"}]"#,
    )
    .unwrap();
    assert_eq!(outlines(&payload.messages), ["Assistant [call:]", "User [result:]"]);
    assert_eq!(call_of(&payload.messages[0].blocks[0]).wire_type, "function_call");
    assert_eq!(result_of(&payload.messages[1].blocks[0]).wire_type, "function");
    assert_eq!(payload.messages[1].blocks[0].extra_json, r#"{"name":"f"}"#);
}

#[test]
fn c3_long_ids_stay_as_they_came() {
    let id = format!("mcp__server__{}-01", "a".repeat(60));
    let json = format!(r#"{{"role":"tool","tool_call_id":"{id}","content":""}}"#);
    let payload = read(FORMAT, json).unwrap();
    assert_eq!(payload.messages[0].role, Role::User);
    let result = result_of(&payload.messages[0].blocks[0]);
    assert_eq!(result.tool_use_id, id);
    assert_eq!(output_text(&result.output[0]), b"");
}

#[test]
fn text_is_kept_with_its_marks() {
    let payload = read(
        FORMAT,
        r#"{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}"#,
    )
    .unwrap();
    let block = &payload.messages[0].blocks[0];
    assert_eq!(text_of(block), "x");
    assert_eq!(block.extra_json, r#"{"cache_control":{"type":"ephemeral"}}"#);
}

#[test]
fn what_is_not_a_message_is_refused_with_its_place() {
    refused(
        FORMAT,
        r#"{"role":"user","content":"a","tool_calls":[]}"#,
        "tool_calls",
        "expected calls in assistant messages only",
    );
    refused(
        FORMAT,
        r#"[{"role":"tool","content":"a"}]"#,
        "[0]",
        "expected a field `tool_call_id`, found none",
    );
    refused(
        FORMAT,
        r#"[{"role":"assistant","tool_calls":[{"id":"a","function":{"arguments":"{}"}}]}]"#,
        "[0].tool_calls[0].function",
        "expected a field `name`, found none",
    );
    refused(
        FORMAT,
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":{}}]}"#,
        "content[0]",
        "expected a part of a Chat message, found `tool_use`",
    );
    refused(FORMAT, r#"{"choices":[]}"#, "choices", "expected one choice, found 0");
    refused(
        FORMAT,
        r#"{"choices":[{"message":{"role":"user","content":""}}]}"#,
        "choices[0]",
        "expected a message of the assistant, found another",
    );
    refused(
        FORMAT,
        r#"{"role":"user","role":"user"}"#,
        "the payload",
        "expected one `role`, found two",
    );
}
