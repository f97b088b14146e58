//! Every setting: its name, and what it takes.
//!
//! One list for flags, environment and file, so that none of them can know a
//! setting that another does not.

use std::{str::FromStr, time::Duration};

use super::{Config, LogFormat};
use crate::{policies::Presets, telemetry};

/// One thing that can be set.
pub(super) struct Setting {
    /// As the file spells it, dotted.
    pub(super) name: &'static str,
    /// Takes the value, or says what was expected.
    pub(super) set: fn(&mut Config, &str) -> Result<(), String>,
}

/// In the order in which they are told.
pub(super) const ALL: &[Setting] = &[
    Setting { name: "data", set: |it, text| put(&mut it.data, non_empty(text)?) },
    Setting {
        name: "listen",
        set: |it, text| put(&mut it.listen, parse(text, "an address like 127.0.0.1:7437")?),
    },
    Setting {
        name: "insecure",
        set: |it, text| put(&mut it.insecure, parse(text, "true or false")?),
    },
    Setting { name: "default_preset", set: |it, text| put(&mut it.default_preset, preset(text)?) },
    Setting { name: "models", set: |it, text| put(&mut it.models, Some(non_empty(text)?)) },
    Setting {
        name: "drain_seconds",
        set: |it, text| {
            put(&mut it.drain, Duration::from_secs(parse(text, "a number of seconds")?))
        },
    },
    Setting { name: "log.format", set: |it, text| put(&mut it.log.format, log_format(text)?) },
    Setting { name: "log.filter", set: |it, text| put(&mut it.log.filter, log_filter(text)?) },
    Setting {
        name: "limits.message_bytes",
        set: |it, text| put(&mut it.limits.message_bytes, size(text)?),
    },
    Setting {
        name: "limits.request_bytes",
        set: |it, text| put(&mut it.limits.request_bytes, size(text)?),
    },
    Setting {
        name: "limits.messages_per_request",
        set: |it, text| put(&mut it.limits.messages_per_request, size(text)?),
    },
    Setting {
        name: "limits.blocks_per_message",
        set: |it, text| put(&mut it.limits.blocks_per_message, size(text)?),
    },
    Setting {
        name: "limits.context_items",
        set: |it, text| put(&mut it.limits.context_items, size(text)?),
    },
    Setting {
        name: "limits.context_item_bytes",
        set: |it, text| put(&mut it.limits.context_item_bytes, size(text)?),
    },
    Setting { name: "limits.labels", set: |it, text| put(&mut it.limits.labels, size(text)?) },
    Setting {
        name: "limits.response_bytes",
        set: |it, text| put(&mut it.limits.response_bytes, size(text)?),
    },
    Setting {
        name: "limits.rendered_bytes",
        set: |it, text| put(&mut it.limits.rendered_bytes, parse(text, "a number of bytes")?),
    },
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

fn put<T>(field: &mut T, value: T) -> Result<(), String> {
    *field = value;
    Ok(())
}

fn parse<T: FromStr>(text: &str, expected: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("expected {expected}, found `{text}`"))
}

fn size(text: &str) -> Result<usize, String> {
    match parse(text, "a number above zero")? {
        0 => Err("expected a number above zero, found `0`".to_owned()),
        number => Ok(number),
    }
}

fn non_empty<T: From<String>>(text: &str) -> Result<T, String> {
    if text.is_empty() {
        return Err("expected a path, found nothing".to_owned());
    }
    Ok(T::from(text.to_owned()))
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
