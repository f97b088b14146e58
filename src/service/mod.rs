//! Use cases, one file each: what the contract's methods do, in the words of
//! the model. Nothing here knows how a request came or which store runs.
//!
//! Start reading at [`Ctx`], then at any use case: a function with the context
//! first, which checks what a client controls, asks the store, and answers.

mod append_turn;
mod changes;
mod check_message;
mod collapse;
mod content_size;
mod context_types;
mod count_tokens;
mod create_session;
mod ctx;
mod delete_session;
mod delete_view;
mod error;
mod factors;
mod fields;
mod fingerprint;
mod fork_session;
mod get_context;
mod get_session;
mod in_flight;
pub mod limits;
mod list_context_items;
mod list_overlays;
mod list_revisions;
mod list_sessions;
mod live;
mod model_choice;
mod off_thread;
mod overlay_size;
mod overlay_types;
mod overlays;
mod page;
mod payload_error;
mod pins;
mod policy_choice;
mod read_content;
mod read_history;
mod rollback_overlay;
mod set_context_item;
mod set_view;
mod update_session;

pub use append_turn::{AppendTurn, AppendWarning, AppendedTurn, Payload, append_turn};
pub use collapse::{
    AbandonCollapseInput, Background, CommitCollapseInput, CreateCollapseInput,
    PrepareCollapseInput, PreparedCollapse, abandon_collapse, commit_collapse, create_collapse,
    prepare_collapse,
};
pub use context_types::{
    ContextBody, ContextInput, ContextOutput, Encoded, Origin, Reduction, Repair, StageReport,
};
pub use count_tokens::{Countable, CountedTokens, count_tokens};
pub use create_session::{CreateSession, CreatedSession, create_session};
pub use ctx::Ctx;
pub use delete_session::delete_session;
pub use delete_view::delete_view;
pub use error::{Error, Result, Violation};
pub use factors::Factors;
pub use fields::{Fields, excerpt, request_key};
pub use fork_session::{ForkSession, fork_session};
pub use get_context::get_context;
pub use get_session::{GotSession, get_session};
pub use in_flight::InFlight;
pub use limits::Limits;
pub use list_context_items::list_context_items;
pub use list_overlays::{get_overlay, list_overlays};
pub use list_revisions::{ListRevisions, ListedRevisions, list_revisions};
pub use list_sessions::{ListSessions, ListedSessions, list_sessions};
pub use live::Live;
pub use model_choice::{DEFAULT_WINDOW, ModelInput, output_reserve};
pub use off_thread::off_thread;
pub use overlay_types::{
    ClearInput, ContentInput, ListOverlaysInput, ListOverlaysOutput, OverlayOutput, RollbackInput,
    RollbackOutput, SnipInput,
};
pub use overlays::{create_clear, create_snip};
pub use page::{Query, size as page_size};
pub use pins::{PinInput, PinOutput, list_pins, pin_messages, unpin_messages};
pub use read_content::{Content, ReadContent, read_content};
pub use read_history::{HistoryReader, HistoryRow, ReadHistory, read_history};
pub use rollback_overlay::rollback_overlay;
pub use set_context_item::{ContextItemInput, set_context_item};
pub use set_view::{SetViewInput, ViewOutput, set_view};
pub use update_session::{UpdateSession, update_session};

/// One digest over all parts; lengths keep them apart.
fn digest_of(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}
