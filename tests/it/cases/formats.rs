//! B, C, D. What a provider takes, whatever the history holds.

use concertina::proto::v1::{self as pb, Role, WireFormat, block::Kind};
use serde_json::{Value, json};

use super::support::{
    FORMATS, Talk, asking, assistant, call, count, has, image, joined, message, prose, result,
    results, text, thinking, told, user,
};

const ANTHROPIC: WireFormat = WireFormat::AnthropicMessages;

#[tokio::test]
async fn b1_results_of_parallel_calls_come_as_the_format_wants_them() {
    let mut talk = Talk::start("default", 100_000).await;
    talk.user("go").await;
    talk.say(vec![assistant(vec![call("c1", "bash", "{}"), call("c2", "bash", "{}")])]).await;
    talk.say(vec![results(vec![result("c2", "two")])]).await;
    talk.say(vec![results(vec![result("c1", "one"), text("and these words")])]).await;
    let values = talk.values(ANTHROPIC).await;
    let kinds: Vec<_> =
        values[2]["content"].as_array().unwrap().iter().map(|it| &it["type"]).collect();
    assert_eq!(kinds, ["tool_result", "tool_result", "text"]);
    let ids = [&values[2]["content"][0]["tool_use_id"], &values[2]["content"][1]["tool_use_id"]];
    assert_eq!(ids, ["c1", "c2"], "in call order");
    let chat = talk.values(WireFormat::OpenaiChat).await;
    let roles: Vec<_> = chat.iter().map(|it| &it["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "user"]);
    let items = talk.values(WireFormat::OpenaiResponses).await;
    let types: Vec<_> = items.iter().filter_map(|it| it["type"].as_str()).collect();
    let calls = ["function_call", "function_call", "function_call_output", "function_call_output"];
    let only: Vec<_> = types.into_iter().filter(|it| it.starts_with("function")).collect();
    assert_eq!(only, calls);
}

#[tokio::test]
async fn b5_a_picture_alone_is_content_and_nothing_is_no_picture() {
    let mut talk = Talk::start("default", 100_000).await;
    talk.say(vec![message(Role::User, vec![image(1, 1, 60)])]).await;
    talk.say(vec![
        assistant(vec![text("a red dot"), call("c1", "bash", "{}")]),
        results(vec![Kind::ToolResult(pb::ToolResult {
            tool_use_id: "c1".into(),
            ..Default::default()
        })]),
    ])
    .await;
    for format in FORMATS {
        let shown = talk.shown(format).await;
        assert!(shown.contains("iVBOR"), "{shown}");
        assert_eq!(count(&shown, "(no output)"), 1);
        assert!(!shown.contains("attached"));
    }
}

#[tokio::test]
async fn b7_arguments_that_were_cut_off_are_sent_as_an_object_and_kept_as_they_came() {
    let cut = [r#"{"command":"echo hel"#, "", "[1,2]", "null", "\"x\"", "{\"a\":1}}", "{'a':1}"];
    for input in cut {
        let mut talk = Talk::start("default", 100_000).await;
        talk.user("go").await;
        talk.say(vec![
            assistant(vec![call("c1", "bash", input)]),
            results(vec![result("c1", "bad arguments")]),
            user("again"),
        ])
        .await;
        for format in FORMATS {
            // The rules of each format ask for a strict object.
            assert!(talk.shown(format).await.contains("bad arguments"));
        }
        let rows = talk.history().await;
        let Some(Kind::ToolUse(kept)) = &rows[1].message.as_ref().unwrap().blocks[0].kind else {
            panic!("a call")
        };
        assert_eq!(kept.input_json, input.as_bytes());
    }
}

#[tokio::test]
async fn b9_marks_that_come_with_every_message_never_pile_up() {
    let mut talk = Talk::start("default", 100_000).await;
    let mark = r#","cache_control":{"type":"ephemeral"}"#;
    for nth in 0..20 {
        let json = format!(
            r#"[{{"role":"user","content":[{{"type":"text","text":"q{nth}"{mark}}}]}},
                {{"role":"assistant","content":[{{"type":"tool_use","id":"t{nth}","name":"bash","input":{{}}{mark}}}]}},
                {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{nth}","content":"r"{mark}}}]}}]"#
        );
        talk.payload(ANTHROPIC, &json).await;
        let shown = talk.shown(ANTHROPIC).await;
        assert!(count(&shown, "cache_control") <= 4, "{shown}");
    }
    for format in [WireFormat::OpenaiChat, WireFormat::OpenaiResponses] {
        assert_eq!(count(&talk.shown(format).await, "cache_control"), 0);
    }
    let rows = talk.history().await;
    let kept = rows.iter().flat_map(|row| &row.message.as_ref().unwrap().blocks);
    assert_eq!(kept.filter(|block| !block.extra_json.is_empty()).count(), 60, "on record");
}

/// Pairs of ids in a request: those of calls, those of results.
fn ids(values: &[Value], format: WireFormat) -> (Vec<String>, Vec<String>) {
    let (mut calls, mut answers) = (Vec::new(), Vec::new());
    let of = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    for value in values {
        match format {
            WireFormat::AnthropicMessages => {
                for block in value["content"].as_array().into_iter().flatten() {
                    match block["type"].as_str() {
                        Some("tool_use") => calls.push(of(&block["id"])),
                        Some("tool_result") => answers.push(of(&block["tool_use_id"])),
                        _ => {}
                    }
                }
            }
            WireFormat::OpenaiChat => {
                let made = value["tool_calls"].as_array().into_iter().flatten();
                calls.extend(made.map(|it| of(&it["id"])));
                if value["role"] == "tool" {
                    answers.push(of(&value["tool_call_id"]));
                }
            }
            _ => match value["type"].as_str() {
                Some("function_call") => calls.push(of(&value["call_id"])),
                Some("function_call_output") => answers.push(of(&value["call_id"])),
                _ => {}
            },
        }
    }
    (calls, answers)
}

#[tokio::test]
async fn c1_ids_that_repeat_are_made_unique_and_pair_in_order() {
    let mut talk = Talk::start("default", 100_000).await;
    talk.user("go").await;
    for _ in 0..3 {
        talk.say(vec![assistant(vec![call("c1", "read", "{}"), call("c1", "read", "{}")])]).await;
        talk.say(vec![results(vec![result("c1", "A")])]).await;
        talk.say(vec![results(vec![result("c1", "B")])]).await;
    }
    for format in FORMATS {
        let first = talk.context(format).await;
        let (calls, answers) = ids(&super::support::values(&first), format);
        assert_eq!(calls, answers, "first result to first call");
        let unique: std::collections::BTreeSet<_> = calls.iter().collect();
        assert_eq!((calls.len(), unique.len()), (6, 6));
        let shown = joined(&first);
        assert!(shown.find("\"A\"").unwrap() < shown.find("\"B\"").unwrap());
        let again = talk.context(format).await;
        assert_eq!(again.messages_json, first.messages_json);
    }
}

#[tokio::test]
async fn c1_an_id_that_is_used_again_later_keeps_the_first_as_it_was() {
    let mut talk = Talk::start("default", 100_000).await;
    talk.tool("bash", "{}", "one").await;
    for _ in 0..2 {
        talk.say(vec![
            assistant(vec![call("c1", "bash", "{}")]),
            results(vec![result("c1", "more")]),
        ])
        .await;
    }
    for format in FORMATS {
        let (calls, answers) = ids(&talk.values(format).await, format);
        assert_eq!((calls[0].as_str(), answers[0].as_str()), ("c1", "c1"));
        assert_eq!(calls, answers);
    }
}

#[tokio::test]
async fn c3_long_ids_stay_apart_and_keep_their_alias() {
    let id = |nth| format!("mcp__server__{}-0{nth}", "a".repeat(60));
    let mut talk = Talk::start("default", 100_000).await;
    talk.user("go").await;
    talk.say(vec![assistant(vec![call(&id(1), "bash", "{}"), call(&id(2), "bash", "{}")])]).await;
    talk.say(vec![results(vec![result(&id(1), "one"), result(&id(2), "two")])]).await;
    for (format, most) in [(WireFormat::OpenaiResponses, 64), (WireFormat::OpenaiChat, 40)] {
        let (calls, answers) = ids(&talk.values(format).await, format);
        assert_eq!(calls, answers);
        assert_ne!(calls[0], calls[1]);
        assert!(calls.iter().all(|id| id.len() <= most), "{calls:?}");
        talk.exchange("more", "of it").await;
        assert_eq!(ids(&talk.values(format).await, format).0, calls, "the same between requests");
    }
    let (calls, _) = ids(&talk.values(ANTHROPIC).await, ANTHROPIC);
    assert_eq!(calls, [id(1), id(2)], "legal there");
}

#[tokio::test]
async fn d1_the_newest_turns_thinking_is_never_touched_however_small_the_window() {
    let mut talk = Talk::start("default", 2000).await;
    talk.user("go").await;
    let redacted = Kind::RedactedThinking(pb::RedactedThinking { data: "zz".into() });
    talk.say(vec![
        assistant(vec![thinking("abc", "s1"), call("c1", "bash", "{}")]),
        results(vec![result("c1", "ok")]),
        assistant(vec![thinking("def", "s2"), redacted, call("c2", "bash", "{}")]),
        results(vec![result("c2", prose(40_000))]),
    ])
    .await;
    let values = talk.values(ANTHROPIC).await;
    let last = values.iter().rfind(|it| it["role"] == "assistant").unwrap();
    let thought = json!({"type":"thinking","thinking":"def","signature":"s2"});
    assert_eq!(last["content"][0], thought);
    assert_eq!(last["content"][1], json!({"type":"redacted_thinking","data":"zz"}));
    assert_eq!(last["content"][2]["type"], "tool_use");
    let shown = talk.shown(ANTHROPIC).await;
    assert!(shown.len() < 10_000, "the result is what was shortened");
    assert!(shown.contains("\"go\""));
}

#[tokio::test]
async fn d3_thinking_is_visible_to_nobody_but_who_made_it() {
    let mut talk = Talk::start("default", 100_000).await;
    talk.user("go").await;
    talk.say(vec![
        assistant(vec![thinking("secret plan", "s1"), text("ok"), call("c1", "bash", "{}")]),
        results(vec![result("c1", "one")]),
        assistant(vec![call("c2", "bash", "{}")]),
        results(vec![result("c2", "two")]),
    ])
    .await;
    for format in [WireFormat::OpenaiChat, WireFormat::OpenaiResponses] {
        assert!(!talk.shown(format).await.contains("secret plan"));
    }
    let values = talk.values(ANTHROPIC).await;
    let kinds = |at: usize| {
        let blocks = values[at]["content"].as_array().unwrap();
        blocks.iter().map(|it| it["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(1), ["thinking", "text", "tool_use"]);
    assert_eq!(kinds(3), ["tool_use"], "nothing is made up");
    assert!(!has(&talk.context(ANTHROPIC).await, "EMPTY_BLOCK_DROPPED"));
}

#[tokio::test]
async fn d1_thinking_that_nobody_signed_is_left_out() {
    let mut talk = Talk::start("default", 100_000).await;
    talk.user("go").await;
    talk.say(vec![assistant(vec![thinking("unsigned", ""), text("ok")]), user("and?")]).await;
    for format in FORMATS {
        assert!(!talk.shown(format).await.contains("unsigned"));
    }
}

#[tokio::test]
async fn b5_a_session_that_holds_no_content_yet_is_empty() {
    let mut talk = Talk::start("default", 100_000).await;
    talk.say(vec![user(""), assistant(vec![text("")]), message(Role::User, vec![])]).await;
    for format in FORMATS {
        let told = told(talk.try_context(asking(format)).await);
        assert_eq!(told.reason, "SESSION_EMPTY", "a request without messages is none");
    }
    talk.user("hi").await;
    for format in FORMATS {
        assert!(talk.shown(format).await.contains("hi"));
    }
}
