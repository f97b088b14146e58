//! The full bytes of something that a projection shortened.

use bytes::Bytes;

use super::{Ctx, Error, Result, fields::Fields, overlay_types::ContentInput};
use crate::{
    model::{
        BlockKind, ContentRef, Image, ImageSource, Message, Seq, Text, Thinking, ToolOutput,
        ToolResult,
    },
    store::RowsQuery,
};

/// Content, cut to what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// From `offset` on, at most `limit`.
    pub bytes: Bytes,
    /// What the bytes are.
    pub media_type: String,
    /// Bytes of the whole.
    pub total_bytes: usize,
}

/// Which bytes of which content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadContent {
    /// The session's id.
    pub session_id: String,
    /// `None` where the caller named none.
    pub content: Option<ContentInput>,
    /// The first byte.
    pub offset: i64,
    /// How many; zero: all.
    pub limit: i64,
}

/// Reads content.
///
/// # Errors
///
/// [`Error::InvalidField`], [`Error::SessionNotFound`],
/// [`Error::ContentNotFound`].
pub async fn read_content(ctx: &Ctx, input: ReadContent) -> Result<Content> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", &input.session_id);
    let content = content_ref(&mut fields, "content", input.content);
    fields.not_negative("offset", input.offset);
    fields.not_negative("limit", input.limit);
    fields.finish()?;
    let query = RowsQuery {
        first: content.seq,
        last: content.seq,
        newest_first: false,
        limit: 1,
        limit_bytes: usize::MAX,
    };
    let rows = ctx.store.read_rows(&session, query).await?;
    let found = rows.first().and_then(|row| find(&row.message, content));
    let (bytes, media_type) = found.ok_or(Error::ContentNotFound {
        seq: content.seq,
        block: content.block,
        output: content.output,
    })?;
    cut(&bytes, media_type, &input)
}

/// The content that a caller names.
pub(super) fn content_ref(
    fields: &mut Fields,
    path: &str,
    content: Option<ContentInput>,
) -> ContentRef {
    let Some(content) = content else {
        fields.wrong(path, "expected a content, found none");
        return ContentRef { seq: Seq(0), block: 0, output: None };
    };
    let mut index = |field: &str, number: i32| {
        fields.not_negative(&format!("{path}.{field}"), i64::from(number));
        u32::try_from(number).unwrap_or(0)
    };
    let block = index("block", content.block);
    let output = content.output.map(|it| index("output", it));
    ContentRef { seq: fields.seq(&format!("{path}.seq"), content.seq), block, output }
}

fn cut(bytes: &Bytes, media_type: String, input: &ReadContent) -> Result<Content> {
    let total_bytes = bytes.len();
    let start = usize::try_from(input.offset).unwrap_or(usize::MAX);
    if start > total_bytes {
        return Err(Error::field(
            "offset",
            format!("expected at most {total_bytes}, found {}", input.offset),
        ));
    }
    let most = match usize::try_from(input.limit) {
        Ok(0) | Err(_) => usize::MAX,
        Ok(limit) => limit,
    };
    let end = start.saturating_add(most).min(total_bytes);
    Ok(Content { bytes: bytes.slice(start..end), media_type, total_bytes })
}

fn find(message: &Message, content: ContentRef) -> Option<(Bytes, String)> {
    let block = message.blocks.get(usize::try_from(content.block).ok()?)?;
    match (&block.kind, content.output) {
        (BlockKind::ToolResult(result), Some(output)) => {
            result.output.get(usize::try_from(output).ok()?).map(of_output)
        }
        (_, Some(_)) => None,
        (BlockKind::ToolResult(result), None) => Some(of_result(result)),
        (BlockKind::Text(text), None) => Some(of_text(text)),
        (BlockKind::Thinking(thinking), None) => Some(of_thinking(thinking)),
        (BlockKind::RedactedThinking(data), None) => Some(plain(data.clone().into())),
        (BlockKind::ToolUse(call), None) => Some(json(&call.input_json)),
        (BlockKind::Image(image), None) => Some(of_image(image)),
        (BlockKind::Opaque(opaque), None) => Some(json(&opaque.json)),
    }
}

