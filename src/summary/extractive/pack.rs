//! Which pieces there is room for, and in which length.

use std::collections::BTreeSet;

use super::items::Item;
use crate::{summary::layout::Part, tokens::count_text};

/// What a piece costs besides its words: a dash, a break.
const PIECE_TOKENS: i64 = 2;
/// Forms that did not fit before nobody looks for shorter ones any more.
const MOST_MISSES: usize = 250;
/// Characters a token has at most in what stands in a summary, about; only to
/// see without counting that a form is much too long.
const CHARS_A_TOKEN: i64 = 12;

/// What was chosen: a form, or none, of each item.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    chosen: Vec<Option<usize>>,
    costs: Vec<i64>,
}

impl Choice {
    /// The words chosen of an item.
    pub(super) fn text<'a>(&self, items: &'a [Item], index: usize) -> Option<&'a str> {
        let form = self.chosen.get(index).copied().flatten()?;
        Some(items.get(index)?.forms.get(form)?.text.as_str())
    }

    /// Leaves an item out.
    pub(super) fn drop(&mut self, index: usize) {
        if let (Some(chosen), Some(cost)) = (self.chosen.get_mut(index), self.costs.get_mut(index))
        {
            (*chosen, *cost) = (None, 0);
        }
    }

    /// Gives back at least `tokens`, the least important first; false where
    /// nothing is left to give.
    pub(super) fn give_back(&mut self, items: &[Item], tokens: i64) -> bool {
        let mut order: Vec<(u16, i64, usize)> = Vec::new();
        for (index, chosen) in self.chosen.iter().enumerate() {
            if let Some(form) = chosen {
                order.push((items[index].forms[*form].rank, items[index].tie, index));
            }
        }
        order.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)).then(b.2.cmp(&a.2)));
        let mut freed = 0;
        for (_, _, index) in order {
            if freed >= tokens {
                break;
            }
            let before = self.costs[index];
            let shorter = self.chosen[index].and_then(|form| form.checked_sub(1));
            self.chosen[index] = shorter;
            self.costs[index] = shorter.map_or(0, |form| cost(&items[index].forms[form].text));
            freed += (before - self.costs[index]).max(1);
        }
        freed > 0
    }
}

fn cost(text: &str) -> i64 {
    i64::from(count_text(text)) + PIECE_TOKENS
}

/// Fills `room` tokens: each form in the order of its rank, where it fits.
/// Nothing is chosen of the items whose indexes are in `without`.
pub(super) fn pack(items: &[Item], room: i64, without: &BTreeSet<usize>) -> Choice {
    let mut offers: Vec<(u16, i64, usize, usize)> = Vec::new();
    let some = items.iter().enumerate().filter(|(index, _)| !without.contains(index));
    for (index, item) in some {
        for (form, it) in item.forms.iter().enumerate() {
            offers.push((it.rank, item.tie, index, form));
        }
    }
    offers
        .sort_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)).then(a.2.cmp(&b.2)).then(a.3.cmp(&b.3)));
    let mut choice = Choice { chosen: vec![None; items.len()], costs: vec![0; items.len()] };
    let (mut used, mut misses) = (0, 0);
    for (_, _, index, form) in offers {
        if misses > MOST_MISSES {
            break;
        }
        let text = &items[index].forms[form].text;
        let free = room - used + choice.costs[index];
        let is_too_long =
            i64::try_from(text.len()).unwrap_or(i64::MAX) > free.saturating_mul(CHARS_A_TOKEN);
        let is_longer = choice.chosen[index].is_none_or(|chosen| chosen < form);
        let cost = if is_too_long || !is_longer { i64::MAX } else { cost(text) };
        if cost > free {
            misses += 1;
            continue;
        }
        used += cost - choice.costs[index];
        choice.costs[index] = cost;
        choice.chosen[index] = Some(form);
    }
    choice
}

/// The chosen items that say nothing but what another chosen one says: sentences
/// that stand in a request or in what came of it.
pub(super) fn repeated(items: &[Item], choice: &Choice) -> BTreeSet<usize> {
    let chosen = || {
        let all = items.iter().enumerate();
        all.filter_map(|(index, item)| Some((index, item.part, choice.text(items, index)?)))
    };
    let is_whole = |part| matches!(part, Part::Request | Part::Outcome | Part::State);
    let wholes: Vec<&str> =
        chosen().filter(|(_, part, _)| is_whole(*part)).map(|(_, _, text)| text).collect();
    let is_remark = |part| matches!(part, Part::Decision | Part::Finding | Part::Constraint);
    chosen()
        .filter(|(_, part, text)| is_remark(*part) && wholes.iter().any(|it| it.contains(text)))
        .map(|(index, _, _)| index)
        .collect()
}
