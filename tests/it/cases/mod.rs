//! What people have reported of systems of this kind, and what is right here:
//! each case by its letter and number, asked of a real server.
#![expect(clippy::unwrap_used, reason = "these are tests, helpers included")]

mod budgets;
mod cache;
mod compaction;
mod content;
mod formats;
mod limits;
mod order;
mod pairing;
mod reducing;
mod rollback;
mod sharing;
mod stages;
mod summaries;
pub(crate) mod support;
