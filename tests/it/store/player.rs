//! Plays writes on a store, and tells what the store answers.

use std::fmt::Debug;

use bytes::Bytes;
use concertina::{
    model::{
        ContextItem, Overlay, OverlayId, OverlayKind, PinId, Placement, PlanId, Revision, RowSet,
        Seq, SeqRange, Session, SessionId, Timestamp, View, ViewName,
    },
    store::{
        Append, CommitOverlays, Entity, Error, ForkSession, ItemAt, NewPin, NewPlan, Page, PinRows,
        Plan, PlannedOn, RollbackOverlay, SessionRef, SetItem, SetView, Store, UpdateSession,
    },
};
use proptest::sample::Index;

use super::support::{
    append, appended, at, clear, collapse, commit, created, deletion, model, parts, pin, plan,
    prepare, request, rollback, rows_of, session, set, unpin, words,
};

/// The views that there may be.
pub(super) const VIEWS: [&str; 3] = ["main", "small", "zoo"];

/// What an overlay or a plan is of.
#[derive(Debug, Clone)]
pub(super) struct Range {
    pub kind: u8,
    pub first: i64,
    pub len: i64,
    pub keeps: bool,
}

/// A request's id and digest.
pub(super) type Key = Option<(u8, u8)>;

/// One write. What it names is picked among all that was ever named.
#[derive(Debug, Clone)]
pub(super) enum Write {
    Append {
        rows: usize,
        key: Key,
    },
    ElsewhereAppend,
    /// At a share of the rows; the fork is gone on with.
    Fork(u16),
    Commit {
        view: usize,
        ranges: Vec<Range>,
        supersedes: Option<Index>,
        is_stale: bool,
        key: Key,
    },
    RollBack {
        overlay: Index,
        clears_too: bool,
        pins: bool,
    },
    Pin {
        view: usize,
        first: i64,
        len: i64,
        key: Key,
    },
    Unpin(Index),
    SetView {
        view: usize,
        model: u8,
        only_without_model: bool,
    },
    DeleteView(usize),
    SetItem {
        name: u8,
        view: Option<usize>,
        content: u8,
    },
    Rename {
        name: Option<u8>,
        label: Option<u8>,
    },
    Prepare {
        view: usize,
        ranges: Vec<Range>,
        is_own: bool,
        is_stale: bool,
        key: Key,
    },
    CommitPlans {
        plans: Vec<Index>,
        is_other: bool,
        supersedes: Option<Index>,
        key: Key,
    },
    Renew {
        plans: Vec<Index>,
        seconds: i64,
    },
    Abandon(Vec<Index>),
    Expire {
        seconds: i64,
    },
}

/// What a caller is told. What nobody should do is told in each backend's own
/// words.
fn told<T: Debug>(result: Result<T, Error>) -> String {
    match result {
        Err(Error::Backend(_)) => "misuse".to_owned(),
        other => format!("{other:?}"),
    }
}

/// One of the newest.
fn pick<T: Clone>(all: &[T], index: Index) -> Option<T> {
    let newest = &all[all.len().saturating_sub(6)..];
    (!newest.is_empty()).then(|| index.get(newest).clone())
}

/// How a view stood when it was looked at; `None` where it was not there.
struct Seen {
    at: Revision,
    name: ViewName,
    view: Option<View>,
    overlays: Vec<OverlayId>,
    next_seq: Seq,
}

/// Plays writes on one store.
pub(super) struct Player<'a> {
    store: &'a dyn Store,
    session: SessionRef,
    /// What it was forked from last.
    origin: Option<SessionRef>,
    clock: i64,
    overlays: Vec<OverlayId>,
    pins: Vec<PinId>,
    plans: Vec<PlanId>,
    seen: Vec<Seen>,
}

impl<'a> Player<'a> {
    pub(super) async fn start(store: &'a dyn Store) -> Self {
        let session = created(store, "s").await;
        created(store, "elsewhere").await;
        appended(store, &session, 12).await;
        for view in &VIEWS[1..] {
            store.set_view(set(&session, view, parts(None))).await.unwrap();
        }
        let (overlays, pins, plans) = (Vec::new(), Vec::new(), Vec::new());
        let (origin, seen) = (None, Vec::new());
        Self { store, session, origin, clock: 10_000, overlays, pins, plans, seen }
    }

