//! What reductions keep and what they cost, over recorded sessions.
//!
//! Every session that is long enough to fill a window is played: appended
//! message by message, with one context before each call of the model, in the
//! format of Anthropic Messages. The tables that come out of it are explained
//! in docs/corpus.md; what counts as a fact in `oracle`, what counts as named
//! in `named`, what a call costs in `cache`, what the presets are compared with
//! in `simple`.
//!
//! ```sh
//! cargo bench --bench corpus                     # the session that ships with the project
//! CONCERTINA_CORPUS=FOLDER cargo bench --bench corpus
//! cargo bench --bench corpus -- --quick          # one small window, two presets, few sessions
//! cargo bench --bench corpus -- --json           # lines of JSON instead of tables
//! cargo bench --bench corpus -- --losses         # and what the summaries do not name
//! cargo bench --bench corpus -- --patch JSON     # and `default` under that merge patch
//! cargo bench --bench corpus -- default cascade  # only these presets
//! ```

mod cache;
mod named;
mod numbers;
mod oracle;
mod plan;
mod play;
mod run;
mod simple;
mod tables;
mod tally;
mod wire;

// How recorded sessions are read is the tests' own.
#[expect(clippy::unwrap_used, reason = "a corpus that cannot be read ends the run")]
#[path = "../../tests/it/corpus/read.rs"]
mod read;

use std::io::Write as _;

use self::plan::Plan;

fn main() -> anyhow::Result<()> {
    let plan = Plan::from_args(std::env::args().skip(1))?;
    concertina::tokens::warm();
    let results = run::run(&plan)?;
    let text = if plan.is_json { tables::json(&results) } else { tables::markdown(&results) };
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if plan.tells_losses {
        out.write_all(tables::losses(&results).as_bytes())?;
    }
    Ok(())
}
