//! Texts that a tokenizer could take for ever for, against a copy of them.

use std::{hint::black_box, time::Instant};

use concertina::tokens;
use serde_json::json;

use crate::{
    Plan,
    report::{self, median, round},
};

const BYTES: usize = 1 << 20;
/// What one text may take.
const AIM_SECONDS: f64 = 1.0;

/// A run of one character, of spaces, and of ideographs.
pub(crate) fn measure(plan: &Plan) -> anyhow::Result<()> {
    let texts = [
        ("count_1_mib_of_one_character", "a".repeat(BYTES)),
        ("count_1_mib_of_spaces", " ".repeat(BYTES)),
        ("count_1_mib_of_cjk", ideographs()),
    ];
    for (name, text) in &texts {
        if plan.wants(name) {
            one(plan, name, text)?;
        }
    }
    Ok(())
}

/// Thousands of ideographs, one after the other.
fn ideographs() -> String {
    ('\u{4e00}'..='\u{9fff}').cycle().take(BYTES / 3).collect()
}

fn one(plan: &Plan, name: &str, text: &str) -> anyhow::Result<()> {
    let (mut floor, mut seconds, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..plan.turns {
        let copied = timed(|| text.to_owned());
        let counted = timed(|| tokens::count_text(text));
        ratios.push(copied / counted);
        floor.push(copied);
        seconds.push(counted);
    }
    let figures = json!({
        "bytes": text.len(),
        "tokens": tokens::count_text(text),
        "seconds": round(median(seconds), 4),
        "floor_seconds": round(median(floor), 6),
        "ratio": round(median(ratios), 6),
        "aim_seconds": AIM_SECONDS,
    });
    report::line(name, [figures])
}

fn timed<T>(work: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_secs_f64()
}
