//! Lists sessions, newest first.

use std::collections::BTreeMap;

use super::{Ctx, Error, Result, fields::Fields, page};
use crate::{
    model::{Namespace, Session, Timestamp},
    store::{Page, SessionFilter},
};

/// A page ends early rather than outgrow what stock clients take.
const PAGE_BYTES: usize = 2 * 1024 * 1024;

/// Which sessions, and which page of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListSessions {
    /// How many.
    pub page_size: i32,
    /// Where to go on; empty: at the start.
    pub page_token: String,
    /// Only sessions that bear all of these.
    pub labels: BTreeMap<String, String>,
    /// Only children of this session; empty: all.
    pub parent_session_id: String,
    /// Only forks of this session; empty: all.
    pub fork_origin_session_id: String,
}

/// A page of sessions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListedSessions {
    /// Newest first.
    pub sessions: Vec<Session>,
    /// Empty at the end.
    pub next_page_token: String,
}

/// Lists sessions.
///
/// # Errors
///
/// [`Error::InvalidField`], [`Error::InvalidPageToken`].
pub async fn list_sessions(ctx: &Ctx, input: ListSessions) -> Result<ListedSessions> {
    let mut fields = Fields::new();
    let limit = page::size(&mut fields, input.page_size);
    fields.labels("labels", &input.labels, ctx.limits.labels);
    for (field, id) in [
        ("parent_session_id", &input.parent_session_id),
        ("fork_origin_session_id", &input.fork_origin_session_id),
    ] {
        if !id.is_empty() {
            fields.session(field, id);
        }
    }
    fields.finish()?;
    let query = query(&input);
    let after = query.key(&input.page_token)?.map(|key| decode_key(&key)).transpose()?;
    let filter = SessionFilter {
        namespace: Namespace::DEFAULT.to_owned(),
        labels: input.labels,
        parent_session_id: input.parent_session_id,
        fork_origin_session_id: input.fork_origin_session_id,
    };
    // One more than asked: it tells whether there is another page.
    let mut sessions = ctx.store.list_sessions(&filter, Page { limit: limit + 1, after }).await?;
    let more = sessions.len() > limit;
    let fits = how_many_fit(&sessions).min(limit);
    let cut = more || fits < sessions.len();
    sessions.truncate(fits);
    let next_page_token = match sessions.last() {
        Some(last) if cut => query.token(&encode_key(last)),
        _ => String::new(),
    };
    Ok(ListedSessions { sessions, next_page_token })
}

fn query(input: &ListSessions) -> page::Query {
    let query = page::Query::new("ListSessions")
        .with(&input.parent_session_id)
        .with(&input.fork_origin_session_id);
    input.labels.iter().fold(query, |query, (key, value)| query.with(key).with(value))
}

fn how_many_fit(sessions: &[Session]) -> usize {
    let mut bytes = 0;
    let fits = sessions.iter().take_while(|session| {
        bytes += bytes_of(session);
        bytes <= PAGE_BYTES
    });
    fits.count().max(1)
}

fn bytes_of(session: &Session) -> usize {
    let labels: usize = session.labels.iter().map(|(key, value)| key.len() + value.len()).sum();
    let views: usize =
        session.views.iter().map(|it| it.overrides_json.len() + it.policy_json.len() + 256).sum();
    512 + session.display_name.len() + labels + views
}

fn encode_key(session: &Session) -> Vec<u8> {
    let time = session.create_time;
    let mut key = time.seconds.to_le_bytes().to_vec();
    key.extend_from_slice(&time.nanos.to_le_bytes());
    key.extend_from_slice(session.id.as_str().as_bytes());
    key
}

fn decode_key(key: &[u8]) -> Result<(Timestamp, String)> {
    let (seconds, rest) = key.split_first_chunk().ok_or(Error::InvalidPageToken)?;
    let (nanos, id) = rest.split_first_chunk().ok_or(Error::InvalidPageToken)?;
    let id = std::str::from_utf8(id).map_err(|_| Error::InvalidPageToken)?;
    let time =
        Timestamp { seconds: i64::from_le_bytes(*seconds), nanos: i32::from_le_bytes(*nanos) };
    Ok((time, id.to_owned()))
}
