//! A real server on a real port over a store on disk, and ways to ask it.

use std::{collections::BTreeMap, sync::Arc};

use concertina::{
    config::Config,
    grpc::{self, Running, StartError},
    proto::v1::{
        self as pb, Block, Message, Role, Text, ToolOutput, ToolResult, ToolUse, block::Kind,
        collapse_service_client::CollapseServiceClient,
        session_service_client::SessionServiceClient, tool_output,
        transcript_service_client::TranscriptServiceClient,
    },
    service::{Ctx, Limits},
    store::sqlite::{Options, SqliteStore},
    summary::Summarizer,
};
use tempfile::TempDir;
use tonic::{Code, Status, transport::Channel};
use tonic_types::StatusExt as _;

/// A server that is gone, with what it stored, when it is dropped.
pub(crate) struct TestServer {
    dir: TempDir,
    running: Running,
}

/// The client of `SessionService`.
pub(crate) type Sessions = SessionServiceClient<Channel>;

impl TestServer {
    pub(crate) async fn start() -> Self {
        let dir = TempDir::new().unwrap();
        let running = grpc::start(&config(&dir)).await.unwrap();
        Self { dir, running }
    }

    /// Starts one whose summaries come from elsewhere.
    pub(crate) async fn start_with(
        summarizer: Arc<dyn Summarizer>,
        limits: impl FnOnce(&mut Limits),
    ) -> Self {
        let dir = TempDir::new().unwrap();
        let store = SqliteStore::open(dir.path(), Options::default()).await.unwrap();
        let mut ctx = Ctx::new(Arc::new(store));
        ctx.summarizer = summarizer;
        limits(&mut ctx.limits);
        let running = grpc::start_with(Arc::new(ctx), &config(&dir)).await.unwrap();
        Self { dir, running }
    }

    /// Stops it and starts another one over the same store.
    pub(crate) async fn restart(self) -> Self {
        self.running.stop().await.unwrap();
        let running = grpc::start(&config(&self.dir)).await.unwrap();
        Self { dir: self.dir, running }
    }

    /// Tries to start another one over the same store while this one runs.
    pub(crate) async fn second(&self) -> Result<Running, StartError> {
        grpc::start(&config(&self.dir)).await
    }

    pub(crate) async fn channel(&self) -> Channel {
        let address = format!("http://{}", self.running.address());
        Channel::from_shared(address).unwrap().connect().await.unwrap()
    }

    pub(crate) async fn client(&self) -> Sessions {
        SessionServiceClient::new(self.channel().await)
    }

    pub(crate) async fn collapses(&self) -> CollapseServiceClient<Channel> {
        CollapseServiceClient::new(self.channel().await)
    }

    pub(crate) async fn transcripts(&self) -> TranscriptServiceClient<Channel> {
        TranscriptServiceClient::new(self.channel().await)
    }
}

fn config(dir: &TempDir) -> Config {
    Config {
        data: dir.path().to_owned(),
        listen: "127.0.0.1:0".parse().unwrap(),
        ..Config::default()
    }
}

/// A server, a client, and a session `s` without messages.
pub(crate) async fn with_session() -> (TestServer, Sessions) {
    let server = TestServer::start().await;
    let mut client = server.client().await;
    create(&mut client, "s").await;
    (server, client)
}

pub(crate) async fn create(client: &mut Sessions, id: &str) -> pb::Session {
    let request = pb::CreateSessionRequest { session_id: id.into(), ..Default::default() };
    client.create_session(request).await.unwrap().into_inner().session.unwrap()
}

pub(crate) fn message(role: Role, kinds: Vec<Kind>) -> Message {
    let blocks = kinds.into_iter().map(|it| Block { kind: Some(it), ..Default::default() });
    Message { role: role.into(), blocks: blocks.collect(), ..Default::default() }
}

pub(crate) fn user(words: &str) -> Message {
    message(Role::User, vec![text(words)])
}

pub(crate) fn text(words: &str) -> Kind {
    Kind::Text(Text { text: words.into(), ..Default::default() })
}

pub(crate) fn call(id: &str, input: &str) -> Kind {
    let input_json = input.to_owned().into();
    Kind::ToolUse(ToolUse { id: id.into(), name: "ask".into(), input_json, ..Default::default() })
}

pub(crate) fn result(id: &str, output: impl Into<bytes::Bytes>) -> Kind {
    let output = vec![ToolOutput { kind: Some(tool_output::Kind::Text(output.into())) }];
    Kind::ToolResult(ToolResult { tool_use_id: id.into(), output, ..Default::default() })
}

/// An append of `messages` to the session `s`.
pub(crate) fn appending(messages: Vec<Message>) -> pb::AppendTurnRequest {
    pb::AppendTurnRequest { session_id: "s".into(), messages, ..Default::default() }
}

pub(crate) async fn append(
    client: &mut Sessions,
    messages: Vec<Message>,
) -> pb::AppendTurnResponse {
    client.append_turn(appending(messages)).await.unwrap().into_inner()
}

/// The whole history of the session `s`.
pub(crate) async fn history(client: &mut Sessions) -> Vec<pb::ReadHistoryResponse> {
    let request = pb::ReadHistoryRequest { session_id: "s".into(), ..Default::default() };
    read(client, request).await.unwrap()
}

pub(crate) async fn read(
    client: &mut Sessions,
    request: pb::ReadHistoryRequest,
) -> Result<Vec<pb::ReadHistoryResponse>, Status> {
    let mut stream = client.read_history(request).await?.into_inner();
    let mut rows = Vec::new();
    while let Some(row) = stream.message().await? {
        rows.push(row);
    }
    Ok(rows)
}

pub(crate) fn seqs(rows: &[pb::ReadHistoryResponse]) -> Vec<i64> {
    rows.iter().map(|it| it.message.as_ref().unwrap().seq).collect()
}

/// What a status tells: its code, its reason, and the reason's metadata.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) code: Code,
    pub(crate) reason: String,
    pub(crate) metadata: BTreeMap<String, String>,
    pub(crate) fields: Vec<String>,
}

#[track_caller]
pub(crate) fn told<T: std::fmt::Debug>(answer: Result<T, Status>) -> Told {
    let status = answer.unwrap_err();
    let info = status.get_details_error_info().unwrap_or_else(|| panic!("no reason: {status:?}"));
    assert_eq!(info.domain, "concertina");
    let bad = status.get_details_bad_request().map(|it| it.field_violations).unwrap_or_default();
    Told {
        code: status.code(),
        reason: info.reason,
        metadata: info.metadata.into_iter().collect(),
        fields: bad.into_iter().map(|it| it.field).collect(),
    }
}

/// Checks code, reason and metadata.
#[track_caller]
pub(crate) fn is_told<T: std::fmt::Debug>(
    answer: Result<T, Status>,
    code: Code,
    reason: &str,
    metadata: &[(&str, &str)],
) {
    let told = told(answer);
    assert_eq!((told.code, told.reason.as_str()), (code, reason), "{told:?}");
    let metadata: BTreeMap<String, String> =
        metadata.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    assert_eq!(told.metadata, metadata);
}

/// Checks that exactly these fields are wrong.
#[track_caller]
pub(crate) fn is_wrong<T: std::fmt::Debug>(answer: Result<T, Status>, fields: &[&str]) {
    let told = told(answer);
    assert_eq!((told.code, told.reason.as_str()), (Code::InvalidArgument, "INVALID_FIELD"));
    assert_eq!(told.fields, fields);
}
