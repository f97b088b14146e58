//! From a configuration to a server that listens.

use std::{future::Future, io, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use tonic::{
    codec::CompressionEncoding,
    transport::{
        Server,
        server::{Router, TcpIncoming},
    },
};
use tonic_health::ServingStatus;

use super::{
    collapse_service::Collapses, guard::Guard, health, session_service::Sessions,
    transcript_service::Transcripts,
};
use crate::{
    config::Config,
    proto::{
        DESCRIPTORS,
        v1::{
            collapse_service_server::CollapseServiceServer,
            session_service_server::SessionServiceServer,
            transcript_service_server::TranscriptServiceServer,
        },
    },
    service::{Ctx, limits::MIB},
    store::sqlite::{OpenError, Options, SqliteStore},
    tokens::{Models, ModelsError},
};

/// What a request may be above its messages: names, labels, framing.
const SLACK_BYTES: usize = MIB;
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(30);
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(20);
/// Calls of one connection that may be given up before they are looked at. With
/// the usual 20, a handful of impatient agents behind one connection would cost
/// all others theirs.
const RESETS: usize = 1024;
/// How often what has a limited life is looked for.
const EXPIRY_PERIOD: Duration = Duration::from_mins(1);

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// The table of models cannot be read.
    #[error("the table of models `{}` cannot be read", .0.display())]
    ModelsFile(PathBuf, #[source] io::Error),
    /// The table of models cannot be used.
    #[error("the table of models `{}` cannot be used", .0.display())]
    Models(PathBuf, #[source] ModelsError),
    /// The address cannot be had.
    #[error("cannot listen on {0}")]
    Listen(SocketAddr, #[source] io::Error),
}

/// Why a server ended that was not told to.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The descriptors cannot be read.
    #[error("the contract's descriptors cannot be read")]
    Descriptors(#[from] tonic_reflection::server::Error),
    /// The listener failed.
    #[error("the listener failed")]
    Transport(#[from] tonic::transport::Error),
    /// It panicked or was aborted.
    #[error("the server's task ended")]
    Task(#[from] tokio::task::JoinError),
}

/// A server that listens.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    shutdown: CancellationToken,
    task: JoinHandle<Result<(), ServeError>>,
}

impl Running {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Tells it to stop and waits until it has: calls under way may end, the
    /// store is closed.
    ///
    /// # Errors
    ///
    /// [`ServeError`] where it failed.
    pub async fn stop(self) -> Result<(), ServeError> {
        self.shutdown.cancel();
        self.task.await?
    }

    /// Waits until it ends by itself.
    ///
    /// # Errors
    ///
    /// [`ServeError`] where it failed.
    pub async fn ended(&mut self) -> Result<(), ServeError> {
        (&mut self.task).await?
    }
}

/// Listens, opens the store, and serves in the background.
///
/// # Errors
///
/// [`StartError`]: nothing was started.
pub async fn start(config: &Config) -> Result<Running, StartError> {
    let models = models(config)?;
    // The address first: it leaves nothing behind where the store fails.
    let (listener, address) = listen(config).await?;
    let store = SqliteStore::open(&config.data, Options::default()).await?;
    let mut ctx = Ctx::new(Arc::new(store));
    ctx.limits = config.limits.clone();
    ctx.default_preset.clone_from(&config.default_preset);
    ctx.models = Arc::new(models);
    Ok(spawn(Arc::new(ctx), listener, address, config.drain))
}

/// Listens and serves in the background with a context that is there already.
///
/// # Errors
///
/// [`StartError`]: nothing was started.
pub async fn start_with(ctx: Arc<Ctx>, config: &Config) -> Result<Running, StartError> {
    let (listener, address) = listen(config).await?;
    Ok(spawn(ctx, listener, address, config.drain))
}

async fn listen(config: &Config) -> Result<(TcpListener, SocketAddr), StartError> {
    let failed = |err| StartError::Listen(config.listen, err);
    let listener = TcpListener::bind(config.listen).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

fn spawn(ctx: Arc<Ctx>, listener: TcpListener, address: SocketAddr, drain: Duration) -> Running {
    let shutdown = CancellationToken::new();
    let stop = shutdown.clone().cancelled_owned();
    let task = tokio::spawn(serve(ctx, listener, stop, drain));
    Running { address, shutdown, task }
}

fn models(config: &Config) -> Result<Models, StartError> {
    let Some(path) = &config.models else {
        return Ok(Models::over_embedded("").unwrap_or_default());
    };
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|err| StartError::ModelsFile(path.clone(), err))?;
    Models::over_embedded(&text).map_err(|err| StartError::Models(path.clone(), err))
}

/// Serves until `shutdown` ends; then no call is taken, those under way have
/// `drain` to end, and the store is closed.
///
/// # Errors
///
/// [`ServeError`] where the listener fails.
pub async fn serve(
    ctx: Arc<Ctx>,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send,
    drain: Duration,
) -> Result<(), ServeError> {
    let (reporter, health_service) = tonic_health::server::health_reporter();
    health::set(&reporter, ServingStatus::NotServing).await;
    let chores = [
        tokio::spawn(health::watch(reporter.clone(), ctx.clone())),
        tokio::spawn(expire(ctx.clone())),
    ];
    let stop = CancellationToken::new();
    let router = router(&ctx)?.add_service(health_service);
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let serving = router.serve_with_incoming_shutdown(incoming, stop.clone().cancelled_owned());
    tokio::pin!(serving);
    let outcome = tokio::select! {
        outcome = &mut serving => outcome.map_err(ServeError::from),
        () = shutdown => {
            chores.iter().for_each(JoinHandle::abort);
            health::set(&reporter, ServingStatus::NotServing).await;
            stop.cancel();
            // A client that does not go away must not keep the server.
            tokio::time::timeout(drain, serving).await.unwrap_or(Ok(())).map_err(ServeError::from)
        }
    };
    chores.iter().for_each(JoinHandle::abort);
    ctx.background.stop().await;
    ctx.store.close().await;
    outcome
}

type Layers = tower::layer::util::Stack<Guard, tower::layer::util::Identity>;

fn router(ctx: &Arc<Ctx>) -> Result<Router<Layers>, ServeError> {
    let most = ctx.limits.request_bytes + SLACK_BYTES;
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let sessions = SessionServiceServer::new(Sessions::new(ctx.clone()))
        .max_decoding_message_size(most)
        .accept_compressed(CompressionEncoding::Gzip)
        .accept_compressed(CompressionEncoding::Zstd);
    let collapses = CollapseServiceServer::new(Collapses::new(ctx.clone()))
        .max_decoding_message_size(most)
        .accept_compressed(CompressionEncoding::Gzip)
        .accept_compressed(CompressionEncoding::Zstd);
    let transcripts = TranscriptServiceServer::new(Transcripts).max_decoding_message_size(most);
    Ok(Server::builder()
        .http2_keepalive_interval(Some(KEEPALIVE_INTERVAL))
        .http2_keepalive_timeout(Some(KEEPALIVE_TIMEOUT))
        .http2_max_pending_accept_reset_streams(Some(RESETS))
        .layer(Guard::new(ctx.ids.clone()))
        .add_service(sessions)
        .add_service(collapses)
        .add_service(transcripts)
        .add_service(reflection().build_v1()?)
        // What older clients ask for.
        .add_service(reflection().build_v1alpha()?))
}

/// Removes what has lived long enough, for ever.
async fn expire(ctx: Arc<Ctx>) {
    loop {
        if let Err(err) = ctx.store.expire(ctx.clock.now()).await {
            tracing::warn!(error = %err, "cannot remove what expired");
        }
        tokio::time::sleep(EXPIRY_PERIOD).await;
    }
}
