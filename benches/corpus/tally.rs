//! What the runs of one policy in one window came to.

use std::collections::BTreeMap;

use concertina::{
    model::{Message, Overlay, Seq},
    service::ContextOutput,
    tokens,
};

use super::{cache::Spent, named::Summary, oracle};

/// Named of how many.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Kept {
    pub(crate) named: i64,
    pub(crate) of: i64,
}

/// The sorts of facts, in the order in which the tables tell them.
pub(crate) const SORTS: [&str; 4] = ["paths", "requests", "commands", "to-dos"];

/// A fact that a summary does not name.
#[derive(Debug, Clone)]
pub(crate) struct Loss {
    pub(crate) sort: &'static str,
    pub(crate) fact: String,
    pub(crate) session: String,
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) is_wider: bool,
    pub(crate) summary: String,
}

/// What summaries are, and what they name.
#[derive(Debug, Default)]
pub(crate) struct Collapses {
    /// Tokens of each summary.
    pub(crate) summaries: Vec<i64>,
    /// Facts by sort.
    pub(crate) kept: [Kept; 4],
}

impl Collapses {
    fn add(&mut self, other: Self) {
        self.summaries.extend(other.summaries);
        for (sum, kept) in self.kept.iter_mut().zip(other.kept) {
            sum.named += kept.named;
            sum.of += kept.of;
        }
    }
}

/// Sums over contexts and collapses.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) sessions: i64,
    pub(crate) contexts: i64,
    /// Calls for which no context fits.
    pub(crate) irreducible: i64,
    /// Contexts in which `fit` has something in force.
    pub(crate) fitted: i64,
    /// Parts of the limit that contexts filled, summed.
    pub(crate) usage: f64,
    /// Tokens of all messages, summed over contexts …
    pub(crate) history: i64,
    /// … and of those that are shown.
    pub(crate) shown: i64,
    /// Tokens that each stage has saved in them.
    pub(crate) saved: BTreeMap<String, i64>,
    /// Collapses of segments, and wider ones over earlier collapses.
    pub(crate) collapses: [Collapses; 2],
    pub(crate) losses: Vec<Loss>,
    pub(crate) spent: Spent,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.contexts += other.contexts;
        self.irreducible += other.irreducible;
        self.fitted += other.fitted;
        self.usage += other.usage;
        self.history += other.history;
        self.shown += other.shown;
        for (stage, tokens) in other.saved {
            *self.saved.entry(stage).or_default() += tokens;
        }
        for (sum, collapses) in self.collapses.iter_mut().zip(other.collapses) {
            sum.add(collapses);
        }
        self.losses.extend(other.losses);
        self.spent.add(&other.spent);
    }

    pub(crate) fn context(&mut self, context: &ContextOutput) {
        self.contexts += 1;
        self.usage += context.budget.usage_ratio();
        self.history += context.budget.history;
        self.shown += context.budget.messages;
        for report in &context.stages {
            let saved = report.tokens_before - report.tokens_after;
            *self.saved.entry(report.stage.to_string()).or_default() += saved;
            self.fitted += i64::from(report.stage == "fit" && report.messages_reduced > 0);
        }
    }

    /// Every collapse of a session with these messages.
    pub(crate) fn collapses(&mut self, session: &str, messages: &[Message], all: &[Overlay]) {
        for collapse in all {
            let is_under = |it: &Overlay| collapse.covered_overlays.contains(&it.id);
            self.collapse(session, messages, collapse, all.iter().any(is_under));
        }
    }

    fn collapse(
        &mut self,
        session: &str,
        messages: &[Message],
        collapse: &Overlay,
        is_wider: bool,
    ) {
        let row = |seq: Seq| messages.get(usize::try_from(seq.0 - 1).ok()?);
        let facts = oracle::facts(collapse.covered.iter().filter_map(row));
        let summary = Summary::new(&collapse.summary);
        let named = [
            judged(&facts.paths, |it| summary.names_path(it, &facts.paths)),
            judged(&facts.requests, |it| summary.names_words(it)),
            judged(&facts.commands, |it| summary.names_command(it)),
            judged(&facts.todos, |it| summary.names_words(it)),
        ];
        let sum = &mut self.collapses[usize::from(is_wider)];
        sum.summaries.push(i64::from(tokens::count_text(&collapse.summary)));
        for ((sort, judged), kept) in SORTS.into_iter().zip(named).zip(&mut sum.kept) {
            for (fact, is_named) in judged {
                kept.of += 1;
                kept.named += i64::from(is_named);
                if !is_named {
                    self.losses.push(Loss { is_wider, ..loss(sort, fact, session, collapse) });
                }
            }
        }
    }
}

fn judged<'a>(
    facts: impl IntoIterator<Item = &'a String>,
    is_named: impl Fn(&str) -> bool,
) -> Vec<(&'a str, bool)> {
    facts.into_iter().map(|fact| (fact.as_str(), is_named(fact))).collect()
}

fn loss(sort: &'static str, fact: &str, session: &str, collapse: &Overlay) -> Loss {
    let ranges = collapse.covered.ranges();
    Loss {
        sort,
        fact: fact.to_owned(),
        session: session.to_owned(),
        first: ranges.first().map_or(0, |it| it.first.0),
        last: ranges.last().map_or(0, |it| it.last.0),
        is_wider: false,
        summary: collapse.summary.clone(),
    }
}
