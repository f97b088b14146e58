//! The rules of OpenAI Chat Completions.

use std::collections::BTreeSet;

use super::{
    Report, is_plain_name, is_strict_object,
    view::{Object, Value},
};

pub(super) fn check(values: &[Value<'_>], may_end_with_assistant: bool, report: &mut Report) {
    let mut open_calls: Vec<String> = Vec::new();
    let mut speakers = Vec::new();
    for (index, value) in values.iter().enumerate() {
        let message = value.object();
        let role = message.text_or_empty("role");
        check_role(&role, index, report);
        if role == "tool" {
            check_tool_message(&message, index, &mut open_calls, report);
        } else {
            check_all_answered(&mut open_calls, &format!("#{index}"), report);
            match role.as_str() {
                "assistant" => open_calls = check_assistant(&message, index, report),
                "user" => {
                    let is_empty = message.lacks("content");
                    report.add_if(is_empty, "C11 user content is not empty", format!("#{index}"));
                }
                _ => {}
            }
        }
        if !matches!(role.as_str(), "system" | "developer") {
            speakers.push(role);
        }
    }
    check_all_answered(&mut open_calls, "end", report);
    if let (Some(first), Some(last)) = (speakers.first(), speakers.last()) {
        report.add_if(first != "user", "C12 conversation starts with user", first.clone());
        report.add_if(
            last == "assistant" && !may_end_with_assistant,
            "C13 conversation does not end with assistant",
            "",
        );
    }
}

fn check_role(role: &str, index: usize, report: &mut Report) {
    let is_known = matches!(role, "system" | "developer" | "user" | "assistant" | "tool");
    report.add_if(!is_known, "C1 role is known", format!("#{index} {role}"));
}

fn check_all_answered(open_calls: &mut Vec<String>, at: &str, report: &mut Report) {
    if !open_calls.is_empty() {
        let rule = "C4 every call is answered before the next message";
        report.add(rule, format!("{at} {open_calls:?}"));
        open_calls.clear();
    }
}

fn check_tool_message(
    message: &Object<'_>,
    index: usize,
    open_calls: &mut Vec<String>,
    report: &mut Report,
) {
    let id = message.text_or_empty("tool_call_id");
    match open_calls.iter().position(|open| *open == id) {
        Some(at) => {
            open_calls.remove(at);
        }
        None => report.add("C2 a tool message answers an open call", format!("#{index} {id}")),
    }
    let content = message.value("content");
    report.add_if(content.is_none(), "C3 tool content is present", format!("#{index}"));
    let parts = content.map(Value::list).unwrap_or_default();
    let is_text_only = parts.iter().all(|part| part.object().text_or_empty("type") == "text");
    report.add_if(!is_text_only, "C14 tool content is text", format!("#{index}"));
}

/// Checks an assistant message and says which calls it opens.
fn check_assistant(message: &Object<'_>, index: usize, report: &mut Report) -> Vec<String> {
    let at = format!("#{index}");
    let calls = message.get("tool_calls").map(Value::list).unwrap_or_default();
    let has_empty_list = message.has("tool_calls") && calls.is_empty();
    report.add_if(has_empty_list, "C5 tool_calls is not an empty list", at.clone());
    let says_nothing = calls.is_empty() && message.lacks("content");
    report.add_if(says_nothing, "C6 assistant has content or calls", at.clone());
    let ids: Vec<String> = calls.iter().map(|it| it.object().text_or_empty("id")).collect();
    let distinct: BTreeSet<&String> = ids.iter().collect();
    let is_unique = distinct.len() == ids.len();
    report.add_if(!is_unique, "C7 call ids are unique in a message", at.clone());
    for call in calls {
        check_call(&call.object(), &at, report);
    }
    ids
}

fn check_call(call: &Object<'_>, at: &str, report: &mut Report) {
    let id = call.text_or_empty("id");
    let is_sized = (1..=40).contains(&id.chars().count());
    report.add_if(!is_sized, "C15 call id has 1 to 40 characters", format!("{at} {id:?}"));
    let function = call.get("function").map(Value::object).unwrap_or_default();
    let name = function.text_or_empty("name");
    report.add_if(!is_plain_name(&name, 64), "C8 function name is legal", format!("{at} {name:?}"));
    let is_right = function.text("arguments").is_some_and(|text| is_strict_object(&text));
    report.add_if(!is_right, "C10 arguments is a string that holds a JSON object", at);
}
