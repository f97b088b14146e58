//! Creating sessions.

use super::{
    super::{error::Failure, read, statements, values},
    Writer,
    heads::{Head, micros},
    requests::Scope,
};
use crate::{
    model::{Revision, Seq, Session, SessionId, View, ViewName},
    rounds::Ledger,
    store::{Entity, Error, NewSession, SessionRef, rules},
};

impl Writer {
    pub(super) async fn create(&mut self, new: NewSession) -> Result<(Session, bool), Failure> {
        let namespace = new.session.namespace.clone();
        let scope = Scope::Namespace(namespace.as_str());
        if let Some(id) = self.known::<String>(scope, new.request.as_ref()).await? {
            let session = SessionRef { namespace: namespace.clone(), id: SessionId::new(&id) };
            let (_, session) = read::get_session(&mut self.conn, &session).await?;
            return Ok((session, true));
        }
        self.check_ids(&new).await?;
        self.last_session += 1;
        let key = self.last_session;
        self.insert_session(&new, key).await?;
        let (revision, ledger) = (Revision(1), Ledger::new());
        let head = Head { key, is_fork: false, revision, tokens: 0, ledger, ids_in_memory: 0 };
        self.heads.put(&new.session, head);
        Ok((session(new), false))
    }

    async fn check_ids(&mut self, new: &NewSession) -> Result<(), Failure> {
        let id = new.session.id.as_str();
        let (is_taken, has_parent): (bool, bool) = sqlx::query_as(statements::CREATION)
            .bind(new.session.namespace.as_str())
            .bind(id)
            .bind(new.parent_session_id.as_str())
            .fetch_one(&mut self.conn)
            .await?;
        if is_taken {
            return Err(Error::AlreadyExists(id.to_owned()).into());
        }
        if !new.parent_session_id.is_empty() && !has_parent {
            return Err(Error::NotFound(Entity::Session(new.parent_session_id.clone())).into());
        }
        Ok(())
    }

    async fn insert_session(&mut self, new: &NewSession, key: i64) -> Result<(), Failure> {
        let model = new.main.model.as_ref();
        let statement = sqlx::query(statements::CREATE_SESSION)
            .bind(key)
            .bind(new.session.namespace.as_str())
            .bind(new.session.id.as_str())
            .bind(new.display_name.as_str())
            .bind(values::json(&new.labels))
            .bind(new.parent_session_id.as_str())
            .bind(micros(new.at))
            .bind(new.request.as_ref().map(|it| it.id.as_str()))
            .bind(new.request.as_ref().map(|it| it.digest.as_slice()))
            .bind(new.main.preset.as_str())
            .bind(&new.main.overrides_json[..])
            .bind(&new.main.policy_json[..])
            .bind(model.map(|it| it.name.as_str()))
            .bind(model.map(|it| it.context_window))
            .bind(model.and_then(|it| it.output_reserve))
            .bind(model.map(|it| it.request_bytes_limit))
            .bind(model.map(|it| it.caller_fixed_tokens));
        self.write(statement).await
    }
}

/// A session as it is right after its creation.
fn session(new: NewSession) -> Session {
    let revision = Revision(1);
    let main = View {
        name: ViewName::main(),
        preset: new.main.preset,
        overrides_json: new.main.overrides_json,
        policy_json: new.main.policy_json,
        model: new.main.model,
        reductions_revision: revision,
    };
    Session {
        namespace: new.session.namespace,
        id: new.session.id,
        display_name: new.display_name,
        labels: new.labels,
        create_time: rules::kept(new.at),
        update_time: rules::kept(new.at),
        next_seq: Seq(1),
        revision,
        parent_session_id: new.parent_session_id,
        fork_origin: None,
        tokens: 0,
        views: vec![main],
    }
}
