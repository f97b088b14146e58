//! Between the model's words and the contract's messages.
//!
//! The stored form of a message is its protobuf encoding: what the contract
//! promises to keep readable is what lies in the store, and the digest of a row
//! is BLAKE3 over exactly those bytes. Nothing here looks at a policy, a clock
//! or the store. Start reading at [`encode`] and [`decode`].

mod block;
pub mod budget;
mod error;
mod message;
pub mod overlay;
pub mod pin;
pub mod range;
pub mod revision;
pub mod session;
pub mod time;

use bytes::{Buf, Bytes};
use prost::Message as _;

use crate::{model::Message, proto::v1 as pb};

pub use error::Error;
pub use message::{format_from_pb, format_to_pb, from_pb, role_from_pb, role_to_pb, to_pb};

/// Encodes a message into its stored form.
///
/// The same message always gives the same bytes: fields go out in the order of
/// their numbers and the contract's messages hold no maps.
#[must_use]
pub fn encode(message: &Message) -> Bytes {
    Bytes::from(to_pb(message).encode_to_vec())
}

/// Decodes a stored form.
///
/// Given as [`Bytes`], long content is shared with it and not copied.
///
/// # Errors
///
/// Names the field that is not as expected.
pub fn decode(stored: impl Buf) -> Result<Message, Error> {
    let message = pb::Message::decode(stored).map_err(Error::undecodable)?;
    from_pb(message)
}

/// BLAKE3 over a stored form.
#[must_use]
pub fn digest(stored: &[u8]) -> [u8; 32] {
    *blake3::hash(stored).as_bytes()
}

#[cfg(test)]
mod tests;
