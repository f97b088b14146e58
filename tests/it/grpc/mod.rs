//! The contract, asked over the wire: codes, reasons, retries, streams.
#![expect(clippy::unwrap_used, reason = "these are tests, helpers included")]

mod append;
mod background;
mod bad_input;
mod collapse;
mod content;
mod context;
mod forks;
mod items;
mod pins;
pub(crate) mod remote_store;
mod revisions;
mod server;
mod sessions;
mod sizes;
pub(crate) mod summarizers;
pub(crate) mod support;
mod time_travel;
mod unbuilt;
mod views;
