//! The integration tests, one binary.

#![expect(clippy::unwrap_used, reason = "what is wrong in a test ends the test")]

mod cases;
mod cli;
mod corpus;
mod grpc;
mod ingest;
mod measures;
mod policies;
mod projection;
mod render;
mod service;
mod store;
mod summary;
mod tidy;
mod tokens;
