//! Context Collapse: segments shown as their summaries, by hand, by callers
//! that summarize themselves, and in the background.
//!
//! Everything goes one way: find the segments ([`crate::projection`]), lease
//! their rows, summarize outside every lock, check, and commit only where what
//! was leased is still as it was. Appends never wait for it.

mod attempts;
mod background;
mod create;
mod leases;
mod material;
mod prepare;
mod types;
mod work;

pub use background::Background;
pub(super) use background::{start, wait_for};
pub use create::create_collapse;
pub use prepare::{abandon_collapse, commit_collapse, prepare_collapse};
pub use types::{
    AbandonCollapseInput, CommitCollapseInput, CreateCollapseInput, PrepareCollapseInput,
    PreparedCollapse,
};
pub(super) use {
    attempts::Attempts,
    leases::{Lease, leased_rows},
    work::extractive,
};
