//! A store seen through a server: what the contract can reach of it, so that
//! the store's suite runs over the wire too.
//!
//! Times, tokens and placements are the server's own and do not come back.

use async_trait::async_trait;
use concertina::{
    codec,
    model::{
        ContextItem, MessageTokens, Overlay, OverlayId, Pin, PlanId, Revision, RevisionEntry, Row,
        Seq, Session, Timestamp, View, ViewName,
    },
    proto::v1 as pb,
    store::{
        Append, Appended, CommitOverlays, Committed, DeleteView, Entity, Error, ItemAt, NewPin,
        NewPlan, NewSession, Page, Plan, Prepared, Readiness, RollbackOverlay, RolledBack,
        RowsQuery, SessionFilter, SessionRef, SetItem, SetView, StateAt, Store, Unpin,
        UpdateSession,
    },
};
use tonic::Status;
use tonic_types::StatusExt as _;

use super::support::{Sessions, TestServer, read};

/// The server, and a client of it.
pub(crate) struct RemoteStore {
    client: Sessions,
    _server: TestServer,
}

impl RemoteStore {
    pub(crate) async fn start() -> Self {
        let server = TestServer::start().await;
        Self { client: server.client().await, _server: server }
    }

    fn client(&self) -> Sessions {
        self.client.clone()
    }
}

/// The store's error that a status tells of.
fn error(status: Status) -> Error {
    let info = status.get_details_error_info().unwrap_or_else(|| panic!("{status:?}"));
    let text = |key: &str| info.metadata.get(key).cloned().unwrap_or_default();
    let number = |key: &str| text(key).parse().unwrap_or_default();
    match info.reason.as_str() {
        "SESSION_NOT_FOUND" => Error::NotFound(Entity::Session(text("session_id"))),
        "VIEW_NOT_FOUND" => Error::NotFound(Entity::View(text("view"))),
        "REVISION_NOT_FOUND" => Error::RevisionNotFound {
            revision: Revision(number("revision")),
            newest: Revision(number("newest_revision")),
        },
        "SESSION_EXISTS" => Error::AlreadyExists(text("session_id")),
        "IDEMPOTENCY_KEY_REUSED" => Error::RequestIdReused,
        "SEQ_CONFLICT" => {
            Error::SeqMoved { expected: Seq(number("expected")), found: Seq(number("found")) }
        }
        _ => Error::Backend(Box::new(status)),
    }
}

fn unreachable<T>() -> Result<T, Error> {
    Err(Error::Backend("the contract does not reach this".into()))
}

fn row(stored: pb::StoredMessage) -> Row {
    Row {
        seq: Seq(stored.seq),
        turn: stored.turn,
        round: Seq(stored.round),
        revision: Revision(stored.revision),
        record_time: codec::time::from_pb(stored.record_time.unwrap()).unwrap(),
        message: codec::from_pb(stored.message.unwrap()).unwrap().into(),
        tokens: MessageTokens { total: stored.tokens, blocks: Vec::new() },
        digest: stored.digest.as_ref().try_into().unwrap(),
    }
}

#[async_trait]
impl Store for RemoteStore {
    async fn create_session(&self, new: NewSession) -> Result<(Session, bool), Error> {
        let request = pb::CreateSessionRequest {
            session_id: new.session.id.to_string(),
            display_name: new.display_name,
            labels: new.labels.into_iter().collect(),
            parent_session_id: new.parent_session_id,
            request_id: new.request.map(|it| it.id).unwrap_or_default(),
            ..Default::default()
        };
        let created = self.client().create_session(request).await.map_err(error)?.into_inner();
        Ok((codec::session::from_pb(created.session.unwrap()).unwrap(), false))
    }

    async fn get_session(&self, session: &SessionRef) -> Result<Session, Error> {
        let request =
            pb::GetSessionRequest { session_id: session.id.to_string(), ..Default::default() };
        let got = self.client().get_session(request).await.map_err(error)?.into_inner();
        Ok(codec::session::from_pb(got.session.unwrap()).unwrap())
    }

    async fn delete_session(&self, session: &SessionRef) -> Result<(), Error> {
        let request = pb::DeleteSessionRequest { session_id: session.id.to_string() };
        self.client().delete_session(request).await.map(drop).map_err(error)
    }

    async fn set_item(&self, set: SetItem) -> Result<Revision, Error> {
        let request = pb::SetContextItemRequest {
            session_id: set.session.id.to_string(),
            item: Some(codec::session::item_to_pb(&set.item)),
            author: set.author,
        };
        let set = self.client().set_context_item(request).await.map_err(error)?;
        Ok(Revision(set.into_inner().revision))
    }

    async fn list_items(
        &self,
        session: &SessionRef,
        at: ItemAt,
    ) -> Result<Vec<ContextItem>, Error> {
        let at_revision = match at {
            ItemAt::Now => None,
            ItemAt::Revision(revision) => Some(revision.0),
        };
        let request =
            pb::ListContextItemsRequest { session_id: session.id.to_string(), at_revision };
        let listed = self.client().list_context_items(request).await.map_err(error)?.into_inner();
        Ok(listed.items.into_iter().map(|it| codec::session::item_from_pb(it).unwrap()).collect())
    }

