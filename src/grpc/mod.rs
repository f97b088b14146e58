//! The contract, served: decode, call, encode.
//!
//! A handler makes no decisions; [`crate::service`] does. Start reading at
//! [`start`]; `status` is the one place where errors become statuses.

mod collapse_service;
mod context;
mod decode;
mod encode;
mod guard;
mod health;
mod server;
mod session_service;
mod status;
mod stream;
mod transcript_service;

pub use server::{Running, ServeError, StartError, serve, start, start_with};
