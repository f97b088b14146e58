//! The check finds what it is for: each rule, broken once.

use bytes::Bytes;
use concertina::{
    model::WireFormat,
    render::check::{Request, violations_of},
};

use WireFormat::{
    AnthropicMessages as Anthropic, OpenAiChat as Chat, OpenAiResponses as Responses,
};

/// The numbers of the rules that these messages break.
fn broken(format: WireFormat, tools: &str, messages: &[&str]) -> Vec<&'static str> {
    let messages: Vec<Bytes> =
        messages.iter().map(|json| Bytes::copy_from_slice(json.as_bytes())).collect();
    let found = violations_of(&Request {
        format,
        system_json: b"",
        tools_json: tools.as_bytes(),
        messages: &messages,
        may_end_with_assistant: false,
    });
    found.iter().filter_map(|it| it.rule.split(' ').next()).collect()
}

#[track_caller]
fn check(format: WireFormat, cases: &[(&[&str], &[&str])]) {
    for (messages, expected) in cases {
        assert_eq!(broken(format, "", messages), *expected, "{messages:?}");
    }
}

const GO: &str = r#"{"role":"user","content":"go"}"#;
const OK: &str = r#"{"role":"assistant","content":"ok"}"#;

#[test]
fn rules_of_every_format() {
    check(
        Chat,
        &[
            (&[GO], &[]),
            (&[], &["X2"]),
            (&["[]"], &["X2"]),
            (&[GO, "{"], &["X0"]),
            (&[r#"{"role":"user","content":"\ud800"}"#], &["X1"]),
            (&[r#"{"role":"user","content":"\ud83d\ude00"}"#], &[]),
        ],
    );
}

#[test]
fn rules_of_anthropic_messages() {
    let user = |blocks: &str| format!(r#"{{"role":"user","content":[{blocks}]}}"#);
    let assistant = |blocks: &str| format!(r#"{{"role":"assistant","content":[{blocks}]}}"#);
    let text = r#"{"type":"text","text":"x"}"#;
    let call = r#"{"type":"tool_use","id":"c1","name":"f","input":{}}"#;
    let result = r#"{"type":"tool_result","tool_use_id":"c1"}"#;
    let signed = r#"{"type":"thinking","thinking":"","signature":"s"}"#;
    let called = |blocks: &str| vec![GO.to_owned(), assistant(blocks), user(result)];
    let cases: Vec<(Vec<String>, &[&str])> = vec![
        (called(call), &[]),
        (vec![assistant(text), GO.to_owned()], &["A1"]),
        (vec![assistant(r#"{"type":"compaction"}"#), GO.to_owned()], &[]),
        (vec![GO.to_owned(), assistant(text)], &["A2"]),
        (vec![GO.to_owned(), r#"{"role":"tool","content":"x"}"#.to_owned()], &["A3"]),
        (vec![GO.to_owned(), GO.to_owned()], &["A4"]),
        (vec![user("")], &["A5"]),
        (vec![user("1")], &["A5"]),
        (called(&format!("{},{call}", signed.replace('}', r#","cache_control":1}"#))), &["A6"]),
        (vec![user(r#"{"type":"text","text":" "}"#)], &["A7"]),
        (vec![r#"{"role":"user","content":" "}"#.to_owned()], &["A7"]),
        (vec![user(call)], &["A8", "A20"]),
        (called(&call.replace("{}", "[]")), &["A9"]),
        (called(&call.replace(r#""f""#, r#""f g""#)), &["A10"]),
        (
            vec![
                GO.to_owned(),
                assistant(&call.replace("c1", "c.1")),
                user(&result.replace("c1", "c.1")),
            ],
            &["A11"],
        ),
        (called(&format!("{call},{call}")), &["A12"]),
        (vec![GO.to_owned(), assistant(result), GO.to_owned()], &["A13", "A21"]),
        (vec![GO.to_owned(), assistant(call), user(&format!("{text},{result}"))], &["A14"]),
        (
            vec![GO.to_owned(), assistant(call), user(&result.replace('}', r#","content":[]}"#))],
            &["A15"],
        ),
        (called(&format!(r#"{{"type":"thinking","thinking":"x"}},{call}"#)), &["A16"]),
        (called(&format!(r#"{{"type":"redacted_thinking","data":""}},{call}"#)), &["A16"]),
        (vec![user(&format!("{signed},{text}"))], &["A17"]),
        (vec![user(r#"{"type":"image"}"#)], &["A18"]),
        (vec![user(r#"{"type":"image","source":{"type":"base64","data":""}}"#)], &["A18"]),
        (called(&format!("{text},{signed},{call}")), &["A19"]),
        (vec![GO.to_owned(), assistant(call), GO.to_owned()], &["A20"]),
        (vec![user(result)], &["A21"]),
        (vec![GO.to_owned(), assistant(call), user(&format!("{result},{result}"))], &["A22"]),
        (vec![r#"{"role":"system","content":"x"}"#.to_owned(), GO.to_owned()], &["A1", "A23"]),
        (called(&format!("{call},{signed}")), &["A19", "A26"]),
    ];
    for (messages, expected) in cases {
        let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
        assert_eq!(broken(Anthropic, "", &messages), expected, "{messages:?}");
    }
    let marked = text.replace('}', r#","cache_control":{"type":"ephemeral"}}"#);
    let five = user(&[marked.as_str(); 5].join(","));
    assert_eq!(broken(Anthropic, "", &[&five]), ["A24"]);
    assert_eq!(broken(Anthropic, r#"[{"name":"a"},{"name":"a"}]"#, &[GO]), ["A27"]);
}

#[test]
fn rules_of_chat() {
    let calling = |id: &str, name: &str, arguments: &str| {
        format!(
            r#"{{"role":"assistant","tool_calls":[{{"id":"{id}","function":{{"name":"{name}","arguments":"{arguments}"}}}}]}}"#
        )
    };
    let result = |id: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"x"}}"#);
    let (made, came) = (calling("c1", "f", "{}"), result("c1"));
    let long = "c".repeat(41);
    let (long_made, long_came) = (calling(&long, "f", "{}"), result(&long));
    let (odd_name, odd_input) = (calling("c1", "f g", "{}"), calling("c1", "f", "{"));
    check(
        Chat,
        &[
            (&[GO, &made, &came], &[]),
            (&[GO, r#"{"role":"robot","content":"x"}"#], &["C1"]),
            (&[GO, &came], &["C2"]),
            (&[GO, &made, r#"{"role":"tool","tool_call_id":"c1"}"#], &["C3"]),
            (&[GO, &made, GO], &["C4"]),
            (&[GO, &made], &["C4", "C13"]),
            (&[GO, r#"{"role":"assistant","content":"x","tool_calls":[]}"#, GO], &["C5"]),
            (&[GO, r#"{"role":"assistant","content":null}"#, GO], &["C6"]),
            (&[GO, &odd_name, &came], &["C8"]),
            (&[GO, &odd_input, &came], &["C10"]),
            (&[r#"{"role":"user","content":[]}"#], &["C11"]),
            (&[OK, GO], &["C12"]),
            (&[GO, OK], &["C13"]),
            (
                &[
                    GO,
                    &made,
                    r#"{"role":"tool","tool_call_id":"c1","content":[{"type":"image_url"}]}"#,
                ],
                &["C14"],
            ),
            (&[GO, &long_made, &long_came], &["C15"]),
        ],
    );
}

#[test]
fn rules_of_responses() {
    let made = r#"{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}"#;
    let came = r#"{"type":"function_call_output","call_id":"c1","output":"x"}"#;
    let long = "c".repeat(65);
    let (long_made, long_came) = (made.replace("c1", &long), came.replace("c1", &long));
    check(
        Responses,
        &[
            (&[GO, made, came], &[]),
            (&[r#"{"type":"compaction","encrypted_content":"x"}"#, GO], &[]),
            (&[GO, &long_made, &long_came], &["R1"]),
            (&[GO, made, made, came], &["R2"]),
            (&[GO, &made.replace("{}", "{"), came], &["R3"]),
            (&[GO, made, came, came], &["R4"]),
            (&[GO, made, &came.replace(r#""x""#, "[]")], &["R5"]),
            (&[GO, r#"{"type":"reasoning"}"#, GO], &["R6"]),
            (&[GO, r#"{"role":"robot","content":"x"}"#, GO], &["R7"]),
            (&[r#"{"role":"user","content":""}"#], &["R8"]),
            (&[GO, made, GO], &["R10"]),
            (&[GO, came, made, GO], &["R11"]),
            (&[GO, came], &["R12"]),
            (&[OK, GO], &["R13"]),
            (&[GO, OK], &["R14"]),
            (&[GO, &made.replace(r#""f""#, r#""f g""#), came], &["R15"]),
        ],
    );
}
