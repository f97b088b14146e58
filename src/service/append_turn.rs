//! Appends what an agent did.
//!
//! Everything that does not depend on where the messages go happens here, off
//! the async threads where it is much: checks, counting, encoding, hashing. The
//! store's writer then only places and writes them.

mod oddities;
mod prepare;

use bytes::Bytes;

use super::{Ctx, Result, changes, fields::Fields, off_thread};
use crate::{
    model::{Message, Revision, Seq, TokenBudget, WireFormat},
    store::{Append, Appended},
};

pub use oddities::AppendWarning;

/// Messages to append, all or none.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AppendTurn {
    /// Where.
    pub session_id: String,
    /// Typed messages …
    pub messages: Vec<Message>,
    /// … or one payload in a provider's own shape.
    pub payload: Option<Payload>,
    /// Refuse where the first would not get this seq.
    pub expected_next_seq: Option<i64>,
    /// For messages that name none.
    pub author: String,
    /// For messages that name none.
    pub lane: String,
    /// For assistant messages that name none.
    pub context_fingerprint: String,
    /// For retries; empty: none.
    pub request_id: String,
    /// Whose budget to tell; empty: `main`.
    pub view: String,
}

/// JSON in a provider's shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    /// Whose; `None` where the caller named nothing.
    pub format: Option<WireFormat>,
    /// The JSON, as it came.
    pub json: Bytes,
}

/// What an append came to.
#[derive(Debug, Clone, PartialEq)]
pub struct AppendedTurn {
    /// The first message's seq.
    pub first_seq: Seq,
    /// The last one's.
    pub last_seq: Seq,
    /// The revision that it made.
    pub revision: Revision,
    /// True where this answers a retry.
    pub replayed: bool,
    /// After the append; `None` where the view is not in memory.
    pub budget: Option<TokenBudget>,
    /// What a projection will have to mend.
    pub warnings: Vec<AppendWarning>,
}

/// Appends messages. Durable when it returns.
///
/// # Errors
///
/// * [`super::Error::InvalidField`], [`super::Error::InvalidPayload`],
///   [`super::Error::MessageTooLarge`]: nothing was written.
/// * [`super::Error::SessionNotFound`].
/// * [`super::Error::SeqConflict`] where `expected_next_seq` does not hold.
/// * [`super::Error::IdempotencyKeyReused`].
pub async fn append_turn(ctx: &Ctx, input: AppendTurn) -> Result<AppendedTurn> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", &input.session_id);
    let view = fields.view("view", &input.view);
    check(&mut fields, &input);
    fields.finish()?;
    let expected_next_seq = input.expected_next_seq.map(Seq);
    let (author, request_id) = (input.author.clone(), input.request_id.clone());
    let limits = ctx.limits.clone();
    let bytes = prepare::rough_size(&input);
    let prepared = off_thread(bytes, move || prepare::prepare(input, &limits)).await??;
    let at = ctx.clock.now();
    let append = Append {
        session: session.clone(),
        rows: prepared.rows.clone(),
        expected_next_seq,
        author,
        at,
        request: super::fields::request_key(&request_id, || prepared.digest),
    };
    let appended = changes::write(
        ctx,
        &session,
        |store| async move { store.append(append).await },
        |appended: &Appended| appended.revision,
    )
    .await?;
    let mut warnings = oddities::of_append(&appended, prepared.oddities);
    warnings.extend(oddities::of_fingerprints(&prepared.rows, appended.first_seq));
    let rows = &prepared.rows;
    let budget = changes::rows_appended(ctx, &session, &view, rows, &appended, at).await;
    Ok(AppendedTurn {
        first_seq: appended.first_seq,
        last_seq: appended.last_seq,
        revision: appended.revision,
        replayed: appended.replayed,
        budget,
        warnings,
    })
}

fn check(fields: &mut Fields, input: &AppendTurn) {
    fields.request_id(&input.request_id);
    fields.name("author", &input.author);
    fields.name("lane", &input.lane);
    fields.name("context_fingerprint", &input.context_fingerprint);
    if let Some(expected) = input.expected_next_seq {
        fields.seq("expected_next_seq", expected);
    }
    match (&input.payload, input.messages.is_empty()) {
        (None, true) => fields.wrong("messages", "expected at least one message, or a payload"),
        (Some(_), false) => fields.wrong("payload", "expected messages or a payload, found both"),
        (Some(payload), true) => check_payload(fields, payload),
        (None, false) => {}
    }
}

/// Notes what is wrong with a payload before it is read.
pub(super) fn check_payload(fields: &mut Fields, payload: &Payload) {
    match payload.format {
        None => fields.wrong("payload.format", "expected a provider's format, found none"),
        Some(WireFormat::Typed) => {
            fields.wrong("payload.format", "expected a provider's format, found `TYPED`");
        }
        Some(_) => {}
    }
}
