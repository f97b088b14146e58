//! Recorded, reversible reductions of one view.

use super::{ContentRef, OverlayId, Revision, RowSet, Timestamp, ViewName};

/// One reduction. See `overlay.proto` for what each field tells a client.
#[derive(Debug, Clone, PartialEq)]
pub struct Overlay {
    /// Unique within its session.
    pub id: OverlayId,
    /// The view it reduces.
    pub view: ViewName,
    /// How it reduces.
    pub kind: OverlayKind,
    /// The rows that it covers; for a clear, the rows whose content it names.
    pub covered: RowSet,
    /// Rows that are shown all the same, right after the summary. Never in
    /// `covered`.
    pub kept: RowSet,
    /// What is shown instead; empty for a clear and for a snip without marker.
    pub summary: String,
    /// What a clear shows instead of what.
    pub cleared: Vec<Cleared>,
    /// The whole projection's tokens before it, uncalibrated.
    pub tokens_before: i64,
    /// … and after it.
    pub tokens_after: i64,
    /// Who wrote the summary; empty where nobody did.
    pub summarizer: String,
    /// Why it was made.
    pub cause: Cause,
    /// The stage that made it, as a `StageReport` names it; empty by hand.
    pub stage: String,
    /// Who asked for it.
    pub author: String,
    /// The revision from which it is in force.
    pub commit_revision: Revision,
    /// When it was committed.
    pub commit_time: Timestamp,
    /// Its end, once it was rolled back.
    pub rollback: Option<Rollback>,
    /// The transcript stored before it; empty where none was.
    pub transcript_id: String,
    /// The overlays directly under it.
    pub covered_overlays: Vec<OverlayId>,
    /// BLAKE3 over the digests of the covered rows, in order.
    pub source_digest: [u8; 32],
}

impl Overlay {
    /// Says whether it was in force at `revision`.
    #[must_use]
    pub fn holds_at(&self, revision: Revision) -> bool {
        self.commit_revision <= revision
            && self.rollback.as_ref().is_none_or(|end| end.revision > revision)
    }

    /// Says whether it hides a range of rows (a clear does not).
    #[must_use]
    pub fn is_range(&self) -> bool {
        self.kind != OverlayKind::Clear
    }
}

/// The end of an overlay.
#[derive(Debug, Clone, PartialEq)]
pub struct Rollback {
    /// The revision from which the overlay is not in force any more.
    pub revision: Revision,
    /// When that was.
    pub time: Timestamp,
    /// Who asked for it.
    pub author: String,
    /// Why.
    pub reason: String,
}

impl Rollback {
    /// The reason where a wider snip of the same stage took its place.
    pub const SUPERSEDED: &'static str = "superseded";
}

/// What a clear shows instead of one piece of content.
#[derive(Debug, Clone, PartialEq)]
pub struct Cleared {
    /// The content.
    pub content: ContentRef,
    /// What is shown; for a tool call, a JSON object of arguments.
    pub shown_as: String,
}

/// How an overlay reduces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OverlayKind {
    /// Pieces of content are shown shorter.
    Clear,
    /// Whole rounds are not shown.
    Snip,
    /// A segment is shown as its summary.
    Collapse,
    /// Everything up to a boundary is shown as one summary.
    Compact,
}

/// Why an overlay was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A trigger of the policy was reached.
    Pressure,
    /// The session had been idle.
    Idle,
    /// So many tool calls had been made.
    ToolCalls,
    /// A caller asked.
    Manual,
    /// The provider had refused the context.
    Refused,
    /// The provider itself had compacted.
    Provider,
}
