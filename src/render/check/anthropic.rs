//! The rules of Anthropic Messages.

use std::collections::BTreeSet;

use super::{
    Report, is_blank, is_plain_name,
    view::{Object, Value},
};

/// A message that is a bare string of nothing.
const BLANK: &str = "blank";

/// One message, looked into.
struct Message<'a> {
    role: String,
    /// `None` where the content has no shape that is taken.
    blocks: Option<Vec<Block<'a>>>,
}

struct Block<'a> {
    kind: String,
    object: Object<'a>,
}

impl Block<'_> {
    fn is_thinking(&self) -> bool {
        matches!(self.kind.as_str(), "thinking" | "redacted_thinking")
    }
}

impl<'a> Message<'a> {
    fn read(value: Value<'a>) -> Self {
        let object = value.object();
        let blocks = match object.get("content") {
            Some(content) if content.is_list() => read_blocks(content),
            // A bare string is one text.
            Some(content) => content.text().map(|text| {
                let kind = if is_blank(&text) { BLANK } else { "text" };
                vec![Block { kind: kind.to_owned(), object: Object::default() }]
            }),
            None => None,
        };
        Self { role: object.text_or_empty("role"), blocks }
    }

    fn blocks(&self) -> &[Block<'a>] {
        self.blocks.as_deref().unwrap_or_default()
    }

    fn texts_of(&self, kind: &str, key: &str) -> Vec<String> {
        let own = self.blocks().iter().filter(|block| block.kind == kind);
        own.map(|block| block.object.text_or_empty(key)).collect()
    }
}

