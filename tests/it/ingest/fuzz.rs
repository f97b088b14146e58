//! Nothing that comes in makes a reader panic.

use concertina::{
    ingest::session::{Layout, Reader, Source, SourceFormat, detect},
    model::WireFormat,
};
use proptest::prelude::*;

use super::{call_of, read};

const FORMATS: [WireFormat; 4] = [
    WireFormat::AnthropicMessages,
    WireFormat::OpenAiChat,
    WireFormat::OpenAiResponses,
    WireFormat::Typed,
];

const FIXTURES: [&[u8]; 10] = [
    include_bytes!("fixtures/claude-code.jsonl"),
    include_bytes!("fixtures/codex.jsonl"),
    include_bytes!("fixtures/openhands.events.json"),
    include_bytes!("fixtures/pi.jsonl"),
    include_bytes!("fixtures/swe-agent.traj"),
    include_bytes!("fixtures/tau-bench.json"),
    include_bytes!("fixtures/openai-chat.json"),
    include_bytes!("fixtures/anthropic.json"),
    include_bytes!("fixtures/records.jsonl"),
    include_bytes!("fixtures/messages.jsonl"),
];

/// Reads `bytes` every way there is; gives how much came of it.
fn read_all_ways(bytes: &[u8]) -> usize {
    let mut total = FORMATS.iter().filter(|it| read(**it, bytes).is_ok()).count();
    total += usize::from(detect(bytes, "a.json").is_some());
    for (format, _) in SourceFormat::ALL {
        for layout in [Layout::Lines, Layout::Document] {
            total += Reader::new(Source { format, layout }, bytes).count();
        }
    }
    total
}

/// JSON whose names and words are those that the readers look for.
fn json() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "null",
        "true",
        "0",
        "-1.5",
        "1e99",
        "\"\"",
        "\"text\"",
        "\"user\"",
        "\"assistant\"",
        "\"tool\"",
        "\"system\"",
        "\"tool_use\"",
        "\"tool_result\"",
        "\"thinking\"",
        "\"image\"",
        "\"base64\"",
        "\"reasoning\"",
        "\"function_call\"",
        "\"function_call_output\"",
        "\"message\"",
        "\"response_item\"",
        "\"event_msg\"",
        "\"token_count\"",
        "\"compacted\"",
        "\"ActionEvent\"",
        "\"ObservationEvent\"",
        "\"MessageEvent\"",
        "\"toolResult\"",
        "\"queue-operation\"",
        "\"remove\"",
        "\"\\ud800\"",
        "\"data:image/png;base64,AAAA\"",
    ]);
    let keys = prop::sample::select(vec![
        "role",
        "content",
        "type",
        "text",
        "id",
        "name",
        "input",
        "tool_calls",
        "function",
        "arguments",
        "tool_call_id",
        "tool_use_id",
        "source",
        "media_type",
        "data",
        "image_url",
        "url",
        "summary",
        "encrypted_content",
        "call_id",
        "output",
        "usage",
        "input_tokens",
        "choices",
        "message",
        "payload",
        "kind",
        "observation",
        "llm_message",
        "thought",
        "traj",
        "history",
        "messages",
        "tools",
        "response",
        "operation",
        "timestamp",
        "meta",
        "replacement_history",
        "cache_control",
        "tool_call_ids",
        "is_error",
        "action",
    ]);
    words.prop_map(str::to_owned).prop_recursive(6, 64, 6, move |inner| {
        let fields = prop::collection::vec((keys.clone(), inner.clone()), 0..6);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|it| format!("[{}]", it.join(","))),
            fields.prop_map(|it| {
                let fields: Vec<_> =
                    it.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let total = read_all_ways(&bytes);
        prop_assert!(total <= 20 * (bytes.len() + 1));
    }

    #[test]
    fn json_of_known_words_never_panics(first in json(), second in json()) {
        let text = format!("{first}\n{second}");
        prop_assert_eq!(read_all_ways(text.as_bytes()), read_all_ways(text.as_bytes()));
    }

    #[test]
    fn broken_sessions_never_panic(
        which in 0..FIXTURES.len(),
        cut in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = FIXTURES[which].to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        bytes.truncate(cut.index(bytes.len()) + 1);
        prop_assert!(read_all_ways(&bytes) < 100_000);
    }

    #[test]
    fn m1_arguments_come_through_byte_for_byte(input in json()) {
        let string = serde_json::to_string(&input).unwrap();
        let payloads = [
            format!(r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"","name":"","input": {input} }}]}}"#),
            format!(r#"{{"role":"assistant","tool_calls":[{{"id":"","function":{{"name":"","arguments":{string}}}}}]}}"#),
            format!(r#"{{"type":"function_call","call_id":"","name":"","arguments":{string}}}"#),
        ];
        for (format, json) in FORMATS.into_iter().zip(payloads) {
            let payload = read(format, json).unwrap();
            prop_assert_eq!(&call_of(&payload.messages[0].blocks[0]).input_json, &input);
        }
    }
}
