//! What holds whatever is shown.

use concertina::{
    model::{BlockKind, ContextItem, Message, Placement, Role, WireFormat, policy::CacheMark},
    render::{self, AssembleOptions, Part, Rendered, RenderedRound, RoundStyle, check},
};
use proptest::prelude::*;

use super::{
    generate::{Thing, items, things},
    support::{FORMATS, joined},
};

const ALL_MARKS: &[CacheMark] =
    &[CacheMark::Tools, CacheMark::System, CacheMark::LastSummary, CacheMark::LastMessage];

fn written(things: &[Thing], style: RoundStyle) -> Vec<Option<RenderedRound>> {
    let written = things.iter().map(|thing| match thing {
        Thing::Round(round) => Some(render::round(round, &style)),
        Thing::Notice(_) => None,
    });
    written.collect()
}

fn parts<'a>(things: &'a [Thing], written: &'a [Option<RenderedRound>]) -> Vec<Part<'a>> {
    let parts = things.iter().zip(written).filter_map(|(thing, written)| match thing {
        Thing::Round(_) => written.as_ref().map(Part::Round),
        Thing::Notice(notice) => Some(Part::Notice(notice)),
    });
    parts.collect()
}

fn assembled(
    things: &[Thing],
    format: WireFormat,
    items: &[ContextItem],
    cache_marks: &[CacheMark],
) -> Rendered {
    let style = RoundStyle { format, label_authors: items.len() == 1 };
    let written = written(things, style);
    let parts = parts(things, &written);
    render::assemble(&parts, &AssembleOptions { format, cache_marks, items })
}

/// Anthropic: role and blocks of each message; elsewhere a message is a block.
fn blocks(rendered: &Rendered, format: WireFormat) -> Vec<String> {
    if format != WireFormat::AnthropicMessages {
        return joined(rendered).lines().map(str::to_owned).collect();
    }
    let mut blocks = Vec::new();
    for json in &rendered.messages {
        let message: Merged<'_> = serde_json::from_slice(json).expect("a list of blocks");
        blocks.push(message.role.to_owned());
        blocks.extend(message.content.iter().map(|block| block.get().to_owned()));
    }
    blocks
}

#[derive(serde::Deserialize)]
struct Merged<'a> {
    role: &'a str,
    #[serde(borrow)]
    content: Vec<&'a serde_json::value::RawValue>,
}

/// The ids of a message's calls.
fn call_ids(message: &Message) -> Vec<String> {
    let ids = message.blocks.iter().filter_map(|block| match &block.kind {
        BlockKind::ToolUse(call) => Some(call.id.clone()),
        BlockKind::Opaque(call)
            if !call.call_id.is_empty()
                && !call.is_result
                && call.format != WireFormat::AnthropicMessages =>
        {
            Some(call.call_id.clone())
        }
        _ => None,
    });
    ids.collect()
}

fn result_ids(message: &Message, most: usize) -> Vec<String> {
    let ids = message.blocks.iter().filter_map(|block| match &block.kind {
        BlockKind::ToolResult(result) => Some(result.tool_use_id.clone()),
        BlockKind::Opaque(result) => Some(result.call_id.clone()),
        _ => None,
    });
    ids.take(most).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn i3_no_rule_of_any_format_is_broken(things in things(), items in items()) {
        for format in FORMATS {
            let rendered = assembled(&things, format, &items, ALL_MARKS);
            if rendered.messages.is_empty() {
                continue;
            }
            let found = check::violations(format, &rendered);
            prop_assert!(found.is_empty(), "{format:?} {found:?}\n{}", joined(&rendered));
            prop_assert_eq!(rendered.origins.len(), rendered.messages.len());
        }
    }

    #[test]
    fn i6_the_same_is_rendered_the_same(things in things(), items in items()) {
        for format in FORMATS {
            let one = assembled(&things, format, &items, ALL_MARKS);
            let two = assembled(&things.clone(), format, &items.clone(), ALL_MARKS);
            prop_assert_eq!(one, two);
        }
    }

    #[test]
    fn i7_a_shorter_history_is_a_prefix_block_by_block(
        things in things(),
        mut items in items(),
    ) {
        items.retain(|item| item.placement != Placement::Reminder);
        for format in FORMATS {
            let whole = blocks(&assembled(&things, format, &items, &[]), format);
            for end in 1..things.len() {
                if assembled(&things[..end], format, &[], &[]).messages.is_empty() {
                    continue;
                }
                let part = blocks(&assembled(&things[..end], format, &items, &[]), format);
                prop_assert!(whole.starts_with(&part), "{format:?} {end}\n{part:#?}\n{whole:#?}");
            }
        }
    }

    #[test]
    fn i2_words_are_shown_as_they_are(things in things()) {
        let rounds = things.iter().filter_map(|thing| match thing {
            Thing::Round(round) => Some(round),
            Thing::Notice(_) => None,
        });
        let messages = rounds.flat_map(|round| &round.messages);
        let words: Vec<String> = messages
            .flat_map(|message| &message.blocks)
            .filter_map(|shown| match &shown.block.kind {
                BlockKind::Text(text) if text.raw.is_empty() => Some(text.text.clone()),
                _ => None,
            })
            .filter(|text| !text.trim().is_empty() && !text.contains('\u{1c}'))
            .collect();
        for format in FORMATS {
            let shown = joined(&assembled(&things, format, &[], ALL_MARKS));
            for text in &words {
                let quoted = serde_json::to_string(text).expect("text is JSON");
                prop_assert!(shown.contains(&quoted), "{format:?} {quoted}\n{shown}");
            }
        }
    }

    #[test]
    fn typed_results_follow_their_calls(things in things()) {
        let rendered = assembled(&things, WireFormat::Typed, &[], &[]);
        prop_assert_eq!(rendered.typed.len(), rendered.origins.len());
        for (message, next) in rendered.typed.iter().zip(rendered.typed.iter().skip(1)) {
            if message.role == Role::Assistant {
                prop_assert_eq!(call_ids(message), result_ids(next, call_ids(message).len()));
            }
        }
    }
}
