//! The client side of the API. Only this file of the command line names tonic.

use anyhow::Context as _;
use tonic::{
    Response, Status, Streaming,
    transport::{Channel, Endpoint},
};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
use tonic_types::StatusExt as _;

use crate::proto::v1::{
    self, collapse_service_client::CollapseServiceClient,
    session_service_client::SessionServiceClient,
};

/// Stock clients stop at 4 MiB; a rendered request may have 20 MiB and more.
const MAX_ANSWER_BYTES: usize = 512 << 20;

/// A server, as its client sees it.
pub(super) struct Remote {
    sessions: SessionServiceClient<Channel>,
    collapse: CollapseServiceClient<Channel>,
    health: HealthClient<Channel>,
}

macro_rules! calls {
    ($($client:ident.$method:ident($request:ident) -> $response:ident;)+) => {$(
        pub(super) async fn $method(
            &mut self,
            request: v1::$request,
        ) -> Result<v1::$response, Refusal> {
            let answer = self.$client.$method(request).await;
            answer.map(Response::into_inner).map_err(Refusal::from)
        }
    )+};
}

macro_rules! streams {
    ($($client:ident.$method:ident($request:ident) -> $response:ident;)+) => {$(
        pub(super) async fn $method(
            &mut self,
            request: v1::$request,
        ) -> Result<Pieces<v1::$response>, Refusal> {
            let answer = self.$client.$method(request).await;
            answer.map(|response| Pieces(response.into_inner())).map_err(Refusal::from)
        }
    )+};
}

impl Remote {
    /// Prepares to talk to `address`; the first call connects.
    pub(super) fn connect(address: &str) -> anyhow::Result<Self> {
        let address =
            if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
        if address.starts_with("https:") {
            // Without TLS it would go out in the clear, and say otherwise.
            anyhow::bail!("`{address}`: this client speaks plain gRPC, expected `http://…`");
        }
        let endpoint = Endpoint::from_shared(address.clone())
            .with_context(|| format!("`{address}` is not an address"))?;
        Ok(Self::over(endpoint.tcp_nodelay(true).connect_lazy()))
    }

    fn over(channel: Channel) -> Self {
        Self {
            sessions: SessionServiceClient::new(channel.clone())
                .max_decoding_message_size(MAX_ANSWER_BYTES),
            collapse: CollapseServiceClient::new(channel.clone())
                .max_decoding_message_size(MAX_ANSWER_BYTES),
            health: HealthClient::new(channel),
        }
    }

    calls! {
        sessions.create_session(CreateSessionRequest) -> CreateSessionResponse;
        sessions.get_session(GetSessionRequest) -> GetSessionResponse;
        sessions.list_sessions(ListSessionsRequest) -> ListSessionsResponse;
        sessions.delete_session(DeleteSessionRequest) -> DeleteSessionResponse;
        sessions.set_context_item(SetContextItemRequest) -> SetContextItemResponse;
        sessions.list_context_items(ListContextItemsRequest) -> ListContextItemsResponse;
        sessions.append_turn(AppendTurnRequest) -> AppendTurnResponse;
        sessions.count_tokens(CountTokensRequest) -> CountTokensResponse;
        sessions.fork_session(ForkSessionRequest) -> ForkSessionResponse;
        sessions.set_view(SetViewRequest) -> SetViewResponse;
        sessions.delete_view(DeleteViewRequest) -> DeleteViewResponse;
        sessions.list_revisions(ListRevisionsRequest) -> ListRevisionsResponse;
        collapse.create_collapse(CreateCollapseRequest) -> CreateCollapseResponse;
        collapse.prepare_collapse(PrepareCollapseRequest) -> PrepareCollapseResponse;
        collapse.commit_collapse(CommitCollapseRequest) -> CommitCollapseResponse;
        collapse.abandon_collapse(AbandonCollapseRequest) -> AbandonCollapseResponse;
        collapse.get_overlay(GetOverlayRequest) -> GetOverlayResponse;
        collapse.list_overlays(ListOverlaysRequest) -> ListOverlaysResponse;
        collapse.rollback_overlay(RollbackOverlayRequest) -> RollbackOverlayResponse;
        collapse.pin_messages(PinMessagesRequest) -> PinMessagesResponse;
        collapse.unpin_messages(UnpinMessagesRequest) -> UnpinMessagesResponse;
        collapse.list_pins(ListPinsRequest) -> ListPinsResponse;
    }

    streams! {
        sessions.read_history(ReadHistoryRequest) -> ReadHistoryResponse;
        sessions.read_content(ReadContentRequest) -> ReadContentResponse;
    }

    /// The projected context, whatever its size.
    pub(super) async fn get_context(
        &mut self,
        mut request: v1::GetContextRequest,
    ) -> Result<v1::Context, Refusal> {
        request.max_response_bytes = i64::try_from(MAX_ANSWER_BYTES).unwrap_or(i64::MAX);
        let answer = self.sessions.get_context(request).await?;
        Ok(answer.into_inner().context.unwrap_or_default())
    }

