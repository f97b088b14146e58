//! What a view's reductions are made from: an ordered list of stages and one
//! table of parameters for each.
//!
//! The presets under `policies/` spell every field here. Sizes bear their unit
//! in their name; ratios are shares of the policy's basis unless they say
//! otherwise. Ratios fire at ≥, sizes and counts at >.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A whole policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The stages, in the order in which they run; `fit` last. A stage that is
    /// not listed does not run, whatever its table says.
    pub stages: Vec<StageKind>,
    /// The window and its parts.
    pub window: WindowPolicy,
    /// When to warn.
    pub warnings: Warnings,
    /// What no automatic stage may take.
    pub protect: Protect,
    /// How the context is rendered.
    pub render: RenderPolicy,
    /// One tool result at a time.
    pub result_cap: ResultCap,
    /// The results of one round together.
    pub batch_budget: BatchBudget,
    /// A file's content shown twice.
    pub dedupe_files: DedupeFiles,
    /// Pictures as their description.
    pub strip_images: StripImages,
    /// White space and repetition of assistant text.
    pub micro_text: MicroText,
    /// Old tool results as a placeholder.
    pub micro_clear: MicroClear,
    /// A completed call as one line.
    pub tool_fold: ToolFold,
    /// Oldest turns not shown.
    pub snip_turns: SnipTurns,
    /// The middle not shown.
    pub snip_middle: SnipMiddle,
    /// Segments as summaries.
    pub collapse: Collapse,
    /// Everything but the newest as one summary.
    pub auto_compact: AutoCompact,
    /// What happens after a refusal.
    pub recovery: Recovery,
    /// The last resort.
    pub fit: Fit,
}

/// One mechanism of reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageKind {
    /// One tool result: head and tail, or head only.
    ResultCap,
    /// The results of one round.
    BatchBudget,
    /// A result equal to an earlier one.
    DedupeFiles,
    /// Base64 to type, size and dimensions.
    StripImages,
    /// White space and repeated blocks of assistant text.
    MicroText,
    /// Old tool results to placeholders.
    MicroClear,
    /// A completed call to one line.
    ToolFold,
    /// Oldest whole turns.
    SnipTurns,
    /// Head and tail kept, the middle cut.
    SnipMiddle,
    /// Segments to summaries.
    Collapse,
    /// All but the newest to one summary.
    AutoCompact,
    /// What the provider refused.
    Reactive,
    /// Whatever it takes.
    Fit,
}

impl StageKind {
    /// Every kind.
    pub const ALL: [Self; 13] = [
        Self::ResultCap,
        Self::BatchBudget,
        Self::DedupeFiles,
        Self::StripImages,
        Self::MicroText,
        Self::MicroClear,
        Self::ToolFold,
        Self::SnipTurns,
        Self::SnipMiddle,
        Self::Collapse,
        Self::AutoCompact,
        Self::Reactive,
        Self::Fit,
    ];

    /// True where it is a pure function of a row and what came before it, and
    /// records nothing.
    #[must_use]
    pub fn is_fixed_at_first_sight(self) -> bool {
        matches!(
            self,
            Self::ResultCap
                | Self::BatchBudget
                | Self::DedupeFiles
                | Self::StripImages
                | Self::MicroText
        )
    }

    /// The stage of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.name() == name)
    }

    /// Its name, as `StageReport.stage` spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ResultCap => "result_cap",
            Self::BatchBudget => "batch_budget",
            Self::DedupeFiles => "dedupe_files",
            Self::StripImages => "strip_images",
            Self::MicroText => "micro_text",
            Self::MicroClear => "micro_clear",
            Self::ToolFold => "tool_fold",
            Self::SnipTurns => "snip_turns",
            Self::SnipMiddle => "snip_middle",
            Self::Collapse => "collapse",
            Self::AutoCompact => "auto_compact",
            Self::Reactive => "reactive",
            Self::Fit => "fit",
        }
    }
}

/// The window and its parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowPolicy {
    /// What a ratio is of.
    pub basis: Basis,
    /// Kept free for the answer where the model names nothing; at most a
    /// quarter of the window.
    pub output_reserve_tokens: i64,
}

/// What a ratio is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The whole window.
    Window,
    /// The window less the output reserve.
    Limit,
}

/// When to warn: shares of the limit, whatever the basis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Warnings {
    /// From here: elevated.
    pub elevated_ratio: f64,
    /// From here: warning.
    pub warning_ratio: f64,
    /// From here: critical.
    pub critical_ratio: f64,
    /// From here no sub-agent should be started.
    pub spawn_blocked_ratio: f64,
}

