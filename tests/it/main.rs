//! The integration tests, one binary.

mod ingest;
