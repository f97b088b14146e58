//! One session's state: its rows, paired; and per view what was made of them.

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;

use crate::{
    model::{
        ContextItem, Overlay, Pin, Policy, Revision, Row, Seq, Session, Timestamp, TokenBudget,
        View, ViewName, WireFormat, shown::ShownRound,
    },
    projection::{History, Memo, Sight, Sizes},
    render::RenderedRound,
    service::{
        ContextOutput, Ctx, Error, Result,
        collapse::{Attempts, Lease},
        limits::OFF_THREAD_BYTES,
        model_choice,
    },
    store::{Appended, ItemAt, NewRow, RowsQuery, SessionRef},
};

/// Rows of one read from the store.
const PAGE_ROWS: usize = 512;
/// Bytes of one read from the store.
const PAGE_BYTES: usize = 8 * 1024 * 1024;

/// A session as far as it is in memory.
#[derive(Default)]
pub(crate) struct State {
    /// The session; `None` before the first load.
    pub session: Option<Session>,
    /// Its context items in force.
    pub items: Vec<ContextItem>,
    /// Its rows.
    pub history: History,
    /// What was made of them per view.
    pub views: HashMap<ViewName, ViewState>,
    /// Rows that came and have no place in it yet: who appends does not wait for
    /// what only a reader needs.
    waiting: Vec<Arc<Row>>,
    row_bytes: usize,
    /// Bytes of rows that no context was made of yet.
    pub fresh_bytes: usize,
}

/// What was made of a session's rows in one view.
pub(crate) struct ViewState {
    /// The view as it was set.
    pub view: View,
    /// Its policy.
    pub policy: Arc<Policy>,
    /// Every overlay that it ever had, by commit revision.
    pub overlays: Vec<Overlay>,
    /// Its pins that hold, by revision.
    pub pins: Vec<Pin>,
    /// What of it is being summarized.
    pub leases: Vec<Lease>,
    /// What collapses were tried in vain.
    pub attempts: Attempts,
    /// The rows at first sight.
    pub sight: Sight,
    /// Composed rounds.
    pub memo: Memo,
    /// Rendered rounds, per format.
    pub rendered: HashMap<WireFormat, Rendering>,
    /// What was served last, per format and lane.
    pub served: HashMap<(WireFormat, String), Served>,
    /// What was served last, per format, for telling what of the next is the
    /// same.
    pub newest: HashMap<WireFormat, Pieces>,
    /// The lane that was served last, and the fingerprint it got.
    pub last_served: Option<(String, String)>,
    /// The budget that was told last.
    pub budget: Option<TokenBudget>,
}

/// Rendered rounds and the shown ones that they were made from.
pub(crate) type Rendering = HashMap<Seq, (Arc<ShownRound>, Arc<RenderedRound>)>;

/// The rendered bytes of a context.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pieces {
    /// System and tools.
    pub fixed: [Bytes; 2],
    /// The messages.
    pub messages: Vec<Bytes>,
}

/// A context that was served.
pub(crate) struct Served {
    /// The session's revision then.
    pub revision: Revision,
    /// The calibration factor then.
    pub factor: f64,
    /// What the caller said it adds.
    pub caller_fixed_tokens: i64,
    /// Until when (microseconds) no idle trigger can fire.
    pub idle_at: Option<i64>,
    /// The answer, without reductions.
    pub output: Arc<ContextOutput>,
}

impl State {
    /// Loads what is missing.
    pub(crate) async fn refresh(&mut self, ctx: &Ctx, id: &SessionRef) -> Result<()> {
        self.catch_up();
        let session = ctx.store.get_session(id).await?;
        if self.session.as_ref().is_some_and(|known| known.create_time != session.create_time) {
            // Deleted, and made anew under the same id.
            *self = Self::default();
        }
        let mut bytes = 0;
        let last = Seq(session.next_seq.0 - 1);
        while self.history.newest() < last {
            let first = self.history.newest().next();
            let query = RowsQuery {
                first,
                last,
                newest_first: false,
                limit: PAGE_ROWS,
                limit_bytes: PAGE_BYTES,
            };
            let rows = ctx.store.read_rows(id, query).await?;
            if rows.first().is_none_or(|row| row.seq != first) {
                return Err(Error::internal(GapInRows(first)));
            }
            for row in rows {
                bytes += weight(&row);
                self.push(Arc::new(row));
            }
        }
        self.row_bytes += bytes;
        self.fresh_bytes += bytes;
        self.items = ctx.store.list_items(id, ItemAt::Revision(session.revision)).await?;
        for view in &session.views {
            self.refresh_view(ctx, id, view, session.revision).await?;
        }
        self.views.retain(|name, _| session.views.iter().any(|view| view.name == *name));
        self.session = Some(session);
        Ok(())
    }

