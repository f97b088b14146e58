//! A session as agents, people and operators live it: what a generated life
//! brings, done through the use cases, every context remembered.

use std::sync::Arc;

use bytes::Bytes;
use concertina::{
    clock::ManualClock,
    model::{OverlayId, OverlayKind, Placement, PlanId, WireFormat},
    service::{
        AppendTurn, ClearInput, CommitCollapseInput, ContentInput, ContextInput, ContextItemInput,
        ContextOutput, CreateCollapseInput, CreateSession, Ctx, Error, ListOverlaysInput,
        ModelInput, PinInput, PrepareCollapseInput, RollbackInput, SetViewInput, SnipInput,
        append_turn, commit_collapse, create_clear, create_collapse, create_session, create_snip,
        delete_view, get_context, list_overlays, list_pins, pin_messages, prepare_collapse,
        rollback_overlay, set_context_item, set_view, unpin_messages,
    },
    store::Store,
};
use proptest::{collection::vec, prelude::*, sample::select};

use crate::projection::generate::{Event, events};

pub(super) const SESSION: &str = "s";
pub(super) const VIEWS: [&str; 2] = ["main", "side"];
const FORMATS: [WireFormat; 4] = [
    WireFormat::AnthropicMessages,
    WireFormat::OpenAiChat,
    WireFormat::OpenAiResponses,
    WireFormat::Typed,
];

/// What happens next.
#[derive(Debug, Clone)]
pub(super) enum Deed {
    Event(Event),
    Ask {
        view: usize,
        format: usize,
        lane: &'static str,
    },
    SetView {
        view: usize,
        preset: &'static str,
        window: i64,
    },
    DeleteSide,
    /// Rows from here on, in thousandths of the history, and how many.
    Pin {
        view: usize,
        at: i64,
        rows: i64,
    },
    Unpin {
        view: usize,
        nth: usize,
    },
    RollBackAndPin {
        view: usize,
        nth: usize,
    },
    SetItem {
        name: &'static str,
        placement: Placement,
        words: usize,
        view: &'static str,
    },
}

/// Twice as many contexts as anything else.
pub(super) fn deeds(most: usize) -> impl Strategy<Value = Vec<Deed>> {
    (events(most), vec(vec(deed(), 0..4), most * 4)).prop_map(|(events, others)| {
        let mut out = Vec::new();
        for (event, others) in events.into_iter().zip(others) {
            out.push(Deed::Event(event));
            out.extend(others);
        }
        out
    })
}

fn deed() -> impl Strategy<Value = Deed> {
    let preset = select(vec!["default", "cascade", "teaching"]);
    let window = select(vec![1500, 3000, 8000, 30_000]);
    let placement = select(vec![Placement::System, Placement::UserContext, Placement::Reminder]);
    prop_oneof![
        12 => (0..2_usize, 0..4_usize, select(vec!["", "", "a", "b"]))
            .prop_map(|(view, format, lane)| Deed::Ask { view, format, lane }),
        2 => (0..2_usize, preset, window)
            .prop_map(|(view, preset, window)| Deed::SetView { view, preset, window }),
        1 => Just(Deed::DeleteSide),
        2 => (0..2_usize, 0..1000_i64, 1..3_i64)
            .prop_map(|(view, at, rows)| Deed::Pin { view, at, rows }),
        1 => (0..2_usize, 0..4_usize).prop_map(|(view, nth)| Deed::Unpin { view, nth }),
        2 => (0..2_usize, 0..8_usize).prop_map(|(view, nth)| Deed::RollBackAndPin { view, nth }),
        2 => (select(vec!["a", "b"]), placement, 0..30_usize, select(vec!["", "main", "side"]))
            .prop_map(|(name, placement, words, view)| Deed::SetItem {
                name,
                placement,
                words,
                view
            }),
    ]
}

/// A context that was committed.
pub(super) struct Seen {
    pub input: ContextInput,
    pub output: Arc<ContextOutput>,
}

