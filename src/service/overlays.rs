//! Reductions by hand: clears and snips.

use super::{
    ClearInput, ContentInput, Ctx, Error, OverlayOutput, Result, SnipInput,
    fields::{Fields, request_key},
    get_context::commit_overlays,
    limits::MIB,
    live::{self, State},
};
use crate::{
    model::{
        BlockKind, Cause, Cleared, ContentRef, Overlay, OverlayId, OverlayKind, Revision, RowSet,
        Seq, ToolOutput, ViewName,
    },
    projection::{self, ManualSnip},
    store::{self, CommitOverlays, PlannedOn, RequestKey, SessionRef},
};

/// Pieces of one clear.
const MOST_CONTENTS: usize = 4096;
/// Bytes of a marker, or of what is shown instead of a piece.
pub(super) const MOST_SHOWN_BYTES: usize = 64 * 1024;
/// Bytes of what is shown instead of all pieces: the answer holds it.
const MOST_CLEAR_BYTES: usize = MIB;

/// Shows content shorter, by hand, protected or not.
///
/// # Errors
///
/// * [`Error::InvalidField`], also where a piece cannot be shown otherwise.
/// * [`Error::SessionNotFound`], [`Error::ViewNotFound`],
///   [`Error::ContentNotFound`].
/// * [`Error::NothingToCollapse`] where the view would not get smaller.
/// * [`Error::IdempotencyKeyReused`], [`Error::OverlayConflict`].
pub async fn create_clear(ctx: &Ctx, input: ClearInput) -> Result<OverlayOutput> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", &input.session_id);
    let view = fields.view("view", &input.view);
    fields.name("author", &input.author);
    fields.request_id(&input.request_id);
    check_shown(&mut fields, "shown_as", &input.shown_as);
    if !(1..=MOST_CONTENTS).contains(&input.contents.len()) {
        let found = input.contents.len();
        fields.wrong("contents", format!("expected 1 to {MOST_CONTENTS}, found {found}"));
    }
    let shown = input.contents.len().saturating_mul(input.shown_as.len());
    if shown > MOST_CLEAR_BYTES {
        let found = format!("expected at most {MOST_CLEAR_BYTES} bytes in all, found {shown}");
        fields.wrong("shown_as", found);
    }
    let contents: Vec<ContentRef> = (0..)
        .zip(&input.contents)
        .filter_map(|(index, content)| content_ref(&mut fields, index, content))
        .collect();
    fields.finish()?;
    let request = request_key(&input.request_id, || digest_of_clear(&input, &view));
    if let Some(known) = replay(ctx, &session, &view, request.as_ref()).await? {
        return Ok(known);
    }
    let mut state = live::loaded(ctx, &session).await?;
    let cleared = cleared(&state, &view, &contents, &input.shown_as)?;
    let rows = RowSet::of(contents.iter().map(|content| content.seq).collect());
    let id = OverlayId::new(&ctx.ids.next());
    let overlay = blank(id, &view, OverlayKind::Clear, ctx.clock.now());
    let overlay = Overlay { covered: rows, cleared, author: input.author.clone(), ..overlay };
    commit(ctx, &session, &mut state, overlay, request).await
}

/// Hides rounds, by hand, protected or not.
///
/// # Errors
///
/// * [`Error::InvalidField`].
/// * [`Error::SessionNotFound`], [`Error::ViewNotFound`],
///   [`Error::RangeNotFound`].
/// * [`Error::NothingToCollapse`] where nothing of the range is shown.
/// * [`Error::IdempotencyKeyReused`], [`Error::OverlayConflict`].
pub async fn create_snip(ctx: &Ctx, input: SnipInput) -> Result<OverlayOutput> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", &input.session_id);
    let view = fields.view("view", &input.view);
    fields.name("author", &input.author);
    fields.request_id(&input.request_id);
    check_shown(&mut fields, "marker", &input.marker);
    let rows = fields.rows("rows", input.rows);
    fields.finish()?;
    let request = request_key(&input.request_id, || digest_of_snip(&input, &view));
    if let Some(known) = replay(ctx, &session, &view, request.as_ref()).await? {
        return Ok(known);
    }
    let mut state = live::loaded(ctx, &session).await?;
    let newest = state.history.newest();
    if rows.last > newest {
        return Err(Error::RangeNotFound { first: rows.first, last: rows.last, newest });
    }
    let known = state.views.get(&view).ok_or_else(|| Error::ViewNotFound(view.to_string()))?;
    let Some(ManualSnip { covered, covered_overlays, source_digest }) =
        projection::manual_snip(&state.history, &known.in_force(), rows)
    else {
        return Err(Error::NothingToCollapse);
    };
    let id = OverlayId::new(&ctx.ids.next());
    let overlay = Overlay {
        covered,
        covered_overlays,
        source_digest,
        summary: input.marker.clone(),
        author: input.author.clone(),
        ..blank(id, &view, OverlayKind::Snip, ctx.clock.now())
    };
    commit(ctx, &session, &mut state, overlay, request).await
}

