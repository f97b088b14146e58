//! One conversation under one policy and window: appended message by message,
//! its context asked for before each call of the model.

use std::{collections::HashMap, sync::Arc};

use concertina::{
    clock::ManualClock,
    model::{Revision, TokenBudget, WireFormat},
    service::{ContextOutput, Ctx, Error, get_context},
    store::memory::MemoryStore,
};

use super::{
    checks::{self, Checker},
    outside::Outside,
    read::Conversation,
    session::{asking, create, say},
    shadow::Shadow,
    tally::Tally,
};

pub(crate) const FORMATS: [WireFormat; 3] =
    [WireFormat::AnthropicMessages, WireFormat::OpenAiChat, WireFormat::OpenAiResponses];

pub(crate) const SESSION: &str = "played";

/// Calls after which the agent is left alone for two hours.
const CALLS_BETWEEN_PAUSES: usize = 40;
const PAUSE_SECONDS: i64 = 2 * 60 * 60;

/// How much of a play is looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Depth {
    /// How many prefixes one checked prefix stands for.
    pub(crate) every: usize,
    /// The play's number: formats take turns.
    pub(crate) turn: usize,
    /// Whether it is restarted, read again and rolled back at its end.
    pub(crate) has_end: bool,
    /// Contexts that are read again at their revision, in each part of the end.
    pub(crate) reads: usize,
}

/// Plays a conversation; checks every `every`-th prefix in all formats, and
/// those next to a reduction.
pub(crate) fn play(
    conversation: &Conversation,
    preset: &str,
    window: i64,
    depth: Depth,
    outside: Option<&mut Outside>,
) -> Tally {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut player = Player::start(conversation, preset, window, depth).await;
        player.play(outside).await;
        player.end().await;
        player.tally
    })
}

pub(crate) struct Player<'a> {
    pub(super) conversation: &'a Conversation,
    pub(super) label: String,
    pub(super) preset: String,
    pub(super) window: i64,
    pub(super) depth: Depth,
    clock: Arc<ManualClock>,
    pub(super) ctx: Ctx,
    pub(super) tally: Tally,
    checker: Checker,
    pub(super) shadow: Shadow,
    /// What was served at checked prefixes.
    pub(super) served: Vec<Served>,
    /// As it was told last.
    pub(super) budget: Option<TokenBudget>,
}

/// A context that was served.
pub(crate) struct Served {
    pub(super) format: WireFormat,
    pub(super) revision: Revision,
    pub(super) digest: blake3::Hash,
}

impl Served {
    pub(super) fn of(context: &ContextOutput, format: WireFormat) -> Self {
        let (system, tools, messages) = checks::parts(context);
        let mut hasher = blake3::Hasher::new();
        for part in [system, tools].into_iter().chain(messages) {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        Self { format, revision: context.revision, digest: hasher.finalize() }
    }
}

impl<'a> Player<'a> {
    async fn start(
        conversation: &'a Conversation,
        preset: &str,
        window: i64,
        depth: Depth,
    ) -> Self {
        let clock = Arc::new(ManualClock::at(1_000_000_000_000));
        let store = Arc::new(MemoryStore::new());
        let ctx = Ctx { clock: Arc::<ManualClock>::clone(&clock), ..Ctx::new(store) };
        create(&ctx, SESSION, conversation, preset, window).await;
        Self {
            conversation,
            label: format!("{} {preset} {window}", conversation.name),
            preset: preset.to_owned(),
            window,
            depth,
            clock,
            shadow: Shadow::of(&ctx, SESSION).await,
            ctx,
            tally: Tally { plays: 1, ..Tally::default() },
            checker: Checker::default(),
            served: Vec::new(),
            budget: None,
        }
    }

    pub(super) fn fault(&mut self, fault: impl Into<String>) {
        let fault = fault.into();
        self.tally.fault(format!("{}: {fault}", self.label));
    }

