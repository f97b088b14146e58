//! One session under one policy and window.

use std::sync::Arc;

use concertina::{
    clock::ManualClock,
    model::{Message, Namespace, Overlay, OverlayKind, SessionId, ViewName, WireFormat},
    service::{
        AppendTurn, ContextInput, ContextItemInput, ContextOutput, CreateSession, Ctx, Error,
        ModelInput, append_turn, create_session, get_context, set_context_item,
    },
    store::{SessionRef, memory::MemoryStore},
};

use super::{plan::Candidate, read::Conversation};

const SESSION: &str = "played";

/// What came of a call.
pub(crate) enum Answer<'a> {
    Context(&'a ContextOutput),
    /// No context fits.
    Irreducible,
}

/// Plays a session; `see` is told each call's number and answer. Returns every
/// collapse that was made. The clock all but stands still: what is cleared
/// after an idle hour is not measured here.
///
/// # Errors
///
/// Whatever the service answers but that a context is irreducible.
pub(crate) fn play(
    conversation: &Conversation,
    candidate: &Candidate,
    window: i64,
    see: impl FnMut(usize, Answer<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<Vec<Overlay>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let clock = Arc::new(ManualClock::at(1_000_000_000_000));
    let mut ctx = Ctx::new(Arc::new(MemoryStore::new()));
    ctx.clock = Arc::<ManualClock>::clone(&clock);
    let player = Player { conversation, clock, ctx };
    runtime.block_on(async {
        player.create(candidate, window).await?;
        player.calls(see).await?;
        player.collapses().await
    })
}

struct Player<'a> {
    conversation: &'a Conversation,
    clock: Arc<ManualClock>,
    ctx: Ctx,
}

impl Player<'_> {
    async fn create(&self, candidate: &Candidate, window: i64) -> anyhow::Result<()> {
        let input = CreateSession {
            session_id: SESSION.into(),
            preset: candidate.preset.clone(),
            overrides_json: candidate.patch.clone().into(),
            model: ModelInput { context_window: window, ..ModelInput::default() },
            ..CreateSession::default()
        };
        create_session(&self.ctx, input).await?;
        for item in &self.conversation.items {
            let input = ContextItemInput {
                name: item.name.clone(),
                placement: Some(item.placement),
                content: item.content.clone(),
                format: item.format,
                view: String::new(),
            };
            set_context_item(&self.ctx, SESSION, input, String::new()).await?;
        }
        Ok(())
    }

    async fn calls(
        &self,
        mut see: impl FnMut(usize, Answer<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut at = 0;
        for (nth, call) in self.conversation.calls().into_iter().enumerate() {
            for message in &self.conversation.messages[at..call] {
                self.append(message.clone()).await?;
            }
            at = call;
            let input = ContextInput {
                session_id: SESSION.into(),
                format: Some(WireFormat::AnthropicMessages),
                ..ContextInput::default()
            };
            let context = get_context(&self.ctx, input).await;
            // A model takes longer to answer than a segment to be summarized.
            self.ctx.background.settled().await;
            match context {
                Ok(context) => see(nth, Answer::Context(&context))?,
                Err(Error::ContextIrreducible { .. }) => see(nth, Answer::Irreducible)?,
                Err(err) => return Err(err.into()),
            }
        }
        Ok(())
    }

    async fn append(&self, mut message: Message) -> anyhow::Result<()> {
        self.clock.advance(1);
        // What was reported then was of another context: nothing to calibrate by.
        message.usage = None;
        let input = AppendTurn {
            session_id: SESSION.into(),
            messages: vec![message],
            ..AppendTurn::default()
        };
        append_turn(&self.ctx, input).await?;
        Ok(())
    }

    async fn collapses(&self) -> anyhow::Result<Vec<Overlay>> {
        let session = SessionRef {
            namespace: Namespace::new(Namespace::DEFAULT),
            id: SessionId::new(SESSION),
        };
        let mut all = self.ctx.store.list_overlays(&session, &ViewName::new("main"), true).await?;
        all.retain(|it| it.kind == OverlayKind::Collapse);
        Ok(all)
    }
}
