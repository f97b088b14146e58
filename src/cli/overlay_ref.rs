//! The ways to name an overlay: its id, the start of it, or its letter in the
//! strip.

use super::{Remote, Usage, strip};
use crate::proto::v1;

/// What `--help` says of an argument that names one.
pub(super) const HELP: &str = "The overlay: its id, at least 6 characters of its start, or its \
                               letter in the strip (A, B, …)";
/// Shorter starts are taken as whole ids: a slip must not hit something.
const MIN_START: usize = 6;
/// Overlays that an ambiguous start names in the error.
const TOLD: usize = 4;

/// Where letters count.
pub(super) struct Place<'a> {
    pub(super) session: &'a str,
    /// The view whose strip is meant; empty: `main`.
    pub(super) view: &'a str,
    /// The revision whose strip is meant; `None`: now.
    pub(super) at_revision: Option<i64>,
}

/// The id of the overlay that is meant. What names none is passed on as it is:
/// the server tells that it is not there.
pub(super) async fn id(
    named: &str,
    place: &Place<'_>,
    remote: &mut Remote,
) -> anyhow::Result<String> {
    if is_letter(named) {
        let all = remote.all_overlays(place.session, place.view, true).await?;
        return Ok(by_letter(named, &all, place)?);
    }
    if !is_start(named) {
        return Ok(named.to_owned());
    }
    let request =
        v1::GetSessionRequest { session_id: place.session.to_owned(), view: String::new() };
    let mut known = Vec::new();
    for view in remote.get_session(request).await?.session.unwrap_or_default().views {
        let overlays = remote.all_overlays(place.session, &view.name, true).await?;
        known.extend(overlays.into_iter().map(|overlay| overlay.id));
    }
    Ok(by_start(named, &known)?)
}

fn is_letter(named: &str) -> bool {
    !named.is_empty() && named.bytes().all(|it| it.is_ascii_uppercase())
}

/// A whole id is none: it needs no looking up.
fn is_start(named: &str) -> bool {
    const ID: usize = 36;
    let of_id = |it: u8| it.is_ascii_hexdigit() || it == b'-';
    (MIN_START..ID).contains(&named.len()) && named.bytes().all(of_id)
}

fn by_letter(letter: &str, all: &[v1::Overlay], place: &Place<'_>) -> Result<String, Usage> {
    let held = |overlay: &&v1::Overlay| match place.at_revision {
        None => overlay.rollback_revision == 0,
        Some(at) => {
            let until = overlay.rollback_revision;
            overlay.commit_revision <= at && (until == 0 || at < until)
        }
    };
    let in_force: Vec<_> = all.iter().filter(held).cloned().collect();
    strip::by_mark(&in_force, letter).map(|overlay| overlay.id.clone()).ok_or_else(|| {
        let view = if place.view.is_empty() { "main" } else { place.view };
        Usage::new(match strip::outermost(&in_force).len() {
            0 => format!("expected an overlay, found `{letter}`: nothing is folded in view {view}"),
            1 => format!("expected `A`, the only fold in view {view}, found `{letter}`"),
            many => {
                let last = strip::letters(many - 1);
                format!(
                    "expected one of `A` to `{last}`, the folds in view {view}, found `{letter}`"
                )
            }
        })
    })
}

fn by_start(start: &str, known: &[String]) -> Result<String, Usage> {
    let start = start.to_ascii_lowercase();
    let found: Vec<_> = known.iter().filter(|id| id.starts_with(&start)).collect();
    match found[..] {
        [] => Ok(start),
        [only] => Ok(only.clone()),
        _ => {
            let told: Vec<_> = found.iter().take(TOLD).map(|id| id.as_str()).collect();
            let more = if found.len() > TOLD { ", …" } else { "" };
            Err(Usage::new(format!(
                "`{start}` is ambiguous: the ids of {} overlays start so ({}{more})",
                found.len(),
                told.join(", ")
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::v1::overlay::Kind;

    fn fold(id: &str, since: i64, until: i64) -> v1::Overlay {
        v1::Overlay {
            id: id.into(),
            kind: Kind::Collapse.into(),
            covered: vec![v1::SeqRange { first_seq: since, last_seq: since }],
            covered_messages: 1,
            commit_revision: since,
            rollback_revision: until,
            ..v1::Overlay::default()
        }
    }

    #[test]
    fn letters_starts_and_ids_are_told_apart() {
        assert!(is_letter("A") && is_letter("AB"));
        assert!(!is_letter("") && !is_letter("a") && !is_letter("A1"));
        assert!(is_start("01a22e") && is_start("01a22e8b-1686"));
        assert!(!is_start("01a22") && !is_start("nonesuch"));
        assert!(!is_start("01a22e8b-1686-70e4-bc71-ddb947024a1f"));
    }

    #[test]
    fn a_letter_is_of_the_strip_of_its_time() {
        let all = [fold("first", 3, 9), fold("second", 5, 0)];
        let at = |at_revision| Place { session: "s", view: "", at_revision };
        assert_eq!(by_letter("A", &all, &at(None)).expect("a fold"), "second");
        assert_eq!(by_letter("A", &all, &at(Some(8))).expect("a fold"), "first");
        assert_eq!(by_letter("B", &all, &at(Some(8))).expect("a fold"), "second");
        let told =
            |letter, revision| by_letter(letter, &all, &at(revision)).unwrap_err().to_string();
        assert!(told("B", None).contains("the only fold in view main"));
        assert!(told("C", Some(8)).contains("one of `A` to `B`"));
        assert!(told("A", Some(1)).contains("nothing is folded"));
    }

    #[test]
    fn a_start_must_be_of_one_overlay() {
        let known = ["01a22e8b-1".to_owned(), "01a22e8b-2".to_owned(), "01b".to_owned()];
        assert_eq!(by_start("01A22E8B-2", &known).expect("one"), "01a22e8b-2");
        assert_eq!(by_start("ffffff", &known).expect("passed on"), "ffffff");
        let told = by_start("01a22e", &known).unwrap_err().to_string();
        assert!(told.contains("ambiguous: the ids of 2 overlays"), "{told}");
        assert!(told.contains("01a22e8b-1, 01a22e8b-2"), "{told}");
    }
}
