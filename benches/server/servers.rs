//! The two sides: a real server over a database on disk, and the floor. Both
//! listen on loopback and share threads that are not the load's.

use std::{net::SocketAddr, time::Duration};

use anyhow::Context as _;
use concertina::{
    config::Config,
    grpc::{self, Running},
    proto::v1::{
        session_service_client::SessionServiceClient, session_service_server::SessionServiceServer,
    },
};
use tempfile::TempDir;
use tokio::{net::TcpListener, runtime::Runtime};
use tonic::transport::{Channel, Server, server::TcpIncoming};

use crate::floor::{Contexts, Floor};

/// A client with a connection of its own.
pub(crate) type Client = SessionServiceClient<Channel>;

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
        let start = move || threads.block_on(grpc::start(&config));
        let running = tokio::task::spawn_blocking(start).await??;
        Ok(Self { running: Some(running), runtime: Some(runtime), _data: data })
    }

    /// A new connection.
    pub(crate) async fn client(&self) -> anyhow::Result<Client> {
        let running = self.running.as_ref().context("the server has stopped")?;
        client(running.address()).await
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

async fn client(address: SocketAddr) -> anyhow::Result<Client> {
    let channel = Channel::from_shared(format!("http://{address}"))?.connect().await?;
    Ok(SessionServiceClient::new(channel))
}
