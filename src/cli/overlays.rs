//! `concertina overlays`: what is cleared, hidden or summarized in a view.

use super::{Out, Remote, context_view, json::OverlayJson};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session.
    session: String,
    /// Which view of it.
    #[arg(long, default_value = "main")]
    view: String,
    /// Those that were rolled back too.
    #[arg(long)]
    all: bool,
}

pub(super) async fn run(args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    let overlays = remote.all_overlays(&args.session, &args.view, args.all).await?;
    if out.is_json() {
        for overlay in &overlays {
            out.json(&OverlayJson::new(overlay))?;
        }
        return Ok(());
    }
    match context_view::overlays(&overlays) {
        Some(table) => out.line(table)?,
        None => out.say("no overlays"),
    }
    Ok(())
}
