//! The integration tests, one binary.

mod cli;
mod ingest;
mod policies;
mod store;
mod tokens;
