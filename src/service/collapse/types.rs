//! What the use cases of collapse are asked and what they answer. Text from a
//! client is unchecked here; the use case checks it.

use crate::model::{OverlayKind, PlanId, SeqRange, Timestamp};

/// A segment to collapse with the server's summarizer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CreateCollapseInput {
    /// The session's id.
    pub session_id: String,
    /// The view's name; empty: `main`.
    pub view: String,
    /// First and last row; `None`: the oldest segment that the policy would take.
    pub rows: Option<(i64, i64)>,
    /// What the summary should keep; empty: nothing in particular.
    pub instructions: String,
    /// Who asks.
    pub author: String,
    /// For retries; empty: none.
    pub request_id: String,
}

/// A segment that the caller will summarize.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PrepareCollapseInput {
    /// The session's id.
    pub session_id: String,
    /// The view's name; empty: `main`.
    pub view: String,
    /// First and last row; `None`: the oldest segment that the policy would take.
    pub rows: Option<(i64, i64)>,
    /// Collapse or compact; `None` where the caller named none.
    pub kind: Option<OverlayKind>,
    /// The range is shortened to what fits; zero: no limit.
    pub max_material_tokens: i64,
    /// Seconds and nanoseconds; `None`: two minutes.
    pub lease: Option<(i64, i32)>,
    /// Who asks.
    pub author: String,
    /// For retries; empty: none.
    pub request_id: String,
}

/// What to summarize, and a lease on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedCollapse {
    /// Names the plan.
    pub plan: PlanId,
    /// The rows that the overlay will cover.
    pub covered: Vec<SeqRange>,
    /// The rows between them that it will keep.
    pub kept: Vec<SeqRange>,
    /// The covered rows as text.
    pub material: String,
    /// How the summary should be laid out.
    pub instructions: String,
    /// The whole view's tokens now, uncalibrated.
    pub tokens_before: i64,
    /// A summary above so many tokens is refused.
    pub max_summary_tokens: i64,
    /// Until when the lease holds.
    pub expire_time: Timestamp,
}

/// A caller's summary of a plan's material.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommitCollapseInput {
    /// The session's id.
    pub session_id: String,
    /// The plan's id.
    pub plan_id: String,
    /// The text.
    pub summary: String,
    /// The model's stop reason; empty: none.
    pub finish_reason: String,
    /// Who asks.
    pub author: String,
}

/// A plan to give back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AbandonCollapseInput {
    /// The session's id.
    pub session_id: String,
    /// The plan's id.
    pub plan_id: String,
}