/// Commits a reduction made by hand, where it makes the view smaller.
async fn commit(
    ctx: &Ctx,
    session: &SessionRef,
    state: &mut State,
    mut overlay: Overlay,
    request: Option<RequestKey>,
) -> Result<OverlayOutput> {
    let view = overlay.view.clone();
    let known = state.views.get_mut(&view).ok_or_else(|| Error::ViewNotFound(view.to_string()))?;
    let planned_at = known.view.reductions_revision;
    let in_force = known.in_force();
    let (before, after) =
        projection::measure(&state.history, &known.sight, &in_force, &overlay, &mut known.memo);
    if after >= before {
        return Err(Error::NothingToCollapse);
    }
    (overlay.tokens_before, overlay.tokens_after) = (before, after);
    let commit = CommitOverlays {
        session: session.clone(),
        view,
        planned_on: PlannedOn::View(planned_at),
        author: overlay.author.clone(),
        at: overlay.commit_time,
        overlays: vec![overlay],
        supersedes: Vec::new(),
        request,
    };
    let committed = commit_overlays(ctx, session, commit).await?;
    let revision = committed.revision;
    let overlay = committed.overlays.into_iter().next().ok_or(Error::NothingToCollapse)?;
    Ok(OverlayOutput { overlay, revision })
}

/// The answer of an earlier request of that id, before anything is checked
/// against a state that the earlier request has changed.
pub(super) async fn replay(
    ctx: &Ctx,
    session: &SessionRef,
    view: &ViewName,
    request: Option<&RequestKey>,
) -> Result<Option<OverlayOutput>> {
    let Some(request) = request else { return Ok(None) };
    // An empty commit under a plan that can never hold: a known request wins
    // over that, and of an unknown one nothing is kept.
    let ask = CommitOverlays {
        session: session.clone(),
        view: view.clone(),
        planned_on: PlannedOn::View(Revision::default()),
        overlays: Vec::new(),
        supersedes: Vec::new(),
        author: String::new(),
        at: ctx.clock.now(),
        request: Some(request.clone()),
    };
    let known = match ctx.store.commit_overlays(ask).await {
        Ok(known) => known,
        Err(store::Error::PlanOutdated { .. }) => return Ok(None),
        Err(err) => return Err(err.into()),
    };
    let revision = known.revision;
    let overlay = known.overlays.into_iter().next().filter(|_| known.replayed);
    Ok(overlay.map(|overlay| OverlayOutput { overlay, revision }))
}

/// What to show instead of each piece.
fn cleared(
    state: &State,
    view: &ViewName,
    contents: &[ContentRef],
    shown_as: &str,
) -> Result<Vec<Cleared>> {
    let known = state.views.get(view).ok_or_else(|| Error::ViewNotFound(view.to_string()))?;
    let mut out = Vec::with_capacity(contents.len());
    for content in contents {
        let missing = || Error::ContentNotFound {
            seq: content.seq,
            block: content.block,
            output: content.output,
        };
        let row = state.history.row(content.seq).ok_or_else(missing)?;
        let at = usize::try_from(content.block).map_err(|_| missing())?;
        let block = row.message.blocks.get(at).ok_or_else(missing)?;
        check_piece(&block.kind, *content, shown_as)?;
        let shown_as = if shown_as.is_empty() {
            projection::placeholder(&known.policy, &state.history, *content, block)
        } else {
            shown_as.to_owned()
        };
        out.push(Cleared { content: *content, shown_as });
    }
    Ok(out)
}

