//! The command line, a thin client of the API.
//!
//! One file per command. They share [`remote`] (the client, and the only file
//! here that names the transport), [`out`] (where words go) and [`json`] (what
//! `--output json` prints). Three commands need no server: `serve` is one,
//! `demo` brings one, `policy` reads the presets that are built in.
//!
//! Standard output is data, standard error is conversation. Exit codes: 0 it
//! worked, 1 it failed, 2 it was asked for wrongly.

mod append;
mod args;
mod content;
mod context;
mod context_view;
mod count;
mod create;
mod delete;
mod demo;
mod explain;
mod failure;
mod health;
mod history;
mod import;
mod items;
mod json;
mod local;
mod names;
mod out;
mod overlays;
mod policy;
mod remote;
mod rendered;
mod rollback;
mod serve;
mod sessions;
mod text;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use args::Common;
use failure::Usage;
use out::Out;
use remote::Remote;

/// A session server for LLM agents: full history in, contexts that fit out.
#[derive(Debug, Parser)]
#[command(name = "concertina", version, propagate_version = true)]
#[command(after_help = "Exit codes: 0 it worked, 1 it failed, 2 it was asked for wrongly.")]
pub struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves the API from a data directory until it is told to stop.
    Serve(serve::Args),
    /// Plays a recorded session into a server of its own and shows what happens.
    Demo(demo::Args),
    /// Creates an empty session.
    Create(create::Args),
    /// Imports recorded sessions: one new session per file, or all into one.
    Import(import::Args),
    /// Appends one message.
    Append(append::Args),
    /// Prints the context that an agent would get.
    Context(context::Args),
    /// Prints the full history, unreduced.
    History(history::Args),
    /// Writes the full bytes of one block.
    Content(content::Args),
    /// Says whether a message is shown, and what shortened or hid it.
    Explain(explain::Args),
    /// Lists sessions, newest first.
    Sessions(sessions::Args),
    /// Lists, sets or removes context items (system prompt, tools, reminders).
    Items(items::Args),
    /// Lists a view's overlays: what is cleared, hidden or summarized.
    Overlays(overlays::Args),
    /// Takes one overlay out of the view: what it covered shows again.
    Rollback(rollback::Args),
    /// Erases a session for good.
    Delete(delete::Args),
    /// Lists or prints the policies that are built in.
    Policy(policy::Args),
    /// Counts the tokens of a text or a message.
    Count(count::Args),
    /// Says whether the server takes requests.
    Health(health::Args),
}

/// Runs a parsed command line and says how it went.
#[must_use]
pub fn run(cli: Cli) -> ExitCode {
    let mut out = Out::new(&cli.common);
    let outcome = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(dispatch(cli, &mut out)));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error, &mut out),
    }
}

async fn dispatch(cli: Cli, out: &mut Out) -> anyhow::Result<()> {
    let server = &cli.common.server;
    match cli.command {
        Command::Serve(args) => serve::run(args, out).await,
        Command::Demo(args) => demo::run(args, out).await,
        Command::Policy(args) => policy::run(&args, out),
        Command::Create(args) => create::run(args, Remote::connect(server)?, out).await,
        Command::Import(args) => import::run(args, Remote::connect(server)?, out).await,
        Command::Append(args) => append::run(args, Remote::connect(server)?, out).await,
        Command::Context(args) => context::run(args, Remote::connect(server)?, out).await,
        Command::History(args) => history::run(args, Remote::connect(server)?, out).await,
        Command::Content(args) => content::run(args, Remote::connect(server)?, out).await,
        Command::Explain(args) => explain::run(args, Remote::connect(server)?, out).await,
        Command::Sessions(args) => sessions::run(args, Remote::connect(server)?, out).await,
        Command::Items(args) => items::run(args, Remote::connect(server)?, out).await,
        Command::Overlays(args) => overlays::run(args, Remote::connect(server)?, out).await,
        Command::Rollback(args) => rollback::run(args, Remote::connect(server)?, out).await,
        Command::Delete(args) => delete::run(args, Remote::connect(server)?, out).await,
        Command::Count(args) => count::run(args, Remote::connect(server)?, out).await,
        Command::Health(_) => health::run(Remote::connect(server)?, out).await,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
