//! Anything that a projection could show, and more.

use std::{collections::HashSet, sync::Arc};

use bytes::Bytes;
use concertina::model::{
    Block, BlockKind, ContextItem, Image, ImageSource, Opaque, OverlayId, Placement, Role, RowSet,
    Seq, Text, Thinking, ToolOutput, ToolResult, ToolUse, WireFormat,
    shown::{Answer, Notice, ShownBlock, ShownCall, ShownMessage, ShownRound},
};
use proptest::{collection::vec, option, prelude::*, sample::select};

/// A round or a notice.
#[derive(Debug, Clone)]
pub(crate) enum Thing {
    Round(ShownRound),
    Notice(Notice),
}

/// A history: things in shown order, seqs growing.
pub(crate) fn things() -> impl Strategy<Value = Vec<Thing>> {
    vec(prop_oneof![9 => draft().prop_map(Ok), 1 => notice().prop_map(Err)], 1..10).prop_map(
        |drafts| {
            let mut seq = 1;
            let numbered = drafts.into_iter().map(|it| match it {
                Ok(draft) => Thing::Round(draft.at(&mut seq)),
                Err(notice) => Thing::Notice(notice),
            });
            let mut things: Vec<Thing> = numbered.collect();
            tell_repeats(&mut things);
            things
        },
    )
}

/// What the pairing tells of ids: all but the first of one are repeats.
fn tell_repeats(things: &mut [Thing]) {
    let mut seen = HashSet::new();
    for thing in things {
        let Thing::Round(round) = thing else { continue };
        for call in &mut round.calls {
            call.repeats = !seen.insert(Arc::clone(&call.id));
        }
    }
}

pub(crate) fn items() -> impl Strategy<Value = Vec<ContextItem>> {
    let placement = select(vec![Placement::System, Placement::UserContext, Placement::Reminder]);
    let words = (placement, words()).prop_map(|(placement, text)| (placement, None, text));
    let tools =
        (option::of(format()), tools()).prop_map(|(format, json)| (Placement::Tools, format, json));
    vec(prop_oneof![words, tools], 0..4).prop_map(|items| {
        let named = items.into_iter().enumerate().map(|(index, (placement, format, content))| {
            let content = Bytes::from(content);
            let name = format!("item-{index}");
            ContextItem { name, placement, content, format, view: None, tokens: 0 }
        });
        named.collect()
    })
}

