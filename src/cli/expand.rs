//! `concertina expand`: what lies under an overlay.

use std::collections::HashMap;

use super::{
    Out, Remote,
    args::Format,
    context_view, history, json, names,
    overlay_ref::{self, Place},
    text,
};
use crate::proto::v1;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session.
    session: String,
    #[arg(help = overlay_ref::HELP)]
    overlay: String,
    /// The view whose letters are meant; left out: `main`.
    #[arg(long, value_name = "VIEW", default_value = "", hide_default_value = true)]
    view: String,
    /// The whole context with it opened instead of the rows alone; a preview.
    #[arg(long, conflicts_with = "full")]
    context: bool,
    /// The provider's request shape of that context.
    #[arg(long, value_enum, default_value_t = Format::Anthropic, requires = "context")]
    format: Format,
    /// Print whole texts instead of their start.
    #[arg(long)]
    full: bool,
}

pub(super) async fn run(mut args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    let place = Place { session: &args.session, view: &args.view, at_revision: None };
    args.overlay = overlay_ref::id(&args.overlay, &place, &mut remote).await?;
    let request = v1::GetOverlayRequest {
        session_id: args.session.clone(),
        overlay_id: args.overlay.clone(),
    };
    let overlay = remote.get_overlay(request).await?.overlay.unwrap_or_default();
    if args.context {
        return context(&args, overlay.view, &mut remote, out).await;
    }
    if !out.is_json() {
        let beneath = beneath(&overlay, &mut remote).await?;
        for line in head(&overlay, &beneath) {
            out.line(line)?;
        }
    }
    let request = v1::ReadHistoryRequest {
        session_id: args.session,
        overlay_id: args.overlay,
        ..v1::ReadHistoryRequest::default()
    };
    history::print(remote.read_history(request).await?, args.full, out).await
}

async fn context(
    args: &Args,
    view: String,
    remote: &mut Remote,
    out: &mut Out,
) -> anyhow::Result<()> {
    let request = v1::GetContextRequest {
        session_id: args.session.clone(),
        view,
        format: args.format.wire().into(),
        preview: true,
        expand_overlay_ids: vec![args.overlay.clone()],
        ..v1::GetContextRequest::default()
    };
    let context = remote.get_context(request).await?;
    if out.is_json() {
        out.json(&json::ContextJson::new(&context))?;
        return Ok(());
    }
    let paint = out.paint();
    for line in context_view::lines(&context, paint, false) {
        out.line(line)?;
    }
    Ok(())
}

/// What the overlays directly under it are, by their ids.
async fn beneath(
    overlay: &v1::Overlay,
    remote: &mut Remote,
) -> anyhow::Result<HashMap<String, String>> {
    if overlay.covered_overlay_ids.is_empty() {
        return Ok(HashMap::new());
    }
    let all = remote.all_overlays(&overlay.session_id, &overlay.view, true).await?;
    Ok(all.into_iter().map(|it| (it.id.clone(), kind_and_rows(&it))).collect())
}

/// `collapse of rows 1–9`.
fn kind_and_rows(overlay: &v1::Overlay) -> String {
    format!("{} of {}", names::overlay_kind(overlay.kind), context_view::what(overlay))
}

/// What it is, what is shown in its place, and what else lies under it.
fn head(overlay: &v1::Overlay, beneath: &HashMap<String, String>) -> Vec<String> {
    let state = match overlay.rollback_revision {
        0 => format!("in force since revision {}", overlay.commit_revision),
        at => format!("in force from revision {} until {at}", overlay.commit_revision),
    };
    let mut lines = vec![format!(
        "{} in view {}, {} → {} tokens, {state}",
        kind_and_rows(overlay),
        overlay.view,
        text::thousands(overlay.tokens_before),
        text::thousands(overlay.tokens_after),
    )];
    if !overlay.kept.is_empty() {
        lines.push(format!("kept in full: {}", names::rows(&overlay.kept)));
    }
    if !overlay.summary.is_empty() {
        let by = if overlay.summarizer.is_empty() { "hand" } else { &overlay.summarizer };
        lines.push(format!("shown in its place, by {by}:"));
        lines.extend(overlay.summary.lines().map(|line| format!("  │ {line}")));
    }
    lines.extend(overlay.covered_overlay_ids.iter().map(|id| match beneath.get(id) {
        Some(what) => format!("over {what}: {id}"),
        None => format!("over overlay {id}"),
    }));
    lines.push("under it:".to_owned());
    lines.iter().map(|line| super::out::harmless(line).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_tells_what_is_shown_and_what_lies_between() {
        let overlay = v1::Overlay {
            view: "main".into(),
            kind: v1::overlay::Kind::Collapse.into(),
            covered: vec![v1::SeqRange { first_seq: 1, last_seq: 9 }],
            kept: vec![v1::SeqRange { first_seq: 5, last_seq: 5 }],
            summary: "Turns 1-2:\nthe tide".into(),
            summarizer: "extractive".into(),
            covered_overlay_ids: vec!["inner".into()],
            tokens_before: 2_000,
            tokens_after: 900,
            commit_revision: 12,
            ..v1::Overlay::default()
        };
        let beneath = HashMap::from([("inner".to_owned(), "snip of rows 2–3".to_owned())]);
        expect_test::expect![[r"
            collapse of rows 1–9 in view main, 2,000 → 900 tokens, in force since revision 12
            kept in full: row 5
            shown in its place, by extractive:
              │ Turns 1-2:
              │ the tide
            over snip of rows 2–3: inner
            under it:"]]
        .assert_eq(&head(&overlay, &beneath).join("\n"));
    }
}