    async fn play(&mut self, mut outside: Option<&mut Outside>) {
        let calls = self.conversation.calls();
        let mut at = 0;
        let mut overlays = 0;
        for (nth, call) in calls.iter().enumerate() {
            for message in &self.conversation.messages[at..*call] {
                self.clock.advance(1);
                say(&self.ctx, SESSION, vec![message.clone()]).await;
            }
            at = *call;
            if nth % CALLS_BETWEEN_PAUSES == CALLS_BETWEEN_PAUSES - 1 {
                self.clock.advance(PAUSE_SECONDS);
            }
            self.tally.prefixes += 1;
            let format = FORMATS[nth % 3];
            let Some(first) = self.context(format, outside.as_deref_mut(), *call).await else {
                continue;
            };
            let is_reduced = first.overlays.iter().map(|it| it.commit_revision).max();
            let is_reduced = is_reduced.map_or(0, |revision| revision.0);
            let is_next_to_one = is_reduced != overlays;
            self.tally.reductions += usize::from(is_next_to_one);
            overlays = is_reduced;
            if nth % self.depth.every == 0 || is_next_to_one || nth + 1 == calls.len() {
                self.look_through(&first, format, *call).await;
                for other in FORMATS.into_iter().filter(|it| *it != format) {
                    self.context(other, outside.as_deref_mut(), *call).await;
                }
            }
        }
        for message in &self.conversation.messages[at..] {
            say(&self.ctx, SESSION, vec![message.clone()]).await;
        }
    }

    /// I2, I6, I14: every block of a context is looked for.
    async fn look_through(&mut self, context: &ContextOutput, format: WireFormat, prefix: usize) {
        self.tally.looked_through += 1;
        self.served.push(Served::of(context, format));
        self.shadow.follow(&self.ctx).await;
        let shown = self.shadow.at(&self.ctx, context.revision).await;
        for fault in self.shadow.check(&shown, context, format) {
            self.fault(format!("prefix {prefix} {format:?}: {fault}"));
        }
    }

    async fn end(&mut self) {
        self.shadow.follow(&self.ctx).await;
        self.i1_rows_are_as_they_came().await;
        self.i14_markers_can_be_read().await;
        if self.depth.has_end {
            self.tally.ended += 1;
            self.i6_a_restart_changes_nothing().await;
            self.i8_earlier_contexts_are_shown_again().await;
        }
        self.overlays_are_in_order().await;
        if self.depth.has_end {
            self.i5_rolling_back_gives_what_was_never_reduced().await;
            self.i1_rows_are_as_they_came().await;
        }
    }

    /// Asks for a context. What goes on in the background is there by the next
    /// call.
    pub(super) async fn ask(&self, format: WireFormat) -> Result<Arc<ContextOutput>, Error> {
        let context = get_context(&self.ctx, asking(SESSION, format)).await;
        self.ctx.background.settled().await;
        context
    }

    async fn context(
        &mut self,
        format: WireFormat,
        outside: Option<&mut Outside>,
        prefix: usize,
    ) -> Option<Arc<ContextOutput>> {
        let context = match self.ask(format).await {
            Ok(context) => context,
            Err(Error::ContextIrreducible { .. }) => {
                self.tally.irreducible += 1;
                return None;
            }
            Err(err) => {
                self.fault(format!("prefix {prefix} {format:?}: {err}"));
                return None;
            }
        };
        self.tally.contexts += 1;
        self.budget = Some(context.budget.clone());
        let messages = &self.conversation.messages[..prefix];
        let checked = self.checker.check(&context, format, messages);
        self.tally.shortened_requests += usize::from(checked.shortened_request);
        let at = format!("{} prefix {prefix} {format:?}", self.label);
        let found = outside.and_then(|outside| outside.ask(&at, format, &context));
        for fault in checked.faults.into_iter().chain(found) {
            self.fault(format!("prefix {prefix} {format:?}: {fault}"));
        }
        Some(context)
    }
}

/// Contexts by format, for what must be a prefix of the next.
pub(crate) type ByFormat<T> = HashMap<WireFormat, T>;
