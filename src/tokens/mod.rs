//! Counting (placeholder until merged).
use crate::model::{Block, BlockKind, ToolOutput};
/// m
pub const MESSAGE_TOKENS: i64 = 4;
/// s
pub const SYNTHETIC_RESULT_TOKENS: i64 = 24;
/// c
#[must_use]
pub fn count_text(t: &str) -> u32 {
    u32::try_from(t.len().div_ceil(4)).unwrap_or(u32::MAX)
}
/// c
#[must_use]
pub fn block(b: &Block) -> u32 {
    4 + match &b.kind {
        BlockKind::Text(t) => count_text(&t.text),
        BlockKind::ToolUse(t) => {
            count_text(&t.name) + u32::try_from(t.input_json.len() / 4).unwrap_or(0)
        }
        BlockKind::ToolResult(r) => r
            .output
            .iter()
            .map(|o| match o {
                ToolOutput::Text(t) => u32::try_from(t.len().div_ceil(4)).unwrap_or(0),
                _ => 1500,
            })
            .sum(),
        _ => 1500,
    }
}
/// c
#[must_use]
pub fn calibrate(t: i64, f: f64) -> i64 {
    (t as f64 * f).ceil() as i64
}
/// d
#[must_use]
pub fn dimensions(_: &[u8]) -> Option<(usize, usize)> {
    None
}
