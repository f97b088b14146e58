//! Recorded sessions, one small file of each program, with the traps of the
//! real ones.

use concertina::{
    ingest::session::{FileLimits, Imported, Layout, Reader, Source, SourceFormat, detect},
    model::{BlockKind, Message, Placement, Usage, WireFormat},
};

use super::{call_of, outline, output_text, result_of, text_of};

macro_rules! fixture {
    ($name:literal) => {
        ($name, include_bytes!(concat!("fixtures/", $name)).as_slice())
    };
}

/// What a file came to, a line each, and its messages.
struct Read {
    told: Vec<String>,
    messages: Vec<Message>,
}

fn read((name, bytes): (&str, &[u8]), format: SourceFormat) -> Read {
    let source = detect(bytes, name).unwrap();
    assert_eq!(source.format, format);
    read_as(source, bytes, FileLimits::default())
}

fn read_as(source: Source, bytes: &[u8], limits: FileLimits) -> Read {
    let mut read = Read { told: Vec::new(), messages: Vec::new() };
    for imported in Reader::with_limits(source, bytes, limits) {
        read.told.push(match imported.unwrap() {
            Imported::Message { line, message } => {
                let told = format!("{line}: {}", outline(&message));
                read.messages.push(message);
                told
            }
            Imported::Item { line, item } => {
                let content = String::from_utf8(item.content.to_vec()).unwrap();
                format!("{line}: {} {:?}: {content}", item.name, item.placement)
            }
            Imported::Skipped { line, reason } => format!("{line}: skipped {reason}"),
            Imported::Damaged { line, detail } => format!("{line}: DAMAGED {detail}"),
        });
    }
    read
}

fn kept(read: &Read) -> Vec<&str> {
    read.told.iter().map(String::as_str).filter(|it| !it.contains(": skipped")).collect()
}

fn usage(input: i64, output: i64, read: i64, write: i64) -> Usage {
    Usage {
        input_tokens: input,
        output_tokens: output,
        cache_read_tokens: read,
        cache_write_tokens: write,
    }
}

