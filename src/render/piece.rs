//! What a round is written as, and what joining needs to know of it.

use std::ops::Range;

use bytes::Bytes;

use crate::model::{Message, OverlayId, RowSet, Seq};

/// One round, written. Cheap to clone; joined with others by `assemble`.
#[derive(Debug, Clone, Default)]
pub struct RenderedRound {
    pub(super) pieces: Vec<Piece>,
    pub(super) typed: Vec<TypedPiece>,
    pub(super) repairs: Vec<Repair>,
}

impl RenderedRound {
    pub(super) fn new(pieces: Vec<Piece>, repairs: Vec<Repair>) -> Self {
        Self { pieces, typed: Vec::new(), repairs }
    }

    /// The bytes that keeping it costs, roughly: for a cache's limit.
    #[must_use]
    pub fn weight(&self) -> usize {
        let pieces = self.pieces.iter().map(Piece::weight).sum::<usize>();
        let typed = self.typed.len() * size_of::<TypedPiece>();
        pieces + typed + self.repairs.len() * size_of::<Repair>() + size_of::<Self>()
    }

    /// What had to be mended in it.
    #[must_use]
    pub fn repairs(&self) -> &[Repair] {
        &self.repairs
    }
}

/// One message (Anthropic, Chat) or one item (Responses).
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) speaker: Speaker,
    /// The whole message.
    pub(super) json: Bytes,
    /// Where its content blocks are in `json`. Anthropic only.
    pub(super) blocks: Vec<Span>,
    pub(super) origin: Origin,
    /// True where a provider's own compaction block comes first.
    pub(super) is_compaction: bool,
}

impl Piece {
    fn weight(&self) -> usize {
        size_of::<Self>() + self.json.len() + self.blocks.len() * size_of::<Span>()
    }

    pub(super) fn starts_with_thinking(&self) -> bool {
        self.blocks.first().is_some_and(|block| block.kind == SpanKind::Thinking)
    }
}

/// A message of the contract.
#[derive(Debug, Clone)]
pub(super) struct TypedPiece {
    pub(super) message: Message,
    pub(super) origin: Origin,
}

/// Who speaks, as far as rules of order go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Assistant,
    System,
    /// A tool's answer in a message of its own.
    Tool,
}

/// One content block within a message's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) at: Range<usize>,
    pub(super) kind: SpanKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpanKind {
    /// May bear a cache mark.
    Markable,
    /// Signed: never touched, never marked.
    Thinking,
    /// A provider's block of which it is not known whether a mark is taken.
    Fixed,
}

/// Where a rendered message came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// The rows whose content it holds.
    pub rows: RowSet,
    /// The overlay whose summary or marker it holds; the first, where
    /// neighbours were merged.
    pub overlay: Option<OverlayId>,
    /// True where all of it is the server's: a context item, a synthetic
    /// result, a start line.
    pub synthetic: bool,
}

impl Origin {
    pub(super) fn rows(seqs: Vec<Seq>) -> Self {
        Self { rows: RowSet::of(seqs), overlay: None, synthetic: false }
    }

    pub(super) fn synthetic() -> Self {
        Self { synthetic: true, ..Self::default() }
    }

    /// Takes in what a merged neighbour came from.
    pub(super) fn absorb(&mut self, other: &Self) {
        if !other.rows.is_empty() {
            self.rows = self.rows.union(&other.rows);
        }
        if self.overlay.is_none() {
            self.overlay.clone_from(&other.overlay);
        }
        self.synthetic &= other.synthetic;
    }

    pub(super) fn last_seq(&self) -> Seq {
        self.rows.ranges().last().map_or(Seq(0), |range| range.last)
    }
}

/// Something that was mended to keep the request valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Repair {
    /// The row it concerns; 0 where there is none.
    pub seq: Seq,
    /// What was done.
    pub reason: RepairReason,
}

/// What was mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RepairReason {
    /// A call has no result: an error result was made up.
    SyntheticResult,
    /// A result of no shown call is shown as labelled user text.
    OrphanResultToText,
    /// A result that came later stands at its call.
    ResultMoved,
    /// An older result gave way to a newer one of the same call.
    ResultSuperseded,
    /// A call's id repeats or is not legal in this format.
    IdAliased,
    /// A tool's name is not legal in this format.
    NameAliased,
    /// Arguments that are no JSON object were wrapped in one.
    InputWrapped,
    /// A block without content was left out.
    EmptyBlockDropped,
    /// Text that is not valid Unicode got U+FFFD in its place.
    InvalidTextReplaced,
    /// A system message is shown as labelled user text.
    SystemAsUser,
    /// A line was put before a history that starts with the assistant.
    StartsWithAssistant,
    /// The history ends with the assistant, and so does the context.
    EndsWithAssistant,
}

impl RepairReason {
    /// Its name, as `Repair.reason` of the contract spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SyntheticResult => "SYNTHETIC_RESULT",
            Self::OrphanResultToText => "ORPHAN_RESULT_TO_TEXT",
            Self::ResultMoved => "RESULT_MOVED",
            Self::ResultSuperseded => "RESULT_SUPERSEDED",
            Self::IdAliased => "ID_ALIASED",
            Self::NameAliased => "NAME_ALIASED",
            Self::InputWrapped => "INPUT_WRAPPED",
            Self::EmptyBlockDropped => "EMPTY_BLOCK_DROPPED",
            Self::InvalidTextReplaced => "INVALID_TEXT_REPLACED",
            Self::SystemAsUser => "SYSTEM_AS_USER",
            Self::StartsWithAssistant => "STARTS_WITH_ASSISTANT",
            Self::EndsWithAssistant => "ENDS_WITH_ASSISTANT",
        }
    }
}