fn read_blocks(content: Value<'_>) -> Option<Vec<Block<'_>>> {
    let blocks = content.list();
    blocks.iter().all(|block| block.is_object()).then(|| {
        blocks
            .into_iter()
            .map(|block| {
                let object = block.object();
                Block { kind: object.text_or_empty("type"), object }
            })
            .collect()
    })
}

pub(super) fn check(
    values: &[Value<'_>],
    system: Option<Value<'_>>,
    tools: Option<Value<'_>>,
    may_end_with_assistant: bool,
    report: &mut Report,
) {
    let messages: Vec<Message<'_>> = values.iter().map(|value| Message::read(*value)).collect();
    check_ends(&messages, may_end_with_assistant, report);
    let mut seen_ids = BTreeSet::new();
    let newest = messages.iter().rposition(|message| message.role == "assistant");
    for (index, message) in messages.iter().enumerate() {
        check_role(&messages, index, report);
        if message.blocks().is_empty() {
            report.add("A5 content is text or a list of blocks, not empty", format!("#{index}"));
            continue;
        }
        check_blocks(message, index, &mut seen_ids, report);
        check_thinking_order(message, index, newest == Some(index), report);
        check_pairs(&messages, index, report);
    }
    check_request(values, system, tools, report);
}

fn check_ends(messages: &[Message<'_>], may_end_with_assistant: bool, report: &mut Report) {
    if let Some(first) = messages.first() {
        let is_compaction = first.blocks().first().is_some_and(|it| it.kind == "compaction");
        let is_right = first.role == "user" || is_compaction;
        report.add_if(!is_right, "A1 first message is user", first.role.clone());
    }
    let ends = messages.last().is_some_and(|message| message.role == "assistant");
    report.add_if(
        ends && !may_end_with_assistant,
        "A2 last message is not assistant (no prefill)",
        "",
    );
}

fn check_role(messages: &[Message<'_>], index: usize, report: &mut Report) {
    let role_at = |at: Option<usize>| at.and_then(|at| messages.get(at)).map(|it| it.role.as_str());
    let Some(role) = role_at(Some(index)) else { return };
    let (before, after) = (role_at(index.checked_sub(1)), role_at(Some(index + 1)));
    let at = format!("#{index} {role}");
    let is_known = matches!(role, "user" | "assistant" | "system");
    report.add_if(!is_known, "A3 role is user, assistant or system", at.clone());
    report.add_if(before == Some(role), "A4 roles alternate", at.clone());
    let stands_between = before == Some("user") && matches!(after, None | Some("assistant"));
    report.add_if(
        role == "system" && !stands_between,
        "A23 a system message stands between user and assistant, or last",
        at,
    );
}

fn check_blocks(
    message: &Message<'_>,
    index: usize,
    seen_ids: &mut BTreeSet<String>,
    report: &mut Report,
) {
    let mut past_results = false;
    for (number, block) in message.blocks().iter().enumerate() {
        let at = format!("#{index}.{number}");
        match block.kind.as_str() {
            "thinking" | "redacted_thinking" => check_thinking(message, block, &at, report),
            BLANK => report.add("A7 text is not blank", at),
            "text" => check_text(block, &at, report),
            "tool_use" => check_tool_use(message, block, &at, seen_ids, report),
            "tool_result" => {
                report.add_if(message.role != "user", "A13 tool_result only in user", at.clone());
                report.add_if(past_results, "A14 tool_results come first", at.clone());
                check_result_content(block, &at, report);
            }
            "image" | "document" => check_source(block, &at, report),
            _ => {}
        }
        past_results |= block.kind != "tool_result" && !block.is_thinking();
    }
}

fn check_thinking(message: &Message<'_>, block: &Block<'_>, at: &str, report: &mut Report) {
    let has_mark = !block.object.lacks("cache_control");
    report.add_if(has_mark, "A6 no cache_control on thinking", at);
    report.add_if(message.role != "assistant", "A17 thinking only in assistant", at);
    if block.kind == "thinking" {
        report.add_if(block.object.lacks("signature"), "A16 thinking is signed", at);
    } else {
        report.add_if(block.object.lacks("data"), "A16 redacted thinking has data", at);
    }
}

fn check_text(block: &Block<'_>, at: &str, report: &mut Report) {
    // A message that is a bare string has no members to look at.
    let is_bare = !block.object.has("type");
    let is_nothing = !is_bare && is_blank(&block.object.text_or_empty("text"));
    report.add_if(is_nothing, "A7 text is not blank", at);
}

fn check_tool_use(
    message: &Message<'_>,
    block: &Block<'_>,
    at: &str,
    seen_ids: &mut BTreeSet<String>,
    report: &mut Report,
) {
    let object = &block.object;
    let name = object.text_or_empty("name");
    let id = object.text_or_empty("id");
    let is_input_object = object.get("input").is_some_and(Value::is_object);
    report.add_if(message.role != "assistant", "A8 tool_use only in assistant", at);
    report.add_if(!is_input_object, "A9 tool_use.input is an object", at);
    report.add_if(!is_plain_name(&name, 128), "A10 tool name is legal", format!("{at} {name:?}"));
    report.add_if(
        !is_plain_name(&id, usize::MAX),
        "A11 tool_use.id is legal",
        format!("{at} {id:?}"),
    );
    let is_new = seen_ids.insert(id.clone());
    report.add_if(!is_new, "A12 tool_use ids are unique", format!("{at} {id}"));
}

fn check_result_content(block: &Block<'_>, at: &str, report: &mut Report) {
    let Some(content) = block.object.get("content").filter(|it| it.is_list()) else { return };
    let parts = content.list();
    report.add_if(parts.is_empty(), "A15 tool_result content list is not empty", at);
    for (number, part) in parts.into_iter().enumerate() {
        let at = format!("{at}.{number}");
        if !part.is_object() {
            report.add("A15 tool_result content is blocks", at);
            continue;
        }
        let part = part.object();
        let is_text = part.text_or_empty("type") == "text";
        let is_nothing = is_text && is_blank(&part.text_or_empty("text"));
        report.add_if(is_nothing, "A7 text is not blank", at);
    }
}

fn check_source(block: &Block<'_>, at: &str, report: &mut Report) {
    let has_source = block.object.get("source").is_some_and(|source| {
        let members = source.object();
        let is_empty = members.text_or_empty("type") == "base64" && members.lacks("data");
        source.is_object() && !is_empty
    });
    report.add_if(!has_source, "A18 a picture or document has a source", at);
}

fn check_thinking_order(message: &Message<'_>, index: usize, is_newest: bool, report: &mut Report) {
    let blocks = message.blocks();
    let is_first = blocks.first().is_some_and(Block::is_thinking);
    let has_thinking = blocks.iter().any(Block::is_thinking);
    let has_calls = blocks.iter().any(|block| block.kind == "tool_use");
    report.add_if(
        is_newest && has_calls && has_thinking && !is_first,
        "A19 thinking comes first in the newest tool turn",
        format!("#{index}"),
    );
    let is_last = blocks.last().is_some_and(Block::is_thinking);
    report.add_if(is_last, "A26 thinking is not the last block", format!("#{index}"));
}

fn check_pairs(messages: &[Message<'_>], index: usize, report: &mut Report) {
    let Some(message) = messages.get(index) else { return };
    let answered = messages
        .get(index + 1)
        .map(|next| next.texts_of("tool_result", "tool_use_id"))
        .unwrap_or_default();
    let mut missing = message.texts_of("tool_use", "id");
    missing.retain(|id| !answered.contains(id));
    report.add_if(
        !missing.is_empty(),
        "A20 every tool_use is answered in the next message",
        format!("#{index} {missing:?}"),
    );
    let called = index
        .checked_sub(1)
        .and_then(|before| messages.get(before))
        .filter(|before| before.role == "assistant")
        .map(|before| before.texts_of("tool_use", "id"))
        .unwrap_or_default();
    let results = message.texts_of("tool_result", "tool_use_id");
    for id in results.iter().filter(|id| !called.contains(id)) {
        let rule = "A21 every tool_result answers the previous message";
        report.add(rule, format!("#{index} {id}"));
    }
    let distinct: BTreeSet<&String> = results.iter().collect();
    report.add_if(
        distinct.len() != results.len(),
        "A22 one tool_result per tool_use",
        format!("#{index}"),
    );
}

fn check_request(
    messages: &[Value<'_>],
    system: Option<Value<'_>>,
    tools: Option<Value<'_>>,
    report: &mut Report,
) {
    let values = messages.iter().copied().chain(system).chain(tools);
    let marks: usize = values.map(count_marks).sum();
    report.add_if(marks > 4, "A24 at most 4 cache_control markers", marks.to_string());
    let count = messages.len();
    report.add_if(count > 100_000, "A25 at most 100,000 messages", count.to_string());
    let tools = tools.map(Value::list).unwrap_or_default();
    let names: Vec<Option<String>> = tools.iter().map(|it| it.object().text("name")).collect();
    let distinct: BTreeSet<&Option<String>> = names.iter().collect();
    report.add_if(distinct.len() != names.len(), "A27 tool names are unique", "");
}

/// Marks at any depth, arguments aside.
fn count_marks(value: Value<'_>) -> usize {
    if value.is_list() {
        return value.list().into_iter().map(count_marks).sum();
    }
    if !value.is_object() {
        return 0;
    }
    let object = value.object();
    let own = usize::from(!object.lacks("cache_control"));
    let inner: usize = object
        .members()
        .filter(|(key, _)| *key != "input")
        .map(|(_, value)| count_marks(value))
        .sum();
    own + inner
}
