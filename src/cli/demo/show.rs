//! What is shown after the last call: what was saved, and that nothing is lost.

use super::{DemoSession, play::Played};
use crate::{
    cli::{
        content::Content,
        context_view,
        out::Out,
        remote::Remote,
        rendered,
        text::{self, excerpt, thousands},
    },
    proto::v1,
};

const SHOWN_MESSAGES: usize = 4;
const LINE_WIDTH: usize = 96;

/// The sections that come from the last context.
pub(super) fn last_context(played: &Played, out: &mut Out) -> anyhow::Result<()> {
    let context = &played.last;
    if let Some(stages) = context_view::stages(&context.stages) {
        let note = "saved: what the context would have more without that stage alone; \
                    why: what it found this time";
        section(
            "What each stage has saved of the last context",
            &format!("{stages}\n{note}"),
            out,
        )?;
    }
    let mut start = rendered::start(context, SHOWN_MESSAGES, LINE_WIDTH);
    start.push(context_view::stable_prefix(context));
    section("Start of the last context", &start.join("\n"), out)
}

/// The full history, and a piece of it that the context shows shorter.
pub(super) async fn nothing_is_lost(
    session: &DemoSession,
    remote: &mut Remote,
    out: &mut Out,
) -> anyhow::Result<()> {
    let mut lines = vec![history(session, remote).await?];
    if let Some(cut) = largest_cut(session, remote).await? {
        lines.extend(read_back(&cut, session, remote).await?);
    }
    section("Nothing is lost", &lines.join("\n"), out)
}

/// A title and what is under it.
pub(super) fn section(title: &str, body: &str, out: &mut Out) -> anyhow::Result<()> {
    let title = out.paint().bold(title);
    out.line("")?;
    out.line(title)?;
    for line in body.lines() {
        out.line(format!("  {line}").trim_end())?;
    }
    Ok(())
}

async fn history(session: &DemoSession, remote: &mut Remote) -> anyhow::Result<String> {
    let request = v1::ReadHistoryRequest {
        session_id: session.id.clone(),
        ..v1::ReadHistoryRequest::default()
    };
    let mut rows = remote.read_history(request).await?;
    let (mut messages, mut tokens) = (0, 0);
    while let Some(row) = rows.next().await? {
        messages += 1;
        tokens += row.message.map_or(0, |message| message.tokens);
    }
    let messages = text::count(messages, "message");
    Ok(format!("ReadHistory     {messages} of {} tokens, as they were appended", thousands(tokens)))
}

/// The largest piece that is shown shorter.
async fn largest_cut(
    session: &DemoSession,
    remote: &mut Remote,
) -> anyhow::Result<Option<v1::Reduction>> {
    let mut request = session.context_request();
    (request.preview, request.explain) = (true, true);
    let context = remote.get_context(request).await?;
    Ok(context.reductions.into_iter().max_by_key(|reduction| reduction.tokens_before))
}

async fn read_back(
    cut: &v1::Reduction,
    session: &DemoSession,
    remote: &mut Remote,
) -> anyhow::Result<Vec<String>> {
    let content = cut.content.unwrap_or_default();
    let request = v1::ReadContentRequest {
        session_id: session.id.clone(),
        content: Some(content),
        ..v1::ReadContentRequest::default()
    };
    let mut pieces = remote.read_content(request).await?;
    let full = Content::collect(&mut pieces).await?;
    let size = text::bytes(u64::try_from(full.bytes.len()).unwrap_or(u64::MAX));
    let (seq, block) = (content.seq, content.block);
    let (before, after) = (thousands(cut.tokens_before), thousands(cut.tokens_after));
    let start = excerpt(&String::from_utf8_lossy(&full.bytes), 60);
    Ok(vec![
        format!(
            "ReadContent     message {seq} block {block}, which {} cut from {before} to {after} tokens:",
            cut.stage
        ),
        format!("                all of its {size}: {start}"),
    ])
}
