//! Medians, and lines of JSON.

use std::io::Write as _;

use hdrhistogram::Histogram;
use serde_json::{Map, Value, json};

/// What the turns of one side came to.
#[derive(Default)]
pub(crate) struct Side {
    /// Calls a second, turn by turn.
    pub(crate) rates: Vec<f64>,
    /// Microseconds of processor time a call, turn by turn.
    pub(crate) cpu_micros: Vec<f64>,
    /// Microseconds of each call.
    pub(crate) micros: Option<Histogram<u64>>,
}

impl Side {
    /// Calls a second of the median turn.
    pub(crate) fn rate(&self) -> f64 {
        median(self.rates.clone())
    }

    /// Microseconds of processor time a call in the median turn.
    fn cpu_micros(&self) -> f64 {
        median(self.cpu_micros.clone())
    }

    /// Milliseconds that a share of the calls took at most.
    pub(crate) fn quantile_ms(&self, quantile: f64) -> f64 {
        let micros = self.micros.as_ref().map_or(0, |it| it.value_at_quantile(quantile));
        u32::try_from(micros).map_or(f64::INFINITY, f64::from) / 1000.0
    }
}

/// The middle one.
pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Prints a comparison. The ratio is the median of those of each turn to the
/// floor's turn before it: whoever else uses the machine disturbs both.
pub(crate) fn compared(
    name: &str,
    about: Value,
    aim: Option<f64>,
    floor: &Side,
    subject: &Side,
) -> anyhow::Result<()> {
    let ratios = subject.rates.iter().zip(&floor.rates).map(|(it, floor)| it / floor).collect();
    let figures = json!({
        "per_second": round(subject.rate(), 0),
        "floor_per_second": round(floor.rate(), 0),
        "p50_ms": subject.quantile_ms(0.5),
        "p99_ms": subject.quantile_ms(0.99),
        "floor_p50_ms": floor.quantile_ms(0.5),
        "cpu_us": round(subject.cpu_micros(), 1),
        "floor_cpu_us": round(floor.cpu_micros(), 1),
        "cpu_ratio": round(floor.cpu_micros() / subject.cpu_micros(), 3),
        "ratio": round(median(ratios), 3),
        "aim": aim,
    });
    line(name, [about, figures])
}

/// Prints one line: the name, then the members of `parts`.
pub(crate) fn line(name: &str, parts: impl IntoIterator<Item = Value>) -> anyhow::Result<()> {
    let mut members = Map::from_iter([("bench".to_owned(), json!(name))]);
    for part in parts {
        if let Value::Object(part) = part {
            members.extend(part.into_iter().filter(|(_, value)| !value.is_null()));
        }
    }
    writeln!(std::io::stdout(), "{}", Value::Object(members))?;
    Ok(())
}

/// Only the digits that mean something.
pub(crate) fn round(number: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (number * scale).round() / scale
}
