//! How large the pieces of content in a message are.

use crate::model::{BlockKind, ContentRef, Image, ImageSource, Message, Seq, ToolOutput};

/// The bytes of each piece of content, named as a row at `seq` would name it.
pub(super) fn sizes(seq: Seq, message: &Message) -> Vec<(ContentRef, usize)> {
    let mut sizes = Vec::new();
    for (block, it) in (0..).zip(&message.blocks) {
        let mut push = |output, size| sizes.push((ContentRef { seq, block, output }, size));
        match &it.kind {
            BlockKind::ToolResult(result) => {
                for (output, it) in (0..).zip(&result.output) {
                    push(Some(output), of_output(it));
                }
            }
            BlockKind::Text(text) => push(None, text.text.len() + text.raw.len()),
            BlockKind::Thinking(it) => {
                let parts: usize = it.parts.iter().map(String::len).sum();
                push(None, parts + it.encrypted_content.len());
            }
            BlockKind::RedactedThinking(data) => push(None, data.len()),
            BlockKind::ToolUse(call) => push(None, call.input_json.len()),
            BlockKind::Image(image) => push(None, of_image(image)),
            BlockKind::Opaque(opaque) => push(None, opaque.json.len()),
        }
    }
    sizes
}

fn of_output(output: &ToolOutput) -> usize {
    match output {
        ToolOutput::Text(text) => text.len(),
        ToolOutput::Image(image) => of_image(image),
        ToolOutput::Opaque(opaque) => opaque.json.len(),
    }
}

fn of_image(image: &Image) -> usize {
    match &image.source {
        ImageSource::Data(data) => data.len(),
        ImageSource::Url(url) => url.len(),
    }
}
