//! The integration tests, one binary.

mod cases;
mod cli;
mod corpus;
mod grpc;
mod ingest;
mod policies;
mod projection;
mod render;
mod store;
mod tokens;
