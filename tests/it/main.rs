//! The integration tests, one binary.

mod cli;
mod grpc;
mod ingest;
mod policies;
mod render;
mod store;
mod tokens;
