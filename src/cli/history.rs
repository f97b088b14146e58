//! `concertina history`: every row, unreduced.

use super::{Out, Remote, json::RowJson, names, remote::Pieces, text};
use crate::proto::v1::{self, block, tool_output};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session.
    session: String,
    /// The first row.
    #[arg(long, value_name = "SEQ")]
    first: Option<i64>,
    /// The last row.
    #[arg(long, value_name = "SEQ")]
    last: Option<i64>,
    /// The rows under this overlay instead.
    #[arg(long, value_name = "ID", conflicts_with_all = ["first", "last"])]
    overlay: Option<String>,
    /// Newest first.
    #[arg(long)]
    newest_first: bool,
    /// At most so many rows; 0: all.
    #[arg(long, default_value_t = 0)]
    limit: i64,
    /// Print whole texts instead of their start.
    #[arg(long)]
    full: bool,
}

const LINE_WIDTH: usize = 96;

pub(super) async fn run(args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    let rows = remote
        .read_history(v1::ReadHistoryRequest {
            session_id: args.session,
            first_seq: args.first,
            last_seq: args.last,
            overlay_id: args.overlay.unwrap_or_default(),
            newest_first: args.newest_first,
            limit: args.limit,
        })
        .await?;
    print(rows, args.full, out).await
}

/// Prints rows as they come.
pub(super) async fn print(
    mut rows: Pieces<v1::ReadHistoryResponse>,
    full: bool,
    out: &mut Out,
) -> anyhow::Result<()> {
    while let Some(row) = rows.next().await? {
        if out.is_json() {
            if let Some(row) = RowJson::new(&row) {
                out.json(&row)?;
            }
        } else {
            for line in row_lines(&row, full) {
                out.line(line)?;
            }
        }
    }
    Ok(())
}

fn row_lines(row: &v1::ReadHistoryResponse, full: bool) -> Vec<String> {
    let stored = row.message.clone().unwrap_or_default();
    let message = stored.message.unwrap_or_default();
    let mut head = format!("{:>7}  {:<10}", stored.seq, names::role(message.role));
    let mut lines = Vec::new();
    for (at, block) in message.blocks.iter().enumerate() {
        let words = block_words(block);
        if full {
            lines.push(format!("{head}  block {at}"));
            lines.push(super::out::harmless(&words).into_owned());
        } else {
            lines.push(format!("{head}  {}", text::excerpt(&words, LINE_WIDTH - 21)));
        }
        head = " ".repeat(19);
    }
    if lines.is_empty() {
        lines.push(format!("{head}  (empty)"));
    }
    lines
}

/// What a block says, marked like the messages of `concertina context`.
pub(super) fn block_words(block: &v1::Block) -> String {
    use block::Kind as K;
    match &block.kind {
        Some(K::Text(text)) if text.raw.is_empty() => text.text.clone(),
        Some(K::Text(text)) => String::from_utf8_lossy(&text.raw).into_owned(),
        Some(K::Thinking(thinking)) => format!("(thinking) {}", thinking.parts.join(" ")),
        Some(K::RedactedThinking(_)) => "(thinking, redacted)".to_owned(),
        Some(K::ToolUse(call)) => {
            format!("⇒ {} {}", call.name, String::from_utf8_lossy(&call.input_json))
        }
        Some(K::ToolResult(result)) => {
            let error = if result.is_error { "error: " } else { "" };
            let parts: Vec<_> = result.output.iter().map(part_words).collect();
            format!("⇐ {error}{}", parts.join(" "))
        }
        Some(K::Image(image)) => image_words(image),
        Some(K::Opaque(opaque)) => String::from_utf8_lossy(&opaque.json).into_owned(),
        None => "(empty)".to_owned(),
    }
}

fn part_words(part: &v1::ToolOutput) -> String {
    use tool_output::Kind as K;
    match &part.kind {
        Some(K::Text(text)) => String::from_utf8_lossy(text).into_owned(),
        Some(K::Image(image)) => image_words(image),
        Some(K::Opaque(opaque)) => String::from_utf8_lossy(&opaque.json).into_owned(),
        None => String::new(),
    }
}

fn image_words(image: &v1::Image) -> String {
    match &image.source {
        Some(v1::image::Source::Data(data)) => {
            let size = text::bytes(u64::try_from(data.len()).unwrap_or(u64::MAX));
            format!("[image: {}, {size}]", image.media_type)
        }
        Some(v1::image::Source::Url(url)) => format!("[image: {url}]"),
        None => "[image]".to_owned(),
    }
}
