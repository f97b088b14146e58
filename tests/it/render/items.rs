//! Context items, tools and cache marks, under their requirements' numbers.

use bytes::Bytes;
use concertina::{
    model::{ContextItem, Placement, Role, WireFormat, policy::CacheMark},
    render::{self, AssembleOptions, Part, Rendered, RenderedRound},
};
use serde_json::{Value, json};

use super::support::{
    FORMATS, answered, assistant, call, joined, message, opaque, options, rendered_with, result,
    round, signed, style, summary, text, user, values,
};

use WireFormat::{
    AnthropicMessages as Anthropic, OpenAiChat as Chat, OpenAiResponses as Responses,
};

fn item(name: &str, placement: Placement, content: &str) -> ContextItem {
    ContextItem {
        name: name.to_owned(),
        placement,
        content: Bytes::copy_from_slice(content.as_bytes()),
        format: None,
        view: None,
        tokens: 0,
    }
}

fn parsed(json: &[u8]) -> Value {
    serde_json::from_slice(json).expect("valid JSON")
}

fn with_items(format: WireFormat, items: &[ContextItem]) -> Rendered {
    let rounds = [user(1, "go"), assistant(2, vec![text("ok")]), user(3, "on")];
    rendered_with(&rounds, &AssembleOptions { items, ..options(format) })
}

#[test]
fn r101_system_context_stands_in_the_system_prompt_by_name() {
    let items = [
        item("2-git", Placement::System, "branch main\n"),
        item("1-date", Placement::System, "2026-11-30"),
        item("3-blank", Placement::System, " "),
    ];
    let shown = with_items(Anthropic, &items);
    assert_eq!(
        parsed(&shown.system_json),
        json!([{"type": "text", "text": "2026-11-30"}, {"type": "text", "text": "branch main\n"}])
    );
    let shown = with_items(Responses, &items);
    assert_eq!(parsed(&shown.system_json), json!("2026-11-30\n\nbranch main\n"));
    let shown = with_items(Chat, &items);
    assert!(shown.system_json.is_empty());
    assert_eq!(values(&shown)[0], json!({"role": "system", "content": "2026-11-30"}));
    assert_eq!(values(&shown)[1]["role"], "system");
    assert!(shown.origins[0].synthetic);
}

#[test]
fn r102_user_context_comes_before_the_first_user_message() {
    let items = [item("memory", Placement::UserContext, "be kind")];
    let shown = values(&with_items(Anthropic, &items));
    assert_eq!(shown.len(), 3);
    let texts: Vec<_> =
        shown[0]["content"].as_array().unwrap().iter().map(|it| it["text"].clone()).collect();
    assert_eq!(texts, ["be kind", "go"]);
    for format in [Chat, Responses] {
        let shown = with_items(format, &items);
        assert_eq!(shown.messages.len(), 4);
        assert!(joined(&shown).lines().next().unwrap().contains("be kind"));
    }
}

#[test]
fn r102_user_context_goes_after_a_providers_compaction() {
    let items = [item("memory", Placement::UserContext, "be kind")];
    let json = r#"{"type":"compaction","content":"so far"}"#;
    let rounds = [round(message(1, Role::Assistant, vec![opaque(Anthropic, json)])), user(2, "on")];
    let shown = rendered_with(&rounds, &AssembleOptions { items: &items, ..options(Anthropic) });
    assert_eq!(values(&shown)[0]["role"], "assistant");
    assert_eq!(values(&shown)[1]["content"][0]["text"], "be kind");
}

#[test]
fn r103_a_reminder_is_the_last_block_of_the_last_user_message() {
    let items = [item("todo", Placement::Reminder, "tests first")];
    let wrapped = "<system-reminder>\ntests first\n</system-reminder>";
    let shown = values(&with_items(Anthropic, &items));
    assert_eq!(shown[2]["content"][1]["text"], wrapped);
    let shown = values(&with_items(Chat, &items));
    assert_eq!(shown[3], json!({"role": "user", "content": wrapped}));
    let shown = values(&with_items(Responses, &items));
    assert_eq!(shown[3]["content"][0]["text"], wrapped);
}

#[test]
fn r103_a_reminder_follows_results_and_leaves_the_end_as_it_is() {
    let items = [item("todo", Placement::Reminder, "tests first")];
    let called = answered(assistant(2, vec![call("c1", "run", "{}")]), vec![result("c1", "ok")]);
    let rounds = [user(1, "go"), called, assistant(4, vec![text("done")])];
    for format in FORMATS {
        let shown = rendered_with(&rounds, &AssembleOptions { items: &items, ..options(format) });
        let all = joined(&shown);
        let lines: Vec<_> = all.lines().collect();
        assert!(
            lines[lines.len() - 1].contains("done") && lines[lines.len() - 2].contains("tests")
        );
    }
}

#[test]
fn r105_calls_and_results_are_never_apart() {
    let called = |seq, id: &str| {
        answered(assistant(seq, vec![call(id, "run", "{}")]), vec![result(id, "ok")])
    };
    let rounds = [user(1, "go"), called(2, "c1"), called(4, "c2"), assistant(6, vec![text("x")])];
    for format in FORMATS {
        // Whatever rounds are left out: `rendered_with` checks the rules.
        for kept in 0..16_usize {
            let some: Vec<_> = (0..4)
                .filter(|index| kept & (1 << index) != 0)
                .map(|index| rounds[index].clone())
                .collect();
            if !some.is_empty() {
                let shown = joined(&rendered_with(&some, &options(format)));
                let (one, two) = (kept & 2 != 0, kept & 4 != 0);
                assert_eq!((shown.contains("c1"), shown.contains("c2")), (one, two));
            }
        }
    }
}

