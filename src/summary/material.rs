//! The covered rows as text, for those who summarize with a model.

use super::Material;

/// Material as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MaterialText {
    /// The text.
    pub text: String,
    /// Its tokens, uncalibrated.
    pub tokens: i64,
    /// True where something was shortened further than usual so that it fits.
    pub is_cut: bool,
}

/// The rows, earlier summaries among them at their places, in at most
/// `max_tokens` tokens (zero: as many as it takes).
#[must_use]
pub fn material_text(material: &Material, max_tokens: i64) -> MaterialText {
    let _ = (material, max_tokens);
    MaterialText::default()
}

/// Tokens that [`material_text`] has without a limit, about: each row's own
/// count, without counting anything again.
#[must_use]
pub fn material_tokens(material: &Material) -> i64 {
    let rows = material.rounds.iter().flat_map(|round| &round.rows);
    rows.map(|row| row.tokens.total).sum()
}
