//! What calls came to, as a format takes it.

use std::borrow::Cow;

use super::{
    image::{self, Picture},
    mend::Mender,
    opaque::{self, Native, Place},
    piece::RepairReason,
    text,
};
use crate::model::{Block, BlockKind, Seq, ToolOutput, ToolResult, WireFormat};

/// Stands where a result has nothing in it.
pub(super) const NO_OUTPUT: &str = "(no output)";
/// Stands where a result never came.
pub(super) const NOT_RECORDED: &str = "No result was recorded for this tool call.";

/// The answer to a call.
#[derive(Debug, Clone)]
pub(super) struct Outcome<'a> {
    /// The call's id, as it is shown.
    pub(super) id: Cow<'a, str>,
    /// The item type in the Responses format.
    pub(super) wire_type: Cow<'a, str>,
    /// The row that holds it; `None` where it was made up.
    pub(super) seq: Option<Seq>,
    pub(super) extra_json: &'a [u8],
    pub(super) body: Body<'a>,
}

#[derive(Debug, Clone)]
pub(super) enum Body<'a> {
    /// Never without parts; an `is_error` that the format has no field for is
    /// in the first text already.
    Parts { is_error: bool, parts: Vec<ResultPart<'a>> },
    /// A provider's own block, complete.
    Raw(Vec<u8>),
}

#[derive(Debug, Clone)]
pub(super) enum ResultPart<'a> {
    Text(Cow<'a, str>),
    Image(Picture<'a>),
    Raw(Cow<'a, [u8]>),
}

/// The made-up answer to a call that has none.
pub(super) fn not_recorded<'a>(format: WireFormat) -> Body<'a> {
    let parts = vec![ResultPart::Text(Cow::Borrowed(NOT_RECORDED))];
    error_told(Body::Parts { is_error: true, parts }, format)
}

/// What a stored result says, as this format takes it.
pub(super) fn body<'a>(mender: &mut Mender, seq: Seq, block: &'a Block) -> Body<'a> {
    let format = mender.format;
    let (is_error, parts) = match &block.kind {
        BlockKind::ToolResult(result) => (result.is_error, parts(mender, seq, result)),
        BlockKind::Opaque(opaque) => {
            (false, vec![ResultPart::Text(Cow::Owned(opaque::line(opaque)))])
        }
        // No other block answers a call; its words are shown all the same.
        BlockKind::Text(text) => (false, vec![ResultPart::Text(mender.text(seq, text))]),
        _ => (false, Vec::new()),
    };
    let parts =
        if parts.is_empty() { vec![ResultPart::Text(Cow::Borrowed(NO_OUTPUT))] } else { parts };
    error_told(Body::Parts { is_error, parts }, format)
}

/// The parts of a result, those without content left out.
pub(super) fn parts<'a>(
    mender: &mut Mender,
    seq: Seq,
    result: &'a ToolResult,
) -> Vec<ResultPart<'a>> {
    result.output.iter().filter_map(|output| shown_part(mender, seq, output)).collect()
}

fn shown_part<'a>(mender: &mut Mender, seq: Seq, output: &'a ToolOutput) -> Option<ResultPart<'a>> {
    match output {
        ToolOutput::Text(bytes) => {
            let words = text::lossy(bytes);
            mender.note_if(words.is_mended, seq, RepairReason::InvalidTextReplaced);
            (!mender.is_nothing(&words.text)).then_some(ResultPart::Text(words.text))
        }
        ToolOutput::Image(image) => Some(match Picture::of(image, mender.format) {
            Some(picture) => ResultPart::Image(picture),
            None => ResultPart::Text(Cow::Owned(image::line(image))),
        }),
        ToolOutput::Opaque(opaque) => {
            match Native::read_for(opaque, mender.format, Place::Result) {
                Some(native) => {
                    mender.note_if(native.is_mended, seq, RepairReason::InvalidTextReplaced);
                    Some(ResultPart::Raw(native.json))
                }
                None => Some(ResultPart::Text(Cow::Owned(opaque::line(opaque)))),
            }
        }
    }
}

/// Says in words that a tool failed, where the format has no field for it.
fn error_told(body: Body<'_>, format: WireFormat) -> Body<'_> {
    let Body::Parts { is_error: true, mut parts } = body else { return body };
    let is_text_only = parts.iter().all(|part| matches!(part, ResultPart::Text(_)));
    // Anthropic takes the flag only beside text, and a picture is worth more.
    if format == WireFormat::AnthropicMessages && is_text_only {
        return Body::Parts { is_error: true, parts };
    }
    match parts.first_mut() {
        Some(ResultPart::Text(text)) => *text = Cow::Owned(format!("Error: {text}")),
        _ => parts.insert(0, ResultPart::Text(Cow::Borrowed("Error: the tool failed."))),
    }
    Body::Parts { is_error: false, parts }
}
