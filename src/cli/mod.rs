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
mod collapse;
mod content;
mod context;
mod context_view;
mod count;
mod create;
mod delete;
mod demo;
mod expand;
mod explain;
mod failure;
mod fork;
mod health;
mod history;
mod import;
mod items;
mod json;
mod local;
mod names;
mod out;
mod overlay_ref;
mod overlays;
mod pin;
mod policy;
mod remote;
mod rendered;
mod revisions;
mod rollback;
#[cfg(test)]
mod samples;
mod serve;
mod sessions;
mod strip;
mod text;
mod views;

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
    /// Collapses a segment into its summary, the server's or your own.
    Collapse(collapse::Args),
    /// Draws a view as a strip and lists its overlays: what is folded, hidden or cleared.
    Overlays(overlays::Args),
    /// Shows what lies under an overlay.
    Expand(expand::Args),
    /// Takes one overlay out of the view: what it covered shows again.
    Rollback(rollback::Args),
    /// Keeps rows out of every automatic reduction of a view.
    Pin(pin::Args),
    /// Takes a pin away.
    Unpin(pin::UnpinArgs),
    /// Lists the pins of a view.
    Pins(pin::ListArgs),
    /// Lists, sets or deletes views: other windows and policies over the same rows.
    Views(views::Args),
    /// Tells what changed at each revision.
    Revisions(revisions::Args),
    /// Goes on from a row of a session in a new one that shares what came before.
    Fork(fork::Args),
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
        Command::Collapse(args) => collapse::run(args, Remote::connect(server)?, out).await,
        Command::Overlays(args) => overlays::run(args, Remote::connect(server)?, out).await,
        Command::Expand(args) => expand::run(args, Remote::connect(server)?, out).await,
        Command::Rollback(args) => rollback::run(args, Remote::connect(server)?, out).await,
        Command::Pin(args) => pin::run(args, Remote::connect(server)?, out).await,
        Command::Unpin(args) => pin::unpin(args, Remote::connect(server)?, out).await,
        Command::Pins(args) => pin::list(args, Remote::connect(server)?, out).await,
        Command::Views(args) => views::run(args, Remote::connect(server)?, out).await,
        Command::Revisions(args) => revisions::run(args, Remote::connect(server)?, out).await,
        Command::Fork(args) => fork::run(args, Remote::connect(server)?, out).await,
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