    /// Goes on where another has come to, on another store with the same in it.
    pub(super) fn on(self, store: &dyn Store) -> Player<'_> {
        Player { store, seen: Vec::new(), ..self }
    }

    fn now(&self) -> Timestamp {
        at(self.clock)
    }

    fn next_overlay(&mut self) -> OverlayId {
        self.overlays.push(OverlayId::new(&format!("o{}", self.overlays.len())));
        self.overlays[self.overlays.len() - 1].clone()
    }

    fn next_pin(&mut self) -> PinId {
        self.pins.push(PinId::new(&format!("p{}", self.pins.len())));
        self.pins[self.pins.len() - 1].clone()
    }

    fn next_plan(&mut self) -> PlanId {
        self.plans.push(PlanId::new(&format!("l{}", self.plans.len())));
        self.plans[self.plans.len() - 1].clone()
    }

    fn pick_overlay(&self, index: Index) -> OverlayId {
        pick(&self.overlays, index).unwrap_or_else(|| OverlayId::new("none"))
    }

    fn pick_pin(&self, index: Index) -> PinId {
        pick(&self.pins, index).unwrap_or_else(|| PinId::new("none"))
    }

    fn pick_plans(&self, indices: &[Index]) -> Vec<PlanId> {
        let plan = |index: &Index| pick(&self.plans, *index);
        indices.iter().map(|it| plan(it).unwrap_or_else(|| PlanId::new("none"))).collect()
    }

    async fn planned_at(&self, view: &ViewName, is_stale: bool) -> i64 {
        let session = self.store.get_session(&self.session).await.unwrap();
        let view = session.views.iter().find(|it| it.name == *view);
        view.map_or(1, |it| it.reductions_revision.0) - i64::from(is_stale)
    }

    pub(super) async fn play(&mut self, write: &Write) -> String {
        self.clock += 7;
        match write {
            Write::Append { rows, key } => {
                let rows = (0..*rows).map(|n| words(&n.to_string())).collect();
                let request = key.map(|(id, digest)| request(&format!("append{id}"), digest));
                let append = Append { request, ..append(&self.session, rows) };
                told(self.store.append(append).await)
            }
            Write::ElsewhereAppend => {
                let origin = self.origin.clone().unwrap_or_else(|| session("elsewhere"));
                told(self.store.append(append(&origin, vec![words("x")])).await)
            }
            Write::Fork(share) => self.fork(*share).await,
            Write::Commit { view, ranges, supersedes, is_stale, key } => {
                self.commit(VIEWS[*view], ranges, *supersedes, *is_stale, *key).await
            }
            Write::RollBack { overlay, clears_too, pins } => {
                let rows = SeqRange { first: Seq(1), last: Seq(2) };
                let rollback = RollbackOverlay {
                    clears_too: *clears_too,
                    pin: pins.then(|| PinRows { id: self.next_pin(), rows }),
                    at: self.now(),
                    ..rollback(&self.session, self.pick_overlay(*overlay).as_str())
                };
                told(self.store.rollback_overlay(rollback).await)
            }
            Write::Pin { view, first, len, key } => {
                let id = self.next_pin();
                let new = NewPin {
                    view: ViewName::new(VIEWS[*view]),
                    request: key.map(|(id, digest)| request(&format!("pin{id}"), digest)),
                    ..pin(&self.session, id.as_str(), *first, first + len)
                };
                told(self.store.pin(new).await)
            }
            Write::Unpin(pin) => {
                told(self.store.unpin(unpin(&self.session, self.pick_pin(*pin).as_str())).await)
            }
            Write::SetView { view, model: number, only_without_model } => {
                let named = (*number > 0).then(|| model(&number.to_string()));
                let set = SetView {
                    only_without_model: *only_without_model,
                    ..set(&self.session, VIEWS[*view], parts(named))
                };
                told(self.store.set_view(set).await)
            }
            Write::DeleteView(view) => {
                told(self.store.delete_view(deletion(&self.session, VIEWS[*view])).await)
            }
            Write::SetItem { name, view, content } => {
                told(self.store.set_item(self.item(*name, *view, *content)).await)
            }
            Write::Rename { name, label } => {
                let update = UpdateSession {
                    session: self.session.clone(),
                    display_name: name.map(|it| it.to_string()),
                    labels: label.map(|it| [(it.to_string(), String::new())].into()),
                    at: self.now(),
                };
                told(self.store.update_session(update).await)
            }
            Write::Prepare { view, ranges, is_own, is_stale, key } => {
                self.prepare(VIEWS[*view], ranges, *is_own, *is_stale, *key).await
            }
            Write::CommitPlans { plans, is_other, supersedes, key } => {
                self.commit_plans(plans, *is_other, *supersedes, *key).await
            }
            Write::Renew { plans, seconds } => {
                let (plans, now) = (self.pick_plans(plans), self.now());
                let until = at(self.clock + seconds);
                told(self.store.renew_plans(&self.session, &plans, now, until).await)
            }
            Write::Abandon(plans) => {
                told(self.store.abandon_plans(&self.session, &self.pick_plans(plans)).await)
            }
            Write::Expire { seconds } => told(self.store.expire(at(self.clock + seconds)).await),
        }
    }

    async fn fork(&mut self, share: u16) -> String {
        let rows = self.store.get_session(&self.session).await.unwrap().next_seq.0 - 1;
        let fork = ForkSession {
            origin: self.session.clone(),
            id: SessionId::new(&format!("{}f", self.session.id)),
            seq: Some(Seq(1 + (rows - 1) * i64::from(share) / i64::from(u16::MAX))),
            display_name: String::new(),
            at: self.now(),
            request: None,
        };
        let (made, _) = self.store.fork_session(fork).await.unwrap();
        self.seen.retain(|it| it.at <= made.revision);
        // Rows of an append that is shared in part are there from the start.
        for seen in self.seen.iter_mut().filter(|it| it.at == made.revision) {
            seen.next_seq = made.next_seq;
        }
        self.origin = Some(self.session.clone());
        self.session.id = made.id.clone();
        format!("{made:?}")
    }

    fn item(&self, name: u8, view: Option<usize>, content: u8) -> SetItem {
        let item = ContextItem {
            name: name.to_string(),
            placement: Placement::Reminder,
            content: Bytes::from("x".repeat(content.into())),
            format: None,
            view: view.map(|it| ViewName::new(VIEWS[it])),
            tokens: 1,
        };
        SetItem { session: self.session.clone(), item, author: "ida".into(), at: self.now() }
    }

    async fn commit(
        &mut self,
        view: &str,
        ranges: &[Range],
        supersedes: Option<Index>,
        is_stale: bool,
        key: Key,
    ) -> String {
        let view = ViewName::new(view);
        let supersedes = supersedes.map(|it| self.pick_overlay(it));
        let overlay = |range: &Range| {
            let (id, last) = (self.next_overlay(), range.first + range.len);
            match range.kind {
                0 | 1 => clear(id.as_str(), range.first, last),
                2 => Overlay {
                    kind: OverlayKind::Snip,
                    summary: String::new(),
                    ..collapse(id.as_str(), range.first, last)
                },
                _ => {
                    let kept =
                        if range.keeps { rows_of(last + 1, last + 1) } else { RowSet::default() };
                    Overlay { kept, ..collapse(id.as_str(), range.first, last) }
                }
            }
        };
        let overlays = ranges.iter().map(overlay).collect();
        let planned_at = self.planned_at(&view, is_stale).await;
        let commit = CommitOverlays {
            view,
            supersedes: supersedes.into_iter().collect(),
            request: key.map(|(id, digest)| request(&format!("commit{id}"), digest)),
            at: self.now(),
            ..commit(&self.session, planned_at, overlays)
        };
        told(self.store.commit_overlays(commit).await)
    }

    async fn prepare(
        &mut self,
        view: &str,
        ranges: &[Range],
        is_own: bool,
        is_stale: bool,
        key: Key,
    ) -> String {
        let view = ViewName::new(view);
        let in_force = self.store.list_overlays(&self.session, &view, false).await.unwrap();
        let pins = self.store.list_pins(&self.session, &view).await.unwrap();
        let new = |range: &Range| {
            let last = range.first + range.len;
            let id = self.next_plan();
            let mut plan = Plan {
                view: view.clone(),
                is_own,
                create_time: self.now(),
                expire_time: at(self.clock + 60),
                ..plan(id.as_str(), range.first, last)
            };
            if range.keeps {
                plan.kept = rows_of(last + 2, last + 2);
            }
            let seen = in_force.iter().filter(|it| plan.sees(&it.covered));
            plan.overlays = seen.map(|it| it.id.clone()).collect();
            let seen = pins.iter().filter(|it| plan.sees(&RowSet::of_ranges(vec![it.rows])));
            plan.pins = seen.map(|it| it.id.clone()).collect();
            plan
        };
        let plans = ranges.iter().map(new).collect();
        let planned_at = self.planned_at(&view, is_stale).await;
        let prepare = NewPlan {
            request: key.map(|(id, digest)| request(&format!("plan{id}"), digest)),
            ..prepare(&self.session, planned_at, plans)
        };
        told(self.store.prepare(prepare).await)
    }

    async fn commit_plans(
        &mut self,
        plans: &[Index],
        is_other: bool,
        supersedes: Option<Index>,
        key: Key,
    ) -> String {
        let supersedes = supersedes.map(|it| self.pick_overlay(it));
        let ids = self.pick_plans(plans);
        let mut view = ViewName::main();
        let mut overlays = Vec::new();
        for id in &ids {
            let known = self.store.get_plan(&self.session, id).await;
            let known = known.unwrap_or_else(|_| plan("none", 1, 2));
            view = known.view;
            overlays.push(Overlay {
                covered: known.covered,
                kept: if is_other { rows_of(30, 31) } else { known.kept },
                ..collapse(self.next_overlay().as_str(), 1, 1)
            });
        }
        let commit = CommitOverlays {
            view,
            planned_on: PlannedOn::Plans(ids),
            supersedes: supersedes.into_iter().collect(),
            request: key.map(|(id, digest)| request(&format!("commit{id}"), digest)),
            at: self.now(),
            ..commit(&self.session, 0, overlays)
        };
        told(self.store.commit_overlays(commit).await)
    }

    /// How things stand.
    pub(super) async fn look(&mut self) -> String {
        let now: Session = self.store.get_session(&self.session).await.unwrap();
        let mut all = vec![format!("{now:?}")];
        for name in VIEWS.map(ViewName::new) {
            let overlays = self.store.list_overlays(&self.session, &name, false).await;
            self.seen.push(Seen {
                at: now.revision,
                view: now.views.iter().find(|it| it.name == name).cloned(),
                overlays: overlays.iter().flatten().map(|it| it.id.clone()).collect(),
                next_seq: now.next_seq,
                name: name.clone(),
            });
            all.push(told(overlays));
            all.push(told(self.store.list_overlays(&self.session, &name, true).await));
            all.push(told(self.store.list_pins(&self.session, &name).await));
            all.push(told(self.store.list_plans(&self.session, &name, self.now()).await));
        }
        all.push(told(self.store.list_items(&self.session, ItemAt::Now).await));
        all.join("\n")
    }

    /// Everything that can be read, of any revision.
    pub(super) async fn read_everything(&mut self) -> Vec<String> {
        let mut all = vec![self.look().await];
        let newest = self.store.get_session(&self.session).await.unwrap().revision;
        let mut after = None;
        loop {
            let page = Page { limit: 7, after };
            let page = self.store.list_revisions(&self.session, page).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.revision);
            all.extend(page.iter().map(|it| format!("{it:?}")));
        }
        assert_eq!(after, Some(newest), "every revision is listed");
        for revision in (0..=newest.0 + 1).map(Revision) {
            for name in VIEWS.map(ViewName::new) {
                all.push(told(self.store.state_at(&self.session, &name, revision).await));
            }
            let items = self.store.list_items(&self.session, ItemAt::Revision(revision)).await;
            all.push(told(items));
        }
        for plan in &self.plans {
            all.push(told(self.store.get_plan(&self.session, plan).await));
        }
        for overlay in &self.overlays {
            all.push(told(self.store.get_overlay(&self.session, overlay).await));
        }
        all
    }

    /// Checks that what was seen is what the past tells.
    pub(super) async fn check_what_was_seen(&self) {
        for seen in &self.seen {
            match self.store.state_at(&self.session, &seen.name, seen.at).await {
                Ok(state) => {
                    let overlays: Vec<_> = state.overlays.into_iter().map(|it| it.id).collect();
                    assert_eq!(Some(&state.view), seen.view.as_ref());
                    assert_eq!((overlays, state.next_seq), (seen.overlays.clone(), seen.next_seq));
                }
                Err(Error::NotFound(Entity::View(_))) => assert_eq!(seen.view, None),
                Err(other) => panic!("{other}"),
            }
        }
    }

    /// Gives back what a restart does.
    pub(super) async fn abandon_own(&self) {
        for id in &self.plans {
            if self.store.get_plan(&self.session, id).await.is_ok_and(|it| it.is_own) {
                let plans = std::slice::from_ref(id);
                self.store.abandon_plans(&self.session, plans).await.unwrap();
            }
        }
    }
}
