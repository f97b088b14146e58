//! What holds for any input.

use concertina::model::{
    Block, BlockKind, Image, ImageSource, Message, Opaque, Text, Thinking, ToolOutput, ToolResult,
    ToolUse, WireFormat,
};
use concertina::tokens;
use proptest::prelude::*;

/// Words of many scripts, spaces, digits, marks and emoji, mixed.
fn mixed() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z']{1,12}",
        "[ \\t\\r\\n]{1,6}",
        "[0-9.,]{1,8}",
        "[{}()\\[\\];:=<>/|&^%$#@!-]{1,6}",
        "[\u{4e00}-\u{4fff}\u{3040}-\u{30ff}\u{ac00}-\u{ad00}]{1,6}",
        "[а-яёіїґ]{1,8}",
        "[\u{0600}-\u{06ff}\u{0900}-\u{097f}\u{0e00}-\u{0e7f}]{1,6}",
        "[\u{0300}-\u{036f}\u{200d}\u{fe0f}\u{1f300}-\u{1f6ff}]{1,4}",
        any::<char>().prop_map(String::from),
        Just("<|endoftext|>".to_owned()),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn bytes() -> impl Strategy<Value = bytes::Bytes> {
    prop::collection::vec(any::<u8>(), 0..300).prop_map(Into::into)
}

/// The head of a picture of each format, and what may be after it.
fn pictures() -> impl Strategy<Value = Image> {
    let heads: [&[u8]; 6] = [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"\xff\xd8\xff\xe0",
        b"GIF89a",
        b"RIFF\x24\0\0\0WEBPVP8 ",
        b"RIFF\x24\0\0\0WEBPVP8X",
        b"",
    ];
    (prop::sample::select(heads.to_vec()), bytes()).prop_map(|(head, rest)| {
        let data = [head, &rest].concat();
        Image { media_type: String::new(), source: ImageSource::Data(data.into()) }
    })
}

fn outputs() -> impl Strategy<Value = ToolOutput> {
    prop_oneof![bytes().prop_map(ToolOutput::Text), pictures().prop_map(ToolOutput::Image)]
}

fn blocks() -> impl Strategy<Value = BlockKind> {
    let opaque =
        |json| Opaque { format: WireFormat::Typed, json, call_id: String::new(), is_result: false };
    prop_oneof![
        mixed().prop_map(|text| BlockKind::Text(Text { text, ..Text::default() })),
        bytes().prop_map(|raw| BlockKind::Text(Text { raw, ..Text::default() })),
        (mixed(), mixed()).prop_map(|(words, signature)| {
            BlockKind::Thinking(Thinking { parts: vec![words], signature, ..Thinking::default() })
        }),
        mixed().prop_map(BlockKind::RedactedThinking),
        (mixed(), bytes()).prop_map(|(name, input_json)| BlockKind::ToolUse(ToolUse {
            name,
            input_json,
            ..ToolUse::default()
        })),
        prop::collection::vec(outputs(), 0..4).prop_map(|output| BlockKind::ToolResult(
            ToolResult { output, ..ToolResult::default() }
        )),
        pictures().prop_map(BlockKind::Image),
        bytes().prop_map(move |json| BlockKind::Opaque(opaque(json))),
    ]
}

proptest! {
    #[test]
    fn the_count_is_what_another_implementation_counts(text in mixed()) {
        let oracle = tiktoken_rs::o200k_base_singleton().encode_ordinary(&text).len();
        prop_assert_eq!(tokens::count_text(&text) as usize, oracle);
        prop_assert_eq!(tokens::count_bytes(text.as_bytes()) as usize, oracle);
    }

    #[test]
    fn a_whole_is_not_more_than_its_parts(a in mixed(), b in mixed()) {
        let whole = tokens::count_text(&format!("{a}{b}"));
        prop_assert!(whole <= tokens::count_text(&a) + tokens::count_text(&b) + 8);
    }

    #[test]
    fn no_text_has_more_tokens_than_bytes(text in mixed()) {
        prop_assert!(tokens::count_text(&text) as usize <= text.len());
    }

    #[test]
    fn a_message_is_the_sum_of_its_blocks(kinds in prop::collection::vec(blocks(), 0..5)) {
        let blocks: Vec<_> = kinds.into_iter().map(|kind| std::sync::Arc::new(Block::new(kind))).collect();
        let whole = tokens::message(&Message { blocks: blocks.clone(), ..Message::default() });
        let each: Vec<u32> = blocks.iter().map(|block| tokens::block(block)).collect();
        prop_assert_eq!(&whole.blocks, &each);
        let empty = tokens::message(&Message::default()).total;
        prop_assert_eq!(whole.total, empty + each.iter().copied().map(i64::from).sum::<i64>());
    }

    #[test]
    fn n1_no_picture_is_out_of_range(picture in pictures()) {
        prop_assert!((85..=3279).contains(&tokens::image(&picture)));
    }

    #[test]
    fn n5_calibration_stays_in_bounds_and_order(
        current in any::<f64>(), estimated in any::<i64>(), reported in any::<i64>(), a in 0..1_i64 << 40, b in 0..1_i64 << 40,
    ) {
        let factor = tokens::calibration::learn(current, estimated, reported);
        prop_assert!((0.5..=3.0).contains(&factor));
        let calibrated = |tokens| tokens::calibration::calibrate(tokens, factor);
        prop_assert!(calibrated(a.min(b)) <= calibrated(a.max(b)));
        prop_assert!(calibrated(a) >= a / 2 && calibrated(a) <= a * 3);
    }
}
