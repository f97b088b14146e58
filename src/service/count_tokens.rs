//! What text or messages would count as.

use super::{
    Ctx, Result,
    append_turn::{Payload, check_payload},
    fields::Fields,
    model_choice::ModelInput,
    off_thread, payload_error,
};
use crate::{
    ingest,
    model::{Namespace, WireFormat},
    tokens::{self, calibration::calibrate},
};

/// What counts, whatever the model: its factor is what differs.
const TOKENIZER: &str = "o200k_base";

/// What to count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Countable {
    /// Words.
    Text(String),
    /// Messages in a provider's shape.
    Payload(Payload),
}

/// A count.
#[derive(Debug, Clone, PartialEq)]
pub struct CountedTokens {
    /// The tokenizer's.
    pub tokens: i64,
    /// That times the model's factor.
    pub calibrated_tokens: i64,
    /// Its name.
    pub tokenizer: String,
}

/// Counts.
///
/// # Errors
///
/// [`super::Error::InvalidField`], [`super::Error::InvalidPayload`].
pub async fn count_tokens(
    ctx: &Ctx,
    model: &ModelInput,
    content: Option<Countable>,
) -> Result<CountedTokens> {
    let mut fields = Fields::new();
    model.check(&mut fields, "model");
    match &content {
        None => fields.wrong("content", "expected `text` or `payload`, found neither"),
        Some(Countable::Payload(payload)) => check_payload(&mut fields, payload),
        Some(Countable::Text(_)) => {}
    }
    fields.finish()?;
    let tokens = match content {
        None => 0,
        Some(Countable::Text(text)) => {
            i64::from(off_thread(text.len(), move || tokens::count_text(&text)).await?)
        }
        Some(Countable::Payload(payload)) => {
            let limits = payload_error::ingest_limits(&ctx.limits);
            off_thread(payload.json.len(), move || count_payload(&payload, &limits)).await??
        }
    };
    let factor = ctx.factor_of(Namespace::DEFAULT, &model.name).await?;
    Ok(CountedTokens {
        tokens,
        calibrated_tokens: calibrate(tokens, factor),
        tokenizer: TOKENIZER.to_owned(),
    })
}

fn count_payload(payload: &Payload, limits: &ingest::Limits) -> Result<i64> {
    let format = payload.format.unwrap_or(WireFormat::Typed);
    let parsed = ingest::payload(format, &payload.json, limits)?;
    Ok(parsed.messages.iter().map(|it| tokens::message(it).total).sum())
}