/// A session, and what it has shown so far.
pub(super) struct Life {
    pub ctx: Ctx,
    clock: Arc<ManualClock>,
    pub seen: Vec<Seen>,
    /// Collapses that are prepared, oldest first.
    prepared: Vec<PlanId>,
    /// Deeds that were done, by sort: a life in which nothing works shows nothing.
    pub done: usize,
}

pub(super) fn ctx_over(store: Arc<dyn Store>) -> (Ctx, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at(1_000_000_000_000));
    (Ctx { clock: Arc::<ManualClock>::clone(&clock), ..Ctx::new(store) }, clock)
}

pub(super) fn of_window(context_window: i64) -> ModelInput {
    ModelInput { context_window, ..ModelInput::default() }
}

pub(super) fn asking(format: WireFormat) -> ContextInput {
    ContextInput { session_id: SESSION.into(), format: Some(format), ..ContextInput::default() }
}

impl Life {
    pub(super) async fn start(store: Arc<dyn Store>, preset: &str, window: i64) -> Self {
        let (ctx, clock) = ctx_over(store);
        let input = CreateSession {
            session_id: SESSION.into(),
            preset: preset.to_owned(),
            model: of_window(window),
            ..CreateSession::default()
        };
        create_session(&ctx, input).await.unwrap();
        Self { ctx, clock, seen: Vec::new(), prepared: Vec::new(), done: 0 }
    }

    /// What cannot be done in the state that the session is in is not done.
    pub(super) async fn live(&mut self, deed: Deed) {
        self.clock.advance(1);
        let done = match deed {
            Deed::Event(event) => self.event(event).await,
            Deed::Ask { view, format, lane } => self.ask(view, format, lane).await,
            Deed::SetView { view, preset, window } => {
                let input = SetViewInput {
                    session_id: SESSION.into(),
                    name: VIEWS[view].into(),
                    preset: preset.into(),
                    model: of_window(window),
                    ..SetViewInput::default()
                };
                set_view(&self.ctx, input).await.map(drop)
            }
            Deed::DeleteSide => delete_view(&self.ctx, SESSION, VIEWS[1]).await.map(drop),
            Deed::Pin { view, at, rows } => {
                let first = self.row_at(at).await;
                let input = PinInput {
                    session_id: SESSION.into(),
                    view: VIEWS[view].into(),
                    rows: Some((first, first + rows - 1)),
                    ..PinInput::default()
                };
                pin_messages(&self.ctx, input).await.map(drop)
            }
            Deed::Unpin { view, nth } => self.unpin(view, nth).await,
            Deed::RollBackAndPin { view, nth } => self.roll_back(view, nth, true).await,
            Deed::SetItem { name, placement, words, view } => {
                let item = ContextItemInput {
                    name: name.into(),
                    placement: Some(placement),
                    content: Bytes::from("word ".repeat(words)),
                    format: None,
                    view: view.into(),
                };
                set_context_item(&self.ctx, SESSION, item, String::new()).await.map(drop)
            }
        };
        match done {
            Ok(()) => self.done += 1,
            Err(Error::Internal(err)) => panic!("{err}"),
            Err(Error::ShuttingDown) => panic!("the store is closed"),
            Err(_) => {}
        }
    }

