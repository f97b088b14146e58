//! One session in memory, and every change of it.

mod fork;

use std::sync::Arc;

use crate::{
    model::{
        ContextItem, Overlay, OverlayId, Revision, Row, Seq, Session, Timestamp, View, ViewName,
        overlay::Rollback,
    },
    rounds::Ledger,
    store::{
        Append, Appended, CommitOverlays, Committed, Entity, Error, ItemAt, NewSession, PlannedOn,
        RolledBack, RowsQuery, SetView, UpdateSession,
        rules::{self, InForce},
    },
};

/// A session and all that it ever held.
#[derive(Debug)]
pub(super) struct SessionState {
    session: Session,
    rows: Vec<Row>,
    sizes: Vec<usize>,
    /// For each row, the revision before the one that appended it, and the views
    /// as they were then.
    before: Vec<(Revision, Vec<View>)>,
    ledger: Ledger,
    /// In the order of commits.
    overlays: Vec<Overlay>,
    items: Vec<ItemVersion>,
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
pub(super) struct Change<'a> {
    pub author: &'a str,
    pub reason: &'a str,
    pub at: Timestamp,
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
            views: vec![main],
        };
        Self {
            session,
            rows: Vec::new(),
            sizes: Vec::new(),
            before: Vec::new(),
            ledger: Ledger::new(),
            overlays: Vec::new(),
            items: Vec::new(),
        }
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    fn next_revision(&mut self, at: Timestamp) -> Revision {
        self.session.revision = self.session.revision.next();
        self.session.update_time = rules::kept(at);
        self.session.revision
    }

    pub(super) fn rename(&mut self, update: UpdateSession) {
        let name = update.display_name.unwrap_or_else(|| self.session.display_name.clone());
        let labels = update.labels.unwrap_or_else(|| self.session.labels.clone());
        if name != self.session.display_name || labels != self.session.labels {
            self.session.display_name = name;
            self.session.labels = labels;
            self.next_revision(update.at);
        }
    }

    pub(super) fn append(&mut self, append: &Append) -> Result<Appended, Error> {
        let first_seq = self.session.next_seq;
        if let Some(expected) = append.expected_next_seq
            && expected != first_seq
        {
            return Err(Error::SeqMoved { expected, found: first_seq });
        }
        if append.rows.is_empty() {
            let (last_seq, revision) = (Seq(first_seq.0 - 1), self.session.revision);
            let placements = Vec::new();
            return Ok(Appended { first_seq, last_seq, revision, replayed: false, placements });
        }
        let before = (self.session.revision, self.session.views.clone());
        let revision = self.next_revision(append.at);
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
            self.before.push(before.clone());
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

    pub(super) fn set_view(&mut self, set: SetView) -> (View, Revision) {
        let place = self.session.views.iter().position(|it| it.name == set.view);
        if let Some(view) = place.and_then(|at| self.session.views.get(at)) {
            let same = view.preset == set.parts.preset
                && view.overrides_json == set.parts.overrides_json
                && view.policy_json == set.parts.policy_json
                && view.model == set.parts.model;
            if same || (set.only_without_model && view.model.is_some()) {
                return (view.clone(), self.session.revision);
            }
        }
        let revision = self.next_revision(set.at);
        let view = View {
            name: set.view,
            preset: set.parts.preset,
            overrides_json: set.parts.overrides_json,
            policy_json: set.parts.policy_json,
            model: set.parts.model,
            reductions_revision: revision,
        };
        self.session.views.retain(|it| it.name != view.name);
        self.session.views.push(view.clone());
        self.session.views.sort_by(|a, b| a.name.cmp(&b.name));
        (view, revision)
    }

    fn view_mut(&mut self, name: &ViewName) -> Result<&mut View, Error> {
        let view = self.session.views.iter_mut().find(|it| it.name == *name);
        view.ok_or_else(|| Error::NotFound(Entity::View(name.to_string())))
    }

    pub(super) fn set_item(&mut self, item: ContextItem, at: Timestamp) -> Result<Revision, Error> {
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
        let revision = self.next_revision(at);
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

    pub(super) fn overlays_of<'a>(
        &'a self,
        view: &'a ViewName,
    ) -> impl Iterator<Item = &'a Overlay> {
        self.overlays.iter().filter(move |it| it.view == *view)
    }

    fn in_force(&self, view: &ViewName) -> Vec<InForce> {
        self.overlays_of(view).filter(|it| it.rollback.is_none()).map(InForce::of).collect()
    }

    pub(super) fn commit(&mut self, commit: &CommitOverlays) -> Result<Committed, Error> {
        let reduced_at = self.view_mut(&commit.view)?.reductions_revision;
        let PlannedOn::View(planned_at) = commit.planned_on else { return Err(Error::Closed) };
        if reduced_at != planned_at {
            let mut newest_first = self.overlays_of(&commit.view).collect::<Vec<_>>();
            newest_first.reverse();
            let came = newest_first
                .into_iter()
                .find(|it| it.rollback.is_none() && it.commit_revision > planned_at);
            return Err(Error::PlanOutdated { overlay: came.map(|it| it.id.clone()) });
        }
        let in_force = self.in_force(&commit.view);
        for id in &commit.supersedes {
            self.check_in_force(id)?;
        }
        rules::check_ranges(&commit.overlays, &commit.supersedes, in_force)?;
        if let Some(taken) = commit.overlays.iter().find(|it| self.overlay(&it.id).is_ok()) {
            return Err(Error::Backend(format!("overlay `{}` exists already", taken.id).into()));
        }
        let mut overlays = Vec::with_capacity(commit.overlays.len());
        for new in &commit.overlays {
            let overlay = Overlay {
                view: commit.view.clone(),
                author: commit.author.clone(),
                commit_revision: self.next_revision(commit.at),
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
        let revision = self.session.revision;
        if !overlays.is_empty() || !commit.supersedes.is_empty() {
            self.view_mut(&commit.view)?.reductions_revision = revision;
        }
        Ok(Committed { overlays, revision, replayed: false })
    }

    fn check_in_force(&self, id: &OverlayId) -> Result<(), Error> {
        match &self.overlay(id)?.rollback {
            Some(end) => Err(Error::AlreadyRolledBack(end.revision)),
            None => Ok(()),
        }
    }

    pub(super) fn roll_back(
        &mut self,
        id: &OverlayId,
        clears_too: bool,
        change: Change<'_>,
    ) -> Result<RolledBack, Error> {
        self.check_in_force(id)?;
        let overlay = self.overlay(id)?.clone();
        self.end(id, change);
        if clears_too && overlay.is_range() {
            for clear in rules::clears_inside(&overlay.covered, &self.in_force(&overlay.view)) {
                self.end(&clear, change);
            }
        }
        let revision = self.session.revision;
        if let Ok(view) = self.view_mut(&overlay.view) {
            view.reductions_revision = revision;
        }
        Ok(RolledBack {
            hidden_by: rules::hidden_by(&overlay.covered, &self.in_force(&overlay.view)),
            overlay: self.overlay(id)?.clone(),
            revision,
            pin: None,
        })
    }

    fn end(&mut self, id: &OverlayId, change: Change<'_>) {
        let revision = self.next_revision(change.at);
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
