//! `concertina policy`: the presets that are built in, and whether a patch over
//! one is valid. Needs no server.

use std::{borrow::Cow, path::PathBuf};

use anyhow::Context as _;
use clap::Subcommand;
use serde_json::value::RawValue;

use super::{Out, Usage, args, failure::Partly, text};
use crate::policies::{PolicyError, Presets};

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
    /// Says whether a file is a valid policy, or which key is wrong: what was expected,
    /// and what was found.
    Check {
        /// The file, a merge patch in JSON or TOML, or a whole policy as `show` prints it;
        /// `-` for standard input.
        file: PathBuf,
        /// The preset that it is laid over.
        #[arg(long, default_value = "default")]
        preset: String,
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
        Action::Check { file, preset } => {
            let bytes = if file.as_os_str() == "-" {
                args::argument_or_stdin(None)?
            } else {
                std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?
            };
            check(preset, bytes, out)
        }
    }
}

/// What `check` prints.
#[derive(serde::Serialize)]
struct CheckedJson<'a> {
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<&'a str>,
}

fn check(preset: &str, file: Vec<u8>, out: &mut Out) -> anyhow::Result<()> {
    // A wrong name is no fault of the file.
    Presets::embedded().file(preset).ok_or_else(|| unknown(preset))?;
    let Err(PolicyError { key, expected, found }) =
        Presets::embedded().resolve(preset, &as_json(file)?)
    else {
        if out.is_json() {
            out.json(&CheckedJson { valid: true, key: None, expected: None, found: None })?;
        } else {
            out.line("valid")?;
        }
        return Ok(());
    };
    // A caller of the API gives the patch in a field of that name; here it is a file.
    let key: Cow<'_, str> = if key == PATCH_FIELD { "the file".into() } else { key.into() };
    if out.is_json() {
        out.json(&CheckedJson {
            valid: false,
            key: Some(key),
            expected: Some(&expected),
            found: Some(&found),
        })?;
    } else {
        out.problem("error", &format!("`{key}` is not valid"));
        out.say(&format!("  expected: {expected}"));
        out.say(&format!("  found: {found}"));
    }
    Err(Partly.into())
}

const PATCH_FIELD: &str = "overrides_json";

/// A patch as the API takes it: JSON as it is, TOML as the JSON of the same keys.
pub(super) fn as_json(patch: Vec<u8>) -> Result<Vec<u8>, Usage> {
    let Err(not_json) = serde_json::from_slice::<&RawValue>(&patch) else { return Ok(patch) };
    let text = String::from_utf8_lossy(&patch);
    let toml = toml::from_str::<toml::Table>(&text).map_err(|error| error.to_string());
    let json = toml.and_then(|table| serde_json::to_vec(&table).map_err(|error| error.to_string()));
    json.map_err(|not_toml| {
        let not_toml = not_toml.trim_end();
        Usage::new(format!(
            "expected a policy in JSON or TOML, found neither\n  as JSON: {not_json}\n  as TOML: {not_toml}"
        ))
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_may_be_json_or_toml() {
        let json = br#"{"collapse" : {"commit_ratio":0.80}}"#.to_vec();
        assert_eq!(as_json(json.clone()).expect("JSON"), json, "byte for byte");
        let toml = b"# earlier\n[collapse]\ncommit_ratio = 0.8\n".to_vec();
        assert_eq!(as_json(toml).expect("TOML"), br#"{"collapse":{"commit_ratio":0.8}}"#);
        let error = as_json(b"{oops".to_vec()).unwrap_err().to_string();
        assert!(error.contains("as JSON: key must be") && error.contains("as TOML: "), "{error}");
        assert!(as_json(vec![0xff]).is_err());
    }

    #[test]
    fn every_preset_that_is_printed_can_be_given_again() {
        for name in Presets::embedded().names() {
            let file = Presets::embedded().file(name).expect(name);
            let again = whole(name, Some(&as_json(file.into()).expect(name))).expect(name);
            assert!(again == whole(name, None).expect(name), "{name}");
        }
    }
}
