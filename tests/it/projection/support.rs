//! A session as an agent lives it, over the pure functions alone: it appends,
//! asks for a context, and what was planned is committed, as the server does.

use std::sync::Arc;

use bytes::Bytes;
use concertina::{
    model::{
        Block, BlockKind, Cause, Cleared, ContentRef, Image, ImageSource, Message, MessageTokens,
        Overlay, OverlayId, OverlayKind, Policy, Revision, Role, Row, RowSet, Seq, SeqRange,
        StageKind, Text, Thinking, Timestamp, ToolOutput, ToolResult, ToolUse, ViewName,
        WireFormat,
        overlay::Rollback,
        shown::{Answer, Entry},
    },
    policies::Presets,
    projection::{
        self, Circumstances, Collapsing, Composed, History, Irreducible, Lens, Memo, Plan, Segment,
        Sight, Sizes, Window, Written, default_reserve,
    },
    render::{self, AssembleOptions, Part, Rendered, RenderedRound, RoundStyle},
    rounds::{Ledger, MessageShape, Placement},
    tokens,
};

use super::account::View;

pub(crate) const FORMATS: [WireFormat; 3] =
    [WireFormat::AnthropicMessages, WireFormat::OpenAiChat, WireFormat::OpenAiResponses];

/// A short summary that says what it stands for and nothing else.
#[expect(clippy::unnecessary_wraps, reason = "a summarizer may have none")]
pub(crate) fn summary_of(segment: &Segment) -> Option<Written> {
    let ranges = segment.covered.ranges();
    let text = format!(
        "What was said from message {} to message {}.",
        ranges.first().map_or(0, |it| it.first.0),
        ranges.last().map_or(0, |it| it.last.0)
    );
    Some(Written { text, summarizer: "test".into() })
}

/// A preset with a merge patch over it.
pub(crate) fn policy(preset: &str, patch: &str) -> Policy {
    Presets::embedded().resolve(preset, patch.as_bytes()).expect("a legal policy").policy
}

/// A window of so many tokens in which nothing stands yet.
pub(crate) fn window(policy: &Policy, tokens: i64) -> Window {
    Window {
        window: tokens,
        reserve: default_reserve(policy, tokens),
        fixed: 0,
        factor: 1.0,
        is_fixed_unstated: false,
        bytes_limit: 20 * 1024 * 1024,
        bytes_ratio: 1.0,
    }
}

/// One session with one view.
#[derive(Clone)]
pub(crate) struct Agent {
    pub(crate) history: History,
    pub(crate) sight: Sight,
    pub(crate) window: Window,
    pub(crate) now: Timestamp,
    pub(crate) pins: Vec<SeqRange>,
    /// Rows that somebody is summarizing.
    pub(crate) leased: Vec<RowSet>,
    /// Where summaries come from; `None`: later, from elsewhere.
    pub(crate) summarize: Option<fn(&Segment) -> Option<Written>>,
    /// Every overlay that the view ever had.
    pub(crate) ever: Vec<Overlay>,
    pub(super) memo: Memo,
    ledger: Ledger,
    revision: i64,
    pub(super) ids: u64,
}

/// A context that was asked for.
pub(crate) struct Look {
    pub(crate) composed: Composed,
    /// Overlays that were committed for it.
    pub(crate) added: Vec<Overlay>,
    /// Why each stage acted, or did not when nothing was left to do.
    pub(crate) triggers: Vec<(StageKind, &'static str)>,
}

impl Agent {
    /// Under a preset, in a window of so many tokens.
    pub(crate) fn of(preset: &str, tokens: i64) -> Self {
        Self::under(policy(preset, ""), tokens)
    }

    pub(crate) fn under(policy: Policy, tokens: i64) -> Self {
        let window = window(&policy, tokens);
        let sizes = Sizes { limit_tokens: window.limit() };
        Self {
            history: History::new(),
            sight: Sight::new(Arc::new(policy), sizes),
            window,
            now: Timestamp::from_micros(1_700_000_000_000_000),
            pins: Vec::new(),
            leased: Vec::new(),
            summarize: Some(summary_of),
            ever: Vec::new(),
            memo: Memo::default(),
            ledger: Ledger::new(),
            revision: 0,
            ids: 0,
        }
    }

    pub(crate) fn policy(&self) -> &Policy {
        self.sight.policy()
    }

    /// Appends a message; tells where it went.
    pub(crate) fn say(&mut self, message: Message) -> Placement {
        let placed = self.ledger.place(&MessageShape::of(&message));
        self.revision += 1;
        let tokens: MessageTokens = tokens::message(&message);
        let digest = *blake3_of(&message).as_bytes();
        let row = Row {
            seq: placed.seq,
            turn: placed.turn,
            round: placed.round,
            revision: Revision(self.revision),
            record_time: self.now,
            message: Arc::new(message),
            tokens,
            digest,
        };
        let placement = self.history.push(Arc::new(row));
        assert_eq!(placement, placed, "history and ledger place a row alike");
        self.sight.see(&self.history, &placement);
        placement
    }

