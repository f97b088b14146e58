//! `fit`: the last resort. What is still above the limit loses its oldest
//! rounds, down to the newest; what is left then is shortened, largest first.
//!
//! May drop: anything but the newest round and the newest requests; of those,
//! the middle of their texts, the newest requests' last of all. Never touches
//! thinking.

use std::collections::BTreeSet;

use crate::{
    model::{Cause, StageKind},
    projection::{
        bench::{Bench, Proposal, Reduction},
        protect::{Protected, protected},
        stages::shorten,
        text,
        window::share_of,
    },
};

/// Brings the view below the limit. Says why it did not act, or that it could
/// not: then nothing of it may be committed.
pub(crate) fn run(bench: &mut Bench<'_>) -> Result<(), &'static str> {
    if fits(bench) {
        return Err("below_threshold");
    }
    let aim = share_of(bench.facts.window.limit(), bench.facts.policy.fit.until_ratio)
        .min(bench.facts.window.fit_limit(bench.facts.policy));
    let protected = protected(bench);
    snip_oldest(bench, aim, &protected.lasting());
    if !fits(bench) {
        // Pins and rounds that may still be answered give way; the newest
        // requests do not.
        snip_oldest(bench, aim, &protected.newest_requests);
    }
    if !fits(bench) {
        shorten_rest(bench, aim, &protected);
    }
    if fits(bench) { Ok(()) } else { Err("irreducible") }
}

/// Says whether the view is within the limits of tokens and of bytes.
pub(crate) fn fits(bench: &Bench<'_>) -> bool {
    bench.used() <= bench.facts.window.fit_limit(bench.facts.policy)
        && rendered_bytes(bench, bench.composed.bytes()) <= bench.facts.window.bytes_limit
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "requests are far below 2^52 bytes"
)]
fn rendered_bytes(bench: &Bench<'_>, bytes: i64) -> i64 {
    (bytes as f64 * bench.facts.window.bytes_ratio) as i64
}

/// Hides the oldest rounds that are not in `kept` until the view is down to
/// `aim`; the newest round always stays.
fn snip_oldest(bench: &mut Bench<'_>, aim: i64, kept: &BTreeSet<crate::model::Seq>) {
    let tokens = bench.tokens_by_round();
    let bytes_aim = share_of(bench.facts.window.bytes_limit, 0.8);
    let mut messages = bench.composed.tokens;
    let whole_bytes = bench.composed.bytes();
    let mut bytes = whole_bytes;
    let mut last = None;
    let newest = bench.composed.visible.len().saturating_sub(1);
    for (at, id) in bench.composed.visible[..newest].iter().enumerate() {
        let fits_bytes = rendered_bytes(bench, bytes) <= bytes_aim
            || rendered_bytes(bench, whole_bytes) <= bench.facts.window.bytes_limit;
        if bench.facts.window.used(messages) <= aim && fits_bytes {
            break;
        }
        if kept.contains(id) {
            continue;
        }
        let round = tokens.get(id).copied().unwrap_or(0);
        messages -= round;
        bytes -= bench.bytes_of(*id);
        last = Some(at);
    }
    let Some(last) = last else { return };
    let (rounds, kept) = bench.prefix_through(last, kept);
    let count = bench.rows_of(&rounds).len();
    let marker = text::fill(&bench.facts.policy.fit.marker, &[("count", &count)]);
    bench.apply(Proposal {
        stage: StageKind::Fit,
        cause: Cause::Pressure,
        reduction: Reduction::Snip { rounds, kept, marker },
    });
}

/// Shortens what is left, class by class, until the view is down to `aim`; the
/// newest requests only as far as the limit asks.
fn shorten_rest(bench: &mut Bench<'_>, aim: i64, protected: &Protected) {
    for class in shorten::CLASSES {
        let goal = if class == shorten::Class::NewestRequest {
            if fits(bench) {
                return;
            }
            bench.facts.window.fit_limit(bench.facts.policy)
        } else {
            aim
        };
        // What is estimated before it is measured may miss its goal a little:
        // each further try aims lower by what the last one missed.
        let mut slack = 0;
        for _ in 0..6 {
            if bench.used() <= goal && fits(bench) {
                return;
            }
            let cleared = shorten::plan(bench, class, goal - slack, &protected.newest_requests);
            if cleared.is_empty() {
                break;
            }
            let did = bench.apply(Proposal {
                stage: StageKind::Fit,
                cause: Cause::Pressure,
                reduction: Reduction::Clear(cleared),
            });
            if !did {
                break;
            }
            slack += (bench.used() - goal).max(0) + slack / 2;
        }
    }
}
