//! Setting views.

use super::{
    super::{error::Failure, read, statements},
    Writer,
    heads::micros,
};
use crate::{
    model::{Revision, View},
    store::{SetView, SetViewParts},
};

impl Writer {
    pub(super) async fn set_view(&mut self, set: SetView) -> Result<(View, Revision), Failure> {
        let mut head = self.head(&set.session).await?;
        let (_, session) = read::get_session(&mut self.conn, &set.session).await?;
        let view = session.views.into_iter().find(|it| it.name == set.view);
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
