//! One session in memory, and every change of it.

mod fork;
mod past;
mod pins;
mod plans;
mod views;

use std::sync::Arc;

use bytes::Bytes;

use self::past::{Changed, Recorded};

use crate::{
    model::{
        ContextItem, Overlay, OverlayId, Pin, Revision, Row, Seq, Session, Timestamp, View,
        ViewName, overlay::Rollback,
    },
    rounds::Ledger,
    store::{
        Append, Appended, CommitOverlays, Committed, Entity, Error, ItemAt, NewSession, Plan,
        RollbackOverlay, RolledBack, RowsQuery, SetItem, UpdateSession,
        rules::{self, InForce},
    },
};

/// A session and all that it ever held.
#[derive(Debug)]
pub(super) struct SessionState {
    session: Session,
    rows: Vec<Row>,
    sizes: Vec<usize>,
    ledger: Ledger,
    /// In the order of commits.
    overlays: Vec<Overlay>,
    /// In the order in which they were set.
    pins: Vec<Pin>,
    /// In the order in which they were made.
    plans: Vec<Plan>,
    items: Vec<ItemVersion>,
    /// One for each revision, in order.
    past: Vec<Recorded>,
}

/// A context item and when it held.
#[derive(Debug)]
struct ItemVersion {
    item: ContextItem,
    since: Revision,
    until: Option<Revision>,
}

/// Who rolls back, why and when.
#[derive(Debug, Clone, Copy)]
struct Change<'a> {
    author: &'a str,
    reason: &'a str,
    at: Timestamp,
}

