//! Moments.

use super::Error;
use crate::model::Timestamp;

/// To the contract's form.
#[must_use]
pub fn to_pb(time: Timestamp) -> prost_types::Timestamp {
    prost_types::Timestamp { seconds: time.seconds, nanos: time.nanos }
}

/// From the contract's form.
///
/// # Errors
///
/// Where the nanoseconds are not within a second.
pub fn from_pb(time: prost_types::Timestamp) -> Result<Timestamp, Error> {
    if (0..1_000_000_000).contains(&time.nanos) {
        Ok(Timestamp { seconds: time.seconds, nanos: time.nanos })
    } else {
        Err(Error::new("nanos", "between 0 and 999,999,999"))
    }
}
