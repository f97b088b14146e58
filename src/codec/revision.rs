//! What changed at each revision.

use bytes::Bytes;
use prost::Message as _;

use super::{Error, overlay, pin, session, time};
use crate::{
    model::{Change, Revision, RevisionEntry, Seq, SessionId, ViewName},
    proto::v1::{self as pb, revision::Change as C},
};

/// To the contract's form.
#[must_use]
pub fn to_pb(entry: &RevisionEntry, session: &SessionId) -> pb::Revision {
    pb::Revision {
        revision: entry.revision.0,
        time: Some(time::to_pb(entry.time)),
        author: entry.author.clone(),
        change: Some(change_to_pb(&entry.change, session)),
    }
}

/// Bytes of the contract's form.
#[must_use]
pub fn size(entry: &RevisionEntry, session: &SessionId) -> usize {
    to_pb(entry, session).encoded_len()
}

/// From the contract's form, which does not tell what [`pin::from_pb`] and
/// [`session::view_from_pb`] say it does not.
///
/// # Errors
///
/// Names the field that is not as expected.
pub fn from_pb(entry: pb::Revision) -> Result<RevisionEntry, Error> {
    let time = entry.time.map(time::from_pb).transpose();
    let change = entry.change.ok_or_else(|| Error::new("change", "set"))?;
    Ok(RevisionEntry {
        revision: Revision(entry.revision),
        time: time.map_err(|err| err.within("time"))?.unwrap_or_default(),
        author: entry.author,
        change: change_from_pb(change)?,
    })
}

fn change_to_pb(change: &Change, session: &SessionId) -> C {
    match change {
        Change::Appended { first, last, lane } => C::Appended(pb::revision::Appended {
            first_seq: first.0,
            last_seq: last.0,
            lane: lane.clone(),
        }),
        Change::OverlayCommitted(it) => C::OverlayCommitted(overlay::to_pb(it, session)),
        Change::OverlayRolledBack(it) => C::OverlayRolledBack(overlay::to_pb(it, session)),
        Change::Pinned(it) => C::Pinned(pin::to_pb(it)),
        Change::Unpinned(it) => C::Unpinned(pin::to_pb(it)),
        Change::ViewSet(it) => C::ViewSet(session::view_to_pb(it)),
        Change::ViewDeleted(name) => C::ViewDeleted(name.to_string()),
        Change::ItemSet(item) => {
            let item = pb::ContextItem { content: Bytes::new(), ..session::item_to_pb(item) };
            C::ContextItemSet(item)
        }
        Change::SessionUpdated { display_name, labels } => {
            C::SessionUpdated(pb::revision::SessionUpdated {
                display_name: display_name.clone(),
                labels: labels.clone().into_iter().collect(),
            })
        }
    }
}

fn change_from_pb(change: C) -> Result<Change, Error> {
    Ok(match change {
        C::Appended(it) => {
            Change::Appended { first: Seq(it.first_seq), last: Seq(it.last_seq), lane: it.lane }
        }
        C::OverlayCommitted(it) => Change::OverlayCommitted(Box::new(
            overlay::from_pb(it).map_err(|err| err.within("overlay_committed"))?,
        )),
        C::OverlayRolledBack(it) => Change::OverlayRolledBack(Box::new(
            overlay::from_pb(it).map_err(|err| err.within("overlay_rolled_back"))?,
        )),
        C::Pinned(it) => Change::Pinned(pin::from_pb(it).map_err(|err| err.within("pinned"))?),
        C::Unpinned(it) => {
            Change::Unpinned(pin::from_pb(it).map_err(|err| err.within("unpinned"))?)
        }
        C::ViewSet(it) => Change::ViewSet(Box::new(session::view_from_pb(it))),
        C::ViewDeleted(name) => Change::ViewDeleted(ViewName::new(&name)),
        C::ContextItemSet(it) => Change::ItemSet(Box::new(
            session::item_from_pb(it).map_err(|err| err.within("context_item_set"))?,
        )),
        C::SessionUpdated(it) => Change::SessionUpdated {
            display_name: it.display_name,
            labels: it.labels.into_iter().collect(),
        },
    })
}
