//! Shares and quantiles.

/// `part` of `whole`; `None` of nothing.
#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
pub(crate) fn share(part: i64, whole: i64) -> Option<f64> {
    (whole != 0).then(|| part as f64 / whole as f64)
}

/// The mean of whole numbers, rounded.
pub(crate) fn mean(numbers: &[i64]) -> Option<i64> {
    let count = i64::try_from(numbers.len()).ok().filter(|it| *it > 0)?;
    Some((numbers.iter().sum::<i64>() + count / 2) / count)
}

/// The number that 95 % of `numbers` do not exceed.
pub(crate) fn p95(numbers: &[i64]) -> Option<i64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    let at = (sorted.len() * 95).div_ceil(100).checked_sub(1)?;
    sorted.get(at).copied()
}

/// Whole tokens of a weighted sum.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "token counts are far below 2^52"
)]
pub(crate) fn weighted(parts: [(i64, f64); 2]) -> i64 {
    parts.iter().map(|(tokens, weight)| *tokens as f64 * weight).sum::<f64>().round() as i64
}
