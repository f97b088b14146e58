//! `strip_images`: base64 pictures as one line that says what they are.
//!
//! May drop: a picture's bytes. Keeps: its type, size and dimensions.

use crate::{
    model::{
        Block, BlockKind, Image, ImageSource, Row, Seq, StageKind, Text, ToolOutput, ToolResult,
        policy::StripImages,
    },
    projection::{sight::Drafts, text},
    tokens,
};

pub(crate) fn apply(policy: &StripImages, row: &Row, drafts: &mut Drafts) {
    for draft in drafts.iter_mut() {
        let Some(block) = &draft.block else { continue };
        let line = |image: &Image| describe(&policy.marker, image, row.seq, draft.index);
        if let Some(kind) = strip(block, line) {
            draft.replace(StageKind::StripImages, Some(kind));
        }
    }
}

fn strip(block: &Block, line: impl Fn(&Image) -> Option<String>) -> Option<BlockKind> {
    match &block.kind {
        BlockKind::Image(image) => {
            line(image).map(|text| BlockKind::Text(Text { text, ..Text::default() }))
        }
        BlockKind::ToolResult(result) => {
            let mut is_changed = false;
            let output = result
                .output
                .iter()
                .map(|part| match part {
                    ToolOutput::Image(image) => line(image).map_or_else(
                        || part.clone(),
                        |text| {
                            is_changed = true;
                            ToolOutput::Text(text.into())
                        },
                    ),
                    _ => part.clone(),
                })
                .collect();
            is_changed.then(|| BlockKind::ToolResult(ToolResult { output, ..result.clone() }))
        }
        _ => None,
    }
}

/// One line for a picture that has its bytes here; `None` for an address.
pub(crate) fn describe(template: &str, image: &Image, seq: Seq, block: u32) -> Option<String> {
    let ImageSource::Data(data) = &image.source else { return None };
    let dimensions = tokens::dimensions(data).map_or_else(
        || "unknown dimensions".to_owned(),
        |(width, height)| format!("{width}x{height}"),
    );
    let values: [(&str, &dyn std::fmt::Display); 5] = [
        ("media_type", &image.media_type),
        ("bytes", &data.len()),
        ("dimensions", &dimensions),
        ("seq", &seq),
        ("block", &block),
    ];
    Some(text::fill(template, &values))
}
