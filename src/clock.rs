//! The time, passed in.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::model::Timestamp;

/// Tells the time. Nothing else may ask the machine.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks")]
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(jiff::Timestamp::now().as_microsecond())
    }
}

/// Stands still until told to move.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// Shows `micros` since the epoch.
    #[must_use]
    pub fn at(micros: i64) -> Self {
        Self(AtomicI64::new(micros))
    }

    /// Moves by `seconds`, back where they are negative.
    pub fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}