    /// Takes in rows that were just appended: what it would read otherwise.
    /// Only where nothing else came since it was loaded, and where it is little
    /// work. Returns the bytes of the rows; [`State::catch_up`] places them.
    pub(crate) fn follow(&mut self, rows: &[NewRow], appended: &Appended, at: Timestamp) -> usize {
        let Some(session) = &mut self.session else { return 0 };
        let is_next = session.revision.next() == appended.revision
            && session.next_seq == appended.first_seq
            && self.history.rows().len() + self.waiting.len() == known_rows(session)
            && rows.len() == appended.placements.len();
        let encoded: usize = rows.iter().map(|row| row.encoded.len()).sum();
        if !is_next || encoded > OFF_THREAD_BYTES {
            return 0;
        }
        session.revision = appended.revision;
        session.next_seq = appended.last_seq.next();
        session.update_time = at;
        session.tokens += rows.iter().map(|row| row.tokens.total).sum::<i64>();
        let mut bytes = 0;
        for (new, placement) in rows.iter().zip(&appended.placements) {
            let row = Row {
                seq: placement.seq,
                turn: placement.turn,
                round: placement.round,
                revision: appended.revision,
                record_time: at,
                message: Arc::clone(&new.message),
                tokens: new.tokens.clone(),
                digest: new.digest,
            };
            bytes += weight(&row);
            self.waiting.push(Arc::new(row));
        }
        self.row_bytes += bytes;
        self.fresh_bytes += bytes;
        bytes
    }

    /// Gives the rows that came their places. Before it, the history may end
    /// earlier than the session does.
    pub(crate) fn catch_up(&mut self) {
        for row in std::mem::take(&mut self.waiting) {
            self.push(row);
        }
    }

    fn push(&mut self, row: Arc<Row>) {
        let placement = self.history.push(row);
        for view in self.views.values_mut() {
            view.sight.see(&self.history, &placement);
        }
    }

    async fn refresh_view(
        &mut self,
        ctx: &Ctx,
        id: &SessionRef,
        view: &View,
        revision: Revision,
    ) -> Result<()> {
        let known = self.views.get_mut(&view.name);
        if known.as_ref().is_some_and(|it| it.view == *view) {
            return Ok(());
        }
        let mut overlays = ctx.store.list_overlays(id, &view.name, true).await?;
        as_of(revision, &mut overlays);
        let pins = ctx.store.list_pins(id, &view.name).await?;
        match known {
            Some(known) if known.looks_the_same(view) => {
                known.view = view.clone();
                known.overlays = overlays;
                known.pins = pins;
            }
            _ => {
                let plans = ctx.store.list_plans(id, &view.name, ctx.clock.now()).await?;
                let fresh = ViewState {
                    overlays,
                    pins,
                    leases: plans.iter().map(Lease::of).collect(),
                    ..ViewState::of(ctx, view, &self.history)?
                };
                self.views.insert(view.name.clone(), fresh);
            }
        }
        Ok(())
    }

    /// About how many bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        let views = self.views.values().map(|view| {
            let rendered = view.rendered.values().flat_map(HashMap::values);
            rendered.map(|(_, rendered)| rendered.weight()).sum::<usize>()
                + view.newest.values().map(Pieces::bytes).sum::<usize>()
                + view.served.values().map(Served::bytes).sum::<usize>()
                + view.overlays.iter().map(overlay_weight).sum::<usize>()
                + view.memo.bytes()
        });
        self.row_bytes + views.sum::<usize>() + 4096
    }
}

impl Pieces {
    fn bytes(&self) -> usize {
        self.messages.iter().map(|message| message.len() + 64).sum()
    }
}

