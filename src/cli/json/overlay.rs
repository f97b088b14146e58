//! Overlays and pins.

use serde::Serialize;

use super::hex;
use crate::{cli::names, proto::v1};

/// `Overlay`.
#[derive(Serialize)]
pub(in crate::cli) struct OverlayJson<'a> {
    id: &'a str,
    view: &'a str,
    kind: String,
    covered: Vec<RangeJson>,
    kept: Vec<RangeJson>,
    covered_messages: i64,
    summary: &'a str,
    cleared: Vec<ClearedJson<'a>>,
    tokens_before: i64,
    tokens_after: i64,
    summarizer: &'a str,
    cause: String,
    stage: &'a str,
    author: &'a str,
    commit_revision: i64,
    commit_time: String,
    in_force: bool,
    rollback_revision: i64,
    rollback_time: String,
    rollback_author: &'a str,
    rollback_reason: &'a str,
    covered_overlay_ids: &'a [String],
    source_digest: String,
}

impl<'a> OverlayJson<'a> {
    pub(in crate::cli) fn new(overlay: &'a v1::Overlay) -> Self {
        Self {
            id: &overlay.id,
            view: &overlay.view,
            kind: names::overlay_kind(overlay.kind),
            covered: overlay.covered.iter().map(RangeJson::new).collect(),
            kept: overlay.kept.iter().map(RangeJson::new).collect(),
            covered_messages: overlay.covered_messages,
            summary: &overlay.summary,
            cleared: overlay.cleared.iter().map(ClearedJson::new).collect(),
            tokens_before: overlay.tokens_before,
            tokens_after: overlay.tokens_after,
            summarizer: &overlay.summarizer,
            cause: names::cause(overlay.cause),
            stage: &overlay.stage,
            author: &overlay.author,
            commit_revision: overlay.commit_revision,
            commit_time: names::time(overlay.commit_time.as_ref()),
            in_force: overlay.rollback_revision == 0,
            rollback_revision: overlay.rollback_revision,
            rollback_time: names::time(overlay.rollback_time.as_ref()),
            rollback_author: &overlay.rollback_author,
            rollback_reason: &overlay.rollback_reason,
            covered_overlay_ids: &overlay.covered_overlay_ids,
            source_digest: hex(&overlay.source_digest),
        }
    }
}

/// `Pin`.
#[derive(Serialize)]
pub(in crate::cli) struct PinJson<'a> {
    id: &'a str,
    view: &'a str,
    rows: Option<RangeJson>,
    reason: &'a str,
    author: &'a str,
    create_time: String,
}

impl<'a> PinJson<'a> {
    pub(in crate::cli) fn new(pin: &'a v1::Pin) -> Self {
        Self {
            id: &pin.id,
            view: &pin.view,
            rows: pin.rows.as_ref().map(RangeJson::new),
            reason: &pin.reason,
            author: &pin.author,
            create_time: names::time(pin.create_time.as_ref()),
        }
    }
}

/// `SeqRange`.
#[derive(Serialize)]
pub(in crate::cli) struct RangeJson {
    first_seq: i64,
    last_seq: i64,
}

impl RangeJson {
    pub(in crate::cli) fn new(range: &v1::SeqRange) -> Self {
        Self { first_seq: range.first_seq, last_seq: range.last_seq }
    }
}

#[derive(Serialize)]
struct ClearedJson<'a> {
    seq: i64,
    block: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<i32>,
    shown_as: &'a str,
}

impl<'a> ClearedJson<'a> {
    fn new(cleared: &'a v1::overlay::ClearedContent) -> Self {
        let content = cleared.content.unwrap_or_default();
        Self {
            seq: content.seq,
            block: content.block,
            part: content.output,
            shown_as: &cleared.shown_as,
        }
    }
}
