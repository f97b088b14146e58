//! The server's speed beside that of the least that could answer.
//!
//! Prints a JSON line for each figure, with its ratio to a floor that ran in the
//! same minute on the same cores: a bare method of the same contract, or the
//! same bytes looked at once. What is slow on a busy machine is slow for both,
//! though not evenly: who waits for more threads waits longer. So the time on a
//! processor is told too, of server and load together.
//!
//! `cargo bench --bench server` measures, `-- --quick` only shows in seconds
//! that it runs, and any other word picks the figures whose names hold it.

mod afterwards;
mod append;
mod context;
mod counting;
mod cpu;
mod floor;
mod following;
mod load;
mod racing;
mod report;
mod servers;
mod words;

use std::time::Duration;

/// How long to measure, and what.
struct Plan {
    /// How long each side runs before the other has its turn.
    turn: Duration,
    /// Turns of each side.
    turns: usize,
    /// Only shows that it runs.
    is_quick: bool,
    /// Names of what to measure; empty: everything.
    only: Vec<String>,
}

impl Plan {
    fn from_args(args: impl Iterator<Item = String>) -> Self {
        // Cargo adds `--bench`.
        let (flags, only): (Vec<_>, Vec<_>) = args.partition(|arg| arg.starts_with("--"));
        let is_quick = flags.iter().any(|flag| flag == "--quick");
        let (millis, turns) = if is_quick { (100, 1) } else { (400, 15) };
        Self { turn: Duration::from_millis(millis), turns, is_quick, only }
    }

    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part.as_str()))
    }
}

fn main() -> anyhow::Result<()> {
    let plan = Plan::from_args(std::env::args().skip(1));
    concertina::tokens::warm();
    counting::measure(&plan)?;
    // Its threads are the load's; the servers have their own.
    let load = tokio::runtime::Runtime::new()?;
    load.block_on(async {
        context::measure(&plan).await?;
        following::measure(&plan).await?;
        append::measure(&plan).await?;
        racing::measure(&plan).await
    })
}
