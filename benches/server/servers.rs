//! The two sides: a real server over a database on disk, and the floor. Both
//! listen on loopback and share threads that are not the load's.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context as _;
use concertina::{
    config::Config,
    grpc::{self, Running},
    proto::v1::{
        collapse_service_client::CollapseServiceClient,
        session_service_client::SessionServiceClient, session_service_server::SessionServiceServer,
    },
    service::Ctx,
    store::sqlite::{Options, SqliteStore},
    summary::{Extractive, Summarizer},
};
use tempfile::TempDir;
use tokio::{net::TcpListener, runtime::Runtime};
use tonic::transport::{Channel, Server, server::TcpIncoming};

use crate::floor::{Contexts, Floor};

/// What a client takes of an answer.
pub(crate) const ANSWER_BYTES: usize = 64 << 20;

/// A client with a connection of its own.
pub(crate) type Client = SessionServiceClient<Channel>;

/// One that collapses.
pub(crate) type CollapseClient = CollapseServiceClient<Channel>;

/// A real server; what it stored goes with it.
pub(crate) struct Subject {
    running: Option<Running>,
    // Declared in the order in which they have to go.
    runtime: Option<Runtime>,
    _data: TempDir,
}

impl Subject {
    /// A server with an empty database.
    pub(crate) async fn start() -> anyhow::Result<Self> {
        Self::start_with(Arc::new(Extractive)).await
    }

    /// One whose summaries come from elsewhere.
    pub(crate) async fn start_with(summarizer: Arc<dyn Summarizer>) -> anyhow::Result<Self> {
        let data = TempDir::new()?;
        let config = Config {
            data: data.path().to_owned(),
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            drain: Duration::from_secs(1),
            ..Config::default()
        };
        let runtime = Runtime::new()?;
        let threads = runtime.handle().clone();
        // What it starts goes to the threads that it is started from.
        let start = move || threads.block_on(start(config, summarizer));
        let running = tokio::task::spawn_blocking(start).await??;
        Ok(Self { running: Some(running), runtime: Some(runtime), _data: data })
    }

    /// A new connection.
    pub(crate) async fn client(&self) -> anyhow::Result<Client> {
        client(self.address()?).await
    }

    /// A new connection for collapses.
    pub(crate) async fn collapses(&self) -> anyhow::Result<CollapseClient> {
        Ok(CollapseServiceClient::new(channel(self.address()?).await?))
    }

    fn address(&self) -> anyhow::Result<SocketAddr> {
        Ok(self.running.as_ref().context("the server has stopped")?.address())
    }

    /// Stops it.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        if let Some(running) = self.running.take() {
            running.stop().await?;
        }
        Ok(())
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        // A runtime may not wait for its threads within another one.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The floor.
pub(crate) struct Bare {
    address: SocketAddr,
    runtime: Option<Runtime>,
}

impl Bare {
    /// A server that answers requests for a context with one of `contexts`.
    pub(crate) async fn start(contexts: Contexts) -> anyhow::Result<Self> {
        let runtime = Runtime::new()?;
        let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0));
        let listener = runtime.spawn(listener).await??;
        let address = listener.local_addr()?;
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        let service = SessionServiceServer::new(Floor::new(contexts));
        runtime.spawn(Server::builder().add_service(service).serve_with_incoming(incoming));
        Ok(Self { address, runtime: Some(runtime) })
    }

    /// A new connection.
    pub(crate) async fn client(&self) -> anyhow::Result<Client> {
        client(self.address).await
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn start(config: Config, summarizer: Arc<dyn Summarizer>) -> anyhow::Result<Running> {
    let store = SqliteStore::open(&config.data, Options::default()).await?;
    let ctx = Ctx { summarizer, ..Ctx::new(Arc::new(store)) };
    Ok(grpc::start_with(Arc::new(ctx), &config).await?)
}

async fn client(address: SocketAddr) -> anyhow::Result<Client> {
    Ok(SessionServiceClient::new(channel(address).await?).max_decoding_message_size(ANSWER_BYTES))
}

async fn channel(address: SocketAddr) -> anyhow::Result<Channel> {
    Ok(Channel::from_shared(format!("http://{address}"))?.connect().await?)
}
