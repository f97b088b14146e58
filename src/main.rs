//! Parses the command line, runs it, and turns the outcome into an exit code.

use std::process::ExitCode;

use clap::Parser as _;
use concertina::cli::{self, Cli};

fn main() -> ExitCode {
    cli::run(Cli::parse())
}
