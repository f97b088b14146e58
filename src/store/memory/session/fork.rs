//! Forks: a session as it was before its next row came.

use super::{ItemVersion, SessionState};
use crate::{
    model::{ForkOrigin, Overlay, Revision, Seq, Session},
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
        let (revision, views) = match self.before.get(count) {
            Some((revision, views)) => (*revision, views.clone()),
            None => (self.session.revision, self.session.views.clone()),
        };
        let rows = self.rows.iter().take(count).cloned().collect::<Vec<_>>();
        let mut ledger = Ledger::new();
        for row in &rows {
            ledger.place(&MessageShape::of(&row.message));
        }
        let at = rules::kept(fork.at);
        let session = Session {
            namespace: self.session.namespace.clone(),
            id: fork.id.clone(),
            display_name: if fork.display_name.is_empty() {
                self.session.display_name.clone()
            } else {
                fork.display_name.clone()
            },
            labels: self.session.labels.clone(),
            create_time: at,
            update_time: at,
            next_seq: last.next(),
            revision,
            parent_session_id: self.session.parent_session_id.clone(),
            fork_origin: Some(ForkOrigin {
                session_id: self.session.id.clone(),
                seq: last,
                revision,
            }),
            tokens: rows.iter().map(|it| it.tokens.total).sum(),
            views,
        };
        Ok(Self {
            session,
            rows,
            sizes: self.sizes.iter().take(count).copied().collect(),
            before: self.before.iter().take(count).cloned().collect(),
            ledger,
            overlays: self.overlays.iter().filter_map(|it| overlay_at(it, revision)).collect(),
            items: self.items.iter().filter_map(|it| item_at(it, revision)).collect(),
        })
    }
}

/// The overlay as it stood at a revision; `None` where it was not there yet.
fn overlay_at(overlay: &Overlay, at: Revision) -> Option<Overlay> {
    let rollback = overlay.rollback.clone().filter(|it| it.revision <= at);
    (overlay.commit_revision <= at).then(|| Overlay { rollback, ..overlay.clone() })
}

/// The item as it stood at a revision; `None` where it was not there yet.
fn item_at(version: &ItemVersion, at: Revision) -> Option<ItemVersion> {
    let until = version.until.filter(|it| *it <= at);
    let (item, since) = (version.item.clone(), version.since);
    (since <= at).then_some(ItemVersion { item, since, until })
}
