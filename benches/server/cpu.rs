//! Time on a processor.

use std::fs;

/// Microseconds that the threads of this process have run for so far; `NaN`
/// where the system does not tell.
pub(crate) fn micros() -> f64 {
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return f64::NAN };
    let nanos = threads.flatten().filter_map(|it| {
        let text = fs::read_to_string(it.path().join("schedstat")).ok()?;
        text.split_ascii_whitespace().next()?.parse::<f64>().ok()
    });
    nanos.sum::<f64>() / 1000.0
}
