//! The integration tests, one binary.

mod grpc;
mod policies;
