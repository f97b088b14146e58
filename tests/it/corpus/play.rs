//! One conversation under one policy and window: appended message by message,
//! its context asked for before each call of the model.

use std::{collections::HashMap, fmt, sync::Arc};

use concertina::{
    clock::ManualClock,
    model::WireFormat,
    service::{
        AppendTurn, ContextInput, ContextItemInput, ContextOutput, CreateSession, Ctx, Error,
        ModelInput, append_turn, create_session, get_context, set_context_item,
    },
    store::memory::MemoryStore,
};

use super::{checks::Checker, outside::Outside, read::Conversation};

pub(crate) const FORMATS: [WireFormat; 3] =
    [WireFormat::AnthropicMessages, WireFormat::OpenAiChat, WireFormat::OpenAiResponses];

/// What was played, and what was wrong.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub conversations: usize,
    pub prefixes: usize,
    pub contexts: usize,
    pub reductions: usize,
    /// Contexts that cannot be made to fit, as they are told.
    pub irreducible: usize,
    /// Contexts in which `fit` had to shorten the newest request.
    pub shortened_requests: usize,
    pub faults: Vec<String>,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Self) {
        self.conversations += other.conversations;
        self.prefixes += other.prefixes;
        self.contexts += other.contexts;
        self.reductions += other.reductions;
        self.irreducible += other.irreducible;
        self.shortened_requests += other.shortened_requests;
        self.faults.extend(other.faults.iter().cloned());
        self.faults.truncate(40);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} contexts at {} prefixes of {} plays, {} reductions, {} irreducible, {} with the \
             newest request shortened",
            self.contexts,
            self.prefixes,
            self.conversations,
            self.reductions,
            self.irreducible,
            self.shortened_requests
        )
    }
}

/// Plays a conversation; checks every `every`-th prefix in all formats, and
/// those next to a reduction.
pub(crate) fn play(
    conversation: &Conversation,
    preset: &str,
    window: i64,
    every: usize,
    outside: Option<&mut Outside>,
) -> Tally {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let player = Player::new(conversation, preset, window);
    runtime.block_on(player.run(every, outside))
}

struct Player<'a> {
    conversation: &'a Conversation,
    label: String,
    preset: String,
    window: i64,
    clock: Arc<ManualClock>,
    ctx: Ctx,
    tally: Tally,
    checker: Checker,
}

const SESSION: &str = "played";

impl<'a> Player<'a> {
    fn new(conversation: &'a Conversation, preset: &str, window: i64) -> Self {
        let clock = Arc::new(ManualClock::at(1_000_000_000_000));
        let mut ctx = Ctx::new(Arc::new(MemoryStore::new()));
        ctx.clock = Arc::<ManualClock>::clone(&clock);
        Self {
            conversation,
            label: format!("{} {preset} {window}", conversation.name),
            preset: preset.to_owned(),
            window,
            clock,
            ctx,
            tally: Tally { conversations: 1, ..Tally::default() },
            checker: Checker::default(),
        }
    }

    async fn run(mut self, every: usize, mut outside: Option<&mut Outside>) -> Tally {
        self.create().await;
        let calls = self.conversation.calls();
        let mut at = 0;
        let mut overlays = 0;
        for (nth, call) in calls.iter().enumerate() {
            for message in &self.conversation.messages[at..*call] {
                self.append(message.clone()).await;
            }
            at = *call;
            self.tally.prefixes += 1;
            let first = self.context(FORMATS[nth % 3], outside.as_deref_mut(), *call).await;
            let Some(first) = first else { continue };
            let is_reduced = first.overlays.iter().map(|it| it.commit_revision).max();
            let is_reduced = is_reduced.map_or(0, |revision| revision.0);
            let is_next_to_one = is_reduced != overlays;
            self.tally.reductions += usize::from(is_next_to_one);
            overlays = is_reduced;
            if nth % every == 0 || is_next_to_one || nth + 1 == calls.len() {
                for format in FORMATS.into_iter().filter(|it| *it != FORMATS[nth % 3]) {
                    self.context(format, outside.as_deref_mut(), *call).await;
                }
            }
        }
        self.tally
    }

    async fn create(&self) {
        let input = CreateSession {
            session_id: SESSION.into(),
            preset: self.preset.clone(),
            model: ModelInput { context_window: self.window, ..ModelInput::default() },
            ..CreateSession::default()
        };
        create_session(&self.ctx, input).await.unwrap();
        for item in &self.conversation.items {
            let input = ContextItemInput {
                name: item.name.clone(),
                placement: Some(item.placement),
                content: item.content.clone(),
                format: item.format,
                view: String::new(),
            };
            set_context_item(&self.ctx, SESSION, input, String::new()).await.unwrap();
        }
    }

    async fn append(&self, message: concertina::model::Message) {
        self.clock.advance(1);
        let input = AppendTurn {
            session_id: SESSION.into(),
            messages: vec![message],
            ..AppendTurn::default()
        };
        append_turn(&self.ctx, input).await.unwrap();
    }

    async fn context(
        &mut self,
        format: WireFormat,
        outside: Option<&mut Outside>,
        prefix: usize,
    ) -> Option<Arc<ContextOutput>> {
        let input = ContextInput {
            session_id: SESSION.into(),
            format: Some(format),
            ..ContextInput::default()
        };
        let at = format!("{} prefix {prefix} {format:?}", self.label);
        let context = get_context(&self.ctx, input).await;
        // What goes on in the background is there by the next call.
        self.ctx.background.settled().await;
        match context {
            Ok(context) => {
                self.tally.contexts += 1;
                let messages = &self.conversation.messages[..prefix];
                let checked = self.checker.check(&context, format, messages);
                self.tally.shortened_requests += usize::from(checked.shortened_request);
                self.tally.faults.extend(checked.faults.iter().map(|it| format!("{at}: {it}")));
                if let Some(outside) = outside {
                    let found = outside.ask(&at, format, &context);
                    self.tally.faults.extend(found);
                }
                Some(context)
            }
            Err(Error::ContextIrreducible { .. }) => {
                self.tally.irreducible += 1;
                None
            }
            Err(err) => {
                self.tally.faults.push(format!("{at}: {err}"));
                None
            }
        }
    }
}

/// Contexts by format, for what must be a prefix of the next.
pub(crate) type ByFormat<T> = HashMap<WireFormat, T>;
