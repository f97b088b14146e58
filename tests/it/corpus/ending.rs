//! What is asked once a conversation was played to its end: earlier contexts,
//! a restarted server, and everything rolled back.

use std::sync::Arc;

use concertina::{
    codec,
    model::{Message, Overlay, OverlayKind, Revision, Row, Seq, WireFormat},
    projection::share_of,
    service::{ContextInput, ContextOutput, Ctx, RollbackInput, get_context, rollback_overlay},
    store::RowsQuery,
    tokens,
};

use super::{
    checks,
    play::{FORMATS, Player, SESSION, Served},
    session::{NEVER, asking, create, say},
    shadow::{Shown, first_difference, session_ref},
};
use crate::projection::account;

/// Tokens of the words around a summary, at most.
const ENVELOPE: i64 = 120;

/// Contexts are asked for until no reduction comes of it, at most so often.
const MOST_ASKED: usize = 20;

impl Player<'_> {
    /// I1: every row is what was appended, its digest too.
    pub(super) async fn i1_rows_are_as_they_came(&mut self) {
        let query = RowsQuery {
            first: Seq(1),
            last: self.shadow.history.newest(),
            newest_first: false,
            limit: usize::MAX,
            limit_bytes: usize::MAX,
        };
        let rows = self.ctx.store.read_rows(&session_ref(SESSION), query).await.unwrap();
        let said = &self.conversation.messages;
        let is_as_it_came = |(row, said): (&Row, &Message)| {
            let stored = codec::encode(&row.message);
            stored == codec::encode(said) && row.digest == codec::digest(&stored)
        };
        if rows.len() != said.len() || !rows.iter().zip(said).all(is_as_it_came) {
            self.fault("I1: rows are not as they came");
        }
    }

    /// I11, I15: what overlays cover, and what they come to.
    pub(super) async fn overlays_are_in_order(&mut self) {
        let overlays = self.shadow.overlays(&self.ctx).await;
        let most = self.most_summary_tokens();
        for overlay in &overlays {
            self.tally.overlays.count(overlay.kind);
            let faults = account::not_what_was_covered(&self.shadow.history, overlay);
            for it in faults {
                self.fault(it);
            }
            let (before, after) = (overlay.tokens_before, overlay.tokens_after);
            if after >= before {
                self.fault(format!("I15: {} makes {before} tokens {after}", overlay.id));
            }
            let is_summary = overlay.kind == OverlayKind::Collapse;
            let under = overlays.iter().filter(|it| overlay.covered_overlays.contains(&it.id));
            let under = under.map(|it| i64::from(tokens::count_text(&it.summary)) + ENVELOPE);
            let most = most.max(self.most_wider_tokens(under.sum()));
            let summary = i64::from(tokens::count_text(&overlay.summary));
            if is_summary && (summary > most || overlay.summary.trim().is_empty()) {
                self.fault(format!("I15: a summary of {summary} tokens, at most {most}"));
            }
        }
    }

    /// Tokens of one summary: the policy's number, and its share of the room.
    fn most_summary_tokens(&self) -> i64 {
        let rules = &self.shadow.policy().collapse;
        rules.max_summary_tokens.min(self.share_of_room()).max(1)
    }

    /// … of one over summaries that take so many: a share of them.
    fn most_wider_tokens(&self, under: i64) -> i64 {
        share_of(under, self.shadow.policy().collapse.wider_share).min(self.share_of_room())
    }

    fn share_of_room(&self) -> i64 {
        let Some(budget) = &self.budget else { return 0 };
        let share = self.shadow.policy().collapse.summary_share;
        let share = share_of(budget.limit() - budget.fixed, share);
        tokens::uncalibrate(share, budget.calibration)
    }

    pub(super) async fn revision(&self) -> Revision {
        self.ctx.store.get_session(&session_ref(SESSION)).await.unwrap().revision
    }

    /// I6: a server that starts over the same store answers with the same bytes.
    pub(super) async fn i6_a_restart_changes_nothing(&mut self) {
        let mut before = self.revision().await;
        for _ in 0..MOST_ASKED {
            for format in FORMATS {
                let _ = self.ask(format).await;
            }
            let after = self.revision().await;
            if after == before {
                break;
            }
            before = after;
        }
        let restarted =
            Ctx { clock: Arc::clone(&self.ctx.clock), ..Ctx::new(self.ctx.store.clone()) };
        for format in FORMATS {
            let then = self.ask(format).await;
            let now = get_context(&restarted, asking(SESSION, format)).await;
            restarted.background.settled().await;
            match (then, now) {
                (Ok(then), Ok(now)) => {
                    if then.body != now.body || then.fingerprint != now.fingerprint {
                        self.fault(format!("I6: other bytes after a restart, {format:?}"));
                    }
                }
                (Err(_), Err(_)) => {}
                (then, now) => self.fault(format!(
                    "I6: {:?} before a restart, {:?} after",
                    then.map(|it| it.revision),
                    now.map(|it| it.revision)
                )),
            }
        }
    }

    /// I8: what was served is shown again at its revision.
    pub(super) async fn i8_earlier_contexts_are_shown_again(&mut self) {
        let served = std::mem::take(&mut self.served);
        for (nth, then) in served.iter().enumerate() {
            if !is_picked(nth, served.len(), self.depth.reads) {
                continue;
            }
            match self.at_revision(SESSION, then.format, then.revision).await {
                Ok(again) if Served::of(&again, then.format).digest == then.digest => {}
                Ok(_) => self.fault(format!(
                    "I8: other bytes at revision {}, {:?}",
                    then.revision, then.format
                )),
                Err(err) => self.fault(format!("I8: revision {}: {err}", then.revision)),
            }
        }
    }

    /// I5: each overlay goes alone, whatever lies over or under it; without any,
    /// the view is that of a session that never had one.
    pub(super) async fn i5_rolling_back_gives_what_was_never_reduced(&mut self) {
        let format = FORMATS[self.depth.turn / 3 % 3];
        let mut random = Random::of(&self.label);
        let mut all = self.shadow.overlays(&self.ctx).await;
        let mut shown = self.shadow.with(in_force(&all));
        let count = shown.in_force.len();
        for nth in 0..count {
            let at = random.below(shown.in_force.len());
            let overlay = shown.in_force[at].clone();
            let Some(revision) = self.roll_back(&overlay).await else { return };
            let now = self.shadow.overlays(&self.ctx).await;
            if !others(&all, &overlay).eq(others(&now, &overlay)) {
                self.fault(format!("I5: with {} others changed", overlay.id));
            }
            let is = self.shadow.with(in_force(&now));
            let (before, after) = (self.shadow.view(&shown), self.shadow.view(&is));
            let elsewhere = account::changed_elsewhere(&overlay, before, after);
            let unaccounted = account::unaccounted(after);
            elsewhere.into_iter().chain(unaccounted).for_each(|it| self.fault(it));
            if is_picked(nth, count, self.depth.reads) {
                self.is_shown_at(revision, &is, format).await;
            }
            (all, shown) = (now, is);
        }
        self.is_as_if_never_reduced(format).await;
    }

    /// Returns the revision afterwards.
    async fn roll_back(&mut self, overlay: &Overlay) -> Option<Revision> {
        let input = RollbackInput {
            session_id: SESSION.into(),
            overlay_id: overlay.id.to_string(),
            ..RollbackInput::default()
        };
        match rollback_overlay(&self.ctx, input).await {
            Ok(done) => {
                self.tally.rolled_back += 1;
                Some(done.revision)
            }
            Err(err) => {
                self.fault(format!("I5: {} is not rolled back: {err}", overlay.id));
                None
            }
        }
    }

    async fn is_shown_at(&mut self, revision: Revision, shown: &Shown, format: WireFormat) {
        match self.at_revision(SESSION, format, revision).await {
            Ok(context) => {
                let found = self.shadow.differs(shown, &context, format);
                if let Some(it) = found {
                    self.fault(it);
                }
            }
            Err(err) => self.fault(format!("I5: revision {revision}: {err}")),
        }
    }

    async fn is_as_if_never_reduced(&mut self, format: WireFormat) {
        let newest = self.revision().await;
        create(&self.ctx, NEVER, self.conversation, &self.preset, self.window).await;
        let mut last = Revision::default();
        for messages in self.conversation.messages.chunks(64) {
            last = say(&self.ctx, NEVER, messages.to_vec()).await;
        }
        let back = self.at_revision(SESSION, format, newest).await;
        let never = self.at_revision(NEVER, format, last).await;
        match (back, never) {
            (Ok(back), Ok(never)) => {
                let (back_parts, never_parts) = (checks::parts(&back), checks::parts(&never));
                if let Some(at) = first_difference(back_parts.2, never_parts.2) {
                    self.fault(format!("I5: {format:?}: message {at} is another than ever"));
                }
                if (back_parts.0, back_parts.1) != (never_parts.0, never_parts.1) {
                    self.fault("I5: another system prompt, or other tools, than ever");
                }
                for it in checks::rules(&back, format) {
                    self.fault(it);
                }
            }
            (back, never) => self.fault(format!(
                "I5: {:?} rolled back, {:?} never reduced",
                back.map(|it| it.revision),
                never.map(|it| it.revision)
            )),
        }
    }

    async fn at_revision(
        &mut self,
        session: &str,
        format: WireFormat,
        revision: Revision,
    ) -> concertina::service::Result<Arc<ContextOutput>> {
        self.tally.read_again += 1;
        let input = ContextInput { at_revision: Some(revision.0), ..asking(session, format) };
        get_context(&self.ctx, input).await
    }
}

fn in_force(all: &[Overlay]) -> Vec<Overlay> {
    all.iter().filter(|it| it.rollback.is_none()).cloned().collect()
}

fn others<'a>(all: &'a [Overlay], but: &'a Overlay) -> impl Iterator<Item = &'a Overlay> {
    all.iter().filter(|it| it.id != but.id)
}

/// `most` of `count`, evenly spread.
fn is_picked(nth: usize, count: usize, most: usize) -> bool {
    count <= most || (nth + 1) * most / count > nth * most / count
}

/// Numbers in an order that a name decides: the same play is the same again.
struct Random(u64);

impl Random {
    fn of(name: &str) -> Self {
        let digest = blake3::hash(name.as_bytes());
        Self(u64::from_le_bytes(digest.as_bytes()[..8].try_into().unwrap()) | 1)
    }

    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % most
    }
}
