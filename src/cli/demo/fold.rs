//! A segment collapsed and rolled back, and a second view of the same rows.

use anyhow::Context as _;

use super::{DemoSession, show::section};
use crate::{
    cli::{
        names,
        out::Out,
        overlays::{self, Depth},
        remote::{Refusal, Remote},
        text::{self, excerpt, thousands},
    },
    proto::v1,
};

const LINE_WIDTH: usize = 96;
const SHOWN_SUMMARY_LINES: usize = 6;
/// A window into which the whole session fits.
const LARGE_WINDOW: i64 = 200_000;

/// What the view folds by itself, as a strip and by name.
pub(super) async fn strip(
    session: &DemoSession,
    remote: &mut Remote,
    out: &mut Out,
) -> anyhow::Result<()> {
    let overlays = remote.all_overlays(&session.id, "main", false).await?;
    let mut lines = overlays::strip(&session.id, "main", &overlays, remote, out.paint()).await?;
    if !overlays.is_empty() {
        lines.push(String::new());
        let (table, beneath) = overlays::table(&overlays, Depth::Shown);
        lines.push(table);
        if beneath > 0 {
            lines.push(format!("{beneath} more beneath them"));
        }
    }
    section("The view as a strip", &lines.join("\n"), out)
}

/// A collapse on demand, what it looks like, and its rollback: the same bytes.
pub(super) async fn there_and_back(
    session: &DemoSession,
    remote: &mut Remote,
    out: &mut Out,
) -> anyhow::Result<()> {
    let before = shown(session, remote).await?;
    let mut lines = vec![before.words()];
    match collapse(session, remote).await {
        Ok(overlay) => {
            lines.extend(collapsed(&overlay, session, remote, out).await?);
            lines.push(shown(session, remote).await?.words());
            lines.push(rolled_back(&overlay, session, remote).await?);
            let after = shown(session, remote).await?;
            let same = if after.digest == before.digest { "the same bytes" } else { "other bytes" };
            lines.push(format!("{}: {same}", after.words()));
        }
        // Everything may be folded already, or too short to be worth it.
        Err(refusal) => lines.push(format!("CreateCollapse   {}: {refusal}", refusal.reason)),
    }
    section("A collapse on demand, and back", &lines.join("\n"), out)
}

/// The bytes of a context, and where to read them again.
struct Shown {
    revision: i64,
    messages: usize,
    bytes: u64,
    tokens: i64,
    digest: blake3::Hash,
}

impl Shown {
    fn words(&self) -> String {
        format!(
            "{:<15}  {} messages, {} tokens, {} bytes, blake3 {}",
            format!("revision {}", self.revision),
            self.messages,
            thousands(self.tokens),
            thousands(i64::try_from(self.bytes).unwrap_or(i64::MAX)),
            &self.digest.to_hex()[..12]
        )
    }
}

/// What the view shows at its newest revision, as it stands: asked by revision,
/// nothing is reduced for the answer.
async fn shown(session: &DemoSession, remote: &mut Remote) -> anyhow::Result<Shown> {
    let request = v1::GetSessionRequest { session_id: session.id.clone(), view: String::new() };
    let known = remote.get_session(request).await?.session.context("a session")?;
    let mut request = session.context_request();
    request.at_revision = Some(known.revision);
    let context = remote.get_context(request).await?;
    let mut hasher = blake3::Hasher::new();
    let fixed = [&context.system_json, &context.tools_json];
    for piece in fixed.into_iter().chain(&context.messages_json) {
        hasher.update(piece);
    }
    let budget = context.budget.unwrap_or_default();
    Ok(Shown {
        revision: known.revision,
        messages: context.messages_json.len(),
        bytes: hasher.count(),
        tokens: budget.fixed + budget.messages,
        digest: hasher.finalize(),
    })
}

