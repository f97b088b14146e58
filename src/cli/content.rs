//! `concertina content`: the full bytes of something that a context shows shorter.

use super::{Out, Remote};
use crate::proto::v1;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session.
    session: String,
    /// The message.
    seq: i64,
    /// Index of the block in it, from 0.
    block: i32,
    /// Index of the part in a tool result; left out: the whole block.
    #[arg(long)]
    part: Option<i32>,
    /// Bytes to leave out at the start.
    #[arg(long, default_value_t = 0)]
    offset: i64,
    /// At most so many bytes; 0: all.
    #[arg(long, default_value_t = 0)]
    limit: i64,
}

#[derive(serde::Serialize)]
struct ContentJson<'a> {
    media_type: &'a str,
    total_bytes: i64,
    text: Option<&'a str>,
    base64: Option<String>,
}

pub(super) async fn run(args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    let request = v1::ReadContentRequest {
        session_id: args.session,
        content: Some(v1::ContentRef { seq: args.seq, block: args.block, output: args.part }),
        offset: args.offset,
        limit: args.limit,
    };
    let mut pieces = remote.read_content(request).await?;
    if out.is_json() {
        let content = Content::collect(&mut pieces).await?;
        out.json(&content.printed())?;
        return Ok(());
    }
    while let Some(piece) = pieces.next().await? {
        out.bytes(&piece.chunk)?;
    }
    Ok(())
}

/// A piece of content, whole.
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    media_type: String,
    pub(super) total_bytes: i64,
}

impl Content {
    pub(super) async fn collect(
        pieces: &mut super::remote::Pieces<v1::ReadContentResponse>,
    ) -> anyhow::Result<Self> {
        let mut content = Self { bytes: Vec::new(), media_type: String::new(), total_bytes: 0 };
        while let Some(piece) = pieces.next().await? {
            if content.bytes.is_empty() {
                content.media_type = piece.media_type;
                content.total_bytes = piece.total_bytes;
            }
            content.bytes.extend_from_slice(&piece.chunk);
        }
        Ok(content)
    }

    /// As text where it is text, else as Base64.
    fn printed(&self) -> ContentJson<'_> {
        use base64::{Engine as _, prelude::BASE64_STANDARD};
        let text = std::str::from_utf8(&self.bytes).ok();
        ContentJson {
            media_type: &self.media_type,
            total_bytes: self.total_bytes,
            text,
            base64: text.is_none().then(|| BASE64_STANDARD.encode(&self.bytes)),
        }
    }
}
