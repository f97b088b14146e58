//! Which round a message belongs to: pairing calls with results, and settling.
//!
//! Pure, and one piece of code for everybody: the store's writer places each
//! message as it comes, the projection replays the same rules over rows that
//! are already there, and both must agree. Start reading at [`Ledger::place`].

mod ledger;
mod shape;

pub use ledger::{Answered, CallKey, KnownCall, Ledger, Oddity, Placement, RoundState};
pub use shape::{CallShape, MessageShape, ResultShape};
