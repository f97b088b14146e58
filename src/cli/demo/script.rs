//! The recorded session that ships with the project, message by message.

use bytes::Bytes;
use serde_json::Value;

use crate::{cli::text, proto::v1};

const SESSION: &str = include_str!("../../../demo/session.jsonl");
const SYSTEM: &str = include_str!("../../../demo/system.md");
const TOOLS: &str = include_str!("../../../demo/tools.json");

/// One recorded message, in the shape of the Anthropic Messages API.
pub(super) struct Line {
    pub(super) json: Bytes,
    value: Value,
}

/// All of them, in order.
pub(super) fn lines() -> anyhow::Result<Vec<Line>> {
    let line = |line: &'static str| {
        let value = serde_json::from_str(line)?;
        Ok(Line { json: Bytes::from_static(line.as_bytes()), value })
    };
    SESSION.lines().map(line).collect()
}

/// The row that the last request becomes.
pub(super) fn newest_request(lines: &[Line]) -> i64 {
    let is_request =
        |line: &Line| !line.is_assistant() && line.blocks().any(|block| block["type"] == "text");
    let at = lines.iter().rposition(is_request).map_or(0, |at| at + 1);
    i64::try_from(at).unwrap_or(i64::MAX)
}

/// What stands around the messages.
pub(super) fn items() -> [v1::ContextItem; 2] {
    use v1::context_item::Placement;
    let item = |name: &str, placement: Placement, content: &'static str| v1::ContextItem {
        name: name.to_owned(),
        placement: placement.into(),
        content: Bytes::from_static(content.as_bytes()),
        format: v1::WireFormat::AnthropicMessages.into(),
        ..v1::ContextItem::default()
    };
    let mut system = item("system", Placement::System, SYSTEM);
    system.format = v1::WireFormat::Unspecified.into();
    [system, item("tools", Placement::Tools, TOOLS)]
}

impl Line {
    pub(super) fn is_assistant(&self) -> bool {
        self.value["role"] == "assistant"
    }

    /// The names of the tools that it calls, each once, in order.
    pub(super) fn calls(&self) -> Vec<String> {
        let mut calls: Vec<(String, usize)> = Vec::new();
        for block in self.blocks().filter(|block| block["type"] == "tool_use") {
            let name = block["name"].as_str().unwrap_or("?");
            match calls.iter_mut().find(|(known, _)| known == name) {
                Some((_, times)) => *times += 1,
                None => calls.push((name.to_owned(), 1)),
            }
        }
        let told = |(name, times)| if times > 1 { format!("{name} ×{times}") } else { name };
        calls.into_iter().map(told).collect()
    }

    /// What it brings, in a few words: a user's request, or the results of `calls`.
    pub(super) fn brings(&self, calls: &[String]) -> String {
        let request = self.blocks().find_map(|block| block["text"].as_str());
        if let Some(request) = request {
            return format!("“{}”", text::excerpt(request, 34));
        }
        let failed = self.blocks().any(|block| block["is_error"] == true);
        let size = text::bytes(u64::try_from(self.json.len()).unwrap_or(u64::MAX));
        let mark = if failed { ", failed" } else { "" };
        text::excerpt(&format!("{} ({size}{mark})", calls.join(", ")), 36)
    }

    fn blocks(&self) -> impl Iterator<Item = &Value> {
        self.value["content"].as_array().into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the demo promises to show must be in the session that it plays.
    #[test]
    fn the_session_has_everything_that_the_demo_is_about() {
        let lines = lines().expect("the session is JSON");
        let has =
            |wanted: &dyn Fn(&Value) -> bool| lines.iter().any(|line| line.blocks().any(wanted));
        assert!((60..=120).contains(&lines.len()), "{}", lines.len());
        assert!(lines.iter().any(|line| line.json.len() > 60_000), "a large result");
        assert!(lines.iter().any(|line| line.calls().iter().any(|call| call.contains('×'))));
        assert!(has(&|block| block["type"] == "image"));
        assert!(has(&|block| block["is_error"] == true));
        let reads: Vec<_> = lines
            .iter()
            .flat_map(Line::blocks)
            .filter(|block| block["input"]["path"] == "tidebook/calendar.py")
            .filter(|block| block["name"] == "read_file")
            .collect();
        assert!(reads.len() > 3, "a file that is read again and again");
    }

    #[test]
    fn the_session_and_its_tools_are_what_a_provider_takes() {
        let tools: Vec<Value> = serde_json::from_str(TOOLS).expect("an array");
        let names: Vec<_> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
        let mut open: Vec<String> = Vec::new();
        for line in lines().expect("the session is JSON") {
            let ids = |kind: &str, key: &str| -> Vec<String> {
                let blocks = line.blocks().filter(|block| block["type"] == kind);
                blocks.filter_map(|block| block[key].as_str().map(str::to_owned)).collect()
            };
            assert_eq!(open, ids("tool_result", "tool_use_id"), "every call is answered at once");
            open = ids("tool_use", "id");
            for name in ids("tool_use", "name") {
                assert!(names.contains(&name.as_str()), "{name}");
            }
        }
        assert!(open.is_empty());
    }
}
