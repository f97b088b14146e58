//! The write path and the read path.

use std::sync::Arc;

use tonic::{Request, Response, Status};

use super::{
    context, decode, encode,
    status::{self, unimplemented},
    stream::{self, Answers, Outlet},
};
use crate::{
    codec,
    model::SessionId,
    proto::v1 as pb,
    service::{self, Ctx, HistoryReader},
};

/// Serves `SessionService`.
#[derive(Clone)]
pub(super) struct Sessions {
    ctx: Arc<Ctx>,
}

impl Sessions {
    pub(super) fn new(ctx: Arc<Ctx>) -> Self {
        Self { ctx }
    }

    fn told(&self, err: &service::Error) -> Status {
        status::of(err, self.ctx.ids.as_ref())
    }
}

#[tonic::async_trait]
impl pb::session_service_server::SessionService for Sessions {
    type StreamContextStream = Answers<pb::StreamContextResponse>;
    type ReadHistoryStream = Answers<pb::ReadHistoryResponse>;
    type ReadContentStream = Answers<pb::ReadContentResponse>;
    type WatchSessionStream = Answers<pb::WatchSessionResponse>;

    async fn create_session(
        &self,
        request: Request<pb::CreateSessionRequest>,
    ) -> Result<Response<pb::CreateSessionResponse>, Status> {
        let input = decode::create_session(request.into_inner());
        let created = service::create_session(&self.ctx, input).await;
        let created = created.map_err(|err| self.told(&err))?;
        Ok(Response::new(encode::created_session(&created)))
    }

    async fn get_session(
        &self,
        request: Request<pb::GetSessionRequest>,
    ) -> Result<Response<pb::GetSessionResponse>, Status> {
        let asked = request.into_inner();
        let got = service::get_session(&self.ctx, &asked.session_id, &asked.view).await;
        let got = got.map_err(|err| self.told(&err))?;
        Ok(Response::new(encode::got_session(&got)))
    }

    async fn list_sessions(
        &self,
        request: Request<pb::ListSessionsRequest>,
    ) -> Result<Response<pb::ListSessionsResponse>, Status> {
        let input = decode::list_sessions(request.into_inner());
        let listed = service::list_sessions(&self.ctx, input).await;
        let listed = listed.map_err(|err| self.told(&err))?;
        Ok(Response::new(encode::listed_sessions(listed)))
    }

    async fn update_session(
        &self,
        request: Request<pb::UpdateSessionRequest>,
    ) -> Result<Response<pb::UpdateSessionResponse>, Status> {
        let input = decode::update_session(request.into_inner());
        let updated = service::update_session(&self.ctx, input).await;
        let updated = updated.map_err(|err| self.told(&err))?;
        let session = Some(codec::session::to_pb(&updated));
        Ok(Response::new(pb::UpdateSessionResponse { session }))
    }

    async fn delete_session(
        &self,
        request: Request<pb::DeleteSessionRequest>,
    ) -> Result<Response<pb::DeleteSessionResponse>, Status> {
        let asked = request.into_inner();
        let deleted = service::delete_session(&self.ctx, &asked.session_id).await;
        deleted.map_err(|err| self.told(&err))?;
        Ok(Response::new(pb::DeleteSessionResponse {}))
    }

    async fn set_view(
        &self,
        request: Request<pb::SetViewRequest>,
    ) -> Result<Response<pb::SetViewResponse>, Status> {
        let input = decode::set_view(request.into_inner()).map_err(|err| self.told(&err))?;
        let set = service::set_view(&self.ctx, input).await.map_err(|err| self.told(&err))?;
        let view = Some(codec::session::view_to_pb(&set.view));
        Ok(Response::new(pb::SetViewResponse { view, revision: set.revision.0 }))
    }

    async fn delete_view(
        &self,
        request: Request<pb::DeleteViewRequest>,
    ) -> Result<Response<pb::DeleteViewResponse>, Status> {
        let asked = request.into_inner();
        let deleted = service::delete_view(&self.ctx, &asked.session_id, &asked.view).await;
        let revision = deleted.map_err(|err| self.told(&err))?;
        Ok(Response::new(pb::DeleteViewResponse { revision: revision.0 }))
    }

    async fn set_context_item(
        &self,
        request: Request<pb::SetContextItemRequest>,
    ) -> Result<Response<pb::SetContextItemResponse>, Status> {
        let asked = request.into_inner();
        let item = decode::context_item(asked.item).map_err(|err| self.told(&err))?;
        let set = service::set_context_item(&self.ctx, &asked.session_id, item, asked.author);
        let revision = set.await.map_err(|err| self.told(&err))?;
        Ok(Response::new(pb::SetContextItemResponse { revision: revision.0 }))
    }

    async fn list_context_items(
        &self,
        request: Request<pb::ListContextItemsRequest>,
    ) -> Result<Response<pb::ListContextItemsResponse>, Status> {
        let asked = request.into_inner();
        let items =
            service::list_context_items(&self.ctx, &asked.session_id, asked.at_revision).await;
        let items = items.map_err(|err| self.told(&err))?;
        let items = items.iter().map(codec::session::item_to_pb).collect();
        Ok(Response::new(pb::ListContextItemsResponse { items }))
    }

