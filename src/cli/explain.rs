//! `concertina explain`: is this row shown, and if not as it was written, why.
//!
//! Nothing here is guessed: a preview of the context tells what is shown from
//! where, and the overlays tell what covers what.

use serde::Serialize;

use super::{Out, Remote, args::Format, context_view, history, json::OverlayJson, names, text};
use crate::proto::v1::{self, overlay::Kind};

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

/// All that is known of one row in one view.
#[derive(Serialize)]
struct Finding<'a> {
    seq: i64,
    verdict: Verdict,
    /// Indices into the context's messages.
    shown_in_messages: Vec<usize>,
    /// Its blocks that are shown shorter.
    reductions: Vec<Reduced<'a>>,
    /// Range overlays that cover it, outermost first; only the first one shows.
    covered_by: Vec<OverlayJson<'a>>,
    /// Overlays that covered or cleared it and are out of force.
    rolled_back: Vec<OverlayJson<'a>>,
    /// What the renderer mended in it.
    repairs: Vec<&'a str>,
    #[serde(skip)]
    covering: Vec<&'a v1::Overlay>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Shown,
    ShownShorter,
    Covered,
    NotShown,
}

#[derive(Serialize)]
struct Reduced<'a> {
    block: i32,
    stage: &'a str,
    overlay_id: &'a str,
    tokens_before: i64,
    tokens_after: i64,
    shown_as: &'a str,
}

impl<'a> Finding<'a> {
    fn new(seq: i64, context: &'a v1::Context, overlays: &'a [v1::Overlay]) -> Self {
        let (in_force, gone): (Vec<_>, Vec<_>) =
            overlays.iter().partition(|overlay| overlay.rollback_revision == 0);
        let covering = covering(seq, in_force.iter().copied().chain(&context.overlays));
        let shown_in_messages = shown_in(seq, &context.origins);
        let reductions = reductions(seq, context, &in_force);
        let repairs = context.repairs.iter().filter(|repair| repair.seq == seq);
        Self {
            seq,
            verdict: verdict(!covering.is_empty(), &shown_in_messages, &reductions),
            shown_in_messages,
            reductions,
            covered_by: covering.iter().copied().map(OverlayJson::new).collect(),
            rolled_back: gone
                .into_iter()
                .filter(|overlay| touches(overlay, seq))
                .map(OverlayJson::new)
                .collect(),
            repairs: repairs.map(|repair| repair.reason.as_str()).collect(),
            covering,
        }
    }
}

fn verdict(covered: bool, shown_in: &[usize], reductions: &[Reduced<'_>]) -> Verdict {
    match (covered, shown_in.is_empty(), reductions.is_empty()) {
        (true, ..) => Verdict::Covered,
        (false, true, _) => Verdict::NotShown,
        (false, false, true) => Verdict::Shown,
        (false, false, false) => Verdict::ShownShorter,
    }
}

/// Messages that show the row itself, not a summary of it.
fn shown_in(seq: i64, origins: &[v1::Origin]) -> Vec<usize> {
    let shows =
        |origin: &v1::Origin| origin.overlay_id.is_empty() && names::holds(&origin.rows, seq);
    origins.iter().enumerate().filter(|(_, origin)| shows(origin)).map(|(at, _)| at).collect()
}

/// Range overlays over the row, widest first. A preview's own overlays are
/// among the context's only.
fn covering<'a>(seq: i64, overlays: impl Iterator<Item = &'a v1::Overlay>) -> Vec<&'a v1::Overlay> {
    let mut covering: Vec<&v1::Overlay> = Vec::new();
    for overlay in overlays {
        let known = covering.iter().any(|other| other.id == overlay.id);
        if !known && is_range(overlay) && covers(overlay, seq) {
            covering.push(overlay);
        }
    }
    covering.sort_by_key(|overlay| std::cmp::Reverse(overlay.covered_messages));
    covering
}

fn is_range(overlay: &v1::Overlay) -> bool {
    overlay.kind != i32::from(Kind::Clear)
}

fn covers(overlay: &v1::Overlay, seq: i64) -> bool {
    names::holds(&overlay.covered, seq) && !names::holds(&overlay.kept, seq)
}

fn touches(overlay: &v1::Overlay, seq: i64) -> bool {
    covers(overlay, seq) || cleared(overlay, seq).next().is_some()
}

