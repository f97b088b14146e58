//! The rules of OpenAI Responses.

use std::collections::BTreeMap;

use super::{
    Report, is_plain_name, is_strict_object,
    view::{Object, Value},
};

struct Item<'a> {
    kind: String,
    object: Object<'a>,
}

impl<'a> Item<'a> {
    fn read(value: Value<'a>) -> Self {
        let object = value.object();
        let kind = object.text("type").unwrap_or_else(|| "message".to_owned());
        Self { kind, object }
    }

    fn is_message_of(&self, roles: &[&str]) -> bool {
        self.kind == "message" && roles.contains(&self.object.text_or_empty("role").as_str())
    }

    fn may_follow_reasoning(&self) -> bool {
        self.kind.ends_with("_call")
            || self.kind == "reasoning"
            || self.is_message_of(&["assistant"])
    }
}

pub(super) fn check(values: &[Value<'_>], may_end_with_assistant: bool, report: &mut Report) {
    let items: Vec<Item<'_>> = values.iter().map(|value| Item::read(*value)).collect();
    let mut pairs = Pairs::default();
    for (index, item) in items.iter().enumerate() {
        pairs.take(item, index, report);
        match item.kind.as_str() {
            "function_call" => check_function_call(&item.object, index, report),
            "reasoning" => {
                let follower = items.get(index + 1);
                let is_right = follower.is_some_and(Item::may_follow_reasoning);
                let rule = "R6 reasoning is followed by the item it produced";
                report.add_if(!is_right, rule, format!("#{index}"));
            }
            "message" => check_message(item, index, report),
            _ => {}
        }
    }
    pairs.check(report);
    check_ends(&items, may_end_with_assistant, report);
}

fn check_function_call(object: &Object<'_>, index: usize, report: &mut Report) {
    let at = format!("#{index}");
    let has_id = object.value("call_id").is_some();
    report.add_if(!has_id, "R1 call_id has 1 to 64 characters", at.clone());
    let is_right = object.text("arguments").is_some_and(|text| is_strict_object(&text));
    report.add_if(!is_right, "R3 arguments is a string that holds a JSON object", at);
    let name = object.text_or_empty("name");
    report.add_if(
        !is_plain_name(&name, 64),
        "R15 function name is legal",
        format!("#{index} {name:?}"),
    );
}

fn check_message(item: &Item<'_>, index: usize, report: &mut Report) {
    let is_known = item.is_message_of(&["user", "assistant", "system", "developer"]);
    report.add_if(!is_known, "R7 role is known", format!("#{index}"));
    let is_empty = item.object.lacks("content");
    report.add_if(is_empty, "R8 content is not empty", format!("#{index}"));
}

/// Calls and outputs, and where they stand.
#[derive(Default)]
struct Pairs {
    calls: BTreeMap<String, usize>,
    outputs: BTreeMap<String, usize>,
}

impl Pairs {
    fn take(&mut self, item: &Item<'_>, index: usize, report: &mut Report) {
        let id = item.object.value("call_id");
        if item.kind.ends_with("_call") && id.is_some() {
            self.take_call(&item.object, index, report);
        } else if item.kind.ends_with("_output") {
            let id = item.object.text_or_empty("call_id");
            let is_second = self.outputs.insert(id.clone(), index).is_some();
            report.add_if(is_second, "R4 one output per call", format!("#{index} {id}"));
            let output = item.object.value("output");
            let is_absent = output.is_none_or(|it| it.is_list() && it.list().is_empty());
            let is_function = item.kind == "function_call_output";
            report.add_if(is_function && is_absent, "R5 output is present", format!("#{index}"));
        }
    }

    fn take_call(&mut self, object: &Object<'_>, index: usize, report: &mut Report) {
        let id = object.text_or_empty("call_id");
        let is_sized = (1..=64).contains(&id.chars().count());
        report.add_if(!is_sized, "R1 call_id has 1 to 64 characters", format!("#{index} {id:?}"));
        let is_second = self.calls.insert(id.clone(), index).is_some();
        report.add_if(is_second, "R2 call ids are unique", format!("#{index} {id}"));
    }

    fn check(&self, report: &mut Report) {
        for (id, call) in &self.calls {
            match self.outputs.get(id) {
                None => report.add("R10 every call has an output", format!("#{call} {id}")),
                Some(output) if output < call => {
                    report.add("R11 a call comes before its output", format!("#{call} {id}"));
                }
                Some(_) => {}
            }
        }
        for (id, output) in self.outputs.iter().filter(|(id, _)| !self.calls.contains_key(*id)) {
            report.add("R12 every output has a call", format!("#{output} {id}"));
        }
    }
}

fn check_ends(items: &[Item<'_>], may_end_with_assistant: bool, report: &mut Report) {
    let is_instruction = |item: &&Item<'_>| item.is_message_of(&["system", "developer"]);
    let mut body = items.iter().filter(|item| !is_instruction(item));
    let Some(first) = body.next() else { return };
    let last = body.next_back().unwrap_or(first);
    let starts_right = first.is_message_of(&["user"]) || first.kind.starts_with("compaction");
    report.add_if(!starts_right, "R13 input starts with user", first.kind.clone());
    let ends_right = last.is_message_of(&["user"]) || last.kind.ends_with("_output");
    report.add_if(
        !ends_right && !may_end_with_assistant,
        "R14 input ends with user or an output",
        last.kind.clone(),
    );
}
