//! What is shown into a provider's request. Pure: bytes from data.
//!
//! Two steps, so that what did not change is not written again: [`round`]
//! writes one round (its result may be kept as long as the round is shown the
//! same), [`assemble`] joins rounds, notices and context items into a request.
//!
//! Nothing here fails. What a provider would refuse is mended, and each mending
//! is told as a [`Repair`]. JSON that came in goes out byte for byte: it is cut
//! into raw slices, never parsed and printed again.
//!
//! Start reading at `mend`, which turns a round into steps that are fit for a
//! format; `anthropic`, `chat`, `responses` and `typed` only write them down.
//! [`check`] is separate code that says which rules a request breaks.

mod alias;
mod anthropic;
mod assemble;
mod call;
mod chat;
pub mod check;
mod image;
mod items;
mod json;
mod mend;
mod opaque;
mod piece;
mod responses;
mod result;
mod scan;
mod text;
mod tools;
mod typed;

pub use assemble::{AssembleOptions, Part, Rendered, assemble, assemble_around};
pub use items::Items;
pub use piece::{Origin, RenderedRound, Repair, RepairReason};

use crate::model::{WireFormat, shown::ShownRound};

/// How rounds are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RoundStyle {
    /// For which provider.
    pub format: WireFormat,
    /// Puts the author's or the lane's name before user text.
    pub label_authors: bool,
}

/// Writes one round in one format, independent of its neighbours.
#[must_use]
pub fn round(round: &ShownRound, style: &RoundStyle) -> RenderedRound {
    if style.format == WireFormat::Typed {
        return typed::round(round);
    }
    let mended = mend::round(round, *style);
    let pieces = match style.format {
        WireFormat::AnthropicMessages | WireFormat::Typed => anthropic::pieces(&mended.steps),
        WireFormat::OpenAiChat => chat::pieces(&mended.steps),
        WireFormat::OpenAiResponses => responses::pieces(&mended.steps),
    };
    RenderedRound::new(pieces, mended.repairs)
}
