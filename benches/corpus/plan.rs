//! What to play, from the command line and the environment.

use std::path::PathBuf;

use anyhow::{Context as _, bail};

use super::read;

/// Policies whose collapses are looked at, and two that have none.
const PRESETS: [&str; 6] =
    ["default", "four-level", "cascade", "teaching-collapse", "claude-code", "teaching"];
const WINDOWS: [i64; 3] = [32_000, 64_000, 200_000];
/// Sessions of a quick run.
const FEW: usize = 2;

/// A policy: a preset, or a merge patch over one.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    /// How it is called in the tables.
    pub(crate) name: String,
    pub(crate) preset: String,
    pub(crate) patch: String,
}

impl Candidate {
    fn preset(name: &str) -> Self {
        Self { name: name.to_owned(), preset: name.to_owned(), patch: String::new() }
    }

    fn patched(patch: &str) -> Self {
        Self {
            name: format!("default + {patch}"),
            preset: "default".to_owned(),
            patch: patch.to_owned(),
        }
    }
}

/// What to play, and how to tell of it.
pub(crate) struct Plan {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) windows: Vec<i64>,
    /// Play at most so many sessions, the shortest that fill the window.
    pub(crate) most_sessions: usize,
    pub(crate) is_json: bool,
    pub(crate) tells_losses: bool,
}

impl Plan {
    pub(crate) fn from_args(mut args: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let (mut presets, mut patches) = (Vec::new(), Vec::new());
        let (mut is_quick, mut is_json, mut tells_losses) = (false, false, false);
        while let Some(arg) = args.next() {
            match arg.as_str() {
                // Cargo adds it.
                "--bench" => {}
                "--quick" => is_quick = true,
                "--json" => is_json = true,
                "--losses" => tells_losses = true,
                "--patch" => patches.push(args.next().context("--patch needs JSON")?),
                flag if flag.starts_with('-') => bail!("unknown option {flag}"),
                name => presets.push(name.to_owned()),
            }
        }
        if presets.is_empty() {
            let all = if is_quick { &PRESETS[..2] } else { &PRESETS };
            presets = all.iter().map(|name| (*name).to_owned()).collect();
        }
        let overridden = patches.iter().map(|patch| Candidate::patched(patch));
        Ok(Self {
            files: files(),
            candidates: presets.iter().map(|it| Candidate::preset(it)).chain(overridden).collect(),
            windows: if is_quick { WINDOWS[..1].to_vec() } else { WINDOWS.to_vec() },
            most_sessions: if is_quick { FEW } else { usize::MAX },
            is_json,
            tells_losses,
        })
    }
}

/// The recorded sessions, each once: a corpus may hold them as their programs
/// wrote them and in one shape.
fn files() -> Vec<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the corpus is not part of the repository")]
    let folder = std::env::var("CONCERTINA_CORPUS").ok().filter(|it| !it.is_empty());
    let Some(folder) = folder else {
        return vec![PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/demo/session.jsonl"))];
    };
    let all = read::files(&PathBuf::from(folder));
    let is_copy = |path: &PathBuf| path.components().any(|it| it.as_os_str() == "normalized");
    let stem = |path: &PathBuf| {
        let name = path.file_name().map(|it| it.to_string_lossy().into_owned());
        name.unwrap_or_default().split('.').next().unwrap_or_default().to_owned()
    };
    let own: Vec<String> = all.iter().filter(|it| !is_copy(it)).map(stem).collect();
    all.into_iter().filter(|path| !is_copy(path) || !own.contains(&stem(path))).collect()
}
