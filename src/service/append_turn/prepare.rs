//! Messages to rows: everything that needs no store.

use std::sync::Arc;

use bytes::Bytes;

use super::{
    AppendTurn,
    oddities::{self, AppendWarning},
};
use crate::{
    codec, ingest,
    model::{Message, Role, Seq, WireFormat},
    rounds::MessageShape,
    service::{
        Error, Limits, Result, check_message::check_message, content_size, digest_of,
        fields::Fields, payload_error,
    },
    store::NewRow,
    tokens,
};

/// Rows that are ready to be placed.
pub(super) struct Prepared {
    pub(super) rows: Vec<NewRow>,
    /// Over what the caller sent, for retries.
    pub(super) digest: [u8; 32],
    /// What the messages alone give away; `seq` counts from 0.
    pub(super) oddities: Vec<AppendWarning>,
}

/// About how many bytes there are to work on.
pub(super) fn rough_size(input: &AppendTurn) -> usize {
    let payload = input.payload.as_ref().map_or(0, |it| it.json.len());
    let of = |it| content_size::sizes(Seq(0), it).into_iter().map(|(_, size)| size).sum::<usize>();
    payload + input.messages.iter().map(of).sum::<usize>()
}

pub(super) fn prepare(mut input: AppendTurn, limits: &Limits) -> Result<Prepared> {
    let payload = input.payload.take();
    let mut messages = match &payload {
        None => typed(std::mem::take(&mut input.messages), limits)?,
        Some(it) => {
            let format = it.format.unwrap_or(WireFormat::Typed);
            parsed(format, &it.json, limits)?
        }
    };
    for message in &mut messages {
        fill_in(message, &input);
    }
    let rows = messages.into_iter().map(|it| row(it, limits)).collect::<Result<Vec<_>>>()?;
    let size: usize = rows.iter().map(|it| it.encoded.len()).sum();
    if size > limits.request_bytes {
        return Err(too_large(size, limits.request_bytes));
    }
    let messages = rows.iter().map(|row| &row.message).enumerate();
    let oddities = messages.flat_map(|(index, it)| oddities::of_message(index, it)).collect();
    let digest = match payload {
        Some(payload) => digest_of(&[
            b"append_payload",
            format!("{:?}", payload.format).as_bytes(),
            &payload.json,
            input.author.as_bytes(),
            input.lane.as_bytes(),
            input.context_fingerprint.as_bytes(),
        ]),
        None => digest_of_rows(&rows),
    };
    Ok(Prepared { rows, digest, oddities })
}

fn typed(messages: Vec<Message>, limits: &Limits) -> Result<Vec<Message>> {
    let mut fields = Fields::new();
    check_count(&mut fields, "messages", messages.len(), limits);
    for (index, message) in messages.iter().enumerate() {
        if fields.is_full() {
            break;
        }
        check_message(&mut fields, &format!("messages[{index}]"), message, limits);
    }
    fields.finish()?;
    Ok(messages)
}

fn parsed(format: WireFormat, json: &Bytes, limits: &Limits) -> Result<Vec<Message>> {
    let payload = ingest::payload(format, json, &payload_error::ingest_limits(limits))?;
    let mut fields = Fields::new();
    check_count(&mut fields, "payload", payload.messages.len(), limits);
    fields.finish()?;
    if payload.messages.is_empty() {
        return Err(Error::InvalidPayload {
            format: payload_error::format_name(format).to_owned(),
            position: "the start".to_owned(),
            detail: "expected at least one message, found none".to_owned(),
        });
    }
    Ok(payload.messages)
}

fn check_count(fields: &mut Fields, field: &str, count: usize, limits: &Limits) {
    let most = limits.messages_per_request;
    if count > most {
        fields.wrong(field, format!("expected at most {most} messages, found {count}"));
    }
}

fn fill_in(message: &mut Message, input: &AppendTurn) {
    let fill = |field: &mut String, with: &String| {
        if field.is_empty() {
            field.clone_from(with);
        }
    };
    fill(&mut message.author, &input.author);
    fill(&mut message.lane, &input.lane);
    if message.role == Role::Assistant {
        fill(&mut message.context_fingerprint, &input.context_fingerprint);
    }
}

fn row(message: Message, limits: &Limits) -> Result<NewRow> {
    let encoded = codec::encode(&message);
    if encoded.len() > limits.message_bytes {
        return Err(too_large(encoded.len(), limits.message_bytes));
    }
    Ok(NewRow {
        digest: blake3::hash(&encoded).into(),
        tokens: tokens::message(&message),
        shape: MessageShape::of(&message),
        message: Arc::new(message),
        encoded,
    })
}

fn digest_of_rows(rows: &[NewRow]) -> [u8; 32] {
    let mut parts: Vec<&[u8]> = vec![b"append_messages"];
    parts.extend(rows.iter().map(|row| row.digest.as_slice()));
    digest_of(&parts)
}

fn too_large(size: usize, limit: usize) -> Error {
    Error::MessageTooLarge { size: size as u64, limit: limit as u64 }
}
