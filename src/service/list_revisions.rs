//! Lists what changed in a session, oldest first.

use super::{Ctx, Error, Result, fields::Fields, overlay_size, page};
use crate::{
    codec,
    model::{Change, Revision, RevisionEntry, SessionId},
    store::Page,
};

/// Entries of one read from the store: each may hold a whole overlay.
const READ_ENTRIES: usize = 64;

/// Which page of a session's revisions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListRevisions {
    /// The session's id.
    pub session_id: String,
    /// How many.
    pub page_size: i32,
    /// Where to go on; empty: at the start.
    pub page_token: String,
}

/// A page of revisions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListedRevisions {
    /// Oldest first.
    pub revisions: Vec<RevisionEntry>,
    /// Empty at the end.
    pub next_page_token: String,
}

/// Lists revisions. A page ends early rather than outgrow what stock clients
/// take.
///
/// # Errors
///
/// [`Error::InvalidField`], [`Error::InvalidPageToken`],
/// [`Error::SessionNotFound`].
pub async fn list_revisions(ctx: &Ctx, input: ListRevisions) -> Result<ListedRevisions> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", &input.session_id);
    let limit = page::size(&mut fields, input.page_size);
    fields.finish()?;
    let query = page::Query::new("list_revisions").with(session.id.as_str());
    let mut after = query.key(&input.page_token)?.map(|key| decode_key(&key)).transpose()?;
    let mut room = page::Room::default();
    let mut revisions = Vec::new();
    loop {
        // One more than asked: it tells whether there is another page.
        let wanted = (limit + 1 - revisions.len()).min(READ_ENTRIES);
        let came = ctx.store.list_revisions(&session, Page { limit: wanted, after }).await?;
        let is_last = came.len() < wanted;
        for entry in came {
            let entry = bounded(entry, &session.id);
            if revisions.len() == limit || !room.takes(codec::revision::size(&entry, &session.id)) {
                let next_page_token = after.map_or_else(String::new, |it| token(&query, it));
                return Ok(ListedRevisions { revisions, next_page_token });
            }
            after = Some(entry.revision);
            revisions.push(entry);
        }
        if is_last {
            return Ok(ListedRevisions { revisions, next_page_token: String::new() });
        }
    }
}

fn bounded(mut entry: RevisionEntry, session: &SessionId) -> RevisionEntry {
    if let Change::OverlayCommitted(overlay) | Change::OverlayRolledBack(overlay) =
        &mut entry.change
    {
        overlay_size::bound(overlay, session);
    }
    entry
}

fn token(query: &page::Query, after: Revision) -> String {
    query.token(&after.0.to_le_bytes())
}

fn decode_key(key: &[u8]) -> Result<Revision> {
    let bytes = key.try_into().map_err(|_| Error::InvalidPageToken)?;
    Ok(Revision(i64::from_le_bytes(bytes)))
}
