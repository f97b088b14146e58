//! The integration tests, one binary.

#[cfg(test)]
mod store;
