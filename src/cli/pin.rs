//! `concertina pin`, `unpin` and `pins`: rows that stay as they are until
//! somebody says otherwise.

use serde::Serialize;

use super::{Out, Remote, args::rows, json::PinJson, names, strip, text};
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
    #[arg(long, default_value = "", hide_default_value = true)]
    reason: String,
    /// Who; kept on record.
    #[arg(long, default_value = "", hide_default_value = true)]
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
    let session = request.session_id.clone();
    let answer = remote.pin_messages(request).await?;
    let pin = answer.pin.unwrap_or_default();
    if out.is_json() {
        out.json(&PinnedJson { revision: answer.revision, pin: PinJson::new(&pin) })?;
    } else {
        out.line(format!("{} (revision {})", sentence(&pin), answer.revision))?;
    }
    let overlays = remote.all_overlays(&session, &pin.view, false).await?;
    if let Some(words) = still_folded(&pin, &overlays) {
        out.say(&words);
    }
    Ok(())
}

/// What of the pinned rows does not show, and what has to go for it.
fn still_folded(pin: &v1::Pin, in_force: &[v1::Overlay]) -> Option<String> {
    const TOLD: usize = 4;
    let rows = pin.rows.as_ref()?;
    let marks = strip::marks(in_force);
    let mut folds: Vec<&v1::Overlay> = Vec::new();
    let mut folded: Vec<v1::SeqRange> = Vec::new();
    for seq in rows.first_seq..=rows.last_seq {
        let over: Vec<_> = in_force.iter().filter(|it| strip::hides(it, seq)).collect();
        if over.is_empty() {
            continue;
        }
        match folded.last_mut() {
            Some(range) if range.last_seq + 1 == seq => range.last_seq = seq,
            _ => folded.push(v1::SeqRange { first_seq: seq, last_seq: seq }),
        }
        for fold in over {
            if !folds.iter().any(|known| known.id == fold.id) {
                folds.push(fold);
            }
        }
    }
    folds.sort_by_key(|it| std::cmp::Reverse((it.covered_messages, it.commit_revision)));
    let name = |fold: &&v1::Overlay| {
        let mark = marks.get(fold.id.as_str()).map_or("", String::as_str);
        format!("{} ({mark})", fold.id)
    };
    let told: Vec<_> = folds.iter().take(TOLD).map(name).collect();
    let (rows, told) = (names::rows(&folded), told.join(", "));
    let stay = if rows.starts_with("rows") { "stay" } else { "stays" };
    match folds.len() {
        0 => None,
        1 => Some(format!("{rows} {stay} folded until overlay {told} is rolled back")),
        many => {
            let more = if many > TOLD { ", …" } else { "" };
            Some(format!(
                "{rows} {stay} folded until {many} overlays are rolled back: {told}{more}"
            ))
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::samples::fold;

    #[test]
    fn what_stays_folded_is_told_with_what_folds_it() {
        let rows = |first_seq, last_seq| v1::Pin {
            rows: Some(v1::SeqRange { first_seq, last_seq }),
            ..v1::Pin::default()
        };
        let in_force = [fold("inner", 3, 4), fold("wide", 1, 6), fold("next", 9, 12)];
        let told = |pin: &v1::Pin| still_folded(pin, &in_force);
        assert_eq!(told(&rows(7, 8)), None);
        let expected = "rows 9–10 stay folded until overlay next (B) is rolled back";
        assert_eq!(told(&rows(8, 10)).as_deref(), Some(expected));
        let expected =
            "row 4 stays folded until 2 overlays are rolled back: wide (A), inner (in A)";
        assert_eq!(told(&rows(4, 4)).as_deref(), Some(expected));
    }
}
