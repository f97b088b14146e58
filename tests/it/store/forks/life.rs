//! A session that lives: appends of several lanes, overlays that come and go,
//! views and items that change between them.

use bytes::Bytes;
use concertina::{
    model::{
        Block, ContextItem, Message, Overlay, OverlayId, Pin, Placement, Revision, Role, View,
        ViewName,
    },
    store::{
        CommitOverlays, Error, ItemAt, NewPin, PlannedOn, RollbackOverlay, SessionRef, SetItem,
        Store, UpdateSession,
    },
};

use super::super::support::{
    append, at, call, collapse, commit, deletion, message, model, parts, pin, result, rollback,
    row, set, unpin,
};

/// What holds in a session beside its rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Held {
    pub views: Vec<View>,
    pub items: Vec<ContextItem>,
    /// Of every view, rolled-back ones too.
    pub overlays: Vec<Overlay>,
    /// Of every view.
    pub pins: Vec<Pin>,
}

pub(super) async fn held(store: &dyn Store, session: &SessionRef) -> Held {
    let views = store.get_session(session).await.unwrap().views;
    let items = store.list_items(session, ItemAt::Now).await.unwrap();
    let (mut overlays, mut pins) = (Vec::new(), Vec::new());
    for view in &views {
        pins.extend(store.list_pins(session, &view.name).await.unwrap());
        overlays.extend(store.list_overlays(session, &view.name, true).await.unwrap());
    }
    Held { views, items, overlays, pins }
}

/// Numbers that look random and are the same for the same seed.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `most`.
    pub(super) fn roll(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % most
    }
}

/// What held, and at which revision, right before each row came (and at the
/// end): entry `n` is what a fork with `n` rows starts with.
pub(super) type Before = Vec<(Revision, Held)>;

/// Lives for so many steps.
pub(super) async fn live(
    store: &dyn Store,
    session: &SessionRef,
    seed: u64,
    steps: usize,
) -> Before {
    let mut dice = Dice::new(seed);
    let mut before = Vec::new();
    for step in 0..steps {
        let now = store.get_session(session).await.unwrap();
        let rows = u64::try_from(now.next_seq.0 - 1).unwrap();
        match dice.roll(16) {
            12 => pin_some(store, session, &mut dice, step).await,
            13 => unpin_some(store, session, &mut dice).await,
            14 => drop(store.delete_view(deletion(session, "small")).await),
            15 => rename(store, session, step).await,
            0 if rows > 0 => commit_some(store, session, &mut dice, step, rows).await,
            1 if rows > 0 => roll_back_some(store, session, &mut dice).await,
            2 => set_item(store, session, &mut dice, step).await,
            3 => set_view(store, session, &mut dice).await,
            _ => {
                let state = (now.revision, held(store, session).await);
                let came = (0..=dice.roll(3)).map(|_| row(any_message(&mut dice))).collect();
                let done = store.append(append(session, came)).await.unwrap();
                before.extend(done.placements.iter().map(|_| state.clone()));
            }
        }
    }
    let newest = store.get_session(session).await.unwrap().revision;
    before.push((newest, held(store, session).await));
    before
}

/// Few ids and lanes, so that ids repeat, cross lanes and are answered late.
pub(super) fn any_message(dice: &mut Dice) -> Message {
    let lane = ["", "x", "y"][usize::try_from(dice.roll(3)).unwrap()];
    let ids: Vec<&str> = (0..=dice.roll(2))
        .map(|_| ["a", "b", "c", "d"][usize::try_from(dice.roll(4)).unwrap()])
        .collect();
    let results = ids.iter().map(|id| result(id, "ok"));
    match dice.roll(5) {
        0 | 1 => message(Role::Assistant, lane, ids.iter().map(|id| call(id)).collect()),
        2 => message(Role::User, lane, results.collect()),
        3 => message(Role::User, lane, results.chain([Block::text("so").kind]).collect()),
        _ => message(Role::User, lane, vec![Block::text("words").kind]),
    }
}

fn any_view(dice: &mut Dice) -> ViewName {
    if dice.roll(3) == 0 { ViewName::new("small") } else { ViewName::main() }
}

/// Commits to a view, two overlays where it goes; a range that crosses another
/// is refused, and a view that is not there too.
async fn commit_some(
    store: &dyn Store,
    session: &SessionRef,
    dice: &mut Dice,
    step: usize,
    rows: u64,
) {
    let view = any_view(dice);
    let views = store.get_session(session).await.unwrap().views;
    let Some(found) = views.into_iter().find(|it| it.name == view) else { return };
    let first = i64::try_from(1 + dice.roll(rows)).unwrap();
    let last = first + i64::try_from(dice.roll(4)).unwrap();
    let inner = collapse(&format!("in{step}"), first, first);
    let overlays = vec![inner, collapse(&format!("out{step}"), first, last)];
    let commit = CommitOverlays {
        view,
        planned_on: PlannedOn::View(found.reductions_revision),
        ..commit(session, 0, overlays)
    };
    match store.commit_overlays(commit).await {
        Ok(_) | Err(Error::Overlaps(_)) => {}
        Err(err) => panic!("{err}"),
    }
}

async fn roll_back_some(store: &dyn Store, session: &SessionRef, dice: &mut Dice) {
    let overlays = held(store, session).await.overlays;
    let standing: Vec<&OverlayId> =
        overlays.iter().filter(|it| it.rollback.is_none()).map(|it| &it.id).collect();
    let Some(most) = u64::try_from(standing.len()).ok().filter(|it| *it > 0) else { return };
    let id = standing[usize::try_from(dice.roll(most)).unwrap()].as_str();
    let rollback = RollbackOverlay { clears_too: true, ..rollback(session, id) };
    store.rollback_overlay(rollback).await.unwrap();
}

async fn set_item(store: &dyn Store, session: &SessionRef, dice: &mut Dice, step: usize) {
    let content = if dice.roll(3) == 0 { String::new() } else { format!("content {step}") };
    let item = ContextItem {
        name: ["i", "j"][usize::try_from(dice.roll(2)).unwrap()].into(),
        placement: Placement::System,
        content: Bytes::from(content),
        format: None,
        view: None,
        tokens: 7,
    };
    let set = SetItem { session: session.clone(), item, author: "ann".into(), at: at(5_000) };
    store.set_item(set).await.unwrap();
}

async fn set_view(store: &dyn Store, session: &SessionRef, dice: &mut Dice) {
    let model = model(["m", "n"][usize::try_from(dice.roll(2)).unwrap()]);
    store.set_view(set(session, any_view(dice).as_str(), parts(Some(model)))).await.unwrap();
}

/// A view that is not there is refused.
async fn pin_some(store: &dyn Store, session: &SessionRef, dice: &mut Dice, step: usize) {
    let pin = NewPin { view: any_view(dice), ..pin(session, &format!("pin{step}"), 1, 2) };
    let _ = store.pin(pin).await;
}

async fn unpin_some(store: &dyn Store, session: &SessionRef, dice: &mut Dice) {
    let pins = held(store, session).await.pins;
    let Some(most) = u64::try_from(pins.len()).ok().filter(|it| *it > 0) else { return };
    let id = &pins[usize::try_from(dice.roll(most)).unwrap()].id;
    store.unpin(unpin(session, id.as_str())).await.unwrap();
}

async fn rename(store: &dyn Store, session: &SessionRef, step: usize) {
    let update = UpdateSession {
        session: session.clone(),
        display_name: Some(format!("name {step}")),
        labels: None,
        at: at(5_000),
    };
    store.update_session(update).await.unwrap();
}
