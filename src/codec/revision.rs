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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::model::{ContextItem, Pin, PinId, Placement, SeqRange, Timestamp, View, WireFormat};

    fn pin() -> Pin {
        Pin {
            id: PinId::new("p"),
            view: ViewName::new("side"),
            rows: SeqRange { first: Seq(3), last: Seq(5) },
            reason: "why".into(),
            author: "ann".into(),
            create_time: Timestamp { seconds: 7, nanos: 9 },
            since: Revision::default(),
            until: None,
        }
    }

    fn view() -> View {
        View {
            name: ViewName::new("side"),
            preset: "off".into(),
            overrides_json: Bytes::from_static(b"{}"),
            policy_json: Bytes::from_static(br#"{"a":1}"#),
            model: None,
            reductions_revision: Revision::default(),
        }
    }

    fn item() -> ContextItem {
        ContextItem {
            name: "rules".into(),
            placement: Placement::Tools,
            content: Bytes::from_static(b"[]"),
            format: Some(WireFormat::OpenAiChat),
            view: Some(ViewName::new("side")),
            tokens: 0,
        }
    }

    #[test]
    fn a_change_comes_back_as_it_was() {
        let labels = BTreeMap::from([("a".to_owned(), "b".to_owned())]);
        let without_content = ContextItem { content: Bytes::new(), ..item() };
        for (change, expected) in [
            (Change::Pinned(pin()), None),
            (Change::Unpinned(pin()), None),
            (Change::ViewSet(Box::new(view())), None),
            (Change::ViewDeleted(ViewName::new("side")), None),
            (Change::SessionUpdated { display_name: "n".into(), labels }, None),
            (Change::Appended { first: Seq(1), last: Seq(2), lane: "l".into() }, None),
            (Change::ItemSet(Box::new(item())), Some(Change::ItemSet(Box::new(without_content)))),
        ] {
            let time = Timestamp { seconds: 1, nanos: 2 };
            let entry = RevisionEntry { revision: Revision(4), time, author: "bob".into(), change };
            let message = to_pb(&entry, &SessionId::new("s"));
            assert_eq!(size(&entry, &SessionId::new("s")), message.encoded_len());
            let change = expected.unwrap_or_else(|| entry.change.clone());
            assert_eq!(from_pb(message).unwrap(), RevisionEntry { change, ..entry });
        }
    }

    #[test]
    fn a_change_of_nothing_is_told() {
        let empty = pb::Revision { revision: 1, ..Default::default() };
        assert_eq!(from_pb(empty).unwrap_err().field, "change");
        let rowless =
            pb::Revision { change: Some(C::Pinned(pb::Pin::default())), ..Default::default() };
        assert_eq!(from_pb(rowless).unwrap_err().field, "pinned.rows");
    }
}
