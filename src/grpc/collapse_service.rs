//! Making, inspecting and rolling back reductions.

use std::sync::Arc;

use tonic::{Request, Response, Status};

use super::{
    decode,
    status::{self, unimplemented},
};
use crate::{
    codec,
    model::SessionId,
    proto::v1 as pb,
    service::{self, Ctx},
};

/// Serves `CollapseService`.
#[derive(Clone)]
pub(super) struct Collapses {
    ctx: Arc<Ctx>,
}

impl Collapses {
    pub(super) fn new(ctx: Arc<Ctx>) -> Self {
        Self { ctx }
    }

    fn told(&self, err: &service::Error) -> Status {
        status::of(err, self.ctx.ids.as_ref())
    }
}

#[tonic::async_trait]
impl pb::collapse_service_server::CollapseService for Collapses {
    async fn create_clear(
        &self,
        request: Request<pb::CreateClearRequest>,
    ) -> Result<Response<pb::CreateClearResponse>, Status> {
        let input = decode::create_clear(request.into_inner());
        let session = SessionId::new(&input.session_id);
        let made = service::create_clear(&self.ctx, input).await;
        let made = made.map_err(|err| self.told(&err))?;
        Ok(Response::new(pb::CreateClearResponse {
            overlay: Some(codec::overlay::to_pb(&made.overlay, &session)),
            revision: made.revision.0,
        }))
    }

    async fn create_snip(
        &self,
        request: Request<pb::CreateSnipRequest>,
    ) -> Result<Response<pb::CreateSnipResponse>, Status> {
        let input = decode::create_snip(request.into_inner());
        let session = SessionId::new(&input.session_id);
        let made = service::create_snip(&self.ctx, input).await;
        let made = made.map_err(|err| self.told(&err))?;
        Ok(Response::new(pb::CreateSnipResponse {
            overlay: Some(codec::overlay::to_pb(&made.overlay, &session)),
            revision: made.revision.0,
        }))
    }

    async fn rollback_overlay(
        &self,
        request: Request<pb::RollbackOverlayRequest>,
    ) -> Result<Response<pb::RollbackOverlayResponse>, Status> {
        let input = decode::rollback_overlay(request.into_inner());
        let session = SessionId::new(&input.session_id);
        let ended = service::rollback_overlay(&self.ctx, input).await;
        let ended = ended.map_err(|err| self.told(&err))?;
        Ok(Response::new(pb::RollbackOverlayResponse {
            overlay: Some(codec::overlay::to_pb(&ended.overlay, &session)),
            revision: ended.revision.0,
            pin: ended.pin.as_ref().map(codec::pin::to_pb),
            hidden_by_overlay_id: ended.hidden_by.map(|it| it.to_string()).unwrap_or_default(),
        }))
    }

    async fn get_overlay(
        &self,
        request: Request<pb::GetOverlayRequest>,
    ) -> Result<Response<pb::GetOverlayResponse>, Status> {
        let asked = request.into_inner();
        let got = service::get_overlay(&self.ctx, &asked.session_id, &asked.overlay_id).await;
        let got = got.map_err(|err| self.told(&err))?;
        let session = SessionId::new(&asked.session_id);
        let overlay = Some(codec::overlay::to_pb(&got, &session));
        Ok(Response::new(pb::GetOverlayResponse { overlay }))
    }

    async fn list_overlays(
        &self,
        request: Request<pb::ListOverlaysRequest>,
    ) -> Result<Response<pb::ListOverlaysResponse>, Status> {
        let input = decode::list_overlays(request.into_inner());
        let session = SessionId::new(&input.session_id);
        let listed = service::list_overlays(&self.ctx, input).await;
        let listed = listed.map_err(|err| self.told(&err))?;
        let overlays = listed.overlays.iter().map(|it| codec::overlay::to_pb(it, &session));
        Ok(Response::new(pb::ListOverlaysResponse {
            overlays: overlays.collect(),
            next_page_token: listed.next_page_token,
        }))
    }

