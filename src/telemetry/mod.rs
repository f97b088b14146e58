//! Logs: to stderr, as text for a person or as JSON lines for a collector.
//! Never what a client stored.

use std::io;

use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt as _, util::SubscriberInitExt as _};

/// What is logged, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogConfig {
    /// Text or JSON.
    pub format: LogFormat,
    /// Which levels of what.
    pub filter: String,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { format: LogFormat::Text, filter: "info".to_owned() }
    }
}

/// How a log line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For a person.
    Text,
    /// For a collector.
    Json,
}

/// Starts to log.
///
/// # Errors
///
/// Where the filter cannot be read, or something logs already.
pub fn init(log: &LogConfig) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let filter = EnvFilter::try_new(&log.filter)?;
    let registry = tracing_subscriber::registry().with(filter);
    match log.format {
        LogFormat::Text => registry.with(fmt::layer().with_writer(io::stderr)).try_init()?,
        LogFormat::Json => registry.with(fmt::layer().json().with_writer(io::stderr)).try_init()?,
    }
    Ok(())
}

/// Says whether `filter` can be read: `info`, or `concertina=debug,warn`.
#[must_use]
pub fn is_legal_filter(filter: &str) -> bool {
    EnvFilter::try_new(filter).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_a_level_or_levels_of_targets() {
        for (filter, legal) in [("info", true), ("concertina=debug,warn", true), ("a=b=c", false)] {
            assert_eq!(is_legal_filter(filter), legal, "{filter}");
        }
    }
}
