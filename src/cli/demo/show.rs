//! What is shown after the last call: what was saved, and that nothing is lost.

use super::{DemoSession, play::Played};
use crate::{
    cli::{
        content::Content,
        context_view, names,
        out::Out,
        remote::Remote,
        text::{self, excerpt, thousands},
    },
    proto::v1,
};

const SHOWN_MESSAGES: usize = 6;
const LINE_WIDTH: usize = 96;
/// A window into which the whole session fits.
const LARGE_WINDOW: i64 = 1_000_000;

/// The sections that come from the last context.
pub(super) fn last_context(played: &Played, out: &mut Out) -> anyhow::Result<()> {
    let context = &played.last;
    if let Some(stages) = context_view::stages(&context.stages) {
        section("What each stage saved in the last context", &stages, out)?;
    }
    if let Some(overlays) = context_view::overlays(&context.overlays) {
        section("Overlays in force", &overlays, out)?;
    }
    let start = context_view::start_of_messages(context, SHOWN_MESSAGES, LINE_WIDTH);
    section("Start of the last context", &start.join("\n"), out)
}

/// The full history, a piece of it that the context shows shorter, a rollback.
pub(super) async fn nothing_is_lost(
    session: &DemoSession,
    remote: &mut Remote,
    out: &mut Out,
) -> anyhow::Result<()> {
    let mut lines = vec![history(session, remote).await?];
    let overlays = remote.all_overlays(&session.id, "main", false).await?;
    if let Some(content) = shortened(&overlays, session, remote).await? {
        lines.extend(read_back(content, session, remote).await?);
    }
    if let Some(overlay) = overlays.last() {
        lines.extend(rolled_back(overlay, session, remote).await?);
    }
    lines.push(large_window(session, remote).await?);
    section("Nothing is lost", &lines.join("\n"), out)
}

fn section(title: &str, body: &str, out: &mut Out) -> anyhow::Result<()> {
    let title = out.paint().bold(title);
    out.line("")?;
    out.line(title)?;
    for line in body.lines() {
        out.line(format!("  {line}"))?;
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

/// A piece that is shown shorter: a cleared one, or one that was cut at first sight.
async fn shortened(
    overlays: &[v1::Overlay],
    session: &DemoSession,
    remote: &mut Remote,
) -> anyhow::Result<Option<(v1::ContentRef, String)>> {
    let mut cleared = overlays.iter().flat_map(|overlay| &overlay.cleared);
    if let Some(cleared) = cleared.next() {
        let content = cleared.content.unwrap_or_default();
        return Ok(Some((content, format!("shown as {}", excerpt(&cleared.shown_as, 56)))));
    }
    let mut request = session.context_request();
    (request.preview, request.explain) = (true, true);
    let context = remote.get_context(request).await?;
    let largest = context.reductions.iter().max_by_key(|reduction| reduction.tokens_before);
    Ok(largest.map(|cut| {
        let tokens = thousands(cut.tokens_after);
        (cut.content.unwrap_or_default(), format!("cut by {} to {tokens} tokens", cut.stage))
    }))
}

async fn read_back(
    (content, shown): (v1::ContentRef, String),
    session: &DemoSession,
    remote: &mut Remote,
) -> anyhow::Result<Vec<String>> {
    let request = v1::ReadContentRequest {
        session_id: session.id.clone(),
        content: Some(content),
        ..v1::ReadContentRequest::default()
    };
    let mut pieces = remote.read_content(request).await?;
    let full = Content::collect(&mut pieces).await?;
    let size = text::bytes(u64::try_from(full.bytes.len()).unwrap_or(u64::MAX));
    let start = excerpt(&String::from_utf8_lossy(&full.bytes), 60);
    Ok(vec![
        format!("ReadContent     message {} block {}: {shown}", content.seq, content.block),
        format!("                its full {size}: {start}"),
    ])
}

async fn rolled_back(
    overlay: &v1::Overlay,
    session: &DemoSession,
    remote: &mut Remote,
) -> anyhow::Result<Vec<String>> {
    let request = v1::RollbackOverlayRequest {
        session_id: session.id.clone(),
        overlay_id: overlay.id.clone(),
        reason: "to show that it can be done".into(),
        author: "demo".into(),
        ..v1::RollbackOverlayRequest::default()
    };
    let answer = remote.rollback_overlay(request).await?;
    let kind = names::overlay_kind(overlay.kind);
    let what = context_view::what(overlay);
    Ok(vec![
        format!("RollbackOverlay {kind} of {what}: shows again from revision {}", answer.revision),
        "                (the next GetContext may reduce again: the window is as small as before)"
            .to_owned(),
    ])
}

async fn large_window(session: &DemoSession, remote: &mut Remote) -> anyhow::Result<String> {
    let mut request = session.context_request();
    request.preview = true;
    request.model = Some(v1::Model { context_window: LARGE_WINDOW, ..v1::Model::default() });
    let context = remote.get_context(request).await?;
    let budget = context.budget.unwrap_or_default();
    Ok(format!(
        "GetContext      for a window of {} the same session shows {} tokens",
        thousands(LARGE_WINDOW),
        thousands(budget.fixed + budget.messages)
    ))
}
