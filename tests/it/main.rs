//! The integration tests, one binary.

mod policies;
mod tokens;
mod ingest;
