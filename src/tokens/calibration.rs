//! From estimated tokens to a model's own.
//!
//! A factor for each namespace and model is learned from what providers report
//! for contexts whose estimate is known. An estimate that is too low ends in a
//! refused request, one that is too high only in an early reduction: so the
//! factor goes up quickly and down slowly.

/// The factor's bounds: no tokenizer is further from the one that counts here.
pub const LEAST: f64 = 0.5;
/// See [`LEAST`].
pub const MOST: f64 = 3.0;

/// How much of the way to a higher report one step goes.
const UP: f64 = 0.75;
/// … and to a lower one.
const DOWN: f64 = 0.1;
/// Below so many tokens, what a provider adds itself drowns what is counted.
const LEAST_TOKENS: i64 = 256;
/// A report further off than these is about something else than the context.
const ABSURD: std::ops::RangeInclusive<f64> = 0.2..=5.0;

/// The factor after a report: `estimated` tokens, uncalibrated, were
/// `reported` ones (cached ones included). An absurd report changes nothing.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
pub fn learn(current: f64, estimated: i64, reported: i64) -> f64 {
    let current = bounded(current);
    if estimated < LEAST_TOKENS || reported < 1 {
        return current;
    }
    let ratio = reported as f64 / estimated as f64;
    if !ABSURD.contains(&ratio) {
        return current;
    }
    let step = if ratio > current { UP } else { DOWN };
    bounded(current + step * (ratio - current))
}

/// A model's own tokens for estimated ones: rounded up, never out of range.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "token counts are far below 2^52; a cast of a float saturates"
)]
pub fn calibrate(tokens: i64, factor: f64) -> i64 {
    // Without the small step back, 100 × 1.1 would be 111.
    (tokens as f64 * bounded(factor) - 1e-6).ceil() as i64
}

/// The most estimated tokens that count as at most `tokens` once calibrated.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "token counts are far below 2^52; a cast of a float saturates"
)]
pub fn uncalibrate(tokens: i64, factor: f64) -> i64 {
    (tokens as f64 / bounded(factor) + 1e-6).floor() as i64
}

fn bounded(factor: f64) -> f64 {
    if factor.is_nan() { 1.0 } else { factor.clamp(LEAST, MOST) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(factor: f64, expected: f64) {
        assert!((factor - expected).abs() < 0.02, "{factor} is not {expected}");
    }

    #[test]
    fn n5_three_reports_of_one_and_a_half_bring_the_factor_there() {
        let mut factor = 1.0;
        for estimated in [1000, 20_000, 150_000] {
            factor = learn(factor, estimated, estimated * 3 / 2);
        }
        near(factor, 1.5);
    }

    #[test]
    fn n5_a_factor_goes_up_quickly_and_down_slowly() {
        near(learn(1.0, 10_000, 20_000), 1.75);
        near(learn(1.5, 10_000, 10_000), 1.45);
        let mut factor = 1.5;
        for _ in 0..40 {
            factor = learn(factor, 10_000, 11_000);
        }
        near(factor, 1.1);
    }

    #[test]
    fn n5_an_absurd_report_changes_nothing() {
        let reports = [
            (0, 5),
            (-1, -1),
            (1000, 0),
            (1000, -7),
            (1000, 5001),
            (1000, 199),
            (255, 400),
            (1, i64::MAX),
            (i64::MAX, 1),
        ];
        for (estimated, reported) in reports {
            near(learn(1.2, estimated, reported), 1.2);
        }
    }

    #[test]
    fn n5_the_factor_stays_within_its_bounds() {
        for current in [f64::NAN, f64::INFINITY, -1.0, 0.0, 0.5, 1.0, 3.0, 1e300] {
            for reported in [2000, 5000, 10_000, 30_000, 50_000] {
                assert!((LEAST..=MOST).contains(&learn(current, 10_000, reported)));
            }
        }
    }

    #[test]
    fn calibrating_rounds_up_and_saturates() {
        assert_eq!(calibrate(1001, 1.5), 1502);
        assert_eq!(calibrate(100, 1.1), 110);
        assert_eq!(calibrate(1, 1.1), 2);
        assert_eq!(calibrate(0, 1.5), 0);
        assert_eq!(calibrate(7, 1.0), 7);
        assert_eq!(calibrate(i64::MAX, 3.0), i64::MAX);
        assert_eq!(calibrate(7, f64::NAN), 7);
    }
}