async fn collapse(session: &DemoSession, remote: &mut Remote) -> Result<v1::Overlay, Refusal> {
    let mut request = v1::CreateCollapseRequest {
        session_id: session.id.clone(),
        author: "demo".into(),
        ..v1::CreateCollapseRequest::default()
    };
    let made = match remote.create_collapse(request.clone()).await {
        // The view had just folded what its policy would: one fold over all then.
        Err(refusal) if refusal.reason == "NOTHING_TO_COLLAPSE" => {
            let last_seq = session.newest_request - 1;
            request.rows = Some(v1::SeqRange { first_seq: 1, last_seq });
            remote.create_collapse(request).await?
        }
        made => made?,
    };
    Ok(made.overlay.unwrap_or_default())
}

async fn collapsed(
    overlay: &v1::Overlay,
    session: &DemoSession,
    remote: &mut Remote,
    out: &Out,
) -> anyhow::Result<Vec<String>> {
    let mut lines = vec![format!(
        "CreateCollapse   {} by the {} summarizer, {} → {} tokens",
        names::rows(&overlay.covered),
        overlay.summarizer,
        thousands(overlay.tokens_before),
        thousands(overlay.tokens_after)
    )];
    let overlays = remote.all_overlays(&session.id, "main", false).await?;
    let strip = overlays::strip(&session.id, "main", &overlays, remote, out.paint()).await?;
    // Scale and signs were told above.
    let drawn = strip.len().saturating_sub(1);
    lines.extend(strip.into_iter().take(drawn).skip(1));
    let summary = overlay.summary.lines();
    let told = summary.clone().take(SHOWN_SUMMARY_LINES);
    lines.extend(told.map(|line| format!("  │ {}", excerpt(line, LINE_WIDTH - 6))));
    let more = summary.count().saturating_sub(SHOWN_SUMMARY_LINES);
    if more > 0 {
        let more = i64::try_from(more).unwrap_or(i64::MAX);
        lines.push(format!("  │ … and {}", text::count(more, "more line")));
    }
    Ok(lines)
}

async fn rolled_back(
    overlay: &v1::Overlay,
    session: &DemoSession,
    remote: &mut Remote,
) -> anyhow::Result<String> {
    let request = v1::RollbackOverlayRequest {
        session_id: session.id.clone(),
        overlay_id: overlay.id.clone(),
        reason: "to show that it can be done".into(),
        author: "demo".into(),
        ..v1::RollbackOverlayRequest::default()
    };
    remote.rollback_overlay(request).await?;
    Ok("RollbackOverlay  the rows show again".to_owned())
}

/// A view with another window and without reductions, on the same rows.
pub(super) async fn second_view(
    session: &DemoSession,
    remote: &mut Remote,
    out: &mut Out,
) -> anyhow::Result<()> {
    let model = v1::Model { context_window: LARGE_WINDOW, ..v1::Model::default() };
    let policy = v1::Policy { preset: "off".into(), ..v1::Policy::default() };
    let view = v1::View { name: "wide".into(), policy: Some(policy), model: Some(model) };
    let request = v1::SetViewRequest {
        session_id: session.id.clone(),
        view: Some(view),
        author: "demo".into(),
    };
    remote.set_view(request).await?;
    let mut lines = Vec::new();
    for name in ["main", "wide"] {
        lines.push(view_line(name, session, remote).await?);
        let overlays = remote.all_overlays(&session.id, name, false).await?;
        let strip = overlays::strip(&session.id, name, &overlays, remote, out.paint()).await?;
        let drawn = strip.len().saturating_sub(1);
        lines.extend(strip.into_iter().take(drawn).skip(1));
    }
    section("Two views of one history", &lines.join("\n"), out)
}

/// `wide  window 200,000, policy off: 130,147 tokens of the same 96 rows`.
async fn view_line(
    name: &str,
    session: &DemoSession,
    remote: &mut Remote,
) -> anyhow::Result<String> {
    let mut request = session.context_request();
    name.clone_into(&mut request.view);
    let budget = remote.get_context(request).await?.budget.unwrap_or_default();
    Ok(format!(
        "{name}: window {}, {} tokens sent of a history of {}",
        thousands(budget.window),
        thousands(budget.fixed + budget.messages),
        thousands(budget.history)
    ))
}
