//! Providers' JSON and recorded sessions into messages.
//!
//! [`payload()`] takes what an agent exchanged with a provider just now;
//! [`session::Reader`] takes a file in which a program recorded a whole
//! session. Both are pure: no async, no clock, and they never print JSON anew.
//!
//! # What goes where
//!
//! * What the contract's message has a field for goes there; arguments of calls
//!   are the exact bytes (of the JSON value, or of the decoded string).
//! * Other fields of a block go to its `extra_json`, other fields of a message
//!   to the message's, spelled and ordered as they came, duplicates included.
//! * A block without a shape is [`Opaque`](crate::model::Opaque): one JSON
//!   value, byte for byte. Its own `cache_control` moves to `extra_json`, so
//!   that it is on record and yet not rendered.
//! * Text that is no Unicode (a lone surrogate) is kept as WTF-8.
//!
//! Left out, because a request has no place for it: what a response says about
//! itself (`stop_reason`, `stop_sequence`, `container`, …), and the difference
//! between the roles `system` and `developer`, which providers treat alike.

mod anthropic;
mod chat;
mod content;
mod fault;
mod json;
mod object;
mod parts;
mod payload;
mod responses;
pub mod session;
mod usage;
mod warning;

pub use payload::{Limits, Payload, PayloadError, payload};
pub use warning::{Warning, WarningReason, warnings_of};
