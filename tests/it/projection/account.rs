//! What must hold of a composed view, whoever composed it: told as faults, for
//! generated histories and for recorded ones.

use std::collections::{BTreeMap, BTreeSet};

use concertina::{
    model::{
        Overlay, OverlayKind, Seq, StageKind,
        shown::{Answer, Entry},
    },
    projection::{Composed, Fate, History, Sight},
};

use super::support::{shown_block, words};

/// A view, and what it was composed of.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) history: &'a History,
    pub(crate) sight: &'a Sight,
    pub(crate) in_force: &'a [Overlay],
    pub(crate) composed: &'a Composed,
    /// Whose view it is; `None`: all of it.
    pub(crate) lane: Option<&'a str>,
}

/// Where a block should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Shown,
    /// Beyond what a lane sees, or not.
    Either,
    Hidden(&'static str),
}

/// I2: every block is shown exactly once, or not at all for a reason.
pub(crate) fn unaccounted(view: View<'_>) -> Vec<String> {
    let mut shown: BTreeMap<(Seq, u32), usize> = BTreeMap::new();
    for round in view.composed.rounds() {
        for message in &round.messages {
            for block in &message.blocks {
                *shown.entry((message.seq, block.index)).or_default() += 1;
            }
        }
        for call in &round.calls {
            if let Answer::Result { seq, index, .. } = &call.answer {
                *shown.entry((*seq, *index)).or_default() += 1;
            }
        }
    }
    let order = &view.history.order()[..view.history.shown_to(view.lane)];
    let settled: BTreeSet<Seq> = order.iter().copied().collect();
    let mut faults = Vec::new();
    for row in view.history.rows() {
        for index in 0..u32::try_from(row.message.blocks.len()).unwrap() {
            let at = (row.seq, index);
            let times = shown.remove(&at).unwrap_or(0);
            let place = place(view, &settled, at);
            let is_right = match place {
                Place::Shown => times == 1,
                Place::Either => times <= 1,
                Place::Hidden(_) => times == 0,
            };
            if !is_right {
                faults.push(format!("I2: {at:?} is shown {times} times, should be {place:?}"));
            }
        }
    }
    if !shown.is_empty() {
        faults.push(format!("I2: blocks from nowhere: {shown:?}"));
    }
    faults
}

fn place(view: View<'_>, settled: &BTreeSet<Seq>, at: (Seq, u32)) -> Place {
    let covering = |seq: Seq| outermost_over(view.in_force, seq);
    let is_covered = |seq: Seq| covering(seq) > 0;
    if covering(at.0) > 1 {
        return Place::Hidden("it is under two outermost overlays");
    }
    if view.sight.seen(at.0, at.1).is_some_and(|seen| seen.block.is_none()) {
        return Place::Hidden("it says nothing new");
    }
    let own = view.history.round_of(at.0).expect("a row has a round").id;
    if let Some(Fate::Answers(call)) = view.history.fate(at.0, at.1) {
        let round = view.history.round(call.seq).unwrap();
        let asked = round.calls.iter().find(|it| it.block == call.block).unwrap();
        let last = asked.answers.last().unwrap();
        if (last.seq, last.block) != at {
            return Place::Hidden("a newer answer took its place");
        }
        if !is_covered(call.seq) {
            return shown_with(settled, call.seq);
        }
    }
    match (is_covered(at.0), is_covered(own)) {
        (true, _) => Place::Hidden("it is under an overlay"),
        (false, false) => shown_with(settled, own),
        // It came when its round was hidden: it stands where it came.
        (false, true) if view.lane.is_none() => Place::Shown,
        (false, true) => Place::Either,
    }
}

fn shown_with(settled: &BTreeSet<Seq>, round: Seq) -> Place {
    if settled.contains(&round) { Place::Shown } else { Place::Hidden("its round is in flight") }
}

/// How many outermost range overlays are over a row.
fn outermost_over(in_force: &[Overlay], seq: Seq) -> usize {
    let over: Vec<&Overlay> =
        in_force.iter().filter(|it| it.is_range() && it.covered.contains(seq)).collect();
    let is_inner = |it: &Overlay| {
        over.iter().any(|other| {
            other.id != it.id
                && other.covered.contains_all(&it.covered)
                && other.covered != it.covered
        })
    };
    over.iter().filter(|it| !is_inner(it)).count()
}

/// I2: ranges in force are disjoint or nested, and the snips of a stage do not
/// pile up.
pub(crate) fn crossing(in_force: &[Overlay]) -> Vec<String> {
    let ranges: Vec<&Overlay> = in_force.iter().filter(|it| it.is_range()).collect();
    let mut faults = Vec::new();
    for (at, one) in ranges.iter().enumerate() {
        for other in &ranges[at + 1..] {
            let is_nested = one.covered.contains_all(&other.covered)
                || other.covered.contains_all(&one.covered);
            if !is_nested && one.covered.intersects(&other.covered) {
                faults.push(format!("I2: {} and {} cross", one.id, other.id));
            }
            let is_piled_up =
                one.kind == OverlayKind::Snip && !one.stage.is_empty() && one.stage == other.stage;
            if is_nested && is_piled_up {
                faults.push(format!("I2: {} and {} of {} pile up", one.id, other.id, one.stage));
            }
        }
    }
    faults
}

