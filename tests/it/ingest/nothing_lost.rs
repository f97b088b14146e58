//! Every word of a payload is somewhere in its messages.

use concertina::model::WireFormat;

use super::read;

/// Words `w1`, `w2`, … stand for everything that could be lost.
fn words(json: &str) -> Vec<&str> {
    let words = json.split(|it: char| !it.is_ascii_alphanumeric());
    words.filter(|it| it.starts_with('w') && it[1..].parse::<u32>().is_ok()).collect()
}

#[track_caller]
fn check(format: WireFormat, json: &str) {
    let payload = read(format, json).unwrap();
    let kept = format!("{:?}", payload.messages);
    let kept = words(&kept);
    let lost: Vec<_> = words(json).into_iter().filter(|it| !kept.contains(it)).collect();
    assert_eq!(lost, [""; 0], "{kept:?}");
}

#[test]
fn of_anthropic_messages() {
    check(
        WireFormat::AnthropicMessages,
        r#"[{"role":"user","w1":{"w2":["w3"]},"content":[
                {"type":"text","text":"w4","w5":"w6","cache_control":{"type":"w7"}},
                {"type":"image","source":{"type":"url","url":"w8"},"w9":1},
                {"type":"image","source":{"type":"file","file_id":"w10"}},
                {"type":"image","source":{"type":"base64","media_type":"w11","data":"w12"}},
                {"type":"document","source":{"w13":"w14"},"cache_control":"w15"},
                {"type":"tool_result","tool_use_id":"w16","w17":2,"content":[
                    {"type":"text","text":"w18"},{"type":"text","text":"w19","w20":3},
                    {"type":"text","text":"w21","cache_control":"w22"},
                    {"type":"image","source":{"type":"url","url":"w23","w24":1},"cache_control":"w25"},
                    {"type":"w26","w27":{}}]}]},
            {"role":"assistant","id":"w28","model":"w29","content":[
                {"type":"thinking","thinking":"w30","signature":"w31","w32":0},
                {"type":"thinking","thinking":"w33\ud800","signature":"w34"},
                {"type":"redacted_thinking","data":"w35","w36":0},
                {"type":"tool_use","id":"w37","name":"w38","input":{"w39":"w40"},"w41":1},
                {"type":"server_tool_use","id":"w42","name":"w43","input":{}},
                {"type":"web_search_tool_result","tool_use_id":"w44","content":"w45"}]},
            {"role":"system","content":"w46"}]"#,
    );
}

#[test]
fn of_openai_chat() {
    check(
        WireFormat::OpenAiChat,
        r#"[{"role":"system","content":"w1","name":"w2"},
            {"role":"user","content":[{"type":"text","text":"w3","w4":0},
                {"type":"image_url","image_url":{"url":"w5","detail":"w6"},"w7":"w8"},
                {"type":"image_url","image_url":{"url":"data:image/png;base64,w9","detail":"w10"}},
                {"type":"file","file":{"file_id":"w11"},"cache_control":"w12"}]},
            {"role":"assistant","content":[{"type":"refusal","refusal":"w13"}],"audio":{"id":"w14"},
                "refusal":"w15","tool_calls":[
                {"id":"w16","type":"function","w17":1,"function":{"name":"w18","arguments":"w19","w20":"w21"}},
                {"id":"w22","type":"custom","custom":{"name":"w23","input":"w24"}},
                {"id":"w25","function":{"name":"w26","arguments":{"w27":"w28"}}}],
                "function_call":{"name":"w29","arguments":"w30"}},
            {"role":"tool","tool_call_id":"w31","name":"w32","content":[{"type":"text","text":"w33"},
                {"type":"text","text":"w34","w35":0},{"type":"image_url","image_url":{"url":"w36","detail":"w37"}},
                {"type":"file","file":"w38"}]},
            {"role":"function","name":"w39","content":"w40"}]"#,
    );
}

#[test]
fn of_openai_responses() {
    check(
        WireFormat::OpenAiResponses,
        r#"[{"type":"message","id":"w1","role":"user","w2":"w3","content":[
                {"type":"input_text","text":"w4","w5":0},{"type":"input_image","image_url":"w6","detail":"w7"},
                {"type":"input_image","file_id":"w8"},{"type":"input_file","file_id":"w9"}]},
            {"type":"reasoning","id":"w10","encrypted_content":"w11","w12":"w13","content":[{"text":"w14"}],
                "summary":[{"type":"summary_text","text":"w15"}]},
            {"type":"reasoning","id":"w16","summary":[{"type":"summary_text","text":"w17","w18":0}]},
            {"type":"message","id":"w19","role":"assistant","phase":"w20","content":[
                {"type":"output_text","text":"w21","annotations":["w22"]},{"type":"output_text","text":"w23"}]},
            {"type":"message","id":"w24","role":"assistant","content":[{"type":"refusal","refusal":"w25"},
                {"type":"output_text","text":"w26"}]},
            {"type":"message","id":"w27","role":"assistant","content":[]},
            {"type":"function_call","id":"w28","call_id":"w29","name":"w30","arguments":"w31","w32":0},
            {"type":"custom_tool_call","call_id":"w33","name":"w34","input":"w35"},
            {"type":"local_shell_call","call_id":"w36","action":{"w37":"w38"},"status":"w39"},
            {"type":"web_search_call","id":"w40","action":"w41"},
            {"type":"function_call_output","id":"w42","call_id":"w43","output":[
                {"type":"input_text","text":"w44"},{"type":"input_image","image_url":"w45","detail":"w46"},
                {"type":"input_file","file_id":"w47"}]},
            {"type":"computer_call_output","call_id":"w48","output":{"type":"w49"},"w50":0},
            {"type":"tool_search_output","call_id":"w51","tools":["w52"]},
            {"type":"item_reference","id":"w53"},
            {"type":"mcp_approval_response","approval_request_id":"w54"}]"#,
    );
}
