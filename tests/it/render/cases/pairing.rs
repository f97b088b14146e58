//! Order: calls, their results, and who speaks first and last.

use bytes::Bytes;
use concertina::model::{
    Role, Seq, ToolOutput, WireFormat,
    shown::{Answer, ShownRound},
};
use serde_json::json;

use super::super::support::{
    FORMATS, answered, assistant, call, image, joined, message, reasons, rendered, result,
    result_of, round, text, user, values,
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
fn an_orphan_that_the_assistant_holds_comes_after_what_it_says() {
    let rounds = [
        user(1, "go"),
        answered(
            assistant(2, vec![result("c9", "late"), text("so"), call("c1", "run", "{}")]),
            vec![result("c1", "ok")],
        ),
    ];
    let shown = values(&rendered(&rounds, Anthropic));
    assert_eq!(shown[1]["content"].as_array().unwrap().len(), 2);
    assert_eq!(shown[2]["content"][0]["tool_use_id"], "c1");
    assert_eq!(shown[2]["content"][1]["text"], "[result of tool call c9]\nlate");
}