/// What no automatic stage may take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protect {
    /// A lane is active while one of its messages is among so many newest
    /// rounds; the newest request of every active lane is protected.
    pub active_lane_rounds: usize,
    /// What the newest requests may hold together: share of limit − fixed.
    pub newest_requests_share: f64,
    /// A round that settled unanswered is protected until so many newer ones
    /// have settled.
    pub unanswered_rounds: usize,
}

/// How the context is rendered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RenderPolicy {
    /// Puts the author's or the lane's name before user text.
    pub label_authors: bool,
    /// Where Anthropic `cache_control` marks go, at most four.
    pub cache_marks: Vec<CacheMark>,
}

/// Where a cache mark goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheMark {
    /// On the last tool definition.
    Tools,
    /// On the last system block.
    System,
    /// On the last summary.
    LastSummary,
    /// On the last block that can bear one.
    LastMessage,
}

/// One tool result at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultCap {
    /// Characters; a result above is cut.
    pub limit_chars: usize,
    /// What is kept of it. Head and tail together are at most the limit.
    pub keep_chars: usize,
    /// The head's share of what is kept: 1.0 keeps a head only.
    pub head_ratio: f64,
    /// At most this share of window − reserve, at four characters a token.
    pub window_share: f64,
    /// Stands for what was cut: {removed}, {total}, {seq}, {block}.
    pub marker: String,
    /// Limits of single tools, by name or class, in characters.
    pub per_tool_chars: BTreeMap<String, usize>,
}

/// The results of one round together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchBudget {
    /// Characters; above it the largest results become previews.
    pub limit_chars: usize,
    /// Characters of a result that stay as its preview.
    pub preview_chars: usize,
    /// A result of at most so many characters is never made a preview.
    pub floor_chars: usize,
    /// At most this share of window − reserve, at four characters a token.
    pub window_share: f64,
    /// Follows the preview: {total}, {bytes}, {seq}, {block}.
    pub marker: String,
}

/// A file's content shown twice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DedupeFiles {
    /// Classes or names of the tools whose results are compared.
    pub tools: Vec<String>,
    /// Characters; shorter results are left as they are.
    pub min_chars: usize,
    /// Shown instead: {`original_seq`}, {`original_block`}.
    pub marker: String,
}

/// Pictures as their description.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StripImages {
    /// Shown instead: {`media_type`}, {bytes}, {dimensions}, {seq}, {block}.
    pub marker: String,
}

/// White space and repetition of assistant text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MicroText {
    /// Blank lines that stay of a run.
    pub max_blank_lines: usize,
}

/// Old tool results as a placeholder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MicroClear {
    /// Acts on every request.
    pub each_request: bool,
    /// Acts at so many calls of the session; 0: never for that.
    pub first_calls: usize,
    /// … and at each so many further ones; 0: only once.
    pub every_calls: usize,
    /// Acts so long after the last assistant message; 0: never for that.
    pub idle_minutes: i64,
    /// Acts from this share of the basis on; 0: never for that.
    pub start_ratio: f64,
    /// … and then clears down to this one.
    pub until_ratio: f64,
    /// Newest results that stay.
    pub keep_results: usize,
    /// Newest results that stay as far as they fit into this share of
    /// limit − fixed; 0: none for that. At most 0.4 is used.
    pub keep_share: f64,
    /// Results of so many newest turns stay.
    pub keep_turns: usize,
    /// Classes or names of the tools whose results may go; empty: all.
    pub tools: Vec<String>,
    /// … but not these.
    pub exclude_tools: Vec<String>,
    /// Characters; results that are not longer stay.
    pub min_chars: usize,
    /// One act frees at least this share of the limit, or does not happen.
    pub at_least_ratio: f64,
    /// Pictures of user messages older than the kept turns go too.
    pub clear_images: bool,
    /// Shown instead: {bytes}, {chars}, {seq}, {block}, {tool}.
    pub placeholder: String,
    /// Who clears: the server's placeholder, or the provider's own edit.
    pub path: ClearPath,
}

/// Who clears old results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClearPath {
    /// A placeholder in the messages.
    Sentinel,
    /// The provider, where it can and its cache is warm; else a placeholder.
    Auto,
    /// The provider, where it can.
    Provider,
}

/// A completed call as one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolFold {
    /// Acts from this share of the basis on.
    pub start_ratio: f64,
    /// … down to this one.
    pub until_ratio: f64,
}

/// Oldest turns not shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnipTurns {
    /// Acts above limit − this many tokens (at most `buffer_share` of
    /// limit − fixed).
    pub buffer_tokens: i64,
    /// Caps the buffer: share of limit − fixed.
    pub buffer_share: f64,
    /// Drops until this share of the threshold; 1.0: just below it.
    pub until_ratio: f64,
    /// Newest turns that stay.
    pub keep_turns: usize,
}

