//! The played session composed a second time, from nothing but what its store
//! holds: what the service answers is compared with it, and every block is
//! looked for in it.

use std::{collections::BTreeSet, sync::Arc};

use bytes::Bytes;
use concertina::{
    model::{ContextItem, Namespace, Overlay, Policy, Revision, Seq, SessionId, ViewName},
    model::{WireFormat, shown::Answer},
    policies::Presets,
    projection::{Composed, History, Lens, Memo, Sight, Sizes, compose},
    render::{AssembleOptions, Rendered},
    service::{ContextOutput, Ctx, output_reserve},
    store::{ItemAt, RowsQuery, SessionRef},
};

use super::checks;
use crate::projection::{
    account::{self, View},
    support,
};

pub(crate) struct Shadow {
    session: SessionRef,
    policy: Arc<Policy>,
    items: Vec<ContextItem>,
    pub(crate) history: History,
    sight: Sight,
}

/// Rows, and the overlays in force over them.
pub(crate) struct Shown {
    pub(crate) in_force: Vec<Overlay>,
    pub(crate) composed: Composed,
}

pub(crate) fn session_ref(id: &str) -> SessionRef {
    SessionRef { namespace: Namespace::new(Namespace::DEFAULT), id: SessionId::new(id) }
}

/// A block as a reader of a marker finds it: where it is, what is shown of it.
pub(crate) struct Marked {
    pub(crate) at: (Seq, u32),
    pub(crate) text: String,
}

impl Shadow {
    /// Of a session that has no rows yet.
    pub(crate) async fn of(ctx: &Ctx, id: &str) -> Self {
        let session = session_ref(id);
        let known = ctx.store.get_session(&session).await.unwrap();
        let view = known.views.iter().find(|it| it.name == ViewName::main()).unwrap();
        let policy = Arc::new(Presets::embedded().from_resolved(&view.policy_json).unwrap());
        let model = view.model.as_ref().unwrap();
        let sizes = Sizes { limit_tokens: model.context_window - output_reserve(model, &policy) };
        let mut items = ctx.store.list_items(&session, ItemAt::Now).await.unwrap();
        items.sort_by(|a, b| a.name.cmp(&b.name));
        Self {
            session,
            items,
            history: History::new(),
            sight: Sight::new(Arc::clone(&policy), sizes),
            policy,
        }
    }

    /// Takes in the rows that came.
    pub(crate) async fn follow(&mut self, ctx: &Ctx) {
        let query = RowsQuery {
            first: self.history.newest().next(),
            last: Seq(i64::MAX),
            newest_first: false,
            limit: usize::MAX,
            limit_bytes: usize::MAX,
        };
        for row in ctx.store.read_rows(&self.session, query).await.unwrap() {
            let placement = self.history.push(Arc::new(row));
            self.sight.see(&self.history, &placement);
        }
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Every overlay that the view ever had, by commit revision.
    pub(crate) async fn overlays(&self, ctx: &Ctx) -> Vec<Overlay> {
        ctx.store.list_overlays(&self.session, &ViewName::main(), true).await.unwrap()
    }

    /// What the view shows at a revision, as long as no row came since.
    pub(crate) async fn at(&self, ctx: &Ctx, revision: Revision) -> Shown {
        let mut in_force = self.overlays(ctx).await;
        in_force.retain(|it| it.holds_at(revision));
        self.with(in_force)
    }

    /// What the view shows with these in force.
    pub(crate) fn with(&self, in_force: Vec<Overlay>) -> Shown {
        let shown = self.history.order().len();
        let lens = Lens { history: &self.history, sight: &self.sight, shown };
        let composed = compose(lens, &in_force, &mut Memo::default());
        Shown { in_force, composed }
    }

    pub(crate) fn view<'a>(&'a self, shown: &'a Shown) -> View<'a> {
        View {
            history: &self.history,
            sight: &self.sight,
            in_force: &shown.in_force,
            composed: &shown.composed,
            lane: None,
        }
    }

    pub(crate) fn rendered(&self, shown: &Shown, format: WireFormat) -> Rendered {
        let cache_marks = &self.policy.render.cache_marks;
        let options = AssembleOptions { format, cache_marks, items: &self.items };
        support::rendered_with(&shown.composed, &options, self.policy.render.label_authors)
    }

    /// I2, I14, and that the context holds exactly what was looked through.
    pub(crate) fn check(
        &self,
        shown: &Shown,
        context: &ContextOutput,
        format: WireFormat,
    ) -> Vec<String> {
        let view = self.view(shown);
        let mut faults = account::unaccounted(view);
        faults.extend(account::crossing(&shown.in_force));
        faults.extend(account::unresolved(view));
        faults.extend(self.differs(shown, context, format));
        if context.rounds_in_flight != self.history.in_flight() {
            faults.push(format!("I2: {} rounds in flight are told", context.rounds_in_flight));
        }
        let ranges = shown.composed.hidden.iter().map(|(index, _)| &shown.in_force[*index]);
        let visible: BTreeSet<Seq> = shown.composed.visible.iter().copied().collect();
        let is_shown =
            |seq: Seq| self.history.round_of(seq).is_some_and(|round| visible.contains(&round.id));
        let clears = shown.in_force.iter().filter(|it| !it.is_range());
        let clears = clears.filter(|it| it.covered.iter().any(is_shown));
        let told = context.overlays.iter().map(|it| &it.id);
        if !ranges.chain(clears).map(|it| &it.id).eq(told) {
            faults.push("I2: other overlays are told than are shown".to_owned());
        }
        faults
    }

    /// I6: the same rows and overlays, composed anew, are the same bytes.
    pub(crate) fn differs(
        &self,
        shown: &Shown,
        context: &ContextOutput,
        format: WireFormat,
    ) -> Option<String> {
        let rendered = self.rendered(shown, format);
        let (system, tools, messages) = checks::parts(context);
        if (system, tools) != (&rendered.system_json, &rendered.tools_json) {
            return Some("I6: another system prompt, or other tools".to_owned());
        }
        let origins = rendered.origins.iter().map(|it| (&it.rows, &it.overlay, it.synthetic));
        let told = context.origins.iter().map(|it| (&it.rows, &it.overlay, it.synthetic));
        let same = first_difference(messages, &rendered.messages);
        match same {
            Some(at) => Some(format!("I6: message {at} of {} is another", messages.len())),
            None if !origins.eq(told) => Some("I6: other origins".to_owned()),
            None => None,
        }
    }

    /// The blocks that are shown otherwise than they are stored.
    pub(crate) fn reduced(&self, shown: &Shown) -> Vec<Marked> {
        let stored = |(seq, index): (Seq, u32)| {
            let row = self.history.row(seq).unwrap();
            Arc::clone(&row.message.blocks[usize::try_from(index).unwrap()])
        };
        let mut out = Vec::new();
        for round in shown.composed.rounds() {
            let said = round.messages.iter().flat_map(|message| {
                message.blocks.iter().map(|it| ((message.seq, it.index), &it.block))
            });
            let answers = round.calls.iter().filter_map(|call| match &call.answer {
                Answer::Result { seq, index, block, .. } => Some(((*seq, *index), block)),
                Answer::Missing => None,
            });
            for (at, block) in said.chain(answers) {
                if **block != *stored(at) {
                    out.push(Marked { at, text: support::words(block) });
                }
            }
        }
        out
    }
}

/// Where two lists of messages begin to differ.
pub(crate) fn first_difference(a: &[Bytes], b: &[Bytes]) -> Option<usize> {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    (same < a.len().max(b.len())).then_some(same)
}
