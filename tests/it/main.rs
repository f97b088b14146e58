//! The integration tests, one binary.

mod cli;
mod grpc;
mod ingest;
mod policies;
mod store;
mod tokens;
