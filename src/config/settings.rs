//! Every setting: its name, and what it takes.
//!
//! One list for flags, environment and file, so that none of them can know a
//! setting that another does not.

use std::{net::SocketAddr, path::PathBuf, str::FromStr, time::Duration};

use super::Config;
use crate::{
    policies::Presets,
    telemetry::{self, LogFormat},
};

/// One thing that can be set.
pub(super) struct Setting {
    /// As the file spells it, dotted.
    pub(super) name: &'static str,
    /// Takes the value, or says what was expected.
    pub(super) set: fn(&mut Config, &str) -> Result<(), String>,
}

/// A setting of that name, the field that it sets, and what reads it.
macro_rules! setting {
    ($name:literal, $($field:ident).+ = $read:ident) => {
        Setting {
            name: $name,
            set: |config, text| {
                config.$($field).+ = $read(text)?;
                Ok(())
            },
        }
    };
}

/// In the order in which they are told.
pub(super) const ALL: &[Setting] = &[
    setting!("data", data = non_empty),
    setting!("listen", listen = address),
    setting!("insecure", insecure = flag),
    setting!("default_preset", default_preset = preset),
    setting!("models", models = some_path),
    setting!("drain_seconds", drain = seconds),
    setting!("log.format", log.format = log_format),
    setting!("log.filter", log.filter = log_filter),
    setting!("limits.message_bytes", limits.message_bytes = size),
    setting!("limits.request_bytes", limits.request_bytes = size),
    setting!("limits.messages_per_request", limits.messages_per_request = size),
    setting!("limits.blocks_per_message", limits.blocks_per_message = size),
    setting!("limits.context_items", limits.context_items = size),
    setting!("limits.context_item_bytes", limits.context_item_bytes = size),
    setting!("limits.labels", limits.labels = size),
    setting!("limits.response_bytes", limits.response_bytes = size),
    setting!("limits.rendered_bytes", limits.rendered_bytes = rendered_bytes),
];

/// The names of all settings, as the file spells them.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|it| it.name)
}

/// The setting of that name.
pub(super) fn find(name: &str) -> Option<&'static Setting> {
    ALL.iter().find(|it| it.name == name)
}

/// `limits.message_bytes` → `CONCERTINA_LIMITS_MESSAGE_BYTES`.
pub(super) fn variable(name: &str) -> String {
    format!("CONCERTINA_{}", name.replace('.', "_").to_uppercase())
}

fn parse<T: FromStr>(text: &str, expected: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("expected {expected}, found `{text}`"))
}

fn address(text: &str) -> Result<SocketAddr, String> {
    parse(text, "an address like 127.0.0.1:7437")
}

fn flag(text: &str) -> Result<bool, String> {
    parse(text, "true or false")
}

fn seconds(text: &str) -> Result<Duration, String> {
    parse(text, "a number of seconds").map(Duration::from_secs)
}

fn rendered_bytes(text: &str) -> Result<i64, String> {
    let bytes = size(text)?;
    i64::try_from(bytes).map_err(|_| format!("expected fewer bytes, found `{text}`"))
}

fn size(text: &str) -> Result<usize, String> {
    match parse(text, "a number above zero")? {
        0 => Err("expected a number above zero, found `0`".to_owned()),
        number => Ok(number),
    }
}

fn non_empty(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() {
        return Err("expected a path, found nothing".to_owned());
    }
    Ok(PathBuf::from(text))
}

fn some_path(text: &str) -> Result<Option<PathBuf>, String> {
    non_empty(text).map(Some)
}

fn preset(text: &str) -> Result<String, String> {
    let names: Vec<_> = Presets::embedded().names().collect();
    if names.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(format!("expected one of {}, found `{text}`", names.join(", ")))
}

fn log_format(text: &str) -> Result<LogFormat, String> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err(format!("expected text or json, found `{text}`")),
    }
}

fn log_filter(text: &str) -> Result<String, String> {
    if telemetry::is_legal_filter(text) {
        return Ok(text.to_owned());
    }
    Err(format!("expected a filter like `info` or `concertina=debug,warn`, found `{text}`"))
}