    /// Another digest is other content, which the lane stands for here.
    async fn append(&self, append: Append) -> Result<Appended, Error> {
        let lane = append.request.as_ref().map(|it| it.digest[0].to_string());
        let request = pb::AppendTurnRequest {
            session_id: append.session.id.to_string(),
            messages: append.rows.iter().map(|it| codec::to_pb(&it.message)).collect(),
            expected_next_seq: append.expected_next_seq.map(|it| it.0),
            author: append.author,
            lane: lane.unwrap_or_default(),
            request_id: append.request.map(|it| it.id).unwrap_or_default(),
            ..Default::default()
        };
        let done = self.client().append_turn(request).await.map_err(error)?.into_inner();
        Ok(Appended {
            first_seq: Seq(done.first_seq),
            last_seq: Seq(done.last_seq),
            revision: Revision(done.revision),
            replayed: done.replayed,
            placements: Vec::new(),
        })
    }

    /// A range that names rows that are not there is refused by the contract
    /// and cut by the store: it is cut here.
    async fn read_rows(&self, session: &SessionRef, query: RowsQuery) -> Result<Vec<Row>, Error> {
        let newest = self.get_session(session).await?.next_seq.0 - 1;
        let (first, last) = (query.first.0.max(1), query.last.0.min(newest));
        if first > last || query.limit == 0 {
            return Ok(Vec::new());
        }
        let request = pb::ReadHistoryRequest {
            session_id: session.id.to_string(),
            first_seq: Some(first),
            last_seq: Some(last),
            newest_first: query.newest_first,
            limit: i64::try_from(query.limit).unwrap_or(0),
            ..Default::default()
        };
        let rows = read(&mut self.client(), request).await.map_err(error)?;
        Ok(rows.into_iter().map(|it| row(it.message.unwrap())).collect())
    }

    async fn list_sessions(
        &self,
        _: &SessionFilter,
        _: Page<(Timestamp, String)>,
    ) -> Result<Vec<Session>, Error> {
        unreachable()
    }

    async fn update_session(&self, _: UpdateSession) -> Result<Session, Error> {
        unreachable()
    }

    async fn set_view(&self, _: SetView) -> Result<(View, Revision), Error> {
        unreachable()
    }

    async fn commit_overlays(&self, _: CommitOverlays) -> Result<Committed, Error> {
        unreachable()
    }

    async fn rollback_overlay(&self, _: RollbackOverlay) -> Result<RolledBack, Error> {
        unreachable()
    }

    async fn get_overlay(&self, _: &SessionRef, _: &OverlayId) -> Result<Overlay, Error> {
        unreachable()
    }

    async fn list_overlays(
        &self,
        _: &SessionRef,
        _: &ViewName,
        _: bool,
    ) -> Result<Vec<Overlay>, Error> {
        unreachable()
    }

    async fn pin(&self, _: NewPin) -> Result<(Pin, Revision, bool), Error> {
        unreachable()
    }

    async fn unpin(&self, _: Unpin) -> Result<Revision, Error> {
        unreachable()
    }

    async fn list_pins(&self, _: &SessionRef, _: &ViewName) -> Result<Vec<Pin>, Error> {
        unreachable()
    }

    async fn delete_view(&self, _: DeleteView) -> Result<Revision, Error> {
        unreachable()
    }

    async fn state_at(&self, _: &SessionRef, _: &ViewName, _: Revision) -> Result<StateAt, Error> {
        unreachable()
    }

    async fn list_revisions(
        &self,
        _: &SessionRef,
        _: Page<Revision>,
    ) -> Result<Vec<RevisionEntry>, Error> {
        unreachable()
    }

    async fn prepare(&self, _: NewPlan) -> Result<Prepared, Error> {
        unreachable()
    }

    async fn get_plan(&self, _: &SessionRef, _: &PlanId) -> Result<Plan, Error> {
        unreachable()
    }

    async fn list_plans(
        &self,
        _: &SessionRef,
        _: &ViewName,
        _: Timestamp,
    ) -> Result<Vec<Plan>, Error> {
        unreachable()
    }

    async fn renew_plans(
        &self,
        _: &SessionRef,
        _: &[PlanId],
        _: Timestamp,
        _: Timestamp,
    ) -> Result<(), Error> {
        unreachable()
    }

    async fn abandon_plans(&self, _: &SessionRef, _: &[PlanId]) -> Result<(), Error> {
        unreachable()
    }

    async fn calibrations(&self, _: &str) -> Result<Vec<(String, f64)>, Error> {
        unreachable()
    }

    async fn set_calibration(&self, _: &str, _: &str, _: f64) -> Result<(), Error> {
        unreachable()
    }

    async fn expire(&self, _: Timestamp) -> Result<(), Error> {
        unreachable()
    }

    async fn readiness(&self) -> Readiness {
        Readiness::Ready
    }

    async fn close(&self) {}
}