    pub(crate) fn user(&mut self, words: &str) -> Seq {
        self.say(message(Role::User, vec![Block::text(words)])).seq
    }

    pub(crate) fn assistant(&mut self, words: &str) -> Seq {
        self.say(message(Role::Assistant, vec![Block::text(words)])).seq
    }

    /// One call, unanswered.
    pub(crate) fn call(&mut self, id: &str, tool: &str, input: &str) -> Seq {
        self.say(message(Role::Assistant, vec![call(id, tool, input)])).seq
    }

    pub(crate) fn result(&mut self, id: &str, output: &str) -> Seq {
        self.say(message(Role::User, vec![result(id, output)])).seq
    }

    /// A call and its result; the seq of the result.
    pub(crate) fn tool(&mut self, tool: &str, input: &str, output: &str) -> Seq {
        let id = format!("c{}", self.history.newest().0 + 1);
        self.call(&id, tool, input);
        self.result(&id, output)
    }

    /// A user's words and an answer.
    pub(crate) fn exchange(&mut self, words: &str, answer: &str) {
        self.user(words);
        self.assistant(answer);
    }

    pub(crate) fn wait_minutes(&mut self, minutes: i64) {
        self.now = Timestamp::from_micros(self.now.as_micros() + minutes * 60_000_000);
    }

    pub(crate) fn in_force(&self) -> Vec<Overlay> {
        self.ever.iter().filter(|it| it.rollback.is_none()).cloned().collect()
    }

    /// What would be planned now.
    pub(crate) fn plan(&mut self, lane: Option<&str>) -> Plan {
        let in_force = self.in_force();
        let mut ids = self.ids;
        let mut new_id = || {
            ids += 1;
            OverlayId::new(&format!("o{ids}"))
        };
        let plan = self.with_facts(lane, |lens, facts, memo| {
            projection::plan(lens, facts, in_force, memo, &mut new_id)
        });
        self.ids = ids;
        plan
    }

    /// Looks at the view with all that a plan looks at.
    pub(crate) fn with_facts<T>(
        &mut self,
        lane: Option<&str>,
        look: impl FnOnce(Lens<'_>, &Circumstances<'_>, &mut Memo) -> T,
    ) -> T {
        let shown = self.history.shown_to(lane);
        let lens = Lens { history: &self.history, sight: &self.sight, shown };
        let view = ViewName::main();
        let facts = Circumstances {
            policy: self.sight.policy(),
            window: self.window,
            now: self.now,
            pins: &self.pins,
            ever: &self.ever,
            view: &view,
            leased: &self.leased,
            refused: &[],
            collapsing: match &self.summarize {
                Some(summarize) => Collapsing::Now(summarize),
                None => Collapsing::Later { may_wait: true },
            },
        };
        look(lens, &facts, &mut self.memo)
    }

    /// Asks for a context: plans and commits until nothing is left to commit.
    pub(crate) fn try_look(&mut self, lane: Option<&str>) -> Result<Look, Irreducible> {
        let (mut added, mut fired) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            let plan = self.plan(lane);
            if let Some(stuck) = plan.irreducible {
                return Err(stuck);
            }
            if plan.added.is_empty() {
                let triggers = plan.triggers.into_iter().map(|(stage, why)| {
                    let acted = fired.iter().find(|(it, _)| *it == stage);
                    (stage, acted.map_or(why, |(_, why)| *why))
                });
                let triggers = triggers.collect();
                return Ok(Look { composed: plan.composed, added, triggers });
            }
            fired.extend(plan.triggers.iter().copied().filter(|(stage, _)| {
                plan.added.iter().any(|overlay| overlay.stage == stage.name())
            }));
            added.extend_from_slice(&plan.added);
            self.commit(plan.added, &plan.superseded);
        }
        panic!("a plan that was committed leaves no more to plan: {fired:?}");
    }

    pub(crate) fn look(&mut self) -> Look {
        self.try_look(None).expect("a context that fits")
    }

    pub(crate) fn commit(&mut self, overlays: Vec<Overlay>, supersedes: &[OverlayId]) {
        for mut overlay in overlays {
            self.revision += 1;
            overlay.commit_revision = Revision(self.revision);
            overlay.commit_time = self.now;
            self.ever.push(overlay);
        }
        for id in supersedes {
            self.roll_back(id);
        }
    }

