//! The integration tests, one binary.

mod grpc;
mod ingest;
mod policies;
mod store;
mod tokens;
