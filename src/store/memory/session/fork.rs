//! Forks: a session as it was before its next row came.

use std::collections::BTreeSet;

use super::{
    ItemVersion, SessionState,
    past::{Changed, Recorded},
};
use crate::{
    model::{ForkOrigin, Overlay, Pin, Revision, Seq, Session, View, ViewName},
    rounds::{Ledger, MessageShape},
    store::{Entity, Error, ForkSession, rules},
};

impl SessionState {
    /// A new session that has the rows up to `fork.seq`, and of everything else
    /// what held then.
    pub(in super::super) fn fork(&self, fork: &ForkSession) -> Result<Self, Error> {
        let newest = Seq(self.session.next_seq.0 - 1);
        let last = fork.seq.unwrap_or(newest);
        if fork.seq.is_some_and(|it| it < Seq(1) || it > newest) {
            return Err(Error::NotFound(Entity::Row(last)));
        }
        let count = usize::try_from(last.0).unwrap_or_default();
        let next = self.rows.get(count);
        let revision = next.map_or(self.session.revision, |row| Revision(row.revision.0 - 1));
        let rows = self.rows.iter().take(count).cloned().collect::<Vec<_>>();
        let mut ledger = Ledger::new();
        for row in &rows {
            ledger.place(&MessageShape::of(&row.message));
        }
        Ok(Self {
            session: Session {
                tokens: rows.iter().map(|it| it.tokens.total).sum(),
                ..self.session_of(fork, last, revision)
            },
            rows,
            sizes: self.sizes.iter().take(count).copied().collect(),
            ledger,
            overlays: self.overlays.iter().filter_map(|it| overlay_at(it, revision)).collect(),
            pins: self.pins.iter().filter_map(|it| pin_at(it, revision)).collect(),
            plans: Vec::new(),
            items: self.items.iter().filter_map(|it| item_at(it, revision)).collect(),
            past: self.past_at(revision, last),
        })
    }

    fn session_of(&self, fork: &ForkSession, last: Seq, revision: Revision) -> Session {
        let named = Some(&fork.display_name).filter(|it| !it.is_empty());
        let session_id = self.session.id.clone();
        Session {
            id: fork.id.clone(),
            display_name: named.unwrap_or(&self.session.display_name).clone(),
            create_time: rules::kept(fork.at),
            update_time: rules::kept(fork.at),
            next_seq: last.next(),
            revision,
            fork_origin: Some(ForkOrigin { session_id, seq: last, revision }),
            views: self.views_at(revision),
            ..self.session.clone()
        }
    }

    fn views_at(&self, at: Revision) -> Vec<View> {
        let set = self.past.iter().filter_map(|it| match &it.changed {
            Changed::ViewSet(view) => Some(&view.name),
            _ => None,
        });
        let names: BTreeSet<&ViewName> = set.collect();
        let mut views: Vec<View> =
            names.into_iter().filter_map(|name| self.view_at(name, at)).collect();
        views.sort_by(|a, b| rules::in_order(&a.name, &b.name));
        views
    }

    /// What is remembered up to a revision. At that revision all rows up to
    /// `last` are there, also where they came with the next one.
    fn past_at(&self, at: Revision, last: Seq) -> Vec<Recorded> {
        let mut past: Vec<Recorded> =
            self.past.iter().filter(|it| it.revision <= at).cloned().collect();
        if let Some(newest) = past.last_mut() {
            newest.next_seq = last.next();
            if let Changed::Appended { last: appended, .. } = &mut newest.changed {
                *appended = last;
            }
        }
        past
    }
}

/// The overlay as it stood at a revision; `None` where it was not there yet.
fn overlay_at(overlay: &Overlay, at: Revision) -> Option<Overlay> {
    let rollback = overlay.rollback.clone().filter(|it| it.revision <= at);
    (overlay.commit_revision <= at).then(|| Overlay { rollback, ..overlay.clone() })
}

/// The pin as it stood at a revision; `None` where it was not there yet.
fn pin_at(pin: &Pin, at: Revision) -> Option<Pin> {
    let until = pin.until.filter(|it| *it <= at);
    (pin.since <= at).then(|| Pin { until, ..pin.clone() })
}

/// The item as it stood at a revision; `None` where it was not there yet.
fn item_at(version: &ItemVersion, at: Revision) -> Option<ItemVersion> {
    let until = version.until.filter(|it| *it <= at);
    let (item, since) = (version.item.clone(), version.since);
    (since <= at).then_some(ItemVersion { item, since, until })
}
