//! What changed, revision by revision, and how things stood at one.

use std::collections::BTreeMap;

use super::{SessionState, views::not_found};
use crate::{
    model::{
        Change, ContextItem, OverlayId, Pin, PinId, Revision, RevisionEntry, Seq, Timestamp, View,
        ViewName,
    },
    store::{Entity, Error, Page, StateAt},
};

/// One revision, as it is remembered: what it names is looked up when asked.
#[derive(Debug, Clone)]
pub(super) struct Recorded {
    pub revision: Revision,
    pub time: Timestamp,
    pub author: String,
    /// Where the next row goes after it.
    pub next_seq: Seq,
    pub changed: Changed,
}

/// What a revision changed.
#[derive(Debug, Clone)]
pub(super) enum Changed {
    Appended {
        first: Seq,
        last: Seq,
        lane: String,
    },
    Committed(OverlayId),
    RolledBack(OverlayId),
    Pinned(PinId),
    Unpinned(PinId),
    ViewSet(Box<View>),
    ViewDeleted(ViewName),
    /// Without its content.
    ItemSet(Box<ContextItem>),
    SessionUpdated {
        display_name: String,
        labels: BTreeMap<String, String>,
    },
}

impl SessionState {
    pub(in super::super) fn list_revisions(
        &self,
        page: &Page<Revision>,
    ) -> Result<Vec<RevisionEntry>, Error> {
        let after = page.after.unwrap_or_default();
        let entry = |it: &Recorded| {
            Ok(RevisionEntry {
                revision: it.revision,
                time: it.time,
                author: it.author.clone(),
                change: self.change(&it.changed)?,
            })
        };
        self.past.iter().filter(|it| it.revision > after).take(page.limit).map(entry).collect()
    }

    fn change(&self, changed: &Changed) -> Result<Change, Error> {
        let overlay = |id| self.overlay(id).cloned().map(Box::new);
        let pin = |id: &PinId| -> Result<Pin, Error> {
            self.get_pin(id).cloned().ok_or_else(|| Error::NotFound(Entity::Pin(id.to_string())))
        };
        Ok(match changed {
            Changed::Appended { first, last, lane } => {
                Change::Appended { first: *first, last: *last, lane: lane.clone() }
            }
            Changed::Committed(id) => Change::OverlayCommitted(overlay(id)?),
            Changed::RolledBack(id) => Change::OverlayRolledBack(overlay(id)?),
            Changed::Pinned(id) => Change::Pinned(pin(id)?),
            Changed::Unpinned(id) => Change::Unpinned(pin(id)?),
            Changed::ViewSet(view) => Change::ViewSet(view.clone()),
            Changed::ViewDeleted(name) => Change::ViewDeleted(name.clone()),
            Changed::ItemSet(item) => Change::ItemSet(item.clone()),
            Changed::SessionUpdated { display_name, labels } => Change::SessionUpdated {
                display_name: display_name.clone(),
                labels: labels.clone(),
            },
        })
    }

    pub(in super::super) fn state_at(
        &self,
        name: &ViewName,
        at: Revision,
    ) -> Result<StateAt, Error> {
        let newest = self.session.revision;
        let recorded = self.past.iter().find(|it| it.revision == at);
        let recorded = recorded.ok_or(Error::RevisionNotFound { revision: at, newest })?;
        let view = self.view_at(name, at).ok_or_else(|| not_found(name))?;
        let deleted_at = self.deleted_at(name, at);
        let held = self
            .overlays
            .iter()
            .filter(|it| it.view == *name && it.commit_revision > deleted_at && it.holds_at(at));
        Ok(StateAt { view, overlays: held.cloned().collect(), next_seq: recorded.next_seq })
    }

    /// The view as it was: every change of it up to then, one after the other.
    pub(super) fn view_at(&self, name: &ViewName, at: Revision) -> Option<View> {
        let mut view: Option<View> = None;
        for recorded in self.past.iter().take_while(|it| it.revision <= at) {
            match &recorded.changed {
                Changed::ViewSet(set) if set.name == *name => view = Some((**set).clone()),
                Changed::ViewDeleted(deleted) if deleted == name => view = None,
                changed if self.reduces(changed, name) => {
                    if let Some(view) = &mut view {
                        view.reductions_revision = recorded.revision;
                    }
                }
                _ => {}
            }
        }
        view
    }

    /// Says whether a change is one of a view's overlays or pins.
    fn reduces(&self, changed: &Changed, name: &ViewName) -> bool {
        match changed {
            Changed::Committed(id) | Changed::RolledBack(id) => {
                self.overlay(id).is_ok_and(|it| it.view == *name)
            }
            Changed::Pinned(id) | Changed::Unpinned(id) => {
                self.get_pin(id).is_some_and(|it| it.view == *name)
            }
            _ => false,
        }
    }
}