    async fn append_turn(
        &self,
        request: Request<pb::AppendTurnRequest>,
    ) -> Result<Response<pb::AppendTurnResponse>, Status> {
        let input = decode::append_turn(request.into_inner());
        let input = input.map_err(|err| self.told(&err))?;
        let appended = service::append_turn(&self.ctx, input).await;
        let appended = appended.map_err(|err| self.told(&err))?;
        Ok(Response::new(encode::appended_turn(appended)))
    }

    async fn get_context(
        &self,
        request: Request<pb::GetContextRequest>,
    ) -> Result<Response<pb::GetContextResponse>, Status> {
        let (metadata, _, asked) = request.into_parts();
        let limit =
            context::response_limit(asked.max_response_bytes, self.ctx.limits.response_bytes);
        let limit = limit.map_err(|err| self.told(&err))?;
        let input = decode::get_context(asked, &metadata).map_err(|err| self.told(&err))?;
        let context = service::get_context(&self.ctx, input).await;
        let answer = context.and_then(|it| context::whole(&it, limit));
        Ok(Response::new(answer.map_err(|err| self.told(&err))?))
    }

    async fn stream_context(
        &self,
        request: Request<pb::StreamContextRequest>,
    ) -> Result<Response<Self::StreamContextStream>, Status> {
        let (metadata, _, asked) = request.into_parts();
        let asked = asked.request.unwrap_or_default();
        let input = decode::get_context(asked, &metadata).map_err(|err| self.told(&err))?;
        let context = service::get_context(&self.ctx, input).await;
        let context = context.map_err(|err| self.told(&err))?;
        Ok(Response::new(stream::of(context::in_pieces(&context))))
    }

    async fn count_tokens(
        &self,
        request: Request<pb::CountTokensRequest>,
    ) -> Result<Response<pb::CountTokensResponse>, Status> {
        let asked = decode::count_tokens(request.into_inner());
        let (model, content) = asked.map_err(|err| self.told(&err))?;
        let counted = service::count_tokens(&self.ctx, &model, content).await;
        let counted = counted.map_err(|err| self.told(&err))?;
        Ok(Response::new(encode::counted_tokens(counted)))
    }

    async fn read_history(
        &self,
        request: Request<pb::ReadHistoryRequest>,
    ) -> Result<Response<Self::ReadHistoryStream>, Status> {
        let input = decode::read_history(request.into_inner());
        let reader = service::read_history(&self.ctx, input).await;
        let reader = reader.map_err(|err| self.told(&err))?;
        let ctx = self.ctx.clone();
        Ok(Response::new(stream::spawn(ctx.ids.clone(), |outlet| {
            send_history(ctx, reader, outlet)
        })))
    }

    async fn read_content(
        &self,
        request: Request<pb::ReadContentRequest>,
    ) -> Result<Response<Self::ReadContentStream>, Status> {
        let input = decode::read_content(request.into_inner());
        let content = service::read_content(&self.ctx, input).await;
        let content = content.map_err(|err| self.told(&err))?;
        Ok(Response::new(stream::of(encode::content_chunks(content))))
    }

    async fn list_revisions(
        &self,
        request: Request<pb::ListRevisionsRequest>,
    ) -> Result<Response<pb::ListRevisionsResponse>, Status> {
        let input = decode::list_revisions(request.into_inner());
        let session = SessionId::new(&input.session_id);
        let listed = service::list_revisions(&self.ctx, input).await;
        let listed = listed.map_err(|err| self.told(&err))?;
        let revisions = listed.revisions.iter().map(|it| codec::revision::to_pb(it, &session));
        Ok(Response::new(pb::ListRevisionsResponse {
            revisions: revisions.collect(),
            next_page_token: listed.next_page_token,
        }))
    }

    async fn fork_session(
        &self,
        request: Request<pb::ForkSessionRequest>,
    ) -> Result<Response<pb::ForkSessionResponse>, Status> {
        let input = decode::fork_session(request.into_inner());
        let forked = service::fork_session(&self.ctx, input).await;
        let forked = forked.map_err(|err| self.told(&err))?;
        let session = Some(codec::session::to_pb(&forked));
        Ok(Response::new(pb::ForkSessionResponse { session }))
    }

    async fn recover_context(
        &self,
        _: Request<pb::RecoverContextRequest>,
    ) -> Result<Response<pb::RecoverContextResponse>, Status> {
        Err(unimplemented())
    }

    async fn search_history(
        &self,
        _: Request<pb::SearchHistoryRequest>,
    ) -> Result<Response<pb::SearchHistoryResponse>, Status> {
        Err(unimplemented())
    }

    async fn watch_session(
        &self,
        _: Request<pb::WatchSessionRequest>,
    ) -> Result<Response<Self::WatchSessionStream>, Status> {
        Err(unimplemented())
    }
}

/// Sends rows until none is left or nobody listens.
async fn send_history(
    ctx: Arc<Ctx>,
    mut reader: HistoryReader,
    outlet: Outlet<pb::ReadHistoryResponse>,
) {
    loop {
        let page = match reader.next_page(&ctx).await {
            Ok(page) if page.is_empty() => return,
            Ok(page) => page,
            Err(err) => {
                let told = status::of(&err, ctx.ids.as_ref());
                // Where nobody listens any more there is nobody to tell.
                let _ = outlet.send(Err(told)).await;
                return;
            }
        };
        for row in &page {
            if outlet.send(Ok(encode::history_row(row))).await.is_err() {
                return;
            }
        }
    }
}
