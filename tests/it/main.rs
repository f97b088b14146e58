//! The integration tests, one binary.

mod ingest;
mod policies;
mod store;
mod tokens;
