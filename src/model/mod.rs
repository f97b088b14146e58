//! Plain data: what the words of the design mean, and nothing that acts.
//!
//! No type here knows how it is stored, sent or rendered. Start reading at
//! [`message`]; [`policy`] is what a view's reductions are made from.

pub mod budget;
pub mod id;
pub mod message;
pub mod overlay;
pub mod pin;
pub mod policy;
pub mod revision;
pub mod rows;
pub mod session;
pub mod shown;
pub mod time;

pub use budget::{BudgetPart, PartKind, Pressure, TokenBudget};
pub use id::{Namespace, OverlayId, PinId, PlanId, Revision, Seq, SessionId, ViewName};
pub use message::{
    Block, BlockKind, Image, ImageSource, Message, Opaque, Role, Text, Thinking, ToolOutput,
    ToolResult, ToolUse, Usage, WireFormat,
};
pub use overlay::{Cause, Cleared, Overlay, OverlayKind};
pub use pin::Pin;
pub use policy::{Policy, StageKind};
pub use revision::{Change, RevisionEntry};
pub use rows::{ContentRef, MessageTokens, Row, RowSet, SeqRange};
pub use session::{ContextItem, ForkOrigin, Model, Placement, Session, View};
pub use time::Timestamp;
