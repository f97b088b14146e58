//! The integration tests, one binary.

mod cli;
mod policies;
mod store;
mod tokens;
