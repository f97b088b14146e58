//! `concertina rollback`: what an overlay covered shows again.

use serde::Serialize;

use super::{Out, Remote, context_view, json::OverlayJson, names, pin};
use crate::proto::v1;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session.
    session: String,
    /// The overlay's id.
    overlay: String,
    /// Why; kept on record.
    #[arg(long, default_value = "")]
    reason: String,
    /// Who; kept on record.
    #[arg(long, default_value = "")]
    author: String,
    /// Pin the rows, so that pressure does not cover them again at once.
    #[arg(long)]
    pin: bool,
    /// Roll back the clears inside too.
    #[arg(long)]
    clears_too: bool,
}

#[derive(Serialize)]
struct RolledBackJson<'a> {
    revision: i64,
    overlay: OverlayJson<'a>,
    pin_id: Option<&'a str>,
    hidden_by_overlay_id: &'a str,
}

pub(super) async fn run(args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    let request = v1::RollbackOverlayRequest {
        session_id: args.session,
        overlay_id: args.overlay,
        reason: args.reason,
        author: args.author,
        pin: args.pin,
        clears_too: args.clears_too,
    };
    let answer = remote.rollback_overlay(request).await?;
    let overlay = answer.overlay.unwrap_or_default();
    if out.is_json() {
        out.json(&RolledBackJson {
            revision: answer.revision,
            overlay: OverlayJson::new(&overlay),
            pin_id: answer.pin.as_ref().map(|pin| pin.id.as_str()),
            hidden_by_overlay_id: &answer.hidden_by_overlay_id,
        })?;
        return Ok(());
    }
    let kind = names::overlay_kind(overlay.kind);
    let what = context_view::what(&overlay);
    out.line(format!("rolled back {kind} of {what} (revision {})", answer.revision))?;
    if let Some(pin) = &answer.pin {
        out.line(pin::sentence(pin))?;
    }
    if !answer.hidden_by_overlay_id.is_empty() {
        out.say(&format!("nothing shows yet: overlay {} covers it", answer.hidden_by_overlay_id));
    }
    Ok(())
}
