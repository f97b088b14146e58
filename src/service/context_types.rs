//! What `get_context` is asked and what it answers, in the words of the model.
//!
//! Mirrors the contract's `context.proto`, which says what each field means to
//! a client.

use std::{
    any::Any,
    borrow::Cow,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;

use super::model_choice::ModelInput;
use crate::model::{
    ContentRef, Message, Overlay, OverlayId, Revision, RowSet, Seq, SessionId, TokenBudget,
    ViewName, WireFormat,
};

/// Which context a caller wants.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ContextInput {
    /// The session's id, unchecked.
    pub session_id: String,
    /// The view's name, unchecked; empty: `main`.
    pub view: String,
    /// The shape; `None` where the caller named none.
    pub format: Option<WireFormat>,
    /// Merged, field by field, over the view's model.
    pub model: ModelInput,
    /// What the view showed then.
    pub at_revision: Option<i64>,
    /// Commit nothing.
    pub preview: bool,
    /// Previews only: a merge patch over the view's policy; empty: none.
    pub policy_overrides_json: Bytes,
    /// Previews only: overlays to show opened.
    pub expand_overlay_ids: Vec<String>,
    /// A context that the caller holds; empty: none.
    pub known_fingerprint: String,
    /// Fill `reductions`, and the overlays whole.
    pub explain: bool,
    /// The caller's lane; empty: all.
    pub lane: String,
    /// How long the caller waits for an answer; `None`: for ever.
    pub patience: Option<Duration>,
}

/// What to send to the model, and how it came about.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "the contract's: each tells a thing of its own")]
pub struct ContextOutput {
    /// The session.
    pub session: SessionId,
    /// The view.
    pub view: ViewName,
    /// The revision that it shows.
    pub revision: Revision,
    /// Names exactly these bytes in this format.
    pub fingerprint: String,
    /// The request, rendered.
    pub body: ContextBody,
    /// Where each message of `body` came from.
    pub origins: Vec<Origin>,
    /// Leading messages left out of `body`: the caller has them.
    pub unchanged_prefix: usize,
    /// True where system and tools are left out for the same reason.
    pub fixed_unchanged: bool,
    /// How full the window is.
    pub budget: TokenBudget,
    /// One per stage of the policy, in order.
    pub stages: Vec<StageReport>,
    /// The outermost overlays that are shown, in order.
    pub overlays: Vec<Arc<Overlay>>,
    /// With `explain`: one per reduced piece of content.
    pub reductions: Vec<Reduction>,
    /// Leading messages that a provider's cache can reuse …
    pub stable_prefix_messages: usize,
    /// … and their tokens.
    pub stable_prefix_tokens: i64,
    /// Edits that the provider should apply; empty: none.
    pub context_management_json: Bytes,
    /// What the renderer had to mend.
    pub repairs: Vec<Repair>,
    /// True where signed thinking had to be left out.
    pub thinking_dropped: bool,
    /// True where a reduction is being prepared.
    pub reduction_pending: bool,
    /// Rounds whose results have not all come.
    pub rounds_in_flight: usize,
    /// True where nothing was committed for this answer.
    pub preview: bool,
    /// What was made of it for the wire.
    pub encoded: Encoded,
}

/// What was made of an answer for the wire, so that one that is given again is
/// encoded once. Which form that is, only who encodes knows; it says nothing
/// that the answer does not, and all are equal.
#[derive(Debug, Clone, Default)]
pub struct Encoded(OnceLock<Arc<dyn Any + Send + Sync>>);

impl Encoded {
    /// What was made of it, by `make` where nothing was yet. `None` where that
    /// was of another type.
    pub fn get_or_make<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Option<&T> {
        self.0.get_or_init(|| Arc::new(make())).downcast_ref()
    }
}

impl PartialEq for Encoded {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The messages, and what stands around them.
#[derive(Debug, Clone, PartialEq)]
pub enum ContextBody {
    /// In a provider's shape.
    Json {
        /// The system prompt; empty: none.
        system: Bytes,
        /// Tool definitions; empty: none.
        tools: Bytes,
        /// One JSON value each.
        messages: Vec<Bytes>,
    },
    /// As the contract's own messages.
    Typed(Vec<Arc<Message>>),
}

/// The rows or the overlay that a rendered message came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// The rows.
    pub rows: RowSet,
    /// The overlay, for a summary or a marker.
    pub overlay: Option<OverlayId>,
    /// True for a context item, a synthetic result and the like.
    pub synthetic: bool,
}

/// What a stage did, or why it did not act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageReport {
    /// Its name.
    pub stage: Cow<'static, str>,
    /// Why it ran or did not.
    pub trigger: Cow<'static, str>,
    /// The view's tokens without it …
    pub tokens_before: i64,
    /// … and with everything that it has in force.
    pub tokens_after: i64,
    /// Messages that it reduced.
    pub messages_reduced: usize,
}

/// One reduced piece of content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reduction {
    /// Which.
    pub content: ContentRef,
    /// By which stage.
    pub stage: Cow<'static, str>,
    /// Under which overlay; `None` for a stage without overlays.
    pub overlay: Option<OverlayId>,
    /// Tokens of the content …
    pub tokens_before: i64,
    /// … and of what is shown.
    pub tokens_after: i64,
}

/// Something that the renderer had to mend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The row.
    pub seq: Seq,
    /// What, as the contract spells it.
    pub reason: Cow<'static, str>,
}