/// The middle not shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnipMiddle {
    /// Acts above so many shown messages.
    pub max_messages: usize,
    /// Messages that stay at the start.
    pub keep_head: usize,
    /// Messages that stay at the end.
    pub keep_tail: usize,
    /// Stands for the middle: {count}.
    pub marker: String,
}

/// Segments as summaries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collapse {
    /// Starts in the background from this share of the basis on.
    pub commit_ratio: f64,
    /// `GetContext` waits for it from this share on.
    pub block_ratio: f64,
    /// Goes on down to this share.
    pub until_ratio: f64,
    /// A ladder of shares at each of which a pass runs; empty: commit and block.
    pub ladder_ratios: Vec<f64>,
    /// What each pass takes: a share of the turns that are not collapsed yet
    /// (below 1), or a number of turns.
    pub ladder_takes: Vec<f64>,
    /// Turns of one segment: at least …
    pub min_turns: usize,
    /// … and at most …
    pub max_turns: usize,
    /// … or this share of the limit.
    pub segment_share: f64,
    /// Newest turns that stay whole.
    pub keep_turns: usize,
    /// … as far as they fit into this share of the limit; 0: always.
    pub keep_share: f64,
    /// Tokens of one summary: at least (the template's aim) …
    pub min_summary_tokens: i64,
    /// … and at most.
    pub max_summary_tokens: i64,
    /// One summary is at most this share of limit − fixed.
    pub summary_share: f64,
    /// All summaries in force are; above it the oldest half is covered by one.
    pub all_summaries_share: f64,
    /// A wider summary has at most this share of those that it covers, and
    /// never less than one of a segment may have.
    pub wider_share: f64,
    /// How it goes together with auto-compact.
    pub with_auto_compact: CollapseAndCompact,
    /// Name of the summary's layout.
    pub template: String,
    /// How a summary is shown: {summary}, {first}, {last}, {count}.
    pub envelope: String,
    /// `GetContext` waits at most so long.
    pub block_wait_seconds: i64,
}

/// How collapse and auto-compact go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CollapseAndCompact {
    /// Auto-compact only where collapse left the view above its trigger.
    Chained,
    /// Either at its own trigger.
    Overlapping,
    /// Auto-compact only where collapse cannot go below the block ratio.
    Replaced,
}

/// Everything but the newest as one summary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutoCompact {
    /// Acts from this share of the basis on; 0: not for that.
    pub start_ratio: f64,
    /// Acts above limit − this many tokens; 0: not for that.
    pub buffer_tokens: i64,
    /// Caps the buffer: share of limit − fixed.
    pub buffer_share: f64,
    /// Replaces the trigger where it is above zero.
    pub override_ratio: f64,
    /// The override may only lower the trigger.
    pub override_only_lowers: bool,
    /// At most one attempt a round.
    pub once_a_round: bool,
    /// Turns between two compactions.
    pub min_turns_between: usize,
    /// Newest turns that stay.
    pub keep_turns: usize,
    /// Tokens of the summary: at least (the template's aim) …
    pub min_summary_tokens: i64,
    /// … and at most.
    pub max_summary_tokens: i64,
    /// Name of the summary's layout.
    pub template: String,
    /// How the summary is shown: {summary}, {first}, {last}, {count}.
    pub envelope: String,
    /// Failures in a row that open the breaker.
    pub breaker_failures: usize,
    /// How long it stays open.
    pub breaker_cooldown_seconds: i64,
}

/// What happens after a refusal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recovery {
    /// The steps, in order: stage names (several joined by `+` are one step),
    /// `drain`, `emergency_compact`, `clear_all_but_newest_round`,
    /// `summary_and_last_messages`.
    pub steps: Vec<String>,
    /// Messages that the last step keeps.
    pub keep_messages: usize,
    /// Cycles of the chain in one turn.
    pub cycles_a_turn: usize,
    /// How the last step's summary is shown: {summary}, {first}, {last},
    /// {count}.
    pub envelope: String,
    /// The session counts as exhausted where the chain could not help.
    pub marks_exhausted: bool,
}

/// The last resort.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// Goes on down to this share of the limit, at least below the limit.
    pub until_ratio: f64,
    /// Stands for snipped rounds: {count}; empty: nothing.
    pub marker: String,
    /// Stands for what was cut out of a text: {removed}, {total}.
    pub cut_marker: String,
    /// Kept free where neither the caller nor a context item tells what goes
    /// around the messages: share of the limit.
    pub unstated_fixed_share: f64,
}
