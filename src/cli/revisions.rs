//! `concertina revisions`: what changed at each, a line each.

use super::{Out, Remote, context_view, json::RevisionJson, names, pin, text, views};
use crate::proto::v1::{self, revision::Change};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session.
    session: String,
    /// Only those after this one.
    #[arg(long, value_name = "REVISION", default_value_t = 0)]
    after: i64,
    /// At most so many; 0: all.
    #[arg(long, default_value_t = 0)]
    limit: usize,
}

/// Each may hold a whole overlay; the server ends a page early where it must.
const PAGE_SIZE: i32 = 200;
const LINE_WIDTH: usize = 96;

pub(super) async fn run(args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    let mut told = 0;
    let mut request = v1::ListRevisionsRequest {
        session_id: args.session,
        page_size: PAGE_SIZE,
        page_token: String::new(),
    };
    loop {
        let page = remote.list_revisions(request.clone()).await?;
        for revision in page.revisions.iter().filter(|it| it.revision > args.after) {
            if told == limit {
                // Somebody who pages has to know how to go on.
                let last = revision.revision - 1;
                out.say(&format!("more: `--after {last}`"));
                return Ok(());
            }
            told += 1;
            print(revision, out)?;
        }
        if page.next_page_token.is_empty() {
            return Ok(());
        }
        request.page_token = page.next_page_token;
    }
}

fn print(revision: &v1::Revision, out: &mut Out) -> anyhow::Result<()> {
    if out.is_json() {
        out.json(&RevisionJson::new(revision))?;
    } else {
        out.line(line(revision))?;
    }
    Ok(())
}

/// `     12  2026-11-30T20:15:00Z  rows 3–4 appended, by lena`.
fn line(revision: &v1::Revision) -> String {
    let time = names::time(revision.time.as_ref());
    let head = format!("{:>7}  {time:<20}  ", revision.revision);
    let by = match revision.author.as_str() {
        "" => String::new(),
        author => format!(", by {}", text::excerpt(author, 20)),
    };
    let what = revision.change.as_ref().map_or_else(|| "?".to_owned(), what);
    let room = LINE_WIDTH.saturating_sub(head.chars().count() + by.chars().count());
    format!("{head}{}{by}", text::excerpt(&what, room))
}

fn what(change: &Change) -> String {
    match change {
        Change::Appended(rows) => {
            let range = v1::SeqRange { first_seq: rows.first_seq, last_seq: rows.last_seq };
            let lane = match rows.lane.as_str() {
                "" => String::new(),
                lane => format!(" in lane {lane}"),
            };
            format!("{} appended{lane}", names::rows(&[range]))
        }
        Change::OverlayCommitted(overlay) => {
            format!("{}, {}", of_overlay(overlay), tokens(overlay))
        }
        Change::OverlayRolledBack(overlay) => {
            let reason = because(&overlay.rollback_reason);
            format!("rolled back: {}{reason}", of_overlay(overlay))
        }
        Change::Pinned(pin) => {
            format!(
                "{} pinned{}{}",
                pin::pinned_rows(pin),
                in_view(&pin.view),
                because(&pin.reason)
            )
        }
        Change::Unpinned(pin) => {
            format!("{} unpinned{}", pin::pinned_rows(pin), in_view(&pin.view))
        }
        Change::ViewSet(view) => views::sentence(view),
        Change::ViewDeleted(view) => format!("view {view} deleted"),
        Change::ContextItemSet(item) => {
            let placement = names::placement(item.placement);
            format!(
                "context item {} set or removed ({placement}){}",
                item.name,
                in_view(&item.view)
            )
        }
        Change::SessionUpdated(updated) => {
            let labels = i64::try_from(updated.labels.len()).unwrap_or(i64::MAX);
            format!("named “{}”, {}", updated.display_name, text::count(labels, "label"))
        }
    }
}

/// `collapse of rows 1–14 by collapse`; without the id, which `overlays` tells.
fn of_overlay(overlay: &v1::Overlay) -> String {
    let by = if overlay.stage.is_empty() { "hand" } else { &overlay.stage };
    let kind = names::overlay_kind(overlay.kind);
    format!("{kind} of {} by {by}{}", context_view::what(overlay), in_view(&overlay.view))
}

fn tokens(overlay: &v1::Overlay) -> String {
    let (before, after) = (overlay.tokens_before, overlay.tokens_after);
    format!("{} → {} tokens", text::thousands(before), text::thousands(after))
}

/// `main` is what everybody means who does not say.
fn in_view(view: &str) -> String {
    if view.is_empty() || view == "main" { String::new() } else { format!(" in view {view}") }
}

fn because(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(": {reason}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(author: &str, change: Change, expected: &str) {
        let revision = v1::Revision {
            revision: 12,
            author: author.into(),
            change: Some(change),
            time: Some(prost_types::Timestamp { seconds: 0, nanos: 0 }),
        };
        assert_eq!(line(&revision), format!("     12  1970-01-01T00:00:00Z  {expected}"));
    }

    #[test]
    fn each_change_is_a_line() {
        let rows = |first_seq, last_seq| v1::SeqRange { first_seq, last_seq };
        let appended = v1::revision::Appended { first_seq: 3, last_seq: 4, lane: "a".into() };
        check("lena", Change::Appended(appended), "rows 3–4 appended in lane a, by lena");
        let overlay = v1::Overlay {
            view: "main".into(),
            kind: v1::overlay::Kind::Collapse.into(),
            covered: vec![rows(1, 14)],
            stage: "collapse".into(),
            tokens_before: 9_120,
            tokens_after: 4_310,
            ..v1::Overlay::default()
        };
        let committed = Change::OverlayCommitted(overlay.clone());
        check("", committed, "collapse of rows 1–14 by collapse, 9,120 → 4,310 tokens");
        let overlay = v1::Overlay {
            view: "small".into(),
            stage: String::new(),
            rollback_reason: "wrong".into(),
            ..overlay
        };
        let rolled_back = Change::OverlayRolledBack(overlay);
        check("", rolled_back, "rolled back: collapse of rows 1–14 by hand in view small: wrong");
        let pin =
            v1::Pin { rows: Some(rows(5, 5)), reason: "the plan".into(), ..v1::Pin::default() };
        check("", Change::Pinned(pin.clone()), "row 5 pinned: the plan");
        check("", Change::Unpinned(pin), "row 5 unpinned");
        check("", Change::ViewDeleted("small".into()), "view small deleted");
        let updated =
            v1::revision::SessionUpdated { display_name: "x".into(), ..Default::default() };
        check("", Change::SessionUpdated(updated), "named “x”, 0 labels");
    }

    #[test]
    fn a_line_stays_a_line() {
        let change = Change::ViewDeleted("x\n".repeat(200));
        let revision = v1::Revision { change: Some(change), ..v1::Revision::default() };
        let line = line(&revision);
        assert!(line.chars().count() <= LINE_WIDTH, "{line}");
        assert!(!line.contains('\n'), "{line}");
    }
}
