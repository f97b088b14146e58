//! Ids and names that a provider would not take.

use concertina::model::WireFormat;

use super::super::support::{
    FORMATS, answered, assistant, call, reasons, rendered, result, user, values,
};

use WireFormat::{
    AnthropicMessages as Anthropic, OpenAiChat as Chat, OpenAiResponses as Responses,
};

#[test]
fn c1_an_id_that_repeats_is_aliased_and_paired_in_order() {
    let calls = vec![call("c1", "read", r#"{"f":"a"}"#), call("c1", "read", r#"{"f":"b"}"#)];
    let mut round = answered(assistant(2, calls), vec![result("c1", "A"), result("c1", "B")]);
    round.calls[1].repeats = true;
    for format in FORMATS {
        let shown = rendered(&[user(1, "go"), round.clone()], format);
        assert_eq!(reasons(&shown), [(2, "ID_ALIASED")]);
        assert_eq!(shown, rendered(&[user(1, "go"), round.clone()], format));
    }
    let shown = values(&rendered(&[user(1, "go"), round], Anthropic));
    let alias = &shown[1]["content"][1]["id"];
    assert_eq!(shown[1]["content"][0]["id"], "c1");
    assert!(alias.as_str().unwrap().starts_with("c1_"));
    assert_eq!(shown[2]["content"][1]["tool_use_id"], *alias);
    assert_eq!(shown[2]["content"][1]["content"][0]["text"], "B");
}

#[test]
fn c3_long_ids_are_aliased_where_the_format_needs_it() {
    let long = format!("mcp__server__{}", "a".repeat(60));
    let (one, two) = (format!("{long}-01"), format!("{long}-02"));
    let calls = vec![call(&one, "read", "{}"), call(&two, "read", "{}")];
    let round = answered(assistant(2, calls), vec![result(&one, "A"), result(&two, "B")]);
    let rounds = [user(1, "go"), round];
    let shown = values(&rendered(&rounds, Responses));
    assert_ne!(shown[1]["call_id"], shown[2]["call_id"]);
    assert_eq!(shown[1]["call_id"], shown[3]["call_id"]);
    assert_eq!(shown[2]["call_id"], shown[4]["call_id"]);
    let shown = rendered(&rounds, Anthropic);
    assert_eq!(values(&shown)[1]["content"][0]["id"], one);
    assert_eq!(reasons(&shown), []);
}

#[test]
fn names_are_aliased_the_same_in_every_call() {
    let name = "mcp.server/read file";
    let calls = vec![call("c1", name, "{}"), call("c2", name, "{}")];
    let shown = rendered(&[user(1, "go"), assistant(2, calls)], Chat);
    let calls = &values(&shown)[1]["tool_calls"];
    assert_eq!(calls[0]["function"]["name"], calls[1]["function"]["name"]);
    let aliased = reasons(&shown).iter().filter(|it| it.1 == "NAME_ALIASED").count();
    assert_eq!(aliased, 2);
}
