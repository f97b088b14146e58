//! `concertina serve`: the server itself.

use std::{net::SocketAddr, path::PathBuf};

use anyhow::Context as _;
use tokio::signal;

use super::{Out, Usage};
use crate::{
    config::{self, Config, Sources},
    grpc, telemetry,
};

/// Flags win over the environment (`CONCERTINA_…`), that over the file.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Where everything is kept; created where it is not there.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Where to listen; port 0 picks one.
    #[arg(long, value_name = "ADDR", help = listen_help())]
    listen: Option<SocketAddr>,
    /// A file of settings, in TOML.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Listen off loopback although nothing controls who calls.
    #[arg(long)]
    insecure: bool,
}

/// The default is not clap's: the environment and the file go before it.
fn listen_help() -> String {
    let listen = Config::default().listen;
    format!("Where to listen; port 0 picks one [default: {listen}]")
}

pub(super) async fn run(args: Args, out: &mut Out) -> anyhow::Result<()> {
    let config = settings(args)?;
    if let Err(error) = telemetry::init(&config.log) {
        anyhow::bail!("cannot start to log: {error}");
    }
    // Before it listens: a signal that comes at once must not be lost.
    let stop = told_to_stop()?;
    let mut running = grpc::start(&config).await?;
    out.say(&format!("listening on {}", running.address()));
    tokio::select! {
        outcome = running.ended() => return Ok(outcome?),
        () = stop => out.say("stopping"),
    }
    running.stop().await?;
    Ok(())
}

fn settings(args: Args) -> Result<Config, Usage> {
    let mut flags = Vec::new();
    if let Some(data) = args.data {
        flags.push(("data", data.to_string_lossy().into_owned()));
    }
    if let Some(listen) = args.listen {
        flags.push(("listen", listen.to_string()));
    }
    if args.insecure {
        flags.push(("insecure", "true".to_owned()));
    }
    let sources = Sources::of_process(flags, args.config);
    config::load(&sources).map_err(|problems| Usage::new(problems.to_string()))
}

/// Ends at the first SIGTERM or SIGINT.
#[cfg(unix)]
fn told_to_stop() -> anyhow::Result<impl Future<Output = ()>> {
    use signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).context("cannot wait for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot wait for SIGINT")?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Ends at the first Ctrl-C.
#[cfg(not(unix))]
fn told_to_stop() -> anyhow::Result<impl Future<Output = ()>> {
    Ok(async {
        if signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
