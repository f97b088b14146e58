//! The cases that bear a number.

use std::sync::Arc;

use concertina::model::{Block, BlockKind, Image, ImageSource, Message, ToolOutput, ToolResult};
use concertina::policies::Presets;
use concertina::tokens;

fn message(blocks: Vec<Block>) -> Message {
    Message { blocks: blocks.into_iter().map(Arc::new).collect(), ..Message::default() }
}

/// A GIF of these dimensions, padded to a length.
fn gif(width: u16, height: u16, len: usize) -> Image {
    let mut bytes = b"GIF89a".to_vec();
    bytes.extend(width.to_le_bytes());
    bytes.extend(height.to_le_bytes());
    bytes.resize(len, 0);
    Image { media_type: "image/gif".to_owned(), source: ImageSource::Data(bytes.into()) }
}

#[test]
fn n1_a_picture_of_megabytes_does_not_fill_a_window() {
    let picture = |len| Block::new(BlockKind::Image(gif(1280, 800, len)));
    let of =
        |len| tokens::message(&message(vec![picture(len), Block::text("what is this?")])).total;
    assert_eq!(of(100 << 10), of(5 << 20));
    assert!((300..5000).contains(&of(2_621_440)), "{}", of(2_621_440));
}

#[test]
fn n1_every_path_uses_the_same_function() {
    let picture = gif(640, 480, 2000);
    let as_block = tokens::block(&Block::new(BlockKind::Image(picture.clone())));
    assert_eq!(as_block, tokens::image(&picture));
    assert_eq!(as_block, tokens::output(&ToolOutput::Image(picture.clone())));
    let result = ToolResult { output: vec![ToolOutput::Image(picture)], ..ToolResult::default() };
    let empty = ToolResult::default();
    let of = |result| tokens::block(&Block::new(BlockKind::ToolResult(result)));
    assert_eq!(of(result) - of(empty), as_block);
}

#[test]
fn n3_a_million_equal_characters_are_counted() {
    // What another implementation overflows its stack on.
    for (text, expected) in [
        ("A".repeat(1_000_000), 62_500..=300_000),
        ("^".repeat(1_000_000), 62_500..=300_000),
        ("a".repeat(100_000), 12_500..=12_500),
        (" ".repeat(1_000_000), 7_000..=9_000),
        ("\n".repeat(1_000_000), 30_000..=100_000),
        ("語".repeat(340_000), 100_000..=700_000),
        (format!("{}x", " ".repeat(1_000_000)), 7_000..=9_000),
    ] {
        let tokens = tokens::count_text(&text);
        let start: String = text.chars().take(2).collect();
        assert!(expected.contains(&tokens), "{start:?}…: {tokens}");
    }
}

#[test]
fn n3_a_longer_text_counts_in_proportion() {
    let word = "the quick brown fox jumps over the lazy dog. ";
    let of = |bytes: usize| i64::from(tokens::count_text(&word.repeat(bytes / word.len())));
    let (one, thirty_two) = (of(1 << 20), of(32 << 20));
    assert!((thirty_two - 32 * one).abs() * 100 < thirty_two, "{one} {thirty_two}");
}

#[test]
fn r8_four_characters_are_about_a_token() {
    let text =
        "She sells sea shells by the shore, and the shells she sells are sea shells. ".repeat(53);
    let tokens = tokens::count_text(&text[..4000]);
    assert!((800..=1200).contains(&tokens), "{tokens}");
}

#[test]
fn n5_an_estimate_is_corrected_from_reports() {
    let estimated = i64::from(tokens::count_text(&"some text of a session; ".repeat(2000)));
    let mut factor = 1.0;
    for _ in 0..3 {
        factor = tokens::calibration::learn(factor, estimated, estimated * 3 / 2);
    }
    let corrected = tokens::calibration::calibrate(estimated, factor);
    let reported = estimated * 3 / 2;
    assert!((corrected - reported).abs() * 50 <= reported, "{corrected} {reported}");
}

#[test]
fn r5_thresholds_are_of_the_limit_and_in_order() {
    for name in Presets::embedded().names() {
        let policy = Presets::embedded().resolve(name, b"").unwrap().policy;
        let w = policy.warnings;
        assert!(w.elevated_ratio < w.warning_ratio && w.warning_ratio < w.critical_ratio, "{name}");
        assert!(policy.collapse.until_ratio < policy.collapse.commit_ratio, "{name}");
    }
}
