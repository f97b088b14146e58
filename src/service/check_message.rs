//! What a typed message may hold. A provider's payload is judged by `ingest`
//! instead: what a provider sends is stored as it is.

use serde_json::value::RawValue;

use super::{Limits, fields::Fields, limits::NAME_BYTES};
use crate::model::{
    Block, BlockKind, Image, ImageSource, Message, Opaque, Role, Timestamp, ToolOutput, Usage,
    WireFormat,
};

/// The first and last second that a protobuf timestamp may name.
const TIME_SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// Notes what is wrong with `message`; `path` is its place in the request.
pub(super) fn check_message(fields: &mut Fields, path: &str, message: &Message, limits: &Limits) {
    fields.name(&format!("{path}.author"), &message.author);
    fields.name(&format!("{path}.lane"), &message.lane);
    fields.name(&format!("{path}.model"), &message.model);
    fields.name(&format!("{path}.provider_id"), &message.provider_id);
    fields.name(&format!("{path}.context_fingerprint"), &message.context_fingerprint);
    check_time(fields, path, message.client_time);
    check_usage(fields, path, message.usage);
    check_extra(fields, path, &message.extra_json);
    if message.format == Some(WireFormat::Typed) {
        fields.wrong(format!("{path}.format"), "expected a provider's format, found `TYPED`");
    }
    let most = limits.blocks_per_message;
    if message.blocks.len() > most {
        fields.wrong(
            format!("{path}.blocks"),
            format!("expected at most {most}, found {}", message.blocks.len()),
        );
    }
    for (index, block) in message.blocks.iter().enumerate() {
        if fields.is_full() {
            return;
        }
        check_block(fields, &format!("{path}.blocks[{index}]"), block, message.role, limits);
    }
}

fn check_block(fields: &mut Fields, path: &str, block: &Block, role: Role, limits: &Limits) {
    let kind = kind_name(&block.kind);
    if !may_hold(role, &block.kind) {
        fields.wrong(
            format!("{path}.{kind}"),
            format!("expected {}, found it in {}", home(&block.kind), role_name(role)),
        );
    }
    check_extra(fields, path, &block.extra_json);
    match &block.kind {
        BlockKind::Text(text) if !text.text.is_empty() && !text.raw.is_empty() => {
            fields.wrong(format!("{path}.text"), "expected `text` or `raw`, found both");
        }
        BlockKind::ToolResult(result) => {
            if result.output.len() > limits.blocks_per_message {
                fields.wrong(
                    format!("{path}.tool_result.output"),
                    format!(
                        "expected at most {}, found {}",
                        limits.blocks_per_message,
                        result.output.len()
                    ),
                );
            }
            for (index, output) in result.output.iter().enumerate() {
                check_output(fields, &format!("{path}.tool_result.output[{index}]"), output);
            }
        }
        BlockKind::Image(image) => check_image(fields, &format!("{path}.image"), image),
        BlockKind::Opaque(opaque) => check_opaque(fields, &format!("{path}.opaque"), opaque),
        BlockKind::Text(_)
        | BlockKind::Thinking(_)
        | BlockKind::RedactedThinking(_)
        | BlockKind::ToolUse(_) => {}
    }
}

fn may_hold(role: Role, kind: &BlockKind) -> bool {
    match kind {
        BlockKind::Text(_) | BlockKind::Opaque(_) => true,
        BlockKind::Image(_) => role != Role::System,
        BlockKind::ToolResult(_) => role == Role::User,
        BlockKind::ToolUse(_) | BlockKind::Thinking(_) | BlockKind::RedactedThinking(_) => {
            role == Role::Assistant
        }
    }
}

fn home(kind: &BlockKind) -> &'static str {
    match kind {
        BlockKind::Text(_) | BlockKind::Opaque(_) => "any message",
        BlockKind::Image(_) => "a user's or an assistant's message",
        BlockKind::ToolResult(_) => "a user's message",
        BlockKind::ToolUse(_) | BlockKind::Thinking(_) | BlockKind::RedactedThinking(_) => {
            "an assistant's message"
        }
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::User => "a user's",
        Role::Assistant => "an assistant's",
        Role::System => "a system message",
    }
}

fn kind_name(kind: &BlockKind) -> &'static str {
    match kind {
        BlockKind::Text(_) => "text",
        BlockKind::Thinking(_) => "thinking",
        BlockKind::RedactedThinking(_) => "redacted_thinking",
        BlockKind::ToolUse(_) => "tool_use",
        BlockKind::ToolResult(_) => "tool_result",
        BlockKind::Image(_) => "image",
        BlockKind::Opaque(_) => "opaque",
    }
}