impl SessionState {
    pub(super) fn new(new: NewSession) -> Self {
        let revision = Revision(1);
        let main = View {
            name: ViewName::main(),
            preset: new.main.preset,
            overrides_json: new.main.overrides_json,
            policy_json: new.main.policy_json,
            model: new.main.model,
            reductions_revision: revision,
        };
        let at = rules::kept(new.at);
        let session = Session {
            namespace: new.session.namespace,
            id: new.session.id,
            display_name: new.display_name,
            labels: new.labels,
            create_time: at,
            update_time: at,
            next_seq: Seq(1),
            revision,
            parent_session_id: new.parent_session_id,
            fork_origin: None,
            tokens: 0,
            views: vec![main.clone()],
        };
        let created = Recorded {
            revision,
            time: at,
            author: String::new(),
            next_seq: Seq(1),
            changed: Changed::ViewSet(Box::new(main)),
        };
        Self {
            session,
            rows: Vec::new(),
            sizes: Vec::new(),
            ledger: Ledger::new(),
            overlays: Vec::new(),
            pins: Vec::new(),
            plans: Vec::new(),
            items: Vec::new(),
            past: vec![created],
        }
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// Makes the revision that every change is.
    fn record(&mut self, author: &str, at: Timestamp, changed: Changed) -> Revision {
        self.session.revision = self.session.revision.next();
        self.session.update_time = rules::kept(at);
        self.past.push(Recorded {
            revision: self.session.revision,
            time: self.session.update_time,
            author: author.to_owned(),
            next_seq: match &changed {
                Changed::Appended { last, .. } => last.next(),
                _ => self.session.next_seq,
            },
            changed,
        });
        self.session.revision
    }

    pub(super) fn rename(&mut self, update: UpdateSession) {
        let name = update.display_name.unwrap_or_else(|| self.session.display_name.clone());
        let labels = update.labels.unwrap_or_else(|| self.session.labels.clone());
        if name != self.session.display_name || labels != self.session.labels {
            self.session.display_name.clone_from(&name);
            self.session.labels.clone_from(&labels);
            let changed = Changed::SessionUpdated { display_name: name, labels };
            self.record("", update.at, changed);
        }
    }

    pub(super) fn append(&mut self, append: &Append) -> Result<Appended, Error> {
        let first_seq = self.session.next_seq;
        if let Some(expected) = append.expected_next_seq
            && expected != first_seq
        {
            return Err(Error::SeqMoved { expected, found: first_seq });
        }
        let Some(first) = append.rows.first() else {
            let (last_seq, revision) = (Seq(first_seq.0 - 1), self.session.revision);
            let placements = Vec::new();
            return Ok(Appended { first_seq, last_seq, revision, replayed: false, placements });
        };
        let last = Seq(first_seq.0 + i64::try_from(append.rows.len()).unwrap_or(i64::MAX) - 1);
        let lane = first.shape.lane.clone();
        let changed = Changed::Appended { first: first_seq, last, lane };
        let revision = self.record(&append.author, append.at, changed);
        let mut placements = Vec::with_capacity(append.rows.len());
        for new in &append.rows {
            let placement = self.ledger.place(&new.shape);
            self.rows.push(Row {
                seq: placement.seq,
                turn: placement.turn,
                round: placement.round,
                revision,
                record_time: rules::kept(append.at),
                message: Arc::clone(&new.message),
                tokens: new.tokens.clone(),
                digest: new.digest,
            });
            self.sizes.push(new.encoded.len());
            self.session.tokens += new.tokens.total;
            placements.push(placement);
        }
        self.session.next_seq = self.ledger.next_seq();
        let last_seq = Seq(self.session.next_seq.0 - 1);
        Ok(Appended { first_seq, last_seq, revision, replayed: false, placements })
    }

    pub(super) fn rows(&self, query: RowsQuery) -> Vec<Row> {
        let wanted = |it: &(&Row, &usize)| (query.first..=query.last).contains(&it.0.seq);
        let all = self.rows.iter().zip(&self.sizes);
        let mut found: Vec<_> = all.filter(wanted).collect();
        if query.newest_first {
            found.reverse();
        }
        let mut bytes_before = 0;
        let fits = |(_, size): &(&Row, &usize)| {
            let fits = bytes_before == 0 || bytes_before < query.limit_bytes;
            bytes_before += *size;
            fits
        };
        found.into_iter().take(query.limit).take_while(fits).map(|(row, _)| row.clone()).collect()
    }

    pub(super) fn set_item(&mut self, set: SetItem) -> Result<Revision, Error> {
        let item = set.item;
        if let Some(view) = &item.view {
            self.view_mut(view)?;
        }
        let place = self.items.iter().position(|it| {
            it.until.is_none() && it.item.name == item.name && it.item.view == item.view
        });
        let is_same = match place.and_then(|at| self.items.get(at)) {
            Some(version) => version.item == item,
            None => item.content.is_empty(),
        };
        if is_same {
            return Ok(self.session.revision);
        }
        let ended = place.and_then(|at| self.items.get(at)).map(|it| it.item.clone());
        let named = match ended {
            // A removal names what it removed.
            Some(ended) if item.content.is_empty() => ContextItem { tokens: 0, ..ended },
            _ => item.clone(),
        };
        let named = ContextItem { content: Bytes::new(), ..named };
        let revision = self.record(&set.author, set.at, Changed::ItemSet(Box::new(named)));
        if let Some(version) = place.and_then(|at| self.items.get_mut(at)) {
            version.until = Some(revision);
        }
        if !item.content.is_empty() {
            self.items.push(ItemVersion { item, since: revision, until: None });
        }
        Ok(revision)
    }

    pub(super) fn items(&self, at: ItemAt) -> Result<Vec<ContextItem>, Error> {
        let newest = self.session.revision;
        let revision = match at {
            ItemAt::Now => newest,
            ItemAt::Revision(revision) if revision > newest => {
                return Err(Error::RevisionNotFound { revision, newest });
            }
            ItemAt::Revision(revision) => revision,
        };
        let mut items: Vec<ContextItem> = self
            .items
            .iter()
            .filter(|it| it.since <= revision && it.until.is_none_or(|end| end > revision))
            .map(|it| it.item.clone())
            .collect();
        items.sort_by(|a, b| (&a.name, &a.view).cmp(&(&b.name, &b.view)));
        Ok(items)
    }

    pub(super) fn overlay(&self, id: &OverlayId) -> Result<&Overlay, Error> {
        let overlay = self.overlays.iter().find(|it| it.id == *id);
        overlay.ok_or_else(|| Error::NotFound(Entity::Overlay(id.to_string())))
    }

    /// A view's overlays on record, those of an earlier view of that name aside.
    pub(super) fn overlays_of<'a>(
        &'a self,
        view: &'a ViewName,
    ) -> impl Iterator<Item = &'a Overlay> {
        let deleted_at = self.deleted_at(view, self.session.revision);
        self.overlays.iter().filter(move |it| it.view == *view && it.commit_revision > deleted_at)
    }

    fn in_force(&self, view: &ViewName) -> Vec<InForce> {
        self.overlays_of(view).filter(|it| it.rollback.is_none()).map(InForce::of).collect()
    }

    pub(super) fn commit(&mut self, commit: &CommitOverlays) -> Result<Committed, Error> {
        self.check_planned_on(commit)?;
        for id in &commit.supersedes {
            self.check_in_force(id)?;
            if self.overlay(id)?.view != commit.view {
                return Err(Error::NotFound(Entity::Overlay(id.to_string())));
            }
        }
        let in_force = self.in_force(&commit.view);
        rules::check_ranges(&commit.overlays, &commit.supersedes, in_force)?;
        if let Some(taken) = commit.overlays.iter().find(|it| self.overlay(&it.id).is_ok()) {
            return Err(rules::misuse(format!("overlay `{}` exists already", taken.id)));
        }
        let mut overlays = Vec::with_capacity(commit.overlays.len());
        for new in &commit.overlays {
            let changed = Changed::Committed(new.id.clone());
            let overlay = Overlay {
                view: commit.view.clone(),
                author: commit.author.clone(),
                commit_revision: self.record(&commit.author, commit.at, changed),
                commit_time: rules::kept(commit.at),
                rollback: None,
                ..new.clone()
            };
            self.overlays.push(overlay.clone());
            overlays.push(overlay);
        }
        let change = Change { author: &commit.author, reason: Rollback::SUPERSEDED, at: commit.at };
        for id in &commit.supersedes {
            self.end(id, change);
        }
        self.end_plans(commit);
        let revision = self.session.revision;
        if !overlays.is_empty() || !commit.supersedes.is_empty() {
            self.view_mut(&commit.view)?.reductions_revision = revision;
        }
        Ok(Committed { overlays, revision, replayed: false })
    }

    /// Checks that an overlay is there, of a view that is, and not rolled back.
    fn check_in_force(&self, id: &OverlayId) -> Result<(), Error> {
        let overlay = self.overlay(id)?;
        if overlay.commit_revision <= self.deleted_at(&overlay.view, self.session.revision) {
            return Err(Error::NotFound(Entity::View(overlay.view.to_string())));
        }
        match &overlay.rollback {
            Some(end) => Err(Error::AlreadyRolledBack(end.revision)),
            None => Ok(()),
        }
    }

    pub(super) fn roll_back(&mut self, rollback: &RollbackOverlay) -> Result<RolledBack, Error> {
        let id = &rollback.overlay;
        self.check_in_force(id)?;
        if let Some(pin) = &rollback.pin {
            self.check_pin_is_new(&pin.id)?;
        }
        let overlay = self.overlay(id)?.clone();
        let change = Change { author: &rollback.author, reason: &rollback.reason, at: rollback.at };
        self.end(id, change);
        if rollback.clears_too && overlay.is_range() {
            for clear in rules::clears_inside(&overlay.covered, &self.in_force(&overlay.view)) {
                self.end(&clear, change);
            }
        }
        let pin = rules::pin_beside(rollback, &overlay.view).map(|it| self.add_pin(it));
        let revision = self.session.revision;
        self.view_mut(&overlay.view)?.reductions_revision = revision;
        Ok(RolledBack {
            hidden_by: rules::hidden_by(&overlay.covered, &self.in_force(&overlay.view)),
            overlay: self.overlay(id)?.clone(),
            revision,
            pin,
        })
    }

    fn end(&mut self, id: &OverlayId, change: Change<'_>) {
        let revision = self.record(change.author, change.at, Changed::RolledBack(id.clone()));
        if let Some(overlay) = self.overlays.iter_mut().find(|it| it.id == *id) {
            overlay.rollback = Some(Rollback {
                revision,
                time: rules::kept(change.at),
                author: change.author.to_owned(),
                reason: change.reason.to_owned(),
            });
        }
    }
}
