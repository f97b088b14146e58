//! A context: the request, ready to send, and how it came about.

use serde::Serialize;

use super::{BudgetJson, Json, OverlayJson, RangeJson};
use crate::proto::v1;

/// `system`, `tools` and `messages` go to the provider as they are; `meta` stays.
///
/// Where the format has the instructions elsewhere (`OpenAI` Chat: in
/// `messages`) there is no `system`.
#[derive(Serialize)]
pub(in crate::cli) struct ContextJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<Json<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Json<'a>>,
    messages: Vec<Json<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_management: Option<Json<'a>>,
    meta: MetaJson<'a>,
}

#[derive(Serialize)]
struct MetaJson<'a> {
    session_id: &'a str,
    view: &'a str,
    revision: i64,
    fingerprint: &'a str,
    preview: bool,
    budget: Option<BudgetJson<'a>>,
    stages: Vec<StageJson<'a>>,
    overlays: Vec<OverlayJson<'a>>,
    reductions: Vec<ReductionJson<'a>>,
    repairs: Vec<RepairJson<'a>>,
    origins: Vec<OriginJson<'a>>,
    stable_prefix_messages: i32,
    stable_prefix_tokens: i64,
    thinking_dropped: bool,
    reduction_pending: bool,
    rounds_in_flight: i32,
}

#[derive(Serialize)]
struct StageJson<'a> {
    stage: &'a str,
    trigger: &'a str,
    tokens_before: i64,
    tokens_after: i64,
    messages_reduced: i32,
}

#[derive(Serialize)]
struct ReductionJson<'a> {
    seq: i64,
    block: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<i32>,
    stage: &'a str,
    overlay_id: &'a str,
    tokens_before: i64,
    tokens_after: i64,
}

#[derive(Serialize)]
struct RepairJson<'a> {
    seq: i64,
    reason: &'a str,
}

#[derive(Serialize)]
struct OriginJson<'a> {
    rows: Vec<RangeJson>,
    #[serde(skip_serializing_if = "str::is_empty")]
    overlay_id: &'a str,
    synthetic: bool,
}

impl<'a> ContextJson<'a> {
    pub(in crate::cli) fn new(context: &'a v1::Context) -> Self {
        Self {
            system: Json::of(&context.system_json),
            tools: Json::of(&context.tools_json),
            messages: context.messages_json.iter().filter_map(|json| Json::of(json)).collect(),
            context_management: Json::of(&context.context_management_json),
            meta: MetaJson::new(context),
        }
    }
}

impl<'a> MetaJson<'a> {
    fn new(context: &'a v1::Context) -> Self {
        Self {
            session_id: &context.session_id,
            view: &context.view,
            revision: context.revision,
            fingerprint: &context.fingerprint,
            preview: context.preview,
            budget: context.budget.as_ref().map(BudgetJson::new),
            stages: context.stages.iter().map(StageJson::new).collect(),
            overlays: context.overlays.iter().map(OverlayJson::new).collect(),
            reductions: context.reductions.iter().map(ReductionJson::new).collect(),
            repairs: context.repairs.iter().map(RepairJson::new).collect(),
            origins: context.origins.iter().map(OriginJson::new).collect(),
            stable_prefix_messages: context.stable_prefix_messages,
            stable_prefix_tokens: context.stable_prefix_tokens,
            thinking_dropped: context.thinking_dropped,
            reduction_pending: context.reduction_pending,
            rounds_in_flight: context.rounds_in_flight,
        }
    }
}

impl<'a> StageJson<'a> {
    fn new(stage: &'a v1::StageReport) -> Self {
        Self {
            stage: &stage.stage,
            trigger: &stage.trigger,
            tokens_before: stage.tokens_before,
            tokens_after: stage.tokens_after,
            messages_reduced: stage.messages_reduced,
        }
    }
}

impl<'a> ReductionJson<'a> {
    fn new(reduction: &'a v1::Reduction) -> Self {
        let content = reduction.content.unwrap_or_default();
        Self {
            seq: content.seq,
            block: content.block,
            part: content.output,
            stage: &reduction.stage,
            overlay_id: &reduction.overlay_id,
            tokens_before: reduction.tokens_before,
            tokens_after: reduction.tokens_after,
        }
    }
}

impl<'a> RepairJson<'a> {
    fn new(repair: &'a v1::Repair) -> Self {
        Self { seq: repair.seq, reason: &repair.reason }
    }
}

impl<'a> OriginJson<'a> {
    fn new(origin: &'a v1::Origin) -> Self {
        Self {
            rows: origin.rows.iter().map(RangeJson::new).collect(),
            overlay_id: &origin.overlay_id,
            synthetic: origin.synthetic,
        }
    }
}
