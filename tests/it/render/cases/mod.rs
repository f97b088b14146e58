//! Cases from the field, each under its number.

mod content;
mod ids;
mod pairing;
mod provider_blocks;
mod thinking;
mod typed;