fn of_text(text: &Text) -> (Bytes, String) {
    if text.raw.is_empty() { plain(text.text.clone().into()) } else { plain(text.raw.clone()) }
}

fn of_thinking(thinking: &Thinking) -> (Bytes, String) {
    if thinking.parts.is_empty() {
        plain(thinking.encrypted_content.clone().into())
    } else {
        plain(thinking.parts.join("\n").into())
    }
}

/// A result's only output as it is. Several: their texts in order, with a line
/// for each part that is none, which is to be read by its own index.
fn of_result(result: &ToolResult) -> (Bytes, String) {
    if let [only] = result.output.as_slice() {
        return of_output(only);
    }
    let mut bytes = Vec::new();
    for (index, output) in result.output.iter().enumerate() {
        match output {
            ToolOutput::Text(text) => bytes.extend_from_slice(text),
            ToolOutput::Image(_) | ToolOutput::Opaque(_) => {
                let (part, media_type) = of_output(output);
                let line = format!("\n[output {index}: {media_type}, {} bytes]\n", part.len());
                bytes.extend_from_slice(line.as_bytes());
            }
        }
    }
    plain(bytes.into())
}

fn of_output(output: &ToolOutput) -> (Bytes, String) {
    match output {
        ToolOutput::Text(text) => plain(text.clone()),
        ToolOutput::Image(image) => of_image(image),
        ToolOutput::Opaque(opaque) => json(&opaque.json),
    }
}

fn of_image(image: &Image) -> (Bytes, String) {
    match &image.source {
        ImageSource::Data(data) => (data.clone(), image.media_type.clone()),
        ImageSource::Url(url) => (url.clone().into(), "text/uri-list".to_owned()),
    }
}

fn plain(bytes: Bytes) -> (Bytes, String) {
    let media_type = if std::str::from_utf8(&bytes).is_ok() {
        "text/plain; charset=utf-8"
    } else {
        "application/octet-stream"
    };
    (bytes, media_type.to_owned())
}

fn json(bytes: &Bytes) -> (Bytes, String) {
    (bytes.clone(), "application/json".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(offset: i64, limit: i64) -> ReadContent {
        ReadContent { offset, limit, ..ReadContent::default() }
    }

    #[test]
    fn a_piece_is_cut_where_it_was_asked() {
        let cut_at = |offset, limit| {
            cut(&Bytes::from_static(b"abcdef"), String::new(), &asked(offset, limit))
                .map(|it| it.bytes)
        };
        assert_eq!(cut_at(0, 0).unwrap(), "abcdef");
        assert_eq!(cut_at(2, 3).unwrap(), "cde");
        assert_eq!(cut_at(4, 100).unwrap(), "ef");
        assert_eq!(cut_at(6, 0).unwrap(), "");
        assert!(matches!(cut_at(7, 0), Err(Error::InvalidField(_))));
    }

    #[test]
    fn l5_bytes_that_are_no_text_come_back_as_they_were() {
        let bytes = Bytes::from_static(b"\xff\xfe\x00\x0a\x80");
        let result =
            ToolResult { output: vec![ToolOutput::Text(bytes.clone())], ..ToolResult::default() };
        assert_eq!(of_result(&result), (bytes, "application/octet-stream".to_owned()));
    }

    #[test]
    fn parts_that_are_no_text_are_named() {
        let image = Image {
            media_type: "image/png".into(),
            source: ImageSource::Data(Bytes::from_static(b"1234")),
        };
        let output = vec![
            ToolOutput::Text(Bytes::from_static(b"before")),
            ToolOutput::Image(image),
            ToolOutput::Text(Bytes::from_static(b"after")),
        ];
        let (bytes, _) = of_result(&ToolResult { output, ..ToolResult::default() });
        assert_eq!(bytes, "before\n[output 1: image/png, 4 bytes]\nafter");
    }
}
