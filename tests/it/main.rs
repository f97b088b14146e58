//! The integration tests, one binary.

mod policies;
