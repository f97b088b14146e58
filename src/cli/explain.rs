//! `concertina explain`: is this row shown, and if not as it was written, why.
//!
//! Nothing here is guessed: a preview of the context tells what is shown from
//! where, and the overlays tell what covers what.

mod finding;

use super::{Out, Remote, args::Format, context_view, history, names, text};
use crate::proto::v1;
use finding::{Finding, Reduced, Verdict};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session.
    session: String,
    /// The message.
    seq: i64,
    /// Which view of the session.
    #[arg(long, default_value = "main")]
    view: String,
    /// The provider's request shape.
    #[arg(long, value_enum, default_value_t = Format::Anthropic)]
    format: Format,
}

pub(super) async fn run(args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    let row = one_row(&args, &mut remote).await?;
    let context = remote
        .get_context(v1::GetContextRequest {
            session_id: args.session.clone(),
            view: args.view.clone(),
            format: args.format.wire().into(),
            preview: true,
            explain: true,
            ..v1::GetContextRequest::default()
        })
        .await?;
    let overlays = remote.all_overlays(&args.session, &args.view, true).await?;
    let finding = Finding::new(args.seq, &context, &overlays);
    if out.is_json() {
        out.json(&finding)?;
    } else {
        print(&row, &finding, out)?;
    }
    Ok(())
}

async fn one_row(args: &Args, remote: &mut Remote) -> anyhow::Result<v1::StoredMessage> {
    let request = v1::ReadHistoryRequest {
        session_id: args.session.clone(),
        first_seq: Some(args.seq),
        last_seq: Some(args.seq),
        ..v1::ReadHistoryRequest::default()
    };
    let row = remote.read_history(request).await?.next().await?;
    row.and_then(|row| row.message)
        .ok_or_else(|| anyhow::anyhow!("session `{}` has no message {}", args.session, args.seq))
}

fn print(row: &v1::StoredMessage, finding: &Finding<'_>, out: &mut Out) -> anyhow::Result<()> {
    let message = row.message.clone().unwrap_or_default();
    let paint = out.paint();
    let about = format!(
        "message {} · {} · turn {} · round {} · {}",
        row.seq,
        names::role(message.role),
        row.turn,
        row.round,
        text::count(row.tokens, "token")
    );
    out.line(paint.bold(&about))?;
    for block in &message.blocks {
        out.line(format!("  {}", text::excerpt(&history::block_words(block), 90)))?;
    }
    out.line("")?;
    for line in sentences(finding) {
        out.line(line)?;
    }
    Ok(())
}

fn sentences(finding: &Finding<'_>) -> Vec<String> {
    let mut lines = vec![verdict_sentence(finding)];
    lines.extend(finding.reductions.iter().map(reduced_sentence));
    for overlay in &finding.covering {
        lines.push(covering_sentence(overlay));
    }
    for repair in &finding.repairs {
        lines.push(format!("The renderer mended it: {repair}."));
    }
    let gone = i64::try_from(finding.rolled_back.len()).unwrap_or(i64::MAX);
    if gone > 0 {
        let overlays = text::count(gone, "overlay");
        lines.push(format!("{overlays} that once reduced it went out of force."));
    }
    lines
}

fn verdict_sentence(finding: &Finding<'_>) -> String {
    let places: Vec<_> = finding.shown_in_messages.iter().map(ToString::to_string).collect();
    let places = places.join(", ");
    match finding.verdict {
        Verdict::Shown => format!("Shown as it was written, in message {places} of the context."),
        Verdict::ShownShorter => format!("Shown shorter, in message {places} of the context."),
        Verdict::Covered => "Not shown itself: an overlay covers it.".to_owned(),
        Verdict::NotShown => "Not shown: its round has not settled, or it holds nothing that \
                              this format can show."
            .to_owned(),
    }
}

fn reduced_sentence(reduced: &Reduced<'_>) -> String {
    let by = if reduced.overlay_id.is_empty() {
        "fixed at first sight".to_owned()
    } else {
        format!("overlay {}", reduced.overlay_id)
    };
    let shown_as = if reduced.shown_as.is_empty() {
        String::new()
    } else {
        format!(", shown as: {}", text::excerpt(reduced.shown_as, 60))
    };
    format!(
        "Block {}: cut by `{}` ({by}), {} → {} tokens{shown_as}",
        reduced.block,
        reduced.stage,
        text::thousands(reduced.tokens_before),
        text::thousands(reduced.tokens_after)
    )
}

fn covering_sentence(overlay: &v1::Overlay) -> String {
    let stage = if overlay.stage.is_empty() { "by hand" } else { &overlay.stage };
    let shown_as = if overlay.summary.is_empty() {
        "nothing in its place".to_owned()
    } else {
        format!("in its place: {}", text::excerpt(&overlay.summary, 60))
    };
    format!(
        "Overlay {}: {} of {} ({stage}, {}), {shown_as}",
        overlay.id,
        names::overlay_kind(overlay.kind),
        context_view::what(overlay),
        names::cause(overlay.cause)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_block_tells_stage_overlay_sizes_and_what_is_shown() {
        let reduced = Reduced {
            block: 0,
            stage: "micro_clear",
            overlay_id: "c",
            tokens_before: 900,
            tokens_after: 12,
            shown_as: "[gone]",
        };
        let expected = "Block 0: cut by `micro_clear` (overlay c), 900 → 12 tokens, \
                        shown as: [gone]";
        assert_eq!(reduced_sentence(&reduced), expected);
        let at_sight = Reduced { overlay_id: "", shown_as: "", ..reduced };
        let expected = "Block 0: cut by `micro_clear` (fixed at first sight), 900 → 12 tokens";
        assert_eq!(reduced_sentence(&at_sight), expected);
    }
}
