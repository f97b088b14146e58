//! The contract, asked over the wire: codes, reasons, retries, streams.
#![expect(clippy::unwrap_used, reason = "these are tests, helpers included")]

mod append;
mod bad_input;
mod content;
mod context;
mod forks;
mod items;
pub(crate) mod remote_store;
mod server;
mod sessions;
mod sizes;
pub(crate) mod support;
mod unbuilt;
