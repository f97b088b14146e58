//! `concertina policy`: the presets that are built in. Needs no server.

use clap::Subcommand;
use serde_json::value::RawValue;

use super::{Out, Usage, text};
use crate::policies::Presets;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Lists the presets and the stages of each.
    List,
    /// Prints a preset as its file, comments and units included; as JSON, every key.
    Show {
        /// Its name.
        name: String,
    },
}

#[derive(serde::Serialize)]
struct PresetJson<'a> {
    name: &'a str,
    stages: Vec<&'static str>,
}

pub(super) fn run(args: &Args, out: &mut Out) -> anyhow::Result<()> {
    match &args.action {
        Action::List => list(out),
        Action::Show { name } => show(name, out),
    }
}

fn list(out: &mut Out) -> anyhow::Result<()> {
    let presets = Presets::embedded();
    let mut rows = Vec::new();
    for name in presets.names() {
        let policy = presets.resolve(name, b"")?.policy;
        let stages: Vec<_> = policy.stages.iter().map(|stage| stage.name()).collect();
        if out.is_json() {
            out.json(&PresetJson { name, stages })?;
        } else {
            rows.push([name.to_owned(), stages.join(" → ")]);
        }
    }
    if !out.is_json() {
        out.line(text::table(["preset", "*stages, in order"], rows))?;
    }
    Ok(())
}

fn show(name: &str, out: &mut Out) -> anyhow::Result<()> {
    if out.is_json() {
        let json = whole(name, None)?;
        let json: &RawValue = serde_json::from_slice(&json)?;
        out.json(&json)?;
        return Ok(());
    }
    let file = Presets::embedded().file(name).ok_or_else(|| unknown(name))?;
    out.line(file.trim_end())?;
    Ok(())
}

/// Every key of a preset after a patch, as JSON.
pub(super) fn whole(preset: &str, patch: Option<&[u8]>) -> anyhow::Result<Vec<u8>> {
    let resolved = Presets::embedded()
        .resolve(preset, patch.unwrap_or_default())
        .map_err(|error| Usage::new(error.to_string()))?;
    Ok(resolved.json.to_vec())
}

fn unknown(name: &str) -> Usage {
    let names: Vec<_> = Presets::embedded().names().collect();
    Usage::new(format!("expected one of {}, found `{name}`", names.join(", ")))
}
