//! `snip_turns`: over the threshold, the oldest whole turns are not shown any
//! more; in rounds where a session is one long turn.
//!
//! May drop: whole turns from the oldest on. Keeps: the newest turns, and what
//! is protected.

use crate::{
    model::{Cause, StageKind},
    projection::{
        bench::{Bench, Proposal, Reduction},
        protect::protected,
        window::share_of,
    },
};

pub(crate) fn propose(bench: &Bench<'_>) -> Result<Proposal, &'static str> {
    let rules = &bench.facts.policy.snip_turns;
    let window = bench.facts.window;
    let threshold = window.limit() - window.capped(rules.buffer_tokens, rules.buffer_share);
    if bench.used() <= threshold {
        return Err("below_threshold");
    }
    let until = share_of(threshold, rules.until_ratio);
    let protected = protected(bench).all();
    let tokens = bench.tokens_by_round();
    let end = bench.newest_turns(rules.keep_turns.max(1));
    let mut borders: Vec<usize> =
        bench.turn_starts().into_iter().filter(|at| *at > 0 && *at <= end).collect();
    if borders.is_empty() {
        borders = (1..=end).collect();
    }
    let mut messages = bench.composed.tokens;
    let mut from = 0;
    for border in borders {
        for id in &bench.composed.visible[from..border] {
            if !protected.contains(id) {
                messages -= tokens.get(id).copied().unwrap_or(0);
            }
        }
        from = border;
        if window.used(messages) <= until {
            break;
        }
    }
    let Some(last) = from.checked_sub(1) else { return Err("nothing_to_snip") };
    let (rounds, kept) = bench.prefix_through(last, &protected);
    if rounds.is_empty() {
        return Err("nothing_to_snip");
    }
    Ok(Proposal {
        stage: StageKind::SnipTurns,
        cause: Cause::Pressure,
        reduction: Reduction::Snip { rounds, kept, marker: String::new() },
    })
}
