//! Rows and overlays into what is shown, and which overlays to add next.
//!
//! Pure: no async, no I/O, no clock, no randomness, no logging; it cannot fail.
//! Time and ids are passed in. In the order of the data's flow:
//!
//! * [`History`]: rows, paired into rounds, in the order in which they are shown;
//! * [`Sight`]: what each row looks like at first sight, which never changes;
//! * [`compose()`]: overlays laid over that, into entries for the renderer;
//! * [`plan()`]: the pressure stages, each proposing overlays on the view that
//!   the one before left;
//! * [`report`]: what each stage saved, and what fills the window.

mod bench;
mod compose;
mod envelope;
mod history;
mod json;
mod laying;
mod manual;
mod named;
mod plan;
mod protect;
pub mod report;
mod segments;
mod sight;
mod stages;
mod text;
mod window;

pub use bench::{Circumstances, Collapsing, Summarize, Written, directly_under};
pub use compose::{Composed, Lens, Memo, compose};
pub use history::{AnswerAt, Fate, History, LateAnswer, Round, RoundCall};
pub use laying::{Laid, lay};
pub use manual::{ManualSnip, manual_snip, measure, placeholder, tokens_of};
pub use named::{Refusal, named_segment, oldest_segment, wanted};
pub use plan::{Irreducible, Plan, as_it_stands, plan};
pub use segments::{Segment, Wanted};
pub use sight::{Seen, Sight, Sizes, Step};
pub use window::{Window, default_reserve, share_of};
