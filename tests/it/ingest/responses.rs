use concertina::model::{
    BlockKind, ImageSource, ToolOutput, Usage, WireFormat::OpenAiResponses as FORMAT,
};

use super::{call_of, outline, outlines, output_text, read, refused, result_of, text_of};

#[test]
fn items_up_to_the_next_output_are_one_message() {
    let payload = read(
        FORMAT,
        r#"[{"role":"user","content":"hi"},
            {"type":"reasoning","id":"rs1","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"enc","status":null},
            {"type":"message","id":"msg1","role":"assistant","status":"completed","phase":"commentary","content":[
                {"type":"output_text","text":"one","annotations":[]},{"type":"output_text","text":"two"}]},
            {"type":"function_call","id":"fc1","call_id":"c1","name":"f","namespace":"n","arguments":"{\"b\":1,\"a\":2}"},
            {"type":"custom_tool_call","id":"ct1","call_id":"c2","name":"apply_patch","input":"*** Begin","status":"completed"},
            {"type":"tool_search_call","call_id":"c3","arguments":{"query":"x", "limit":5},"execution":"client"},
            {"type":"web_search_call","status":"completed","action":{"type":"search"}},
            {"type":"function_call_output","call_id":"c1","output":"plain","id":"fo1"},
            {"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"t"},
                {"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="},
                {"type":"input_file","file_id":"f"}]},
            {"type":"tool_search_output","call_id":"c3","tools":[{"n":1}]},
            {"type":"compaction","encrypted_content":"zzz"},
            {"type":"message","role":"developer","content":[{"type":"input_text","text":"d"}]}]"#,
    )
    .unwrap();
    let expected = [
        "User [text]",
        "Assistant [thinking text text call:c1 call:c2 call:c3 opaque]",
        "User [result:c1 result:c2 result:c3]",
        "Assistant [opaque]",
        "System [text]",
    ];
    assert_eq!(outlines(&payload.messages), expected);
    assert_eq!(payload.warnings, []);

    let made = &payload.messages[1].blocks;
    let BlockKind::Thinking(thinking) = &made[0].kind else { panic!("thinking") };
    assert_eq!(thinking.parts, ["a", "b"]);
    assert_eq!(
        (thinking.encrypted_content.as_str(), thinking.provider_id.as_str()),
        ("enc", "rs1")
    );
    assert_eq!(made[0].extra_json, r#"{"status":null}"#);
    let BlockKind::Text(text) = &made[1].kind else { panic!("text") };
    assert_eq!(text.provider_id, "msg1");
    let both = r#"{"annotations":[],"status":"completed","phase":"commentary"}"#;
    assert_eq!(made[1].extra_json, both, "of the part, then of the item");
    assert_eq!(made[2].extra_json, r#"{"status":"completed","phase":"commentary"}"#);
    assert_eq!(call_of(&made[3]).input_json, r#"{"b":1,"a":2}"#, "m1");
    assert_eq!(call_of(&made[3]).provider_id, "fc1");
    assert_eq!(made[3].extra_json, r#"{"namespace":"n"}"#);
    let custom = call_of(&made[4]);
    assert_eq!(
        (custom.wire_type.as_str(), custom.name.as_str()),
        ("custom_tool_call", "apply_patch")
    );
    assert_eq!(custom.input_json, "*** Begin");
    let search = call_of(&made[5]);
    assert_eq!(
        (search.wire_type.as_str(), search.name.as_str()),
        ("tool_search_call", "tool_search")
    );
    assert_eq!(search.input_json, r#"{"query":"x", "limit":5}"#);

    let outputs = &payload.messages[2].blocks;
    assert_eq!(outputs[0].extra_json, r#"{"id":"fo1"}"#);
    let parts = &result_of(&outputs[1]).output;
    assert_eq!(output_text(&parts[0]), b"t");
    let ToolOutput::Image(image) = &parts[1] else { panic!("image") };
    assert_eq!(image.source, ImageSource::Data(b"\x89PNG\r\n\x1a\n".as_slice().into()));
    let ToolOutput::Opaque(file) = &parts[2] else { panic!("opaque") };
    assert_eq!(file.json, r#"{"type":"input_file","file_id":"f"}"#);
    let ToolOutput::Opaque(tools) = &result_of(&outputs[2]).output[0] else { panic!("opaque") };
    assert_eq!(tools.json, r#"[{"n":1}]"#);
}

#[test]
fn n5_a_response_gives_its_usage_to_its_message() {
    let payload = read(
        FORMAT,
        r#"{"id":"resp_1","object":"response","model":"gpt-x","status":"completed","output":[
            {"type":"reasoning","id":"rs1","summary":[]},
            {"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"ok"}]}],
            "usage":{"input_tokens":20,"input_tokens_details":{"cached_tokens":15},"output_tokens":4}}"#,
    )
    .unwrap();
    let message = &payload.messages[0];
    assert_eq!(outline(message), "Assistant [thinking text]");
    assert_eq!((message.model.as_str(), message.provider_id.as_str()), ("gpt-x", "resp_1"));
    let usage =
        Usage { input_tokens: 20, output_tokens: 4, cache_read_tokens: 15, cache_write_tokens: 0 };
    assert_eq!(message.usage, Some(usage));
}

#[test]
fn an_item_that_holds_a_refusal_is_kept_whole() {
    let item = r#"{"type":"message","id":"m","role":"assistant","content":[{"type":"refusal","refusal":"no"}]}"#;
    let payload = read(FORMAT, item).unwrap();
    let BlockKind::Opaque(opaque) = &payload.messages[0].blocks[0].kind else { panic!("opaque") };
    assert_eq!(opaque.json, item);
}

#[test]
fn a_users_parts_have_their_shapes() {
    let payload = read(
        FORMAT,
        r#"{"type":"message","id":"u1","role":"user","status":"completed","content":[
            {"type":"input_text","text":"look"},
            {"type":"input_image","image_url":"https://a/b.png","detail":"auto"},
            {"type":"input_image","file_id":"f1"}]}"#,
    )
    .unwrap();
    let message = &payload.messages[0];
    assert_eq!(outline(message), "User [text image opaque]");
    assert_eq!(text_of(&message.blocks[0]), "look");
    assert_eq!(message.provider_id, "u1");
    assert_eq!(message.extra_json, r#"{"status":"completed"}"#);
    assert_eq!(message.blocks[1].extra_json, r#"{"detail":"auto"}"#);
}

#[test]
fn calls_of_other_types_take_part_in_rounds() {
    let payload = read(
        FORMAT,
        r#"[{"type":"computer_call","call_id":"c1","id":"i","actions":[]},
            {"type":"local_shell_call","call_id":"c2","action":{"command":["ls"]}},
            {"type":"computer_call_output","call_id":"c1","output":{"type":"computer_screenshot"}},
            {"type":"apply_patch_call_output","call_id":"c2","status":"completed"}]"#,
    )
    .unwrap();
    let expected = ["Assistant [opaque>c1 call:c2]", "User [result:c1 opaque<c2]"];
    assert_eq!(outlines(&payload.messages), expected);
}

#[test]
fn what_is_not_an_item_is_refused_with_its_place() {
    refused(
        FORMAT,
        r#"[{"type":"function_call","name":"f"}]"#,
        "[0]",
        "expected a field `call_id`, found none",
    );
    refused(FORMAT, r#"[{"a":1}]"#, "[0]", "expected a field `type`, found none");
    refused(
        FORMAT,
        r#"[{"type":"message","role":"user","content":[{"type":"input_text"}]}]"#,
        "[0].content[0]",
        "expected a field `text`, found none",
    );
    refused(
        FORMAT,
        r#"[{"type":"reasoning","summary":7}]"#,
        "[0].summary",
        "expected an array, found a number",
    );
}
