//! Recorded sessions: files in which a program kept what it said to a model.
//!
//! [`detect()`] names a file's format; [`Reader`] yields what it holds, in file
//! order. Every line or entry comes to something: a message, a context item, a
//! reason why it was skipped, or damage, after which reading goes on.
//!
//! Taken is what the model saw. The rest is the recording program's own
//! bookkeeping and is skipped, each line with its reason: progress, snapshots,
//! hooks, timings, titles, settings, duplicates for a user interface
//! (`toolUseResult`, `event_msg`, the `trajectory` of SWE-agent), marks where a
//! context was cut (the history is kept whole; the summary that followed is a
//! message), and how a message ended.
//!
//! The first message of a file, if it is of the system, and what a format names
//! its system prompt and its tools, are context items. Later ones are messages.
//!
//! JSON Lines are read as a stream: nothing grows with the file but what is
//! needed to join the parts of one assistant message and its results. Documents
//! are bounded in size.

mod claude_code;
mod codex;
mod detect;
mod entry;
mod joiner;
mod lines;
mod openhands;
mod pi;
mod plain;
mod reader;
mod source;
mod swe_agent;
mod time;

pub use detect::detect;
pub use entry::Imported;
pub use reader::{FileLimits, Reader};
pub use source::{Layout, Source, SourceFormat};