fn check_output(fields: &mut Fields, path: &str, output: &ToolOutput) {
    match output {
        ToolOutput::Text(_) => {}
        ToolOutput::Image(image) => check_image(fields, &format!("{path}.image"), image),
        ToolOutput::Opaque(opaque) => check_opaque(fields, &format!("{path}.opaque"), opaque),
    }
}

fn check_image(fields: &mut Fields, path: &str, image: &Image) {
    fields.text(&format!("{path}.media_type"), &image.media_type, NAME_BYTES);
    match &image.source {
        ImageSource::Data(data) if data.is_empty() => {
            fields.wrong(format!("{path}.data"), "expected the picture's bytes, found nothing");
        }
        ImageSource::Data(_) if image.media_type.is_empty() => {
            fields.wrong(format!("{path}.media_type"), "expected a media type, found nothing");
        }
        ImageSource::Url(url) if url.is_empty() => {
            fields.wrong(format!("{path}.url"), "expected an address, found nothing");
        }
        ImageSource::Data(_) | ImageSource::Url(_) => {}
    }
}

fn check_opaque(fields: &mut Fields, path: &str, opaque: &Opaque) {
    if serde_json::from_slice::<&RawValue>(&opaque.json).is_err() {
        fields.wrong(format!("{path}.json"), "expected one JSON value");
    }
    if opaque.format == WireFormat::Typed {
        fields.wrong(format!("{path}.format"), "expected a provider's format, found `TYPED`");
    }
}

fn check_extra(fields: &mut Fields, path: &str, json: &[u8]) {
    if !json.is_empty() && !is_json_object(json) {
        fields.wrong(format!("{path}.extra_json"), "expected a JSON object");
    }
}

fn check_time(fields: &mut Fields, path: &str, time: Option<Timestamp>) {
    let Some(time) = time else { return };
    if !TIME_SECONDS.contains(&time.seconds) || !(0..1_000_000_000).contains(&time.nanos) {
        fields.wrong(format!("{path}.client_time"), "expected a time of the years 1 to 9999");
    }
}

fn check_usage(fields: &mut Fields, path: &str, usage: Option<Usage>) {
    let Some(usage) = usage else { return };
    let counts = [
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
    ];
    if counts.iter().any(|it| *it < 0) {
        fields.wrong(format!("{path}.usage"), "expected counts of zero or more");
    }
}

/// Says whether `json` is one JSON object, whatever its strings escape.
#[must_use]
pub(super) fn is_json_object(json: &[u8]) -> bool {
    serde_json::from_slice::<&RawValue>(json).is_ok_and(|it| it.get().starts_with('{'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{Thinking, ToolResult, ToolUse},
        service::Error,
    };

    #[track_caller]
    fn wrong(role: Role, kind: BlockKind) -> Vec<String> {
        let message = Message {
            role,
            blocks: vec![std::sync::Arc::new(Block::new(kind))],
            ..Message::default()
        };
        let mut fields = Fields::new();
        check_message(&mut fields, "messages[2]", &message, &Limits::default());
        match fields.finish() {
            Err(Error::InvalidField(all)) => all.into_iter().map(|it| it.field).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn calls_stand_in_assistant_messages_and_results_in_user_messages() {
        let call = || BlockKind::ToolUse(ToolUse::default());
        let result = || BlockKind::ToolResult(ToolResult::default());
        let thinking = || BlockKind::Thinking(Thinking::default());
        assert_eq!(wrong(Role::User, call()), ["messages[2].blocks[0].tool_use"]);
        assert_eq!(wrong(Role::Assistant, result()), ["messages[2].blocks[0].tool_result"]);
        assert_eq!(wrong(Role::System, thinking()), ["messages[2].blocks[0].thinking"]);
        assert_eq!(wrong(Role::Assistant, call()), [""; 0]);
        assert_eq!(wrong(Role::User, result()), [""; 0]);
        assert_eq!(wrong(Role::Assistant, thinking()), [""; 0]);
    }

    #[test]
    fn opaque_json_is_one_value() {
        let opaque = |json: &'static str| {
            BlockKind::Opaque(Opaque {
                format: WireFormat::OpenAiChat,
                json: json.into(),
                call_id: String::new(),
                is_result: false,
            })
        };
        assert_eq!(wrong(Role::User, opaque("{} {}")), ["messages[2].blocks[0].opaque.json"]);
        assert_eq!(wrong(Role::User, opaque(r#"{"a":"\ud99c"}"#)), [""; 0]);
    }

    #[test]
    fn a_picture_without_bytes_is_refused() {
        let image = Image {
            media_type: "image/png".into(),
            source: ImageSource::Data(bytes::Bytes::new()),
        };
        let found = wrong(Role::User, BlockKind::Image(image));
        assert_eq!(found, ["messages[2].blocks[0].image.data"]);
    }
}