/// I14: what a marker names is there: a duplicate's original is in the view,
/// whole, and a pointer names its own row.
pub(crate) fn unresolved(view: View<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    let whole = |at: (Seq, u32)| view.sight.block_at_first_sight(view.history, at);
    for (repeat, original) in &view.composed.repeats {
        let text = whole(*original).map(|block| words(&block));
        let shown = shown_block(view.composed, original.0, original.1).map(|block| words(&block));
        if shown.is_none() || shown != text {
            faults.push(format!("I14: {original:?} is not in the view"));
        }
        if whole(*repeat).map(|block| words(&block)) != text {
            faults.push(format!("I14: {repeat:?} does not repeat {original:?}"));
        }
    }
    for row in view.history.rows() {
        for index in 0..u32::try_from(row.message.blocks.len()).unwrap() {
            let Some(seen) = view.sight.seen(row.seq, index) else { continue };
            let is_preview = seen.steps.iter().any(|it| it.stage == StageKind::BatchBudget);
            let pointer = format!("message {} block {index}<", row.seq);
            let text = seen.block.as_ref().map(|block| words(block)).unwrap_or_default();
            if is_preview && !text.contains(&pointer) {
                faults.push(format!("I14: {text:.200?} does not name {} {index}", row.seq));
            }
        }
    }
    faults
}

/// I11: what an overlay of a range names are whole rounds, and the digest is of
/// their rows. Late answers may have come since it was planned.
pub(crate) fn not_what_was_covered(history: &History, overlay: &Overlay) -> Vec<String> {
    let mut faults = Vec::new();
    if !overlay.is_range() {
        return faults;
    }
    let mut hasher = blake3::Hasher::new();
    for seq in overlay.covered.iter() {
        match history.row(seq) {
            Some(row) => {
                hasher.update(&row.digest);
            }
            None => faults.push(format!("I11: {} covers {seq}, which is not there", overlay.id)),
        }
    }
    if *hasher.finalize().as_bytes() != overlay.source_digest {
        faults.push(format!("I11: the digest of {} is of other rows", overlay.id));
    }
    for round in history.rounds_within(overlay.covered.ranges()) {
        let round = history.round(round).unwrap();
        let came_later = |seq: &Seq| {
            let mut late = history.late_answers().iter();
            history.row(*seq).is_some_and(|row| row.revision > overlay.commit_revision)
                || late.any(|it| it.seq == *seq)
        };
        let is_whole = round.rows.iter().all(|it| overlay.covered.contains(*it) || came_later(it));
        if !is_whole {
            faults.push(format!("I11: {} covers a part of round {}", overlay.id, round.id));
        }
        if overlay.kept.contains(round.id) {
            faults.push(format!("I11: {} both covers and keeps round {}", overlay.id, round.id));
        }
    }
    faults
}

/// What a rollback changed where the overlay did not lie: nothing, but
/// duplicates whose original came or went with it, and answers that are shown
/// at their calls again.
pub(crate) fn changed_elsewhere(
    overlay: &Overlay,
    before: View<'_>,
    after: View<'_>,
) -> Option<String> {
    let touched = touched(overlay, before, after);
    let elsewhere = |view: View<'_>| -> Vec<Entry> {
        let is_elsewhere = |entry: &&Entry| match entry {
            Entry::Notice(notice) => !overlay.covered.contains_all(&notice.covered),
            Entry::Round(round) => {
                let rows = round.messages.iter().map(|it| it.seq);
                let answers = round.calls.iter().filter_map(|it| match it.answer {
                    Answer::Result { seq, .. } => Some(seq),
                    Answer::Missing => None,
                });
                !rows.chain(answers).any(|seq| touched.contains(&seq))
            }
        };
        view.composed.entries.iter().filter(is_elsewhere).cloned().collect()
    };
    let (was, is) = (elsewhere(before), elsewhere(after));
    let at = was.iter().zip(&is).take_while(|(a, b)| a == b).count();
    (at < was.len().max(is.len())).then(|| {
        let (was, is) = (was.get(at), is.get(at));
        format!("I5: with {} went, elsewhere, {was:.400?}, now {is:.400?}", overlay.id)
    })
}

/// The rows that a rollback may show otherwise.
fn touched(overlay: &Overlay, before: View<'_>, after: View<'_>) -> BTreeSet<Seq> {
    let mut rows: BTreeSet<Seq> = overlay.covered.iter().collect();
    if overlay.is_range() {
        // Late answers to what it hid, and where they stand.
        let history = before.history;
        for id in history.rounds_within(overlay.covered.ranges()) {
            let round = history.round(id).unwrap();
            rows.extend(&round.rows);
            rows.extend(round.calls.iter().flat_map(|it| &it.answers).map(|it| it.seq));
        }
    }
    let of = |view: View<'_>| view.composed.repeats.iter().copied().collect::<BTreeSet<_>>();
    rows.extend(of(before).symmetric_difference(&of(after)).map(|((seq, _), _)| *seq));
    rows
}