fn cleared(overlay: &v1::Overlay, seq: i64) -> impl Iterator<Item = &v1::overlay::ClearedContent> {
    overlay.cleared.iter().filter(move |cleared| cleared.content.is_some_and(|at| at.seq == seq))
}

fn reductions<'a>(
    seq: i64,
    context: &'a v1::Context,
    in_force: &[&'a v1::Overlay],
) -> Vec<Reduced<'a>> {
    let of_row = |reduction: &&v1::Reduction| reduction.content.is_some_and(|at| at.seq == seq);
    let reduced = |reduction: &'a v1::Reduction| {
        let at = reduction.content.unwrap_or_default();
        let overlays = in_force.iter().copied().chain(&context.overlays);
        Reduced {
            block: at.block,
            stage: &reduction.stage,
            overlay_id: &reduction.overlay_id,
            tokens_before: reduction.tokens_before,
            tokens_after: reduction.tokens_after,
            shown_as: shown_as(at, &reduction.overlay_id, overlays),
        }
    };
    context.reductions.iter().filter(of_row).map(reduced).collect()
}

fn shown_as<'a>(
    content: v1::ContentRef,
    overlay_id: &str,
    mut overlays: impl Iterator<Item = &'a v1::Overlay>,
) -> &'a str {
    let overlay = overlays.find(|overlay| overlay.id == overlay_id && !overlay_id.is_empty());
    overlay
        .and_then(|overlay| cleared(overlay, content.seq).find(|it| it.content == Some(content)))
        .map_or("", |cleared| cleared.shown_as.as_str())
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

    fn range(first_seq: i64, last_seq: i64) -> v1::SeqRange {
        v1::SeqRange { first_seq, last_seq }
    }

    fn snip(id: &str, covered: v1::SeqRange, kept: Vec<v1::SeqRange>) -> v1::Overlay {
        v1::Overlay {
            id: id.into(),
            kind: Kind::Snip.into(),
            covered_messages: covered.last_seq - covered.first_seq + 1,
            covered: vec![covered],
            kept,
            stage: "snip_turns".into(),
            ..v1::Overlay::default()
        }
    }

    fn context() -> v1::Context {
        let origin = v1::Origin { rows: vec![range(9, 10)], ..v1::Origin::default() };
        v1::Context { origins: vec![origin], ..v1::Context::default() }
    }

    #[test]
    fn a_covered_row_names_the_outermost_overlay_first() {
        let overlays = [snip("inner", range(3, 4), vec![]), snip("outer", range(1, 6), vec![])];
        let context = context();
        let finding = Finding::new(3, &context, &overlays);
        assert_eq!(finding.verdict, Verdict::Covered);
        let ids: Vec<_> = finding.covering.iter().map(|overlay| overlay.id.as_str()).collect();
        assert_eq!(ids, ["outer", "inner"]);
    }

    #[test]
    fn a_kept_row_is_not_covered_and_a_row_in_flight_is_not_shown() {
        let overlays = [snip("o", range(1, 10), vec![range(9, 9)])];
        let context = context();
        assert_eq!(Finding::new(9, &context, &overlays).verdict, Verdict::Shown);
        assert_eq!(Finding::new(12, &context, &overlays).verdict, Verdict::NotShown);
    }

    #[test]
    fn a_cleared_block_tells_stage_overlay_and_what_is_shown() {
        let content = v1::ContentRef { seq: 10, block: 0, output: None };
        let clear = v1::Overlay {
            id: "c".into(),
            kind: Kind::Clear.into(),
            cleared: vec![v1::overlay::ClearedContent {
                content: Some(content),
                shown_as: "[gone]".into(),
            }],
            ..v1::Overlay::default()
        };
        let mut context = context();
        context.reductions.push(v1::Reduction {
            content: Some(content),
            stage: "micro_clear".into(),
            overlay_id: "c".into(),
            tokens_before: 900,
            tokens_after: 12,
        });
        let overlays = [clear];
        let finding = Finding::new(10, &context, &overlays);
        assert_eq!(finding.verdict, Verdict::ShownShorter);
        let lines = sentences(&finding);
        let expected = "Block 0: cut by `micro_clear` (overlay c), 900 → 12 tokens, \
                        shown as: [gone]";
        assert_eq!(lines[1], expected);
    }
}
