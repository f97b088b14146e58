//! New ids, passed in.

use std::sync::atomic::{AtomicU64, Ordering};

/// Makes ids. Nothing else may.
pub trait IdSource: Send + Sync {
    /// An id that was never given before.
    fn next(&self) -> String;
}

/// UUIDs of version 7: they sort by the time they were made.
#[derive(Debug, Clone, Copy, Default)]
pub struct UuidSource;

impl IdSource for UuidSource {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks")]
    fn next(&self) -> String {
        uuid::Uuid::now_v7().to_string()
    }
}

/// `id-1`, `id-2`, …: for tests that look at what comes out.
#[derive(Debug, Default)]
pub struct CountingSource(AtomicU64);

impl IdSource for CountingSource {
    fn next(&self) -> String {
        format!("id-{}", self.0.fetch_add(1, Ordering::SeqCst) + 1)
    }
}