    pub(crate) fn roll_back(&mut self, id: &OverlayId) {
        self.revision += 1;
        let (revision, time) = (Revision(self.revision), self.now);
        let found = self.ever.iter_mut().find(|it| it.id == *id && it.rollback.is_none());
        let overlay = found.expect("an overlay in force");
        overlay.rollback =
            Some(Rollback { revision, time, author: String::new(), reason: String::new() });
    }

    /// What the view shows with these overlays, nothing remembered.
    pub(crate) fn composed_with(&self, overlays: &[Overlay], lane: Option<&str>) -> Composed {
        let shown = self.history.shown_to(lane);
        let lens = Lens { history: &self.history, sight: &self.sight, shown };
        projection::compose(lens, overlays, &mut Memo::default())
    }

    /// All of the view, for the checks of what must hold.
    pub(crate) fn view<'a>(&'a self, in_force: &'a [Overlay], composed: &'a Composed) -> View<'a> {
        View { history: &self.history, sight: &self.sight, in_force, composed, lane: None }
    }

    pub(crate) fn lens(&self) -> Lens<'_> {
        let shown = self.history.order().len();
        Lens { history: &self.history, sight: &self.sight, shown }
    }

    /// fixed + messages, calibrated.
    pub(crate) fn used(&self, composed: &Composed) -> i64 {
        self.window.used(composed.tokens)
    }
}

fn blake3_of(message: &Message) -> blake3::Hash {
    blake3::hash(format!("{message:?}").as_bytes())
}

impl Look {
    /// What a block says as it is shown; `None` where it is not.
    pub(crate) fn text(&self, seq: Seq, block: u32) -> Option<String> {
        shown_block(&self.composed, seq, block).map(|block| words(&block))
    }

    pub(crate) fn trigger(&self, stage: StageKind) -> &'static str {
        self.triggers.iter().find(|(it, _)| *it == stage).map_or("", |(_, why)| why)
    }

    /// Whether a row's round is shown.
    pub(crate) fn shows(&self, seq: Seq) -> bool {
        self.composed.rounds().any(|round| {
            let answers = round
                .calls
                .iter()
                .any(|call| matches!(call.answer, Answer::Result { seq: at, .. } if at == seq));
            answers || round.messages.iter().any(|message| message.seq == seq)
        })
    }

    /// The words of summaries and markers.
    pub(crate) fn notices(&self) -> Vec<String> {
        let notices = self.composed.entries.iter().filter_map(|entry| match entry {
            Entry::Notice(notice) => Some(notice.text.to_string()),
            Entry::Round(_) => None,
        });
        notices.collect()
    }

    /// Messages and markers as a reader counts them.
    pub(crate) fn layout(&self, history: &History) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        let mut run = 0;
        for entry in &self.composed.entries {
            match entry {
                Entry::Round(round) => run += history.round(round.id).unwrap().rows.len(),
                Entry::Notice(_) => {
                    if run > 0 {
                        out.push(std::mem::take(&mut run).to_string());
                    }
                    out.push("marker".into());
                }
            }
        }
        if run > 0 {
            out.push(run.to_string());
        }
        out
    }
}

pub(crate) fn shown_block(composed: &Composed, seq: Seq, block: u32) -> Option<Arc<Block>> {
    composed.rounds().find_map(|round| {
        let in_messages = round
            .messages
            .iter()
            .filter(|message| message.seq == seq)
            .flat_map(|message| &message.blocks)
            .find(|shown| shown.index == block)
            .map(|shown| Arc::clone(&shown.block));
        in_messages.or_else(|| {
            round.calls.iter().find_map(|call| match &call.answer {
                Answer::Result { seq: at, index, block: shown, .. }
                    if *at == seq && *index == block =>
                {
                    Some(Arc::clone(shown))
                }
                _ => None,
            })
        })
    })
}

/// The words of a block.
pub(crate) fn words(block: &Block) -> String {
    match &block.kind {
        BlockKind::Text(text) => text.text.clone(),
        BlockKind::ToolUse(call) => String::from_utf8_lossy(&call.input_json).into_owned(),
        BlockKind::ToolResult(result) => {
            let parts = result.output.iter().map(|part| match part {
                ToolOutput::Text(text) => String::from_utf8_lossy(text).into_owned(),
                ToolOutput::Image(_) => "<image>".to_owned(),
                ToolOutput::Opaque(_) => "<opaque>".to_owned(),
            });
            parts.collect()
        }
        BlockKind::Image(_) => "<image>".to_owned(),
        BlockKind::Thinking(thinking) => thinking.parts.concat(),
        BlockKind::RedactedThinking(_) | BlockKind::Opaque(_) => "<opaque>".to_owned(),
    }
}

