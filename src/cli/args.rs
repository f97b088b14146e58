//! Arguments that several commands share.

use std::{convert::Infallible, path::PathBuf};

use anyhow::Context as _;
use clap::{ArgAction, Args, ValueEnum};

use super::{Usage, policy};
use crate::{config::DEFAULT_PORT, proto::v1};

/// Where `--help` tells of what every command takes.
const GLOBAL: &str = "Global options";

/// What every command takes.
#[derive(Debug, Args)]
pub struct Common {
    /// The server to talk to.
    #[arg(long, global = true, value_name = "ADDR", env = "CONCERTINA_SERVER")]
    #[arg(default_value_t = default_server(), help_heading = GLOBAL, display_order = 1000)]
    pub server: String,
    /// How data is printed.
    #[arg(long, global = true, value_enum, default_value_t = Output::Text)]
    #[arg(help_heading = GLOBAL, display_order = 1001)]
    pub output: Output,
    /// No colours; `NO_COLOR` does the same, and so does an output that is no terminal.
    #[arg(long, global = true, env = "NO_COLOR", hide_env = true)]
    #[arg(action = ArgAction::SetTrue, value_parser = any_text_means_yes)]
    #[arg(help_heading = GLOBAL, display_order = 1002)]
    pub no_color: bool,
}

/// Where clients look for a server: where one listens by default.
fn default_server() -> String {
    format!("http://127.0.0.1:{DEFAULT_PORT}")
}

/// <https://no-color.org>: any value but an empty one counts, `0` too.
#[expect(clippy::unnecessary_wraps, reason = "the shape that clap asks for")]
fn any_text_means_yes(value: &str) -> Result<bool, Infallible> {
    Ok(!value.is_empty() && value != "false")
}

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people.
    Text,
    /// One JSON value, or one per line where there are many.
    Json,
}

/// A provider's request shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Anthropic Messages.
    Anthropic,
    /// `OpenAI` Chat Completions.
    Chat,
    /// `OpenAI` Responses items.
    Responses,
}

impl Format {
    pub(super) fn wire(self) -> v1::WireFormat {
        match self {
            Self::Anthropic => v1::WireFormat::AnthropicMessages,
            Self::Chat => v1::WireFormat::OpenaiChat,
            Self::Responses => v1::WireFormat::OpenaiResponses,
        }
    }
}

/// Which model, and how large its window is.
#[derive(Debug, Default, Args)]
pub(super) struct ModelArgs {
    /// The provider's model name.
    #[arg(long)]
    pub(super) model: Option<String>,
    /// Its context window, in tokens.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(i64).range(1..))]
    pub(super) window: Option<i64>,
    /// Tokens kept free for the answer.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(i64).range(0..))]
    pub(super) reserve: Option<i64>,
}

impl ModelArgs {
    /// `None` where nothing was said.
    pub(super) fn message(&self) -> Option<v1::Model> {
        let said = self.model.is_some() || self.window.is_some() || self.reserve.is_some();
        said.then(|| v1::Model {
            name: self.model.clone().unwrap_or_default(),
            context_window: self.window.unwrap_or_default(),
            output_reserve: self.reserve,
            ..v1::Model::default()
        })
    }
}

/// Which policy.
#[derive(Debug, Default, Args)]
pub(super) struct PolicyArgs {
    /// A preset's name; `off` reduces nothing, `concertina policy list` tells them all.
    #[arg(long)]
    pub(super) preset: Option<String>,
    /// A merge patch over it, in JSON or TOML, or @FILE that holds one.
    #[arg(long, value_name = "PATCH")]
    pub(super) policy: Option<String>,
}

impl PolicyArgs {
    /// `None` where nothing was said.
    pub(super) fn message(&self) -> anyhow::Result<Option<v1::Policy>> {
        if self.preset.is_none() && self.policy.is_none() {
            return Ok(None);
        }
        Ok(Some(v1::Policy {
            preset: self.preset.clone().unwrap_or_default(),
            overrides_json: self.patch()?.unwrap_or_default().into(),
            ..v1::Policy::default()
        }))
    }

