//! What is shown of a history: each requirement by its number, and what holds
//! whatever the history is.
#![expect(clippy::unwrap_used, reason = "these are tests, helpers included")]

pub(crate) mod account;
mod budget;
mod clearing;
mod collapse;
mod first_sight;
mod folding;
pub(crate) mod generate;
mod hands;
mod late;
mod life;
mod properties;
mod snips;
pub(crate) mod support;