const CHAT_TOOLS: &str = r#"[{"type":"function","function":{"name":"read","description":"Reads \u0061 file","parameters":{"type":"object","properties":{"b":{"minimum":1.0},"a":{}}},"strict":true}},{"type":"custom","custom":{"name":"x"}}]"#;

#[test]
fn tools_are_rewritten_with_their_schemas_as_they_are() {
    let schema = r#"{"type":"object","properties":{"b":{"minimum":1.0},"a":{}}}"#;
    let mut tools = item("tools", Placement::Tools, CHAT_TOOLS);
    tools.format = Some(Chat);
    let of = |format| {
        String::from_utf8(with_items(format, &[tools.clone()]).tools_json.to_vec()).unwrap()
    };
    assert_eq!(of(Chat), CHAT_TOOLS);
    let described = r#""description":"Reads \u0061 file""#;
    assert_eq!(
        of(Anthropic),
        format!(r#"[{{"name":"read",{described},"input_schema":{schema}}}]"#)
    );
    assert_eq!(
        of(Responses),
        format!(
            r#"[{{"type":"function","name":"read",{described},"parameters":{schema},"strict":true}}]"#
        )
    );
}

#[test]
fn tools_have_the_names_that_calls_have() {
    let tools = r#"[{"name":"mcp.server/read","input_schema":{"type":"object"}}]"#;
    let items = [item("tools", Placement::Tools, tools)];
    let rounds = [user(1, "go"), assistant(2, vec![call("c1", "mcp.server/read", "{}")])];
    for format in FORMATS {
        let shown = rendered_with(&rounds, &AssembleOptions { items: &items, ..options(format) });
        let tools = String::from_utf8(shown.tools_json.to_vec()).unwrap();
        let at = tools.find("mcp_server_read_").unwrap();
        assert!(joined(&shown).contains(&tools[at..at + 24]));
    }
}

#[test]
fn a_tool_with_one_name_is_there_once_and_marks_are_not() {
    let tools = r#"[{"name":"a","input_schema":{},"cache_control":{"type":"ephemeral"}},{"name":"a","input_schema":{}}]"#;
    let shown = with_items(Anthropic, &[item("tools", Placement::Tools, tools)]);
    assert_eq!(shown.tools_json, r#"[{"name":"a","input_schema":{}}]"#);
}

const ALL: &[CacheMark] =
    &[CacheMark::Tools, CacheMark::System, CacheMark::LastSummary, CacheMark::LastMessage];

#[test]
fn marks_stand_where_the_policy_asks_and_change_nothing_else() {
    let items = [
        item("a", Placement::System, "one"),
        item("b", Placement::System, "two"),
        item("c", Placement::Reminder, "note"),
        item(
            "d",
            Placement::Tools,
            r#"[{"name":"a","input_schema":{}},{"name":"b","input_schema":{}}]"#,
        ),
    ];
    let written: Vec<RenderedRound> =
        [user(1, "go"), assistant(2, vec![text("ok")]), user(3, "on")]
            .iter()
            .map(|it| render::round(it, &style(Anthropic)))
            .collect();
    let (old, new) = (summary("o1", "old"), summary("o2", "new"));
    let mut parts = vec![Part::Notice(&old), Part::Notice(&new)];
    parts.extend(written.iter().map(Part::Round));
    let shown = |cache_marks| {
        let options = AssembleOptions { format: Anthropic, cache_marks, items: &items };
        render::assemble(&parts, &options)
    };
    let (marked, plain) = (shown(ALL), shown(&[]));
    let mark = r#","cache_control":{"type":"ephemeral"}"#;
    assert_eq!(joined(&marked).replace(mark, ""), joined(&plain));
    assert_eq!(joined(&marked).matches(mark).count(), 2);
    let values = values(&marked);
    assert!(values[0]["content"][1].get("cache_control").is_some());
    assert!(values[2]["content"][0].get("cache_control").is_some());
    assert!(parsed(&marked.system_json)[1].get("cache_control").is_some());
    assert!(parsed(&marked.tools_json)[1].get("cache_control").is_some());
}

#[test]
fn no_mark_stands_on_thinking() {
    let rounds = [user(1, "go"), assistant(2, vec![signed("x", "s"), text("ok")])];
    let options = AssembleOptions { cache_marks: ALL, ..options(Anthropic) };
    let shown = values(&rendered_with(&rounds, &options));
    assert!(shown[1]["content"][0].get("cache_control").is_none());
    assert!(shown[1]["content"][1].get("cache_control").is_some());
}

#[test]
fn typed_messages_hold_items_as_messages() {
    let items = [
        item("a", Placement::System, "one"),
        item("b", Placement::UserContext, "two"),
        item("c", Placement::Reminder, "three"),
    ];
    let shown = with_items(WireFormat::Typed, &items);
    let roles: Vec<Role> = shown.typed.iter().map(|it| it.role).collect();
    let (user, system) = (Role::User, Role::System);
    assert_eq!(roles, [system, user, user, Role::Assistant, user, user]);
    assert_eq!(shown.origins.len(), 6);
    assert!(shown.messages.is_empty());
}

#[test]
fn items_made_ready_before_give_the_same_request() {
    let items = [
        item("a", Placement::System, "one"),
        item("b", Placement::UserContext, "two"),
        item("c", Placement::Reminder, "three"),
        item("d", Placement::Tools, CHAT_TOOLS),
    ];
    for format in FORMATS {
        let written = render::round(&user(1, "go"), &style(format));
        let parts = [Part::Round(&written)];
        let options = AssembleOptions { format, cache_marks: ALL, items: &items };
        let ready = render::Items::of(&items, format);
        assert_eq!(
            render::assemble_around(&parts, &ready, format, ALL),
            render::assemble(&parts, &options)
        );
    }
}