    /// The patch that turns any policy into this one: a preview names no preset.
    pub(super) fn as_overrides(&self) -> anyhow::Result<Vec<u8>> {
        match &self.preset {
            Some(preset) => policy::whole(preset, self.patch()?.as_deref()),
            None => Ok(self.patch()?.unwrap_or_default()),
        }
    }

    fn patch(&self) -> anyhow::Result<Option<Vec<u8>>> {
        let Some(argument) = self.policy.as_deref() else { return Ok(None) };
        Ok(Some(policy::as_json(text_or_file(argument)?)?))
    }
}

/// The bytes of an argument, or of the file that it names after an `@`.
pub(super) fn text_or_file(argument: &str) -> anyhow::Result<Vec<u8>> {
    match argument.strip_prefix('@') {
        Some(path) => {
            let path = PathBuf::from(path);
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
        }
        None => Ok(argument.as_bytes().to_vec()),
    }
}

/// An argument, or standard input where it is missing or `-`.
pub(super) fn argument_or_stdin(argument: Option<&str>) -> anyhow::Result<Vec<u8>> {
    match argument {
        Some("-") | None => {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes)
                .context("cannot read standard input")?;
            Ok(bytes)
        }
        Some(argument) => text_or_file(argument),
    }
}

/// Bytes that are to be text.
pub(super) fn text(bytes: Vec<u8>) -> Result<String, Usage> {
    String::from_utf8(bytes).map_err(|_| Usage::new("expected text in UTF-8, found other bytes"))
}

/// `3`, or `3-17`; with the dash that the tables print too.
pub(super) fn rows(argument: &str) -> Result<v1::SeqRange, Usage> {
    let (first, last) = argument.split_once(['-', '–']).unwrap_or((argument, argument));
    let seq = |text: &str| text.trim().parse::<i64>().ok().filter(|seq| *seq > 0);
    match (seq(first), seq(last)) {
        (Some(first_seq), Some(last_seq)) if first_seq <= last_seq => {
            Ok(v1::SeqRange { first_seq, last_seq })
        }
        _ => Err(Usage::new(format!("expected `3` or `3-17`, found `{argument}`"))),
    }
}

/// `key=value`.
pub(super) fn label(argument: &str) -> Result<(String, String), Usage> {
    argument
        .split_once('=')
        .filter(|(key, _)| !key.is_empty())
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .ok_or_else(|| Usage::new(format!("expected `key=value`, found `{argument}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_needs_a_key_and_may_hold_more_equals_signs() {
        assert_eq!(label("a=b=c").expect("a label"), ("a".into(), "b=c".into()));
        assert!(label("=b").is_err());
        assert!(label("a").is_err());
    }

    #[test]
    fn rows_are_one_or_a_range_and_start_at_1() {
        let range = |first_seq, last_seq| v1::SeqRange { first_seq, last_seq };
        assert_eq!(rows("3").expect("a row"), range(3, 3));
        assert_eq!(rows("3-17").expect("a range"), range(3, 17));
        assert_eq!(rows("3–17").expect("as it is printed"), range(3, 17));
        for wrong in ["", "0", "-3", "17-3", "3-", "3..17", "a", "1-2-3", "99999999999999999999"] {
            assert!(rows(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn clients_look_where_servers_listen() {
        let listen = crate::config::Config::default().listen;
        assert_eq!(default_server(), format!("http://{listen}"));
    }

    #[test]
    fn a_model_is_sent_only_where_something_was_said_of_it() {
        assert_eq!(ModelArgs::default().message(), None);
        let args = ModelArgs { window: Some(9), ..ModelArgs::default() };
        assert_eq!(args.message().map(|model| model.context_window), Some(9));
    }
}
