//! Use cases over a store, without a wire.
#![expect(clippy::unwrap_used, reason = "these are tests, helpers included")]

mod between;
mod life;
mod pins;
mod time_travel;
mod views;