fn tools() -> impl Strategy<Value = String> {
    let tool = prop_oneof![
        (name(), Just("input_schema")).prop_map(|(name, key)| {
            format!(r#"{{"name":{},"{key}":{{"type":"object"}},"cache_control":{{"type":"ephemeral"}}}}"#, json(&name))
        }),
        name().prop_map(|name| format!(
            r#"{{"type":"function","function":{{"name":{},"parameters":{{}}}}}}"#,
            json(&name)
        )),
        name().prop_map(|name| format!(r#"{{"type":"function","name":{},"parameters":null}}"#, json(&name))),
        Just(r#"{"type":"bash_20250124","name":"bash"}"#.to_owned()),
        Just(r#"{"type":"web_search"}"#.to_owned()),
    ];
    vec(tool, 0..4).prop_map(|tools| format!("[{}]", tools.join(",")))
}

fn json(text: &str) -> String {
    serde_json::to_string(text).expect("text is JSON")
}

fn notice() -> impl Strategy<Value = Notice> {
    ("[a-z]{1,4}", words(), any::<bool>()).prop_map(|(id, words, is_summary)| Notice {
        overlay: OverlayId::new(&id),
        text: Arc::from(words),
        covered: RowSet::default(),
        is_summary,
        tokens: 0,
    })
}

/// Role, format, extras, and blocks; `None` for one that is not shown.
type DraftMessage = (Role, Option<WireFormat>, String, Vec<Option<Block>>);

#[derive(Debug, Clone)]
struct Draft {
    messages: Vec<DraftMessage>,
    answers: Vec<Option<(Block, bool)>>,
}

impl Draft {
    fn at(self, next: &mut i64) -> ShownRound {
        let id = Seq(*next);
        let mut calls = Vec::new();
        let mut messages = Vec::new();
        for (role, format, extra, blocks) in self.messages {
            let seq = Seq(*next);
            *next += 1;
            let blocks: Vec<ShownBlock> = (0..)
                .zip(blocks)
                .filter_map(|(index, block)| {
                    Some(ShownBlock { index, block: Arc::new(block?), tokens: 1 })
                })
                .collect();
            for shown in &blocks {
                let Some(call_id) = call_id(role, &shown.block) else { continue };
                let at = calls.len();
                let answer = match self.answers.get(at).cloned().flatten() {
                    None => Answer::Missing,
                    Some((block, moved)) => {
                        Answer::Result { seq, index: 0, block: Arc::new(block), tokens: 1, moved }
                    }
                };
                let id: Arc<str> = Arc::from(call_id);
                calls.push(ShownCall { seq, block: shown.index, id, repeats: false, answer });
            }
            messages.push(ShownMessage {
                seq,
                role,
                author: Arc::from("ann"),
                model: Arc::from(""),
                provider_id: Arc::from("msg_1"),
                format,
                extra_json: Bytes::from(extra),
                blocks,
            });
        }
        ShownRound { id, lane: Arc::from("lane"), messages, calls, tokens: 0 }
    }
}

fn call_id(role: Role, block: &Block) -> Option<&str> {
    match &block.kind {
        BlockKind::ToolUse(it) if role == Role::Assistant => Some(&it.id),
        BlockKind::Opaque(it)
            if role == Role::Assistant
                && !it.is_result
                && !it.call_id.is_empty()
                && it.format != WireFormat::AnthropicMessages =>
        {
            Some(&it.call_id)
        }
        _ => None,
    }
}

fn draft() -> impl Strategy<Value = Draft> {
    let role = select(vec![Role::User, Role::Assistant, Role::Assistant, Role::System]);
    let message = (role, option::of(format()), extra(), vec(option::weighted(0.9, block()), 0..6));
    let answer = option::weighted(0.7, (answer(), any::<bool>()));
    (vec(message, 1..3), vec(answer, 0..6))
        .prop_map(|(messages, answers)| Draft { messages, answers })
}

fn format() -> impl Strategy<Value = WireFormat> {
    select(vec![WireFormat::AnthropicMessages, WireFormat::OpenAiChat, WireFormat::OpenAiResponses])
}

fn block() -> impl Strategy<Value = Block> {
    let kind = prop_oneof![
        4 => words_block(),
        1 => vec(any::<u8>(), 1..6).prop_map(|raw| BlockKind::Text(Text {
            raw: Bytes::from(raw),
            ..Text::default()
        })),
        2 => thinking(),
        1 => "[a-z]{0,3}".prop_map(BlockKind::RedactedThinking),
        4 => tool_use(),
        1 => tool_result(),
        1 => image().prop_map(BlockKind::Image),
        2 => opaque().prop_map(BlockKind::Opaque),
    ];
    (kind, extra()).prop_map(|(kind, extra)| Block { kind, extra_json: Bytes::from(extra) })
}

fn answer() -> impl Strategy<Value = Block> {
    let kind = prop_oneof![5 => tool_result(), 1 => opaque().prop_map(BlockKind::Opaque)];
    (kind, extra()).prop_map(|(kind, extra)| Block { kind, extra_json: Bytes::from(extra) })
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), Just(" \n\u{1c}".to_owned()), "\\PC{0,12}", any::<String>()]
}

fn words_block() -> impl Strategy<Value = BlockKind> {
    (words(), select(vec!["", "msg_1", "bad id"])).prop_map(|(text, id)| {
        BlockKind::Text(Text { text, provider_id: id.to_owned(), raw: Bytes::new() })
    })
}

fn thinking() -> impl Strategy<Value = BlockKind> {
    (vec("[a-z]{0,4}", 0..3), "[a-z]{0,2}", "[a-z]{0,2}", select(vec!["", "rs_1"])).prop_map(
        |(parts, signature, encrypted_content, id)| {
            let provider_id = id.to_owned();
            BlockKind::Thinking(Thinking { parts, signature, encrypted_content, provider_id })
        },
    )
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![Just("c1".to_owned()), Just(String::new()), "[a-z.:é]{1,80}"]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z_]{1,8}", Just(String::new()), "[a-z.é ]{1,150}"]
}

fn tool_use() -> impl Strategy<Value = BlockKind> {
    let input = prop_oneof![
        Just(br#"{"b":1.0,"a":{"z":0,"y":[1,2]}}"#.to_vec()),
        Just(br#"{"q":"A\ud99c B","q":"\udc00"}"#.to_vec()),
        Just(b"{\"command\":\"echo hel".to_vec()),
        Just(Vec::new()),
        vec(any::<u8>(), 0..8),
    ];
    let wire_type = select(vec!["", "", "custom_tool_call", "tool_search_call", "odd"]);
    let provider_id = select(vec!["", "fc_1"]);
    (id(), name(), input, wire_type, provider_id).prop_map(|(id, name, input, wire, provider)| {
        BlockKind::ToolUse(ToolUse {
            id,
            name,
            input_json: Bytes::from(input),
            provider_id: provider.to_owned(),
            wire_type: wire.to_owned(),
        })
    })
}

fn tool_result() -> impl Strategy<Value = BlockKind> {
    let output = prop_oneof![
        words().prop_map(|text| ToolOutput::Text(Bytes::from(text))),
        vec(any::<u8>(), 0..6).prop_map(|raw| ToolOutput::Text(Bytes::from(raw))),
        image().prop_map(ToolOutput::Image),
        opaque().prop_map(ToolOutput::Opaque),
    ];
    let wire_type = select(vec!["", "", "custom_tool_call_output", "tool_search_output"]);
    (id(), any::<bool>(), vec(output, 0..4), wire_type).prop_map(|(id, is_error, output, wire)| {
        let wire_type = wire.to_owned();
        BlockKind::ToolResult(ToolResult { tool_use_id: id, is_error, output, wire_type })
    })
}

fn image() -> impl Strategy<Value = Image> {
    let source = prop_oneof![
        vec(any::<u8>(), 0..4).prop_map(|data| ImageSource::Data(Bytes::from(data))),
        "[a-z:/]{0,5}".prop_map(ImageSource::Url),
    ];
    (select(vec!["image/png", "image/bmp", "", "te\"xt"]), source)
        .prop_map(|(media_type, source)| Image { media_type: media_type.to_owned(), source })
}

fn opaque() -> impl Strategy<Value = Opaque> {
    let json = select(vec![
        r#"{"type":"compaction","content":"so far"}"#,
        r#"{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"QQ=="},"cache_control":{"type":"ephemeral"}}"#,
        r#"{"type":"document"}"#,
        r#"{"type":"tool_use","id":"x","name":"y","input":{}}"#,
        r#"{"type":"tool_result","tool_use_id":"x","content":[]}"#,
        r#"{"type":"text","text":" "}"#,
        r#"{"type":"server_tool_use","id":"s","name":"web_search","input":{"cache_control":1}}"#,
        r#"{"type":"input_audio","input_audio":{"data":"QQ==","format":"wav"}}"#,
        r#"{"type":"refusal","refusal":"no"}"#,
        r#"{"type":"web_search_call","id":"ws_1","status":"completed"}"#,
        r#"{"type":"shell_call","id":"sh_1","call_id":"c9","action":{}}"#,
        r#"{"type":"shell_call_output","call_id":"c9","output":[]}"#,
        r#"{"type":"function_call_output","call_id":"c9","output":"x\ud800"}"#,
        r#"{"type":"function_call","call_id":"c9","name":"f","arguments":"{"}"#,
        r#"{"type":"reasoning","id":"rs_9"}"#,
        r#"{"type":"message","role":"user","content":[]}"#,
        r#"{"cache_control":1}"#,
        "[1]",
        "{",
        "",
    ]);
    (format(), json, select(vec!["", "", "c9"]), any::<bool>()).prop_map(
        |(format, json, call_id, is_result)| {
            let json = Bytes::from_static(json.as_bytes());
            Opaque { format, json, call_id: call_id.to_owned(), is_result }
        },
    )
}

fn extra() -> impl Strategy<Value = String> {
    let extras = [
        "",
        "",
        r#"{"cache_control":{"type":"ephemeral"}}"#,
        r#"{"citations":[{"cache_control":1,"text":"x"}],"phase":"final"}"#,
        r#"{"type":"x","role":"developer","content":[],"tool_calls":[],"call_id":null,"id":1}"#,
        r#"{"annotations":[],"status":"completed","detail":"low","name":"n"}"#,
        r#"{"text":"\ud800","x":"\udfff"}"#,
        "[1]",
        "{",
    ];
    select(extras.to_vec()).prop_map(str::to_owned)
}
