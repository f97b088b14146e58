//! `concertina pin`, `unpin` and `pins`: rows that stay as they are until
//! somebody says otherwise.

use serde::Serialize;

use super::{Out, Remote, args::rows, json::PinJson, names, text};
use crate::proto::v1;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session.
    session: String,
    /// The rows, `3` or `3-17`.
    #[arg(value_parser = rows)]
    rows: v1::SeqRange,
    /// Which view of the session.
    #[arg(long, default_value = "main")]
    view: String,
    /// Why; kept on record.
    #[arg(long, default_value = "")]
    reason: String,
    /// Who; kept on record.
    #[arg(long, default_value = "")]
    author: String,
    /// Makes a retry safe.
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct UnpinArgs {
    /// The session.
    session: String,
    /// The pin's id.
    pin: String,
}

#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// The session.
    session: String,
    /// Which view of it.
    #[arg(long, default_value = "main")]
    view: String,
}

#[derive(Serialize)]
struct PinnedJson<'a> {
    revision: i64,
    pin: PinJson<'a>,
}

pub(super) async fn run(args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    let request = v1::PinMessagesRequest {
        session_id: args.session,
        view: args.view,
        rows: Some(args.rows),
        reason: args.reason,
        author: args.author,
        request_id: args.request_id.unwrap_or_default(),
    };
    let answer = remote.pin_messages(request).await?;
    let pin = answer.pin.unwrap_or_default();
    if out.is_json() {
        out.json(&PinnedJson { revision: answer.revision, pin: PinJson::new(&pin) })?;
    } else {
        out.line(format!("{} (revision {})", sentence(&pin), answer.revision))?;
    }
    Ok(())
}

/// `pinned rows 3–17: ID`.
pub(super) fn sentence(pin: &v1::Pin) -> String {
    format!("pinned {}: {}", pinned_rows(pin), pin.id)
}

pub(super) fn pinned_rows(pin: &v1::Pin) -> String {
    names::rows(pin.rows.as_slice())
}

pub(super) async fn unpin(
    args: UnpinArgs,
    mut remote: Remote,
    out: &mut Out,
) -> anyhow::Result<()> {
    let request = v1::UnpinMessagesRequest { session_id: args.session, pin_id: args.pin.clone() };
    let revision = remote.unpin_messages(request).await?.revision;
    if out.is_json() {
        out.json(&serde_json::json!({ "revision": revision, "unpinned": args.pin }))?;
    } else {
        out.line(format!("unpinned {} (revision {revision})", args.pin))?;
    }
    Ok(())
}

pub(super) async fn list(args: ListArgs, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    let request = v1::ListPinsRequest { session_id: args.session, view: args.view };
    let pins = remote.list_pins(request).await?.pins;
    if out.is_json() {
        for pin in &pins {
            out.json(&PinJson::new(pin))?;
        }
        return Ok(());
    }
    if pins.is_empty() {
        out.say("no pins");
        return Ok(());
    }
    let header = ["id", "rows", "since", "by", "*reason"];
    out.line(text::table(header, pins.iter().map(row).collect()))?;
    Ok(())
}

fn row(pin: &v1::Pin) -> [String; 5] {
    [
        pin.id.clone(),
        names::ranges(pin.rows.as_slice()),
        names::time(pin.create_time.as_ref()),
        text::excerpt(&pin.author, 16),
        text::excerpt(&pin.reason, 60),
    ]
}
