//! What is stored as it came although a projection will have to mend it.

use serde_json::value::RawValue;

use crate::{
    ingest,
    model::{BlockKind, Message, Seq},
    service::{changes::knows_fingerprint, fields::excerpt},
    store::{Appended, NewRow},
};

/// An answer names at most so many.
const MOST: usize = 1000;

/// Something stored as it came that a projection will have to mend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppendWarning {
    /// The message.
    pub seq: Seq,
    /// What, as the contract spells it.
    pub reason: &'static str,
    /// Where in the message, or which id.
    pub detail: String,
}

/// What the message alone gives away.
pub(super) fn of_message(index: usize, message: &Message) -> Vec<AppendWarning> {
    let seq = Seq(i64::try_from(index).unwrap_or(i64::MAX));
    let seen = ingest::warnings_of(index, message).into_iter();
    let mut warnings: Vec<_> =
        seen.map(|it| AppendWarning { seq, reason: it.reason.name(), detail: it.detail }).collect();
    for (place, block) in message.blocks.iter().enumerate() {
        if let BlockKind::ToolUse(call) = &block.kind
            && has_lone_surrogate(&call.input_json)
        {
            let detail = format!("block {place}: the arguments of {}", excerpt(&call.name));
            warnings.push(AppendWarning { seq, reason: "INVALID_TEXT", detail });
        }
    }
    warnings
}

/// What the messages gave away, and what their places did.
pub(super) fn of_append(
    appended: &Appended,
    of_messages: Vec<AppendWarning>,
) -> Vec<AppendWarning> {
    let first = appended.first_seq.0;
    let of_messages =
        of_messages.into_iter().map(|it| AppendWarning { seq: Seq(first + it.seq.0), ..it });
    let of_places = appended.placements.iter().flat_map(|placement| {
        placement.oddities.iter().map(|(oddity, id)| AppendWarning {
            seq: placement.seq,
            reason: oddity.name(),
            detail: excerpt(id),
        })
    });
    let mut warnings: Vec<_> = of_messages.chain(of_places).collect();
    warnings.sort_by_key(|it| it.seq);
    warnings.truncate(MOST);
    warnings
}

/// Fingerprints that no context of the session had.
pub(super) fn of_fingerprints(rows: &[NewRow], first: Seq) -> Vec<AppendWarning> {
    let unknown = (first.0..).zip(rows).filter(|(_, row)| {
        let fingerprint = &row.message.context_fingerprint;
        !fingerprint.is_empty() && !knows_fingerprint(fingerprint)
    });
    unknown
        .take(MOST)
        .map(|(seq, row)| AppendWarning {
            seq: Seq(seq),
            reason: "UNKNOWN_FINGERPRINT",
            detail: excerpt(&row.message.context_fingerprint),
        })
        .collect()
}

/// Says whether valid JSON escapes half a character: only a lax parser takes it.
fn has_lone_surrogate(json: &[u8]) -> bool {
    let may = json.windows(3).any(|it| it[0] == b'\\' && it[1] == b'u' && it[2] | 0x20 == b'd');
    may && serde_json::from_slice::<&RawValue>(json).is_ok()
        && serde_json::from_slice::<serde_json::Value>(json).is_err()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{Block, Text, ToolOutput, ToolResult, ToolUse};

    #[track_caller]
    fn check(kind: BlockKind, expected: &[&str]) {
        let message = Message { blocks: vec![Arc::new(Block::new(kind))], ..Message::default() };
        let found: Vec<_> = of_message(0, &message).iter().map(|it| it.reason).collect();
        assert_eq!(found, expected);
    }

    fn call(input: &'static str) -> BlockKind {
        BlockKind::ToolUse(ToolUse { input_json: input.into(), ..ToolUse::default() })
    }

    #[test]
    fn input_that_is_no_json_object_is_warned_of() {
        check(call(r#"{"a":1}"#), &[]);
        check(call("[1]"), &["INVALID_TOOL_INPUT"]);
        check(call("{\"a\":"), &["INVALID_TOOL_INPUT"]);
        check(call(""), &["INVALID_TOOL_INPUT"]);
    }

    #[test]
    fn l1_half_a_character_is_warned_of() {
        check(call(r#"{"q":"A\ud99c B"}"#), &["INVALID_TEXT"]);
        check(call(r#"{"q":"\ud83d\ude00"}"#), &[]);
        let raw = Text { raw: bytes::Bytes::from_static(b"a\xed\xa0\x80"), ..Text::default() };
        check(BlockKind::Text(raw), &["INVALID_TEXT"]);
    }

    #[test]
    fn l5_output_that_is_no_text_is_warned_of() {
        let output = vec![ToolOutput::Text(bytes::Bytes::from_static(b"\xff\xfe\x00\x0a\x80"))];
        let result = ToolResult { output, ..ToolResult::default() };
        check(BlockKind::ToolResult(result), &["INVALID_TEXT"]);
    }
}