/// A context as a provider gets it, without cache marks.
pub(crate) fn rendered(composed: &Composed, format: WireFormat) -> Rendered {
    let options = AssembleOptions { format, cache_marks: &[], items: &[] };
    rendered_with(composed, &options, false)
}

/// A context as a provider gets it.
pub(crate) fn rendered_with(
    composed: &Composed,
    options: &AssembleOptions<'_>,
    label_authors: bool,
) -> Rendered {
    let style = RoundStyle { format: options.format, label_authors };
    let rounds: Vec<Option<RenderedRound>> = composed
        .entries
        .iter()
        .map(|entry| match entry {
            Entry::Round(round) => Some(render::round(round, &style)),
            Entry::Notice(_) => None,
        })
        .collect();
    let parts: Vec<Part<'_>> = composed
        .entries
        .iter()
        .zip(&rounds)
        .filter_map(|(entry, round)| match entry {
            Entry::Round(_) => round.as_ref().map(Part::Round),
            Entry::Notice(notice) => Some(Part::Notice(notice)),
        })
        .collect();
    render::assemble(&parts, options)
}

pub(crate) fn message(role: Role, blocks: Vec<Block>) -> Message {
    let blocks = blocks.into_iter().map(Arc::new).collect();
    Message { role, blocks, ..Message::default() }
}

pub(crate) fn in_lane(lane: &str, message: Message) -> Message {
    Message { lane: lane.into(), ..message }
}

pub(crate) fn call(id: &str, tool: &str, input: &str) -> Block {
    Block::new(BlockKind::ToolUse(ToolUse {
        id: id.into(),
        name: tool.into(),
        input_json: Bytes::copy_from_slice(input.as_bytes()),
        ..ToolUse::default()
    }))
}

pub(crate) fn result(id: &str, output: &str) -> Block {
    results(id, vec![ToolOutput::Text(Bytes::copy_from_slice(output.as_bytes()))])
}

pub(crate) fn results(id: &str, output: Vec<ToolOutput>) -> Block {
    Block::new(BlockKind::ToolResult(ToolResult {
        tool_use_id: id.into(),
        output,
        ..ToolResult::default()
    }))
}

pub(crate) fn thinking(words: &str, signature: &str) -> Block {
    Block::new(BlockKind::Thinking(Thinking {
        parts: vec![words.into()],
        signature: signature.into(),
        ..Thinking::default()
    }))
}

pub(crate) fn raw_text(bytes: &[u8]) -> Block {
    Block::new(BlockKind::Text(Text { raw: Bytes::copy_from_slice(bytes), ..Text::default() }))
}

/// A picture of these dimensions, with so many bytes.
pub(crate) fn png(width: u32, height: u32, bytes: usize) -> Image {
    let mut data = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    data.extend_from_slice(&width.to_be_bytes());
    data.extend_from_slice(&height.to_be_bytes());
    data.extend_from_slice(&[8, 2, 0, 0, 0]);
    data.resize(data.len().max(bytes), 0);
    Image { media_type: "image/png".into(), source: ImageSource::Data(Bytes::from(data)) }
}

/// Words that count about one token for four characters.
pub(crate) fn prose(chars: usize) -> String {
    "over the lazy dog and then ".chars().cycle().take(chars).collect()
}

/// A text of exactly so many tokens.
pub(crate) fn of_tokens(count: i64) -> String {
    let text = " a".repeat(usize::try_from(count).unwrap());
    assert_eq!(i64::from(tokens::count_text(&text)), count);
    text
}

pub(super) fn by_hand(kind: OverlayKind, covered: RowSet) -> Overlay {
    Overlay {
        id: OverlayId::new(&format!("hand-{covered:?}")),
        view: ViewName::main(),
        kind,
        covered,
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
        commit_time: Timestamp::default(),
        rollback: None,
        transcript_id: String::new(),
        covered_overlays: Vec::new(),
        source_digest: [0; 32],
    }
}

/// What a caller who names these rows hides.
pub(crate) fn snip(agent: &Agent, first: i64, last: i64) -> Overlay {
    let rows = SeqRange { first: Seq(first), last: Seq(last) };
    let named = projection::manual_snip(&agent.history, &agent.in_force(), rows);
    by_hand(OverlayKind::Snip, named.expect("a range that hides something").covered)
}

/// One block shown otherwise.
pub(crate) fn clear(agent: &Agent, seq: Seq, block: u32, shown_as: &str) -> Overlay {
    assert!(agent.history.row(seq).is_some());
    let content = ContentRef { seq, block, output: None };
    let cleared = vec![Cleared { content, shown_as: shown_as.into() }];
    Overlay { cleared, ..by_hand(OverlayKind::Clear, RowSet::of(vec![seq])) }
}