impl Served {
    /// Besides the messages' own bytes, which it shares: where each is, where
    /// it came from, and both once more for the wire.
    fn bytes(&self) -> usize {
        self.output.origins.len() * 256
    }
}

impl ViewState {
    fn of(ctx: &Ctx, view: &View, history: &History) -> Result<Self> {
        let policy = ctx.presets.from_resolved(&view.policy_json).map_err(Error::internal)?;
        let policy = Arc::new(policy);
        let sizes = sizes(view, &policy);
        Ok(Self {
            view: view.clone(),
            sight: Sight::of(Arc::clone(&policy), sizes, history),
            policy,
            overlays: Vec::new(),
            pins: Vec::new(),
            leases: Vec::new(),
            attempts: Attempts::default(),
            memo: Memo::default(),
            rendered: HashMap::new(),
            served: HashMap::new(),
            newest: HashMap::new(),
            last_served: None,
            budget: None,
        })
    }

    /// Says whether what was made under the view as it was holds under `view`.
    fn looks_the_same(&self, view: &View) -> bool {
        self.view.policy_json == view.policy_json && sizes(view, &self.policy) == self.sight.sizes()
    }

    /// The overlays in force.
    pub(crate) fn in_force(&self) -> Vec<Overlay> {
        self.overlays.iter().filter(|overlay| overlay.rollback.is_none()).cloned().collect()
    }
}

/// Leaves of `overlays` what was on record at `revision`: more may have come
/// between two reads, and what a revision shows never changes.
pub(crate) fn as_of(revision: Revision, overlays: &mut Vec<Overlay>) {
    overlays.retain(|it| it.commit_revision <= revision);
    for overlay in overlays {
        overlay.rollback.take_if(|end| end.revision > revision);
    }
}

/// How many rows a session has: seqs have no gaps.
fn known_rows(session: &Session) -> usize {
    usize::try_from(session.next_seq.0 - 1).unwrap_or(usize::MAX)
}

/// The sizes of what is fixed at first sight: of the window as the view was
/// set, whatever a caller or a provider says later.
pub(crate) fn sizes(view: &View, policy: &Policy) -> Sizes {
    let limit_tokens = view.model.as_ref().map_or_else(
        || {
            let window = model_choice::DEFAULT_WINDOW;
            window - crate::projection::default_reserve(policy, window)
        },
        |model| model.context_window - model_choice::output_reserve(model, policy),
    );
    Sizes { limit_tokens }
}

/// What an overlay holds: its words, the rows that it covers, and each piece
/// that it clears.
fn overlay_weight(overlay: &Overlay) -> usize {
    let cleared = overlay.cleared.iter().map(|it| 96 + it.shown_as.len());
    let ranges = overlay.covered.ranges().len() + overlay.kept.ranges().len();
    768 + overlay.summary.len() + 16 * ranges + cleared.sum::<usize>()
}

fn weight(row: &Row) -> usize {
    use crate::model::{BlockKind, ImageSource, ToolOutput};
    let image = |source: &ImageSource| match source {
        ImageSource::Data(data) => data.len(),
        ImageSource::Url(url) => url.len(),
    };
    let blocks = row.message.blocks.iter().map(|block| {
        128 + block.extra_json.len()
            + match &block.kind {
                BlockKind::Text(text) => text.text.len() + text.raw.len(),
                BlockKind::Thinking(it) => {
                    it.parts.iter().map(String::len).sum::<usize>()
                        + it.signature.len()
                        + it.encrypted_content.len()
                }
                BlockKind::RedactedThinking(data) => data.len(),
                BlockKind::ToolUse(call) => call.input_json.len() + call.name.len(),
                BlockKind::ToolResult(result) => result
                    .output
                    .iter()
                    .map(|part| match part {
                        ToolOutput::Text(text) => text.len(),
                        ToolOutput::Image(it) => image(&it.source),
                        ToolOutput::Opaque(opaque) => opaque.json.len(),
                    })
                    .sum(),
                BlockKind::Image(it) => image(&it.source),
                BlockKind::Opaque(opaque) => opaque.json.len(),
            }
    });
    // What a row is beside its contents: its place in the history, and its look.
    1536 + blocks.sum::<usize>()
}

/// The store left a row out.
#[derive(Debug, thiserror::Error)]
#[error("the store has no row {0}")]
struct GapInRows(Seq);