    async fn pin_messages(
        &self,
        request: Request<pb::PinMessagesRequest>,
    ) -> Result<Response<pb::PinMessagesResponse>, Status> {
        let input = decode::pin_messages(request.into_inner());
        let set = service::pin_messages(&self.ctx, input).await.map_err(|err| self.told(&err))?;
        let pin = Some(codec::pin::to_pb(&set.pin));
        Ok(Response::new(pb::PinMessagesResponse { pin, revision: set.revision.0 }))
    }

    async fn unpin_messages(
        &self,
        request: Request<pb::UnpinMessagesRequest>,
    ) -> Result<Response<pb::UnpinMessagesResponse>, Status> {
        let asked = request.into_inner();
        let unpinned = service::unpin_messages(&self.ctx, &asked.session_id, &asked.pin_id).await;
        let revision = unpinned.map_err(|err| self.told(&err))?;
        Ok(Response::new(pb::UnpinMessagesResponse { revision: revision.0 }))
    }

    async fn list_pins(
        &self,
        request: Request<pb::ListPinsRequest>,
    ) -> Result<Response<pb::ListPinsResponse>, Status> {
        let asked = request.into_inner();
        let pins = service::list_pins(&self.ctx, &asked.session_id, &asked.view).await;
        let pins = pins.map_err(|err| self.told(&err))?;
        let pins = pins.iter().map(codec::pin::to_pb).collect();
        Ok(Response::new(pb::ListPinsResponse { pins }))
    }

    async fn create_collapse(
        &self,
        request: Request<pb::CreateCollapseRequest>,
    ) -> Result<Response<pb::CreateCollapseResponse>, Status> {
        let input = decode::create_collapse(request.into_inner());
        let session = SessionId::new(&input.session_id);
        let made = service::create_collapse(&self.ctx, input).await;
        let made = made.map_err(|err| self.told(&err))?;
        Ok(Response::new(pb::CreateCollapseResponse {
            overlay: Some(codec::overlay::to_pb(&made.overlay, &session)),
            revision: made.revision.0,
        }))
    }

    async fn prepare_collapse(
        &self,
        request: Request<pb::PrepareCollapseRequest>,
    ) -> Result<Response<pb::PrepareCollapseResponse>, Status> {
        let input = decode::prepare_collapse(request.into_inner());
        let prepared = service::prepare_collapse(&self.ctx, input).await;
        let prepared = prepared.map_err(|err| self.told(&err))?;
        Ok(Response::new(pb::PrepareCollapseResponse {
            plan_id: prepared.plan.to_string(),
            covered: prepared.covered.into_iter().map(codec::range::to_pb).collect(),
            kept: prepared.kept.into_iter().map(codec::range::to_pb).collect(),
            material: prepared.material,
            instructions: prepared.instructions,
            tokens_before: prepared.tokens_before,
            max_summary_tokens: prepared.max_summary_tokens,
            expire_time: Some(codec::time::to_pb(prepared.expire_time)),
            transcript_id: String::new(),
        }))
    }

    async fn commit_collapse(
        &self,
        request: Request<pb::CommitCollapseRequest>,
    ) -> Result<Response<pb::CommitCollapseResponse>, Status> {
        let input = decode::commit_collapse(request.into_inner());
        let session = SessionId::new(&input.session_id);
        let made = service::commit_collapse(&self.ctx, input).await;
        let made = made.map_err(|err| self.told(&err))?;
        Ok(Response::new(pb::CommitCollapseResponse {
            overlay: Some(codec::overlay::to_pb(&made.overlay, &session)),
            revision: made.revision.0,
        }))
    }

    async fn abandon_collapse(
        &self,
        request: Request<pb::AbandonCollapseRequest>,
    ) -> Result<Response<pb::AbandonCollapseResponse>, Status> {
        let asked = request.into_inner();
        let input =
            service::AbandonCollapseInput { session_id: asked.session_id, plan_id: asked.plan_id };
        let done = service::abandon_collapse(&self.ctx, input).await;
        done.map_err(|err| self.told(&err))?;
        Ok(Response::new(pb::AbandonCollapseResponse {}))
    }

    async fn compact_session(
        &self,
        _: Request<pb::CompactSessionRequest>,
    ) -> Result<Response<pb::CompactSessionResponse>, Status> {
        Err(unimplemented())
    }
}
