//! Views: adding, replacing and deleting them.

use super::{Changed, SessionState};
use crate::{
    model::{Revision, View, ViewName},
    store::{DeleteView, Entity, Error, PlanEnd, SetView, rules},
};

impl SessionState {
    pub(in super::super) fn set_view(&mut self, set: SetView) -> Result<(View, Revision), Error> {
        match self.session.views.iter().find(|it| it.name == set.view) {
            Some(view) => {
                let same = view.preset == set.parts.preset
                    && view.overrides_json == set.parts.overrides_json
                    && view.policy_json == set.parts.policy_json
                    && view.model == set.parts.model;
                if same || (set.only_without_model && view.model.is_some()) {
                    return Ok((view.clone(), self.session.revision));
                }
            }
            None if set.only_without_model => return Err(not_found(&set.view)),
            None => {}
        }
        let mut view = View {
            name: set.view,
            preset: set.parts.preset,
            overrides_json: set.parts.overrides_json,
            policy_json: set.parts.policy_json,
            model: set.parts.model,
            reductions_revision: self.session.revision.next(),
        };
        let changed = Changed::ViewSet(Box::new(view.clone()));
        view.reductions_revision = self.record(&set.author, set.at, changed);
        self.session.views.retain(|it| it.name != view.name);
        self.session.views.push(view.clone());
        self.session.views.sort_by(|a, b| rules::in_order(&a.name, &b.name));
        Ok((view, self.session.revision))
    }

    pub(in super::super) fn delete_view(&mut self, delete: &DeleteView) -> Result<Revision, Error> {
        let name = &delete.view;
        self.view_mut(name)?;
        if *name == ViewName::main() {
            return Err(rules::misuse("`main` cannot be deleted".to_owned()));
        }
        let revision = self.record("", delete.at, Changed::ViewDeleted(name.clone()));
        self.session.views.retain(|it| it.name != *name);
        for version in &mut self.items {
            if version.item.view.as_ref() == Some(name) && version.until.is_none() {
                version.until = Some(revision);
            }
        }
        for plan in self.plans.iter_mut().filter(|it| it.view == *name && it.end.is_none()) {
            plan.end = Some(PlanEnd::Abandoned);
        }
        Ok(revision)
    }

    pub(super) fn view_mut(&mut self, name: &ViewName) -> Result<&mut View, Error> {
        self.session.views.iter_mut().find(|it| it.name == *name).ok_or_else(|| not_found(name))
    }

    /// The last revision up to `at` that deleted a view of that name; zero where
    /// none did. What came before it is of another view.
    pub(super) fn deleted_at(&self, name: &ViewName, at: Revision) -> Revision {
        let is_it = |changed: &Changed| matches!(changed, Changed::ViewDeleted(it) if it == name);
        let deletions = self.past.iter().filter(|it| it.revision <= at && is_it(&it.changed));
        deletions.map(|it| it.revision).max().unwrap_or_default()
    }
}

pub(super) fn not_found(view: &ViewName) -> Error {
    Error::NotFound(Entity::View(view.to_string()))
}
