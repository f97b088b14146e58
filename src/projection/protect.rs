//! What no automatic stage may take: pins, the newest request of every active
//! lane, and rounds that may still be answered.

use std::collections::BTreeSet;

use super::{bench::Bench, segments};
use crate::{model::Seq, projection::window::share_of, tokens};

/// Protected rounds, by why.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Protected {
    /// The newest request of every active lane.
    pub newest_requests: BTreeSet<Seq>,
    /// Rounds that hold a pinned row.
    pub pinned: BTreeSet<Seq>,
    /// Rounds that settled unanswered a short while ago.
    pub unanswered: BTreeSet<Seq>,
    /// Rounds that somebody is summarizing: what he was given stays as it is.
    pub leased: BTreeSet<Seq>,
}

impl Protected {
    /// Those that the last resort spares too, as long as it can. What is being
    /// summarized is not among them: it is about to go anyway.
    pub(crate) fn lasting(&self) -> BTreeSet<Seq> {
        [&self.newest_requests, &self.pinned, &self.unanswered]
            .into_iter()
            .flatten()
            .copied()
            .collect()
    }

    /// All of them.
    pub(crate) fn all(&self) -> BTreeSet<Seq> {
        [&self.newest_requests, &self.pinned, &self.unanswered, &self.leased]
            .into_iter()
            .flatten()
            .copied()
            .collect()
    }
}

/// What is protected in the view as it stands.
pub(crate) fn protected(bench: &Bench<'_>) -> Protected {
    Protected {
        newest_requests: newest_requests(bench),
        pinned: bench.lens.history.rounds_within(bench.facts.pins),
        unanswered: unanswered(bench),
        leased: segments::leased(bench),
    }
}

/// The newest request of every active lane that is still shown, newest first,
/// as far as they fit together; the very newest always.
fn newest_requests(bench: &Bench<'_>) -> BTreeSet<Seq> {
    let rules = &bench.facts.policy.protect;
    let order = bench.lens.history.order();
    let since = order.len().saturating_sub(rules.active_lane_rounds);
    let since = order[since..].iter().min().copied().unwrap_or(Seq(0));
    let shown = bench.tokens_by_round();
    let mut newest: Vec<Seq> = bench
        .lens
        .history
        .requests_of_active_lanes(since)
        .filter_map(|(_, mut requests)| requests.find(|id| shown.contains_key(id)))
        .collect();
    newest.sort_unstable_by(|a, b| b.cmp(a));
    let most = share_of(bench.facts.window.room(), rules.newest_requests_share);
    let mut sum = 0;
    let mut out = BTreeSet::new();
    for id in newest {
        sum += tokens::calibrate(shown.get(&id).copied().unwrap_or(0), bench.facts.window.factor);
        if sum > most && !out.is_empty() {
            break;
        }
        out.insert(id);
    }
    out
}

fn unanswered(bench: &Bench<'_>) -> BTreeSet<Seq> {
    let order = bench.lens.history.order();
    let recent = order.len().saturating_sub(bench.facts.policy.protect.unanswered_rounds);
    let is_unanswered = |id: &&Seq| {
        bench.lens.history.round(**id).is_some_and(super::history::Round::is_unanswered)
    };
    order[recent..].iter().filter(is_unanswered).copied().collect()
}
