//! What a provider's prompt cache leaves to pay.
//!
//! A call finds in the cache what stands, byte for byte, at the start of the
//! call before it too: system prompt, tools, then block by block. That part is
//! read at a tenth of the price; the rest is new and written at five quarters.
//! That no entry has expired, and that a mark stands at the end of each
//! request, is assumed for everybody.

use super::{
    numbers::weighted,
    wire::{Wire, common, tokens_of},
};

const READ: f64 = 0.1;
const WRITE: f64 = 1.25;

/// Input tokens of many calls.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Spent {
    pub(crate) calls: i64,
    /// Calls whose context is larger than the window allows: a provider would
    /// refuse them.
    pub(crate) too_large: i64,
    /// Calls before whose end the context of the call before them was changed.
    pub(crate) cuts: i64,
    /// All tokens of the contexts.
    pub(crate) sent: i64,
    /// Those that the cache holds.
    pub(crate) cached: i64,
    /// Tokens of the whole histories at the same calls, nothing reduced.
    pub(crate) whole: i64,
}

impl Spent {
    pub(crate) fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.too_large += other.too_large;
        self.cuts += other.cuts;
        self.sent += other.sent;
        self.cached += other.cached;
        self.whole += other.whole;
    }

    /// In tokens that are sent uncached.
    pub(crate) fn cost(&self) -> i64 {
        weighted([(self.cached, READ), (self.sent - self.cached, WRITE)])
    }
}

/// The calls of one session under one policy.
pub(crate) struct Cache {
    limit: i64,
    before: Option<Wire>,
    pub(crate) spent: Spent,
}

impl Cache {
    /// Of contexts that may have `limit` tokens.
    pub(crate) fn new(limit: i64) -> Self {
        Self { limit, before: None, spent: Spent::default() }
    }

    /// A call; `whole` is what its history has without reductions.
    pub(crate) fn call(&mut self, now: Wire, whole: i64) {
        let sent = now.fixed_tokens + tokens_of(&now.blocks);
        self.spent.calls += 1;
        self.spent.too_large += i64::from(sent > self.limit);
        self.spent.sent += sent;
        self.spent.whole += whole;
        match &self.before {
            None => {}
            Some(before) if before.fixed != now.fixed => self.spent.cuts += 1,
            Some(before) => {
                let same = common(&before.blocks, &now.blocks);
                self.spent.cuts += i64::from(same < before.blocks.len());
                self.spent.cached += now.fixed_tokens + tokens_of(&now.blocks[..same]);
            }
        }
        self.before = Some(now);
    }
}
