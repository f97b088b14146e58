//! The chosen pieces, laid out.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{facts::Facts, items::Item, pack::Choice};
use crate::{
    policies::Template,
    summary::layout::{FOUR_PARTS_HEADING, Part, Section, has_headings, sections},
};

/// The text of a summary.
pub(super) fn write(facts: &Facts, items: &[Item], choice: &Choice, layout: Template) -> String {
    match layout {
        Template::Turns => turns(facts, items, choice),
        layout if has_headings(layout) => parts(facts, items, choice, layout),
        Template::Free => running(items, choice, layout, "\n"),
        _ => running(items, choice, layout, " "),
    }
}

/// `Turns 6-10:`; empty where there is no turn.
fn range(facts: &Facts) -> String {
    match facts.turns {
        // What came before the first turn belongs to it.
        Some((first, last)) if first.max(1) >= last => format!("Turn {}:", last.max(1)),
        Some((first, last)) => format!("Turns {}-{last}:", first.max(1)),
        None => String::new(),
    }
}

/// The pieces of one section, in order.
fn pieces<'a>(items: &'a [Item], choice: &Choice, section: &Section) -> Vec<&'a str> {
    let mut found: Vec<(usize, &Item, usize)> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if choice.text(items, index).is_some()
            && let Some(place) = section.parts.iter().position(|it| *it == item.part)
        {
            found.push((place_of(item.part, place), item, index));
        }
    }
    found.sort_by_key(|(place, item, index)| (*place, item.at, item.part, *index));
    found.into_iter().filter_map(|(_, _, index)| choice.text(items, index)).collect()
}

/// What came of a request stands right after it.
fn place_of(part: Part, place: usize) -> usize {
    if part == Part::Outcome { place.saturating_sub(1) } else { place }
}

fn parts(facts: &Facts, items: &[Item], choice: &Choice, layout: Template) -> String {
    let mut out = String::new();
    if layout == Template::FourPartsAndRange {
        out.push_str(&range(facts));
        out.push(' ');
    }
    if matches!(layout, Template::FourParts | Template::FourPartsAndRange) {
        out.push_str(FOUR_PARTS_HEADING);
        out.push('\n');
    }
    for section in sections(layout) {
        let pieces = pieces(items, choice, section);
        out.push_str(section.title);
        out.push(':');
        if pieces.is_empty() {
            out.push_str(" none");
        }
        for piece in pieces {
            let _ = write!(out, "\n- {piece}");
        }
        out.push('\n');
    }
    out.trim().to_owned()
}

fn running(items: &[Item], choice: &Choice, layout: Template, between: &str) -> String {
    let clauses = sections(layout).iter().filter_map(|section| {
        let pieces = pieces(items, choice, section);
        let mut text = format!("{}: {}", section.title, joined(&pieces));
        if !text.ends_with(['.', '!', '?', '…']) {
            text.push('.');
        }
        (!pieces.is_empty()).then_some(text)
    });
    clauses.collect::<Vec<_>>().join(between)
}

/// Pieces of running text; what came of a request follows it without a break.
fn joined(pieces: &[&str]) -> String {
    let mut out = String::new();
    for piece in pieces {
        if !out.is_empty() {
            if out.ends_with('.') {
                out.pop();
            }
            out.push_str("; ");
        }
        out.push_str(piece);
    }
    out
}

fn turns(facts: &Facts, items: &[Item], choice: &Choice) -> String {
    let order: Vec<Part> =
        sections(Template::Turns).iter().flat_map(|it| it.parts).copied().collect();
    let mut turns: BTreeMap<i64, Vec<(usize, usize)>> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        if choice.text(items, index).is_some() {
            let place = order.iter().position(|it| *it == item.part).unwrap_or(order.len());
            turns.entry(item.at.turn).or_default().push((place, index));
        }
    }
    let mut out = range(facts);
    let is_one = facts.turns.is_none_or(|(first, last)| first.max(1) >= last);
    for (turn, mut found) in turns {
        found.sort_by_key(|(place, index)| (*place, items[*index].at, *index));
        let pieces: Vec<&str> =
            found.iter().filter_map(|(_, index)| choice.text(items, *index)).collect();
        out.push(if is_one { ' ' } else { '\n' });
        if !is_one && turn != i64::MIN {
            let _ = write!(out, "Turn {turn}: ");
        }
        out.push_str(&joined(&pieces));
    }
    out.trim().to_owned()
}