fn check_piece(kind: &BlockKind, content: ContentRef, shown_as: &str) -> Result<()> {
    let field = "contents";
    let at = format!("message {} block {}", content.seq, content.block);
    match (kind, content.output) {
        (BlockKind::ToolResult(result), Some(output)) => {
            let part = usize::try_from(output).ok().and_then(|at| result.output.get(at));
            match part {
                Some(ToolOutput::Text(_) | ToolOutput::Image(_) | ToolOutput::Opaque(_)) => Ok(()),
                None => Err(Error::ContentNotFound {
                    seq: content.seq,
                    block: content.block,
                    output: content.output,
                }),
            }
        }
        (_, Some(_)) => Err(Error::field(field, format!("expected a tool result at {at}"))),
        (BlockKind::Thinking(_) | BlockKind::RedactedThinking(_), None) => Err(Error::field(
            field,
            format!("expected a result, an image, text or arguments; {at} is thinking"),
        )),
        (BlockKind::ToolUse(_), None) if !shown_as.is_empty() && !is_object(shown_as) => {
            Err(Error::field("shown_as", format!("expected a JSON object for the call at {at}")))
        }
        (BlockKind::ToolUse(_), None) if shown_as.is_empty() => {
            Err(Error::field("shown_as", format!("expected a JSON object for the call at {at}")))
        }
        _ => Ok(()),
    }
}

fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok()
}

fn check_shown(fields: &mut Fields, field: &str, text: &str) {
    if text.len() > MOST_SHOWN_BYTES {
        let found = text.len();
        fields.wrong(field, format!("expected at most {MOST_SHOWN_BYTES} bytes, found {found}"));
    }
}

fn content_ref(fields: &mut Fields, index: usize, content: &ContentInput) -> Option<ContentRef> {
    let block = u32::try_from(content.block).ok();
    let output = content.output.map(u32::try_from).transpose().ok();
    if let (1.., Some(block), Some(output)) = (content.seq, block, output) {
        return Some(ContentRef { seq: Seq(content.seq), block, output });
    }
    fields
        .wrong(format!("contents[{index}]"), "expected a seq from 1, a block and an output from 0");
    None
}

fn blank(
    id: OverlayId,
    view: &ViewName,
    kind: OverlayKind,
    at: crate::model::Timestamp,
) -> Overlay {
    Overlay {
        id,
        view: view.clone(),
        kind,
        covered: RowSet::default(),
        kept: RowSet::default(),
        summary: String::new(),
        cleared: Vec::new(),
        tokens_before: 0,
        tokens_after: 0,
        summarizer: String::new(),
        cause: Cause::Manual,
        stage: String::new(),
        author: String::new(),
        commit_revision: Revision::default(),
        commit_time: at,
        rollback: None,
        transcript_id: String::new(),
        covered_overlays: Vec::new(),
        source_digest: [0; 32],
    }
}

fn digest_of_clear(input: &ClearInput, view: &ViewName) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"clear\0").update(view.as_str().as_bytes()).update(b"\0");
    hasher.update(&(input.contents.len() as u64).to_le_bytes());
    for content in &input.contents {
        hasher.update(&content.seq.to_le_bytes()).update(&content.block.to_le_bytes());
        hasher.update(&content.output.unwrap_or(-1).to_le_bytes());
    }
    hasher.update(input.shown_as.as_bytes()).update(b"\0").update(input.author.as_bytes());
    hasher.finalize().into()
}

fn digest_of_snip(input: &SnipInput, view: &ViewName) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"snip\0").update(view.as_str().as_bytes()).update(b"\0");
    let (first, last) = input.rows.unwrap_or((0, 0));
    hasher.update(&first.to_le_bytes()).update(&last.to_le_bytes());
    hasher.update(input.marker.as_bytes()).update(b"\0").update(input.author.as_bytes());
    hasher.finalize().into()
}
