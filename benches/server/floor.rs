//! The least that can answer: methods of the same contract, made by the same
//! generator, that do nothing.

use std::collections::HashMap;

use concertina::proto::v1::{self as pb, session_service_server::SessionService};
use tonic::{Request, Response, Status, codegen::BoxStream};

/// Answers what it was made with: by session, for the bytes of many are in no
/// processor's cache.
pub(crate) struct Floor {
    contexts: Contexts,
}

/// A context for each session.
pub(crate) type Contexts = HashMap<String, pb::GetContextResponse>;

impl Floor {
    pub(crate) fn new(contexts: Contexts) -> Self {
        Self { contexts }
    }
}

/// The two methods that are measured, and refusals of all others.
macro_rules! bare {
    ($($method:ident($request:ident) -> $response:ty;)+) => {
        #[tonic::async_trait]
        impl SessionService for Floor {
            type StreamContextStream = BoxStream<pb::StreamContextResponse>;
            type ReadHistoryStream = BoxStream<pb::ReadHistoryResponse>;
            type ReadContentStream = BoxStream<pb::ReadContentResponse>;
            type WatchSessionStream = BoxStream<pb::WatchSessionResponse>;

            async fn get_context(
                &self,
                request: Request<pb::GetContextRequest>,
            ) -> Result<Response<pb::GetContextResponse>, Status> {
                let asked = request.into_inner();
                let context = self.contexts.get(&asked.session_id);
                context.cloned().map(Response::new).ok_or_else(|| Status::not_found("no session"))
            }

            async fn append_turn(
                &self,
                request: Request<pb::AppendTurnRequest>,
            ) -> Result<Response<pb::AppendTurnResponse>, Status> {
                let asked = request.into_inner();
                let last_seq = i64::try_from(asked.messages.len()).unwrap_or_default();
                Ok(Response::new(pb::AppendTurnResponse {
                    first_seq: 1,
                    last_seq,
                    revision: 1,
                    ..Default::default()
                }))
            }

            $(
                async fn $method(
                    &self,
                    _: Request<pb::$request>,
                ) -> Result<Response<$response>, Status> {
                    Err(Status::unimplemented("the floor answers nothing else"))
                }
            )+
        }
    };
}

bare! {
    create_session(CreateSessionRequest) -> pb::CreateSessionResponse;
    get_session(GetSessionRequest) -> pb::GetSessionResponse;
    list_sessions(ListSessionsRequest) -> pb::ListSessionsResponse;
    update_session(UpdateSessionRequest) -> pb::UpdateSessionResponse;
    delete_session(DeleteSessionRequest) -> pb::DeleteSessionResponse;
    set_context_item(SetContextItemRequest) -> pb::SetContextItemResponse;
    list_context_items(ListContextItemsRequest) -> pb::ListContextItemsResponse;
    stream_context(StreamContextRequest) -> Self::StreamContextStream;
    count_tokens(CountTokensRequest) -> pb::CountTokensResponse;
    read_history(ReadHistoryRequest) -> Self::ReadHistoryStream;
    read_content(ReadContentRequest) -> Self::ReadContentStream;
    fork_session(ForkSessionRequest) -> pb::ForkSessionResponse;
    set_view(SetViewRequest) -> pb::SetViewResponse;
    delete_view(DeleteViewRequest) -> pb::DeleteViewResponse;
    recover_context(RecoverContextRequest) -> pb::RecoverContextResponse;
    search_history(SearchHistoryRequest) -> pb::SearchHistoryResponse;
    list_revisions(ListRevisionsRequest) -> pb::ListRevisionsResponse;
    watch_session(WatchSessionRequest) -> Self::WatchSessionStream;
}
