//! Makes a session that shares the messages of another up to a point.

use super::{
    Ctx, Error, Result,
    fields::{Fields, request_key},
    limits::TEXT_BYTES,
};
use crate::{
    model::{Seq, Session, SessionId},
    store::{self, Entity, SessionRef},
};

/// A session to fork.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForkSession {
    /// Whose messages are shared.
    pub session_id: String,
    /// Empty: the server makes one.
    pub new_session_id: String,
    /// The last message to share; `None`: the newest.
    pub seq: Option<i64>,
    /// Free text; empty: the origin's.
    pub display_name: String,
    /// For retries; empty: none.
    pub request_id: String,
}

/// Forks a session: the messages up to a point, in the state before the next
/// one came. Neither shows what comes to the other afterwards.
///
/// # Errors
///
/// * [`Error::InvalidField`].
/// * [`Error::SessionNotFound`] where the origin is not there.
/// * [`Error::RangeNotFound`] where the message is not.
/// * [`Error::SessionExists`] where the id is taken.
/// * [`Error::IdempotencyKeyReused`].
pub async fn fork_session(ctx: &Ctx, input: ForkSession) -> Result<Session> {
    let mut fields = Fields::new();
    fields.request_id(&input.request_id);
    fields.text("display_name", &input.display_name, TEXT_BYTES);
    let origin = fields.session("session_id", &input.session_id);
    let id = match input.new_session_id.as_str() {
        "" => SessionId::new(&ctx.ids.next()),
        named => fields.session("new_session_id", named).id,
    };
    let seq = input.seq.map(|it| fields.seq("seq", it));
    fields.finish()?;
    let fork = store::ForkSession {
        origin: origin.clone(),
        id,
        seq,
        request: request_key(&input.request_id, || digest(&input)),
        display_name: input.display_name,
        at: ctx.clock.now(),
    };
    match ctx.store.fork_session(fork).await {
        Ok((session, _)) => Ok(session),
        Err(store::Error::NotFound(Entity::Row(seq))) => Err(not_found(ctx, &origin, seq).await),
        Err(err) => Err(err.into()),
    }
}

/// What is told where the origin has no such message.
async fn not_found(ctx: &Ctx, origin: &SessionRef, seq: Seq) -> Error {
    match ctx.store.get_session(origin).await {
        Ok(session) => {
            let newest = Seq(session.next_seq.0 - 1);
            Error::RangeNotFound { first: seq, last: seq, newest }
        }
        Err(err) => err.into(),
    }
}

/// Over what the caller sent, not over the id that the server makes.
fn digest(input: &ForkSession) -> [u8; 32] {
    // Zero is no message: it stands for the newest.
    let seq = input.seq.unwrap_or_default().to_le_bytes();
    super::digest_of(&[
        b"fork_session",
        input.session_id.as_bytes(),
        input.new_session_id.as_bytes(),
        &seq,
        input.display_name.as_bytes(),
    ])
}
