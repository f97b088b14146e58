//! Leaves large content out of a row, so that every row fits into one message
//! of a stream.

use std::sync::Arc;

use bytes::Bytes;

use super::HistoryRow;
use crate::{
    model::{Block, BlockKind, ContentRef, Image, ImageSource, Message, Row, Text, ToolOutput},
    service::{
        content_size::sizes,
        limits::{INLINE_CONTENT_BYTES, MIB},
    },
};

/// What is left of a row is at most about this, below what stock clients take.
const ROW_BYTES: usize = 3 * MIB;

/// Content above 1 MiB is left empty and named; then the largest of what is
/// left, while the row is still large.
pub(super) fn elide(row: Row) -> HistoryRow {
    let mut sizes = sizes(row.seq, &row.message);
    let mut total: usize = sizes.iter().map(|(_, size)| size).sum();
    if total <= INLINE_CONTENT_BYTES {
        return HistoryRow { row, elided: Vec::new() };
    }
    sizes.sort_by_key(|(content, size)| (std::cmp::Reverse(*size), *content));
    let mut elided = Vec::new();
    for (content, size) in sizes {
        if size <= INLINE_CONTENT_BYTES && total <= ROW_BYTES {
            break;
        }
        elided.push(content);
        total -= size;
    }
    elided.sort_unstable();
    let message = Arc::new(without(&row.message, &elided));
    HistoryRow { row: Row { message, ..row }, elided }
}

fn without(message: &Message, elided: &[ContentRef]) -> Message {
    let mut message = message.clone();
    for content in elided {
        let block = usize::try_from(content.block).ok();
        if let Some(block) = block.and_then(|index| message.blocks.get_mut(index)) {
            empty(Arc::make_mut(block), content.output);
        }
    }
    message
}

fn empty(block: &mut Block, output: Option<u32>) {
    match &mut block.kind {
        BlockKind::ToolResult(result) => {
            let index = output.and_then(|it| usize::try_from(it).ok());
            if let Some(output) = index.and_then(|it| result.output.get_mut(it)) {
                empty_output(output);
            }
        }
        BlockKind::Text(text) => {
            *text = Text { provider_id: std::mem::take(&mut text.provider_id), ..Text::default() };
        }
        BlockKind::Thinking(it) => {
            it.parts.clear();
            it.encrypted_content.clear();
        }
        BlockKind::RedactedThinking(data) => data.clear(),
        BlockKind::ToolUse(call) => call.input_json = Bytes::new(),
        BlockKind::Image(image) => empty_image(image),
        BlockKind::Opaque(opaque) => opaque.json = Bytes::new(),
    }
}

fn empty_output(output: &mut ToolOutput) {
    match output {
        ToolOutput::Text(text) => *text = Bytes::new(),
        ToolOutput::Image(image) => empty_image(image),
        ToolOutput::Opaque(opaque) => opaque.json = Bytes::new(),
    }
}

fn empty_image(image: &mut Image) {
    image.source = match image.source {
        ImageSource::Data(_) => ImageSource::Data(Bytes::new()),
        ImageSource::Url(_) => ImageSource::Url(String::new()),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{MessageTokens, Revision, Seq, Timestamp};

    fn row(sizes: &[usize]) -> Row {
        let blocks = sizes.iter().map(|size| Arc::new(Block::text("x".repeat(*size)))).collect();
        Row {
            seq: Seq(7),
            turn: 1,
            round: Seq(7),
            revision: Revision(2),
            record_time: Timestamp::default(),
            message: Arc::new(Message { blocks, ..Message::default() }),
            tokens: MessageTokens::default(),
            digest: [0; 32],
        }
    }

    #[track_caller]
    fn check(sizes: &[usize], expected: &[u32]) {
        let found = elide(row(sizes));
        let blocks: Vec<u32> = found.elided.iter().map(|it| it.block).collect();
        assert_eq!(blocks, expected);
    }

    #[test]
    fn r1_content_above_a_mebibyte_is_named() {
        check(&[MIB, 5], &[]);
        check(&[5, MIB + 1, 5], &[1]);
    }

    #[test]
    fn r1_a_row_of_many_middling_parts_stays_small() {
        check(&[MIB, MIB, MIB - 1, MIB], &[0]);
        check(&[MIB / 2; 8], &[0, 1]);
    }
}
