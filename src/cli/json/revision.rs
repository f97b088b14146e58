//! What changed in a session.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{ItemJson, OverlayJson, PinJson, ViewJson};
use crate::{
    cli::names,
    proto::v1::{self, revision::Change},
};

/// `Revision`; what changed stands under the contract's name of it.
#[derive(Serialize)]
pub(in crate::cli) struct RevisionJson<'a> {
    revision: i64,
    time: String,
    author: &'a str,
    #[serde(flatten)]
    change: Option<ChangeJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum ChangeJson<'a> {
    Appended(AppendedJson<'a>),
    OverlayCommitted(Box<OverlayJson<'a>>),
    OverlayRolledBack(Box<OverlayJson<'a>>),
    Pinned(PinJson<'a>),
    Unpinned(PinJson<'a>),
    ViewSet(ViewJson<'a>),
    ViewDeleted(&'a str),
    ContextItemSet(ItemJson<'a>),
    SessionUpdated(UpdatedJson<'a>),
}

#[derive(Serialize)]
struct AppendedJson<'a> {
    first_seq: i64,
    last_seq: i64,
    lane: &'a str,
}

#[derive(Serialize)]
struct UpdatedJson<'a> {
    display_name: &'a str,
    labels: BTreeMap<&'a str, &'a str>,
}

impl<'a> RevisionJson<'a> {
    pub(in crate::cli) fn new(revision: &'a v1::Revision) -> Self {
        Self {
            revision: revision.revision,
            time: names::time(revision.time.as_ref()),
            author: &revision.author,
            change: revision.change.as_ref().map(ChangeJson::new),
        }
    }
}

impl<'a> ChangeJson<'a> {
    fn new(change: &'a Change) -> Self {
        match change {
            Change::Appended(rows) => Self::Appended(AppendedJson {
                first_seq: rows.first_seq,
                last_seq: rows.last_seq,
                lane: &rows.lane,
            }),
            Change::OverlayCommitted(overlay) => {
                Self::OverlayCommitted(Box::new(OverlayJson::new(overlay)))
            }
            Change::OverlayRolledBack(overlay) => {
                Self::OverlayRolledBack(Box::new(OverlayJson::new(overlay)))
            }
            Change::Pinned(pin) => Self::Pinned(PinJson::new(pin)),
            Change::Unpinned(pin) => Self::Unpinned(PinJson::new(pin)),
            Change::ViewSet(view) => Self::ViewSet(ViewJson::new(view)),
            Change::ViewDeleted(view) => Self::ViewDeleted(view),
            Change::ContextItemSet(item) => Self::ContextItemSet(ItemJson::new(item)),
            Change::SessionUpdated(updated) => Self::SessionUpdated(UpdatedJson {
                display_name: &updated.display_name,
                labels: updated.labels.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_change_stands_under_its_name() {
        let appended = v1::revision::Appended { first_seq: 3, last_seq: 4, lane: "a".into() };
        let revision = v1::Revision {
            revision: 7,
            change: Some(Change::Appended(appended)),
            ..v1::Revision::default()
        };
        let printed = serde_json::to_value(RevisionJson::new(&revision)).expect("prints");
        let expected = serde_json::json!({"first_seq": 3, "last_seq": 4, "lane": "a"});
        assert_eq!((&printed["revision"], &printed["appended"]), (&7.into(), &expected));

        let change = Some(Change::ViewDeleted("small".into()));
        let revision = v1::Revision { change, ..v1::Revision::default() };
        let printed = serde_json::to_value(RevisionJson::new(&revision)).expect("prints");
        assert_eq!(printed["view_deleted"], "small");
    }
}
