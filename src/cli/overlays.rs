//! `concertina overlays`: a view as a strip, and what is cleared, hidden or
//! folded in it.

mod listing;

use std::collections::HashMap;

use super::{
    Out, Remote, context_view,
    json::OverlayJson,
    names,
    out::Paint,
    strip::{self, Strip},
    text,
};
use crate::proto::v1;
pub(super) use listing::Depth;
use listing::Listing;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session.
    session: String,
    /// Which view of it.
    #[arg(long, default_value = "main")]
    view: String,
    /// What lies beneath the folds too, each indented under its cover.
    #[arg(long)]
    nested: bool,
    /// Those that were rolled back too.
    #[arg(long)]
    all: bool,
}

/// Blocks of a strip whose turns are looked up; more would not fit it anyway.
const TOLD_TURNS: usize = 12;

pub(super) async fn run(args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    let overlays = remote.all_overlays(&args.session, &args.view, args.all).await?;
    if out.is_json() {
        for overlay in &overlays {
            out.json(&OverlayJson::new(overlay))?;
        }
        return Ok(());
    }
    for line in strip(&args.session, &args.view, &overlays, &mut remote, out.paint()).await? {
        out.line(line)?;
    }
    if overlays.is_empty() {
        out.say("no overlays");
        return Ok(());
    }
    out.line("")?;
    let depth = if args.nested { Depth::Nested } else { Depth::Shown };
    let (table, beneath) = table(&overlays, depth);
    out.line(table)?;
    if beneath > 0 {
        out.line(format!("{beneath} more beneath them (--nested shows them)"))?;
    }
    Ok(())
}

/// The strip of a view; nothing of a session without rows.
pub(super) async fn strip(
    session: &str,
    view: &str,
    overlays: &[v1::Overlay],
    remote: &mut Remote,
    paint: Paint,
) -> anyhow::Result<Vec<String>> {
    let request = v1::GetSessionRequest { session_id: session.to_owned(), view: view.to_owned() };
    let known = remote.get_session(request).await?.session.unwrap_or_default();
    if known.next_seq <= 1 {
        return Ok(vec![]);
    }
    let request = v1::ListPinsRequest { session_id: session.to_owned(), view: view.to_owned() };
    let pins = remote.list_pins(request).await?.pins;
    let in_force: Vec<_> =
        overlays.iter().filter(|overlay| overlay.rollback_revision == 0).cloned().collect();
    let turns = turns(session, &in_force, remote).await?;
    let strip =
        Strip { overlays: &in_force, pins: &pins, newest: known.next_seq - 1, turns: &turns };
    Ok(strip::lines(&strip, paint))
}

/// The first and the last turn under each block.
async fn turns(
    session: &str,
    in_force: &[v1::Overlay],
    remote: &mut Remote,
) -> anyhow::Result<HashMap<String, (i64, i64)>> {
    let blocks = strip::outermost(in_force);
    let mut turns = HashMap::new();
    if blocks.len() > TOLD_TURNS {
        return Ok(turns);
    }
    for overlay in blocks {
        let (Some(first), Some(last)) = (overlay.covered.first(), overlay.covered.last()) else {
            continue;
        };
        let first = turn_of(session, first.first_seq, remote).await?;
        let last = turn_of(session, last.last_seq, remote).await?;
        if let (Some(first), Some(last)) = (first, last) {
            turns.insert(overlay.id.clone(), (first, last));
        }
    }
    Ok(turns)
}

async fn turn_of(session: &str, seq: i64, remote: &mut Remote) -> anyhow::Result<Option<i64>> {
    let request = v1::ReadHistoryRequest {
        session_id: session.to_owned(),
        first_seq: Some(seq),
        last_seq: Some(seq),
        ..v1::ReadHistoryRequest::default()
    };
    let row = remote.read_history(request).await?.next().await?;
    Ok(row.and_then(|row| row.message).map(|message| message.turn))
}

/// One row per overlay, by the letters of the strip, and how many of those in
/// force are left out. Those that were rolled back come last, with the revision
/// from which they are out of force.
pub(super) fn table(overlays: &[v1::Overlay], depth: Depth) -> (String, usize) {
    let (in_force, gone): (Vec<_>, Vec<_>) =
        overlays.iter().cloned().partition(|overlay| overlay.rollback_revision == 0);
    let marks = strip::marks(&in_force);
    let listing = Listing::new(&in_force, depth);
    let mut rows: Vec<_> = listing
        .lines
        .iter()
        .map(|line| {
            let mark = marks.get(line.overlay.id.as_str()).map_or("", String::as_str);
            row(format!("{}{mark}", "  ".repeat(line.depth)), line.overlay)
        })
        .collect();
    rows.extend(gone.iter().map(|overlay| row("–".to_owned(), overlay)));
    let table = if gone.is_empty() {
        let header = ["", "id", "kind", "by", "*rows", "#before", "#after"];
        let without_end = |[mark, id, kind, by, what, before, after, _]: [String; 8]| {
            [mark, id, kind, by, what, before, after]
        };
        text::table(header, rows.into_iter().map(without_end).collect())
    } else {
        let header = ["", "id", "kind", "by", "*rows", "#before", "#after", "#until"];
        text::table(header, rows)
    };
    (table, listing.beneath)
}

fn row(mark: String, overlay: &v1::Overlay) -> [String; 8] {
    let end = match overlay.rollback_revision {
        0 => String::new(),
        at => at.to_string(),
    };
    [
        mark,
        overlay.id.clone(),
        names::overlay_kind(overlay.kind),
        context_view::by(overlay),
        covers(overlay),
        text::thousands(overlay.tokens_before),
        text::thousands(overlay.tokens_after),
        end,
    ]
}

/// Rows of what folds or hides them, pieces of what is cleared.
fn covers(overlay: &v1::Overlay) -> String {
    let rows = names::ranges(&overlay.covered);
    if strip::is_range(overlay) { text::excerpt(&rows, 60) } else { context_view::what(overlay) }
}
