//! Setting and deleting views.

use super::{
    super::{error::Failure, read, statements},
    Writer,
    heads::{Head, micros},
};
use crate::{
    model::{Revision, View, ViewName},
    store::{DeleteView, Entity, Error, SetView, SetViewParts, rules},
};

impl Writer {
    pub(super) async fn set_view(&mut self, set: SetView) -> Result<(View, Revision), Failure> {
        let mut head = self.head(&set.session).await?;
        let (_, session) = read::get_session(&mut self.conn, &set.session).await?;
        let view = session.views.into_iter().find(|it| it.name == set.view);
        if view.is_none() && set.only_without_model {
            self.heads.put(&set.session, head);
            return Err(Error::NotFound(Entity::View(set.view.to_string())).into());
        }
        if let Some(view) = view
            && (is_same(&view, &set.parts) || (set.only_without_model && view.model.is_some()))
        {
            let revision = head.revision;
            self.heads.put(&set.session, head);
            return Ok((view, revision));
        }
        let revision = head.next_revision();
        self.insert_view(&set, head.key, revision).await?;
        self.heads.put(&set.session, head);
        let view = View {
            name: set.view,
            preset: set.parts.preset,
            overrides_json: set.parts.overrides_json,
            policy_json: set.parts.policy_json,
            model: set.parts.model,
            reductions_revision: revision,
        };
        Ok((view, revision))
    }

    pub(super) async fn delete_view(&mut self, delete: DeleteView) -> Result<Revision, Failure> {
        let mut head = self.head(&delete.session).await?;
        let done = self.end_view(&mut head, &delete).await;
        self.put_back(&delete.session, head, &done);
        done
    }

    async fn end_view(
        &mut self,
        head: &mut Head,
        delete: &DeleteView,
    ) -> Result<Revision, Failure> {
        self.reduced_at(head, &delete.view).await?;
        if delete.view == ViewName::main() {
            return Err(rules::misuse("`main` cannot be deleted".to_owned()).into());
        }
        let revision = head.next_revision();
        let statement = sqlx::query(statements::DELETE_VIEW)
            .bind(head.key)
            .bind(revision.0)
            .bind(micros(delete.at))
            .bind(delete.view.as_str());
        self.write(statement).await?;
        Ok(revision)
    }

    /// The last revision that deleted a view of that name; zero where none did.
    pub(super) async fn deleted_at(
        &mut self,
        head: &Head,
        view: &ViewName,
    ) -> Result<Revision, Failure> {
        let found: Option<i64> = sqlx::query_scalar(statements::VIEW_DELETED_AT)
            .bind(head.key)
            .bind(view.as_str())
            .fetch_one(&mut self.conn)
            .await?;
        Ok(found.map(Revision).unwrap_or_default())
    }

    async fn insert_view(
        &mut self,
        set: &SetView,
        key: i64,
        revision: Revision,
    ) -> Result<(), Failure> {
        let model = set.parts.model.as_ref();
        let statement = sqlx::query(statements::SET_VIEW)
            .bind(key)
            .bind(revision.0)
            .bind(micros(set.at))
            .bind(set.author.as_str())
            .bind(set.view.as_str())
            .bind(set.parts.preset.as_str())
            .bind(&set.parts.overrides_json[..])
            .bind(&set.parts.policy_json[..])
            .bind(model.map(|it| it.name.as_str()))
            .bind(model.map(|it| it.context_window))
            .bind(model.and_then(|it| it.output_reserve))
            .bind(model.map(|it| it.request_bytes_limit))
            .bind(model.map(|it| it.caller_fixed_tokens));
        self.write(statement).await
    }
}

fn is_same(view: &View, parts: &SetViewParts) -> bool {
    view.preset == parts.preset
        && view.overrides_json == parts.overrides_json
        && view.policy_json == parts.policy_json
        && view.model == parts.model
}
