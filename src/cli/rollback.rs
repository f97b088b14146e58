//! `concertina rollback`: what an overlay covered shows again.

use serde::Serialize;

use super::{
    Out, Remote, context_view,
    json::OverlayJson,
    names,
    overlay_ref::{self, Place},
    pin, strip, text,
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
    /// Why; kept on record.
    #[arg(long, default_value = "", hide_default_value = true)]
    reason: String,
    /// Who; kept on record.
    #[arg(long, default_value = "", hide_default_value = true)]
    author: String,
    /// Pin the rows, so that pressure does not cover them again at once.
    #[arg(long)]
    pin: bool,
    /// Roll back the clears that lie wholly inside too.
    #[arg(long)]
    clears_too: bool,
}

/// What becomes of a refusal to pin what shows again.
const ROLL_BACK_THEN_PIN: &str =
    "roll back without `--pin`, then `concertina pin SESSION ROWS` for the rows that matter";

#[derive(Serialize)]
struct RolledBackJson<'a> {
    revision: i64,
    overlay: OverlayJson<'a>,
    pin_id: Option<&'a str>,
    hidden_by_overlay_id: &'a str,
    #[serde(flatten)]
    clears: Option<Clears>,
}

/// The clears that an overlay had inside, and what became of them.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Clears {
    #[serde(rename = "rolled_back_clear_ids")]
    gone: Vec<String>,
    /// Those that reach into its rows from outside.
    #[serde(rename = "staying_clear_ids")]
    staying: Vec<String>,
}

pub(super) async fn run(args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    let place = Place { session: &args.session, view: &args.view, at_revision: None };
    let overlay_id = overlay_ref::id(&args.overlay, &place, &mut remote).await?;
    let request = v1::RollbackOverlayRequest {
        session_id: args.session,
        overlay_id,
        reason: args.reason,
        author: args.author,
        pin: args.pin,
        clears_too: args.clears_too,
    };
    let answer = remote
        .rollback_overlay(request)
        .await
        .map_err(|refusal| refusal.hinted("PIN_TOO_LARGE", ROLL_BACK_THEN_PIN))?;
    let overlay = answer.overlay.unwrap_or_default();
    let clears = if args.clears_too {
        let all = remote.all_overlays(&overlay.session_id, &overlay.view, true).await?;
        Some(Clears::of(&overlay, answer.revision, &all))
    } else {
        None
    };
    if out.is_json() {
        out.json(&RolledBackJson {
            revision: answer.revision,
            overlay: OverlayJson::new(&overlay),
            pin_id: answer.pin.as_ref().map(|pin| pin.id.as_str()),
            hidden_by_overlay_id: &answer.hidden_by_overlay_id,
            clears,
        })?;
        return Ok(());
    }
    let kind = names::overlay_kind(overlay.kind);
    let what = context_view::what(&overlay);
    out.line(format!("rolled back {kind} of {what} (revision {})", answer.revision))?;
    if let Some(clears) = &clears {
        for line in clears.lines() {
            out.line(line)?;
        }
    }
    if let Some(pin) = &answer.pin {
        out.line(pin::sentence(pin))?;
    }
    if !answer.hidden_by_overlay_id.is_empty() {
        out.say(&format!("nothing shows yet: overlay {} covers it", answer.hidden_by_overlay_id));
    }
    Ok(())
}

impl Clears {
    /// What is known after the rollback, whose revisions end at `last`.
    fn of(rolled_back: &v1::Overlay, last: i64, all: &[v1::Overlay]) -> Self {
        let its_revisions = rolled_back.rollback_revision..=last;
        let (mut gone, mut staying) = (Vec::new(), Vec::new());
        for clear in all.iter().filter(|it| !strip::is_range(it)) {
            if clear.rollback_revision == 0 {
                if strip::reaches_into(clear, rolled_back) {
                    staying.push(clear.id.clone());
                }
            } else if clear.id != rolled_back.id && its_revisions.contains(&clear.rollback_revision)
            {
                gone.push(clear.id.clone());
            }
        }
        Self { gone, staying }
    }

    fn lines(&self) -> Vec<String> {
        let clears =
            |ids: &[String]| text::count(i64::try_from(ids.len()).unwrap_or(i64::MAX), "clear");
        let inside = match &self.gone[..] {
            [] => "no clear lay wholly inside".to_owned(),
            gone => format!("{} inside rolled back with it", clears(gone)),
        };
        let staying = (!self.staying.is_empty()).then(|| {
            let (reach, stay) =
                if self.staying.len() == 1 { ("reaches", "stays") } else { ("reach", "stay") };
            let told = clears(&self.staying);
            format!("{told} {reach} beyond it and {stay}: {}", self.staying.join(", "))
        });
        std::iter::once(inside).chain(staying).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::v1::overlay::{ClearedContent, Kind};

    fn clear(id: &str, seqs: &[i64], rollback_revision: i64) -> v1::Overlay {
        let piece = |seq: &i64| ClearedContent {
            content: Some(v1::ContentRef { seq: *seq, ..v1::ContentRef::default() }),
            shown_as: String::new(),
        };
        v1::Overlay {
            id: id.into(),
            kind: Kind::Clear.into(),
            cleared: seqs.iter().map(piece).collect(),
            rollback_revision,
            ..v1::Overlay::default()
        }
    }

    #[test]
    fn clears_that_went_and_clears_that_reach_beyond_are_told() {
        let collapse = v1::Overlay {
            id: "collapse".into(),
            kind: Kind::Collapse.into(),
            covered: vec![v1::SeqRange { first_seq: 1, last_seq: 9 }],
            rollback_revision: 12,
            ..v1::Overlay::default()
        };
        let all = [
            clear("long gone", &[2], 7),
            clear("inside", &[2, 3], 13),
            clear("reaches out", &[9, 10], 0),
            clear("elsewhere", &[10], 0),
            collapse.clone(),
        ];
        let clears = Clears::of(&collapse, 13, &all);
        let expected = [
            "1 clear inside rolled back with it",
            "1 clear reaches beyond it and stays: reaches out",
        ];
        assert_eq!(clears.lines(), expected);
        let none = Clears { gone: vec![], staying: vec!["x".into(), "y".into()] };
        let expected = ["no clear lay wholly inside", "2 clears reach beyond it and stay: x, y"];
        assert_eq!(none.lines(), expected);
    }
}