    async fn event(&mut self, event: Event) -> Result<(), Error> {
        match event {
            Event::Append(message) => {
                let input = AppendTurn {
                    session_id: SESSION.into(),
                    messages: vec![*message],
                    ..AppendTurn::default()
                };
                append_turn(&self.ctx, input).await.map(drop)
            }
            Event::Wait(minutes) => {
                self.clock.advance(minutes * 60);
                Ok(())
            }
            Event::RollBack(nth) => self.roll_back(nth % 2, nth / 2, false).await,
            Event::Snip(first, last) => {
                let rows = (self.row_at(first).await, self.row_at(last).await);
                let input = SnipInput {
                    session_id: SESSION.into(),
                    rows: Some(rows),
                    marker: if first % 2 == 0 { String::new() } else { "[snip]".into() },
                    ..SnipInput::default()
                };
                create_snip(&self.ctx, input).await.map(drop)
            }
            Event::Clear(at) => {
                let seq = self.row_at(at).await;
                let input = ClearInput {
                    session_id: SESSION.into(),
                    contents: vec![ContentInput { seq, block: 0, output: None }],
                    ..ClearInput::default()
                };
                create_clear(&self.ctx, input).await.map(drop)
            }
            Event::Collapse(first, last) => {
                let rows = (self.row_at(first).await, self.row_at(last).await);
                let input = CreateCollapseInput {
                    session_id: SESSION.into(),
                    rows: Some(rows),
                    ..CreateCollapseInput::default()
                };
                create_collapse(&self.ctx, input).await.map(drop)
            }
            Event::Prepare(first, last) => {
                let rows = (self.row_at(first).await, self.row_at(last).await);
                let input = PrepareCollapseInput {
                    session_id: SESSION.into(),
                    rows: Some(rows),
                    kind: Some(OverlayKind::Collapse),
                    ..PrepareCollapseInput::default()
                };
                let prepared = prepare_collapse(&self.ctx, input).await?;
                self.prepared.push(prepared.plan);
                Ok(())
            }
            Event::Finish => {
                if self.prepared.is_empty() {
                    return Ok(());
                }
                let input = CommitCollapseInput {
                    session_id: SESSION.into(),
                    plan_id: self.prepared.remove(0).to_string(),
                    summary: "What was said there.".into(),
                    ..CommitCollapseInput::default()
                };
                commit_collapse(&self.ctx, input).await.map(drop)
            }
            Event::Pin(first, last) => {
                let input = PinInput {
                    session_id: SESSION.into(),
                    rows: Some((self.row_at(first).await, self.row_at(last).await)),
                    ..PinInput::default()
                };
                pin_messages(&self.ctx, input).await.map(drop)
            }
            Event::Unpin(nth) => self.unpin(0, nth).await,
        }
    }

    async fn ask(&mut self, view: usize, format: usize, lane: &str) -> Result<(), Error> {
        let input =
            ContextInput { view: VIEWS[view].into(), lane: lane.into(), ..asking(FORMATS[format]) };
        let output = get_context(&self.ctx, input.clone()).await?;
        assert!(!output.preview);
        self.seen.push(Seen { input, output });
        Ok(())
    }

    async fn unpin(&self, view: usize, nth: usize) -> Result<(), Error> {
        let pins = list_pins(&self.ctx, SESSION, VIEWS[view]).await?;
        let Some(pin) = pins.get(nth) else { return Ok(()) };
        unpin_messages(&self.ctx, SESSION, pin.id.as_str()).await.map(drop)
    }

    async fn roll_back(&self, view: usize, nth: usize, pin: bool) -> Result<(), Error> {
        let overlays = in_force(&self.ctx, VIEWS[view]).await?;
        let Some(overlay) = overlays.get(nth) else { return Ok(()) };
        let input = RollbackInput {
            session_id: SESSION.into(),
            overlay_id: overlay.to_string(),
            pin,
            clears_too: nth % 2 == 1,
            ..RollbackInput::default()
        };
        rollback_overlay(&self.ctx, input).await.map(drop)
    }

    /// The row at so many thousandths of the history.
    pub(super) async fn row_at(&self, share: i64) -> i64 {
        let session = concertina::service::get_session(&self.ctx, SESSION, "").await;
        // An empty history has no budget, and no rows to name.
        session.map_or(1, |it| 1 + share * (it.session.next_seq.0 - 1) / 1000)
    }
}

/// The overlays in force of a view, in the order of what they cover.
pub(super) async fn in_force(ctx: &Ctx, view: &str) -> Result<Vec<OverlayId>, Error> {
    let input = ListOverlaysInput {
        session_id: SESSION.into(),
        view: view.into(),
        ..ListOverlaysInput::default()
    };
    Ok(list_overlays(ctx, input).await?.overlays.into_iter().map(|it| it.id).collect())
}
