//! What the server may be told: a flag, else the environment, else the file,
//! else a default. Start reading at [`load`]; `settings` lists them all.
//!
//! Everything that is wrong is told at once.

mod settings;
mod sources;

use std::{
    fmt,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

pub use settings::names;
pub use sources::{Sources, load};

use crate::{service::Limits, telemetry::LogConfig};

/// Where a server listens unless it is told otherwise, and where clients look.
pub const DEFAULT_PORT: u16 = 7437;

/// How the server is to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Where everything is kept.
    pub data: PathBuf,
    /// Where to listen; port 0 picks one.
    pub listen: SocketAddr,
    /// Off loopback although nothing controls who calls.
    pub insecure: bool,
    /// The preset of a view that names none.
    pub default_preset: String,
    /// A table of models that goes before the embedded one.
    pub models: Option<PathBuf>,
    /// How long calls may go on once the server is to stop.
    pub drain: Duration,
    /// What is logged, and how.
    pub log: LogConfig,
    /// How much a client may send.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            data: PathBuf::from("concertina-data"),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT)),
            insecure: false,
            default_preset: "default".to_owned(),
            models: None,
            drain: Duration::from_secs(10),
            log: LogConfig::default(),
            limits: Limits::default(),
        }
    }
}

/// Everything that is wrong with what the server was told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Problems(pub Vec<Problem>);

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it was said: `--listen`, `CONCERTINA_LISTEN`, `file.toml: listen`.
    pub origin: String,
    /// What was expected, and what was found.
    pub description: String,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the configuration cannot be used")?;
        self.0.iter().try_for_each(|it| write!(f, "\n  {}: {}", it.origin, it.description))
    }
}
