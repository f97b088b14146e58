//! The clocks of recording programs.

use jiff::{civil::DateTime, tz::TimeZone};

use crate::model::Timestamp;

/// Reads an ISO 8601 time; one without a zone is taken as UTC. `None` where it
/// is none: a recorder's clock is informative only.
pub(super) fn parse(text: &str) -> Option<Timestamp> {
    let moment = text.parse::<jiff::Timestamp>().ok().or_else(|| {
        let local: DateTime = text.parse().ok()?;
        TimeZone::UTC.to_timestamp(local).ok()
    })?;
    let (mut seconds, mut nanos) = (moment.as_second(), moment.subsec_nanosecond());
    if nanos < 0 {
        seconds -= 1;
        nanos += 1_000_000_000;
    }
    Some(Timestamp { seconds, nanos })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_with_and_without_a_zone() {
        let expected = Some(Timestamp { seconds: 1_774_405_057, nanos: 32_000_000 });
        assert_eq!(parse("2026-03-25T02:17:37.032Z"), expected);
        assert_eq!(parse("2026-03-25T04:17:37.032+02:00"), expected);
        assert_eq!(parse("2026-03-25T02:17:37.032"), expected);
        assert_eq!(parse("yesterday"), None);
        assert_eq!(parse("1969-12-31T23:59:59.9Z").unwrap().nanos, 900_000_000);
    }
}