    /// All overlays of a view, page by page.
    pub(super) async fn all_overlays(
        &mut self,
        session: &str,
        view: &str,
        include_rolled_back: bool,
    ) -> Result<Vec<v1::Overlay>, Refusal> {
        let mut request = v1::ListOverlaysRequest {
            session_id: session.to_owned(),
            view: view.to_owned(),
            include_rolled_back,
            page_size: 1000,
            page_token: String::new(),
        };
        let mut overlays = Vec::new();
        loop {
            let page = self.list_overlays(request.clone()).await?;
            overlays.extend(page.overlays);
            if page.next_page_token.is_empty() {
                return Ok(overlays);
            }
            request.page_token = page.next_page_token;
        }
    }

    /// What the health service says: `SERVING` or why not.
    pub(super) async fn serving_status(&mut self) -> Result<&'static str, Refusal> {
        let answer = self.health.check(HealthCheckRequest::default()).await?;
        Ok(answer.into_inner().status().as_str_name())
    }
}

/// What a streaming method sends.
pub(super) struct Pieces<T>(Streaming<T>);

impl<T> Pieces<T> {
    /// The next piece; `None` after the last.
    pub(super) async fn next(&mut self) -> Result<Option<T>, Refusal> {
        self.0.message().await.map_err(Refusal::from)
    }
}

/// The server, or the way to it, said no.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct Refusal {
    /// The status, as the contract spells it.
    pub(super) code: &'static str,
    /// A reason of `errors.proto`; empty where the transport failed.
    pub(super) reason: String,
    message: String,
    /// The reason's metadata, sorted by key.
    pub(super) metadata: Vec<(String, String)>,
    /// Which fields were wrong, and how.
    pub(super) fields: Vec<(String, String)>,
    /// What to do, where what was asked for makes it another thing than usual.
    pub(super) hint: Option<&'static str>,
}

impl Refusal {
    /// With a hint of its own, where it is for that reason.
    pub(super) fn hinted(mut self, reason: &str, hint: &'static str) -> Self {
        if self.reason == reason {
            self.hint = Some(hint);
        }
        self
    }
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        let details = status.get_error_details();
        let info = details.error_info();
        let mut metadata: Vec<_> =
            info.map(|info| info.metadata.clone().into_iter().collect()).unwrap_or_default();
        metadata.sort();
        let violations = details.bad_request().map(|bad| bad.field_violations.clone());
        let fields = violations.unwrap_or_default().into_iter().map(|v| (v.field, v.description));
        Self {
            code: code_name(status.code()),
            reason: info.map(|info| info.reason.clone()).unwrap_or_default(),
            message: describe(&status),
            metadata,
            fields: fields.collect(),
            hint: None,
        }
    }
}

/// The server's words, or for a failed connection the innermost cause: tonic's
/// own says only "transport error".
fn describe(status: &Status) -> String {
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(status);
    let mut innermost = None;
    while let Some(error) = cause {
        innermost = Some(error.to_string());
        cause = error.source();
    }
    match (status.message(), innermost) {
        ("", None) => code_name(status.code()).to_owned(),
        (message, None) => message.to_owned(),
        (_, Some(innermost)) => format!("cannot talk to the server: {innermost}"),
    }
}

fn code_name(code: tonic::Code) -> &'static str {
    use tonic::Code as C;
    match code {
        C::Ok => "OK",
        C::Cancelled => "CANCELLED",
        C::Unknown => "UNKNOWN",
        C::InvalidArgument => "INVALID_ARGUMENT",
        C::DeadlineExceeded => "DEADLINE_EXCEEDED",
        C::NotFound => "NOT_FOUND",
        C::AlreadyExists => "ALREADY_EXISTS",
        C::PermissionDenied => "PERMISSION_DENIED",
        C::ResourceExhausted => "RESOURCE_EXHAUSTED",
        C::FailedPrecondition => "FAILED_PRECONDITION",
        C::Aborted => "ABORTED",
        C::OutOfRange => "OUT_OF_RANGE",
        C::Unimplemented => "UNIMPLEMENTED",
        C::Internal => "INTERNAL",
        C::Unavailable => "UNAVAILABLE",
        C::DataLoss => "DATA_LOSS",
        C::Unauthenticated => "UNAUTHENTICATED",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use tonic_types::ErrorDetails;

    use super::*;

    #[test]
    fn reason_metadata_and_fields_come_through() {
        let mut details = ErrorDetails::with_error_info(
            "SEQ_CONFLICT",
            "concertina",
            HashMap::from([("found".into(), "4".into()), ("expected".into(), "3".into())]),
        );
        details.add_bad_request_violation("expected_next_seq", "is 3, the next is 4");
        let status = Status::with_error_details(tonic::Code::Aborted, "somebody wrote", details);
        let refusal = Refusal::from(status);
        assert_eq!((refusal.code, refusal.reason.as_str()), ("ABORTED", "SEQ_CONFLICT"));
        assert_eq!(refusal.metadata[0], ("expected".into(), "3".into()));
        assert_eq!(refusal.fields[0].0, "expected_next_seq");
        assert_eq!(refusal.to_string(), "somebody wrote");
    }
}