#[test]
fn claude_code() {
    let read = read(fixture!("claude-code.jsonl"), SourceFormat::ClaudeCode);
    let expected = [
        "3: User [text]",
        "4: User [text]",
        "14: User [text]",
        "15: DAMAGED column 69: expected JSON, found: EOF while parsing a value",
        "5: Assistant [thinking call:toolu_A call:toolu_B]",
        "10: User [result:toolu_A result:toolu_B]",
        "7: User [text]",
        "18: User [text]",
        "19: Assistant [text]",
    ];
    assert_eq!(kept(&read), expected);
    let joined = read.messages.iter().find(|it| it.provider_id == "msg_1").unwrap();
    assert_eq!(joined.usage, Some(usage(1103, 77, 1000, 100)), "of the last line, never the sum");
    assert_eq!(
        (joined.model.as_str(), joined.format),
        ("claude-a", Some(WireFormat::AnthropicMessages))
    );
    assert_eq!(joined.client_time.unwrap().seconds, 1_772_359_205);
    assert_eq!(joined.extra_json, "");
    let call = call_of(&joined.blocks[1]);
    assert_eq!(call.input_json, r#"{"file_path":"/p/z.rs","b":1,"a":2}"#);
    let queued = read.messages.iter().position(|it| has_text(it, "and mind the tests")).unwrap();
    let results = read.messages.iter().position(|it| outline(it).contains("result")).unwrap();
    assert_eq!(queued, results + 1, "typed while the tool ran, seen after its result");
    let authors: Vec<_> = read.messages.iter().filter(|it| it.author == "claude-code").collect();
    assert!(has_text(authors[0], "Skill: parsing") && has_text(authors[1], "Earlier: the parser."));
    let lanes: Vec<_> = read.messages.iter().filter(|it| it.lane == "ag1").collect();
    assert!(lanes.len() == 1 && has_text(lanes[0], "Explore"));
    let synthetic = read.messages.last().unwrap();
    assert_eq!((synthetic.model.as_str(), synthetic.usage), ("<synthetic>", None));
    for skipped in [
        "1: skipped summary",
        "2: skipped file-history-snapshot",
        "8: skipped progress",
        "16: skipped system microcompact_boundary",
        "17: skipped system compact_boundary",
        "20: skipped queued text that never reached the model",
        "21: skipped pr-link",
    ] {
        assert!(read.told.iter().any(|it| it == skipped), "{skipped} in {:?}", read.told);
    }
}

fn has_text(message: &Message, expected: &str) -> bool {
    matches!(&message.blocks[0].kind, BlockKind::Text(it) if it.text == expected)
}

#[test]
fn codex() {
    let read = read(fixture!("codex.jsonl"), SourceFormat::Codex);
    let mut told = kept(&read);
    let damaged = told.iter().position(|it| it.starts_with("19: ")).unwrap();
    assert!(told.remove(damaged).starts_with("19: DAMAGED column 2: expected JSON"));
    let expected = [
        "1: system System: You are a coder.",
        "3: System [text]",
        "4: User [text image]",
        "6: Assistant [thinking text call:call_1 call:call_2]",
        "11: User [result:call_1 result:call_2]",
        "15: Assistant [opaque text]",
        "18: Assistant [opaque]",
        "21: User [text]",
        "22: Assistant [text]",
    ];
    assert_eq!(told, expected);
    let made = &read.messages[2];
    assert_eq!(made.usage, Some(usage(500, 30, 400, 0)), "n5: the input includes the cached");
    assert_eq!(read.messages[4].usage, Some(usage(600, 5, 500, 0)));
    assert_eq!((made.model.as_str(), read.messages[7].model.as_str()), ("gpt-a", "gpt-b"));
    assert_eq!(made.blocks[1].extra_json, r#"{"phase":"commentary"}"#);
    assert_eq!(call_of(&made.blocks[2]).input_json, r#"{"cmd":"ls", "n":1.0}"#);
    assert_eq!(call_of(&made.blocks[3]).wire_type, "custom_tool_call");
    assert_eq!(read.messages[1].extra_json, "", "the program's own passthrough is left out");
    assert!(read.told.iter().any(|it| it == "7: skipped reasoning without content"));
}

#[test]
fn openhands() {
    let read = read(fixture!("openhands.events.json"), SourceFormat::OpenHands);
    let expected = [
        "1: system System: You act.",
        r#"1: tools Tools: [{"type":"function","function":{"name":"terminal","parameters":{}}}]"#,
        "2: User [text image text]",
        "4: Assistant [text call:terminal:0 call:terminal:1]",
        "6: User [result:terminal:0 result:terminal:1]",
        "10: DAMAGED expected a field `observation`, found none",
        "8: Assistant [thinking call:terminal:0]",
        "9: User [result:terminal:0]",
        "11: User [text]",
        "12: Assistant [text]",
    ];
    assert_eq!(kept(&read), expected);
    assert_eq!(read.messages[1].extra_json, r#"{"reasoning_content":"hm"}"#);
    assert_eq!(call_of(&read.messages[1].blocks[2]).input_json, r#"{"command": "#, "b7");
    assert!(result_of(&read.messages[2].blocks[1]).is_error);
    assert_eq!(
        call_of(&read.messages[3].blocks[1]).input_json,
        r#"{"command":"ls","kind":"TerminalAction"}"#
    );
    assert_eq!(read.messages[3].extra_json, "");
    assert_eq!(read.messages[5].author, "openhands");
    assert_eq!(read.messages[0].client_time.unwrap().seconds, 1_781_586_001);
}

#[test]
fn openhands_a_line_each() {
    let (_, bytes) = fixture!("openhands.events.json");
    let lines = String::from_utf8_lossy(bytes).replace(['\n'], "");
    let lines =
        lines.trim_start_matches('[').trim_end_matches(']').replace("}, {\"id\"", "}\n{\"id\"");
    let source = detect(lines.as_bytes(), "a.jsonl").unwrap();
    let expected = Source { format: SourceFormat::OpenHands, layout: Layout::Lines };
    assert_eq!(source, expected);
    let (of_lines, of_list) = (
        read_as(source, lines.as_bytes(), FileLimits::default()),
        read(fixture!("openhands.events.json"), SourceFormat::OpenHands),
    );
    assert_eq!(of_lines.messages, of_list.messages);
}

#[test]
fn pi() {
    let read = read(fixture!("pi.jsonl"), SourceFormat::Pi);
    let expected = [
        "1: skipped session",
        "3: User [text]",
        "5: skipped message without content",
        "6: skipped model_change",
        "12: skipped thinking_level_change",
        "7: Assistant [thinking text call:t1 call:t2]",
        "8: User [result:t1 result:t2]",
        "10: User [text]",
        "11: User [text]",
    ];
    assert_eq!(read.told, expected);
    assert_eq!(read.messages[1].usage, Some(usage(93, 9, 40, 50)));
    assert_eq!(call_of(&read.messages[1].blocks[2]).input_json, r#"{"path":"b", "a":1.0}"#);
    assert_eq!(text_of(&read.messages[3].blocks[0]), "$ ls\na\n(exit code 0)");
}

#[test]
fn swe_agent() {
    let read = read(fixture!("swe-agent.traj"), SourceFormat::SweAgent);
    let expected = [
        "1: system System: You fix issues.",
        "2: User [text]",
        "3: User [text]",
        "4: Assistant [text call:call_1]",
        "5: User [result:call_1]",
        "6: Assistant [text]",
        "7: User [text]",
    ];
    assert_eq!(read.told, expected);
    assert_eq!(read.messages[0].author, "demo");
    assert_eq!(call_of(&read.messages[2].blocks[1]).input_json, r#"{ "dir":"."}"#);
    assert_eq!(output_text(&result_of(&read.messages[3].blocks[0]).output[0]), b"a\r\nb");
    assert!(read.messages.iter().all(|it| it.extra_json.is_empty()));
}

#[test]
fn c1_tau_bench_repeats_ids_within_one_conversation() {
    let read = read(fixture!("tau-bench.json"), SourceFormat::TauBench);
    let expected = [
        "1: system System: Policy",
        "2: User [text]",
        "3: Assistant [call:call_x]",
        "4: User [result:call_x]",
        "5: Assistant [call:call_x]",
        "6: User [result:call_x]",
        "7: Assistant [text]",
    ];
    assert_eq!(read.told, expected);
}

#[test]
fn openai_chat_with_its_answer() {
    let read = read(fixture!("openai-chat.json"), SourceFormat::OpenAiChat);
    let expected = [
        r#"1: tools Tools: [{"type":"function","function":{"name":"t","parameters":{"b":1, "a":2}}}]"#,
        "1: system System: You help.",
        "2: User [text]",
        "3: Assistant [text call:c1 call:c2]",
        "4: User [result:c1 result:c2]",
        "6: Assistant [text]",
    ];
    assert_eq!(read.told, expected);
    assert_eq!(read.messages[3].usage, Some(usage(12, 1, 0, 0)));
}

#[test]
fn openai_chat_a_line_each() {
    let read = read(fixture!("messages.jsonl"), SourceFormat::OpenAiChat);
    let expected = [
        "1: User [text]",
        "2: Assistant [call:a call:b]",
        "3: User [result:a result:b]",
        "5: System [text]",
    ];
    assert_eq!(read.told, expected);
}

#[test]
fn an_anthropic_request() {
    let read = read(fixture!("anthropic.json"), SourceFormat::Anthropic);
    let expected = [
        "1: system System: You help.\n\nBriefly.",
        r#"1: tools Tools: [{"name":"t","input_schema":{"type":"object"}}]"#,
        "1: User [text]",
        "2: Assistant [call:c1]",
        "3: User [result:c1 text]",
        "4: DAMAGED content[0]: expected what an assistant message holds, found `tool_result`",
    ];
    assert_eq!(read.told, expected);
}

#[test]
fn records() {
    let read = read(fixture!("records.jsonl"), SourceFormat::Anthropic);
    let expected = [
        "1: system System: You help.",
        "2: User [text]",
        "3: Assistant [thinking call:c~2]",
        "4: User [result:c~2]",
        "5: System [text]",
        "6: User [text]",
    ];
    assert_eq!(read.told, expected);
    assert_eq!(read.messages[1].usage, Some(usage(6, 2, 5, 0)));
    assert_eq!(read.messages[0].client_time.unwrap().seconds, 1_767_225_601);
    assert_eq!(read.messages[4].author, "compact_summary");
    assert!(read.messages.iter().all(|it| it.extra_json.is_empty()));
}

#[test]
fn what_is_too_large_is_damage_and_the_rest_is_read() {
    let source = Source { format: SourceFormat::OpenAiChat, layout: Layout::Lines };
    let limits = FileLimits { line_bytes: 40, document_bytes: 10 };
    let text = format!(
        "{}\n{{\"role\":\"user\",\"content\":\"{}\"}}\n\n\u{feff}\n{{\"role\":\"user\",\"content\":\"b\"}}",
        r#"{"role":"user","content":"a"}"#,
        "x".repeat(100)
    );
    let read = read_as(source, text.as_bytes(), limits);
    assert_eq!(read.told[..2], ["1: User [text]", "2: DAMAGED expected a shorter line"]);
    assert_eq!(read.told.last().unwrap(), "5: User [text]");
    let source = Source { layout: Layout::Document, ..source };
    let told = read_as(source, text.as_bytes(), limits).told;
    assert_eq!(told, ["1: DAMAGED expected a smaller document"]);
}

#[test]
fn l5_bytes_that_are_no_text_damage_their_line_only() {
    let source = Source { format: SourceFormat::OpenAiChat, layout: Layout::Lines };
    let bytes = b"\xef\xbb\xbf{\"role\":\"user\",\"content\":\"\xe2\x80\xa8\"}\r\n\xff\xfe\0\n{\"role\":\"user\",\"content\":\"b\"}";
    let read = read_as(source, bytes, FileLimits::default());
    let expected = [
        "1: User [text]",
        "2: DAMAGED byte 0: expected UTF-8, found other bytes",
        "3: User [text]",
    ];
    assert_eq!(read.told, expected);
    assert_eq!(text_of(&read.messages[0].blocks[0]), "\u{2028}");
}

#[test]
fn an_input_that_fails_ends_the_reading() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("gone"))
        }
    }
    let source = Source { format: SourceFormat::Pi, layout: Layout::Lines };
    let mut reader = Reader::new(source, std::io::BufReader::new(Broken));
    assert!(reader.next().unwrap().is_err());
    assert!(reader.next().is_none());
}

#[test]
fn every_format_has_a_name() {
    for (format, name) in SourceFormat::ALL {
        assert_eq!((format.name(), SourceFormat::named(name)), (name, Some(format)));
    }
    assert_eq!(SourceFormat::named("aider"), None);
}

#[test]
fn a_standing_prompt_is_a_system_item() {
    let (name, bytes) = fixture!("codex.jsonl");
    let mut reader = Reader::new(detect(bytes, name).unwrap(), bytes);
    let Some(Ok(Imported::Item { item, .. })) = reader.next() else { panic!("an item") };
    assert_eq!((item.placement, item.format, item.view), (Placement::System, None, None));
}
