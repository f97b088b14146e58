//! A moment, as the contract and the store both spell it.

/// Seconds and nanoseconds since the Unix epoch, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp {
    /// Whole seconds; negative before 1970.
    pub seconds: i64,
    /// 0 to 999,999,999, counted forward from `seconds`.
    pub nanos: i32,
}

impl Timestamp {
    /// From microseconds since the epoch: the store's unit.
    #[must_use]
    pub fn from_micros(micros: i64) -> Self {
        let nanos = i32::try_from(micros.rem_euclid(1_000_000)).unwrap_or(0) * 1000;
        Self { seconds: micros.div_euclid(1_000_000), nanos }
    }

    /// Microseconds since the epoch, rounded down; saturates at the far ends.
    #[must_use]
    pub fn as_micros(self) -> i64 {
        self.seconds.saturating_mul(1_000_000).saturating_add(i64::from(self.nanos) / 1000)
    }

    /// Whole seconds from `earlier` to `self`; zero where the clock went back.
    #[must_use]
    pub fn seconds_since(self, earlier: Self) -> i64 {
        self.seconds.saturating_sub(earlier.seconds).max(0)
    }
}
