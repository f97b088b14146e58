//! Overlays on their way into rows.

use prost::Message as _;

use super::super::{
    content::Packed,
    values::{json, ranges},
};
use crate::{
    codec::overlay::{cause_to_pb, cleared_to_pb, kind_to_pb},
    model::{Overlay, OverlayId, Revision},
    proto::v1 as pb,
    store::{CommitOverlays, rules},
};

/// The overlays of a commit as they will be in force.
pub(super) fn committed(commit: &CommitOverlays, mut revision: Revision) -> Vec<Overlay> {
    let in_force = |new: &Overlay| {
        revision = revision.next();
        Overlay {
            view: commit.view.clone(),
            author: commit.author.clone(),
            commit_revision: revision,
            commit_time: rules::kept(commit.at),
            rollback: None,
            ..new.clone()
        }
    };
    commit.overlays.iter().map(in_force).collect()
}

fn cleared_bytes(overlay: &Overlay) -> Vec<u8> {
    let cleared = overlay.cleared.iter().map(cleared_to_pb).collect();
    pb::Overlay { cleared, ..pb::Overlay::default() }.encode_to_vec()
}

/// The overlays as a JSON array; what is bytes goes into the buffer of the
/// summaries.
pub(super) fn overlay_rows(
    overlays: &[Overlay],
    contents: &mut Packed,
    last_content: &mut i64,
) -> String {
    let mut pieces = contents.pieces.clone().into_iter();
    let mut rows = Vec::with_capacity(overlays.len());
    for overlay in overlays {
        let summary = if overlay.summary.is_empty() { None } else { pieces.next() };
        let content = summary.map(|_| {
            *last_content += 1;
            *last_content
        });
        let cleared = cleared_bytes(overlay);
        let cleared_at = contents.add_raw(&cleared);
        let ids: Vec<&str> = overlay.covered_overlays.iter().map(OverlayId::as_str).collect();
        rows.push((
            overlay.commit_revision.0,
            overlay.id.as_str(),
            i32::from(kind_to_pb(overlay.kind)),
            (ranges(&overlay.covered), ranges(&overlay.kept)),
            content,
            summary.map(|it| it.codec as i64),
            summary.map(|it| it.offset),
            summary.map(|it| it.len),
            cleared_at,
            cleared.len(),
            (
                overlay.tokens_before,
                overlay.tokens_after,
                overlay.summarizer.as_str(),
                i32::from(cause_to_pb(overlay.cause)),
                overlay.stage.as_str(),
                overlay.transcript_id.as_str(),
                ids,
            ),
            contents.add_raw(&overlay.source_digest),
        ));
    }
    json(&rows)
}
