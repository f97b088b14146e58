//! Rows and overlays into entries.
//!
//! The outermost range overlay of a round hides it; its notice stands where the
//! first hidden round stood. Everything else is shown in the order in which it
//! settled, as it looked at first sight, with clears laid over.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use super::{History, Sight, envelope, history::Round, stages::dedupe_files};
use crate::{
    model::{
        Block, BlockKind, ContentRef, Overlay, OverlayId, Row, Seq, Text, ToolOutput, ToolResult,
        shown::{Answer, Entry, Notice, ShownBlock, ShownCall, ShownMessage, ShownRound},
    },
    projection::history::Fate,
    tokens,
};

/// What to look at, and how much of it.
#[derive(Clone, Copy)]
pub struct Lens<'a> {
    /// The rows.
    pub history: &'a History,
    /// Their look at first sight.
    pub sight: &'a Sight,
    /// How many of the settled rounds are shown: [`History::shown_to`].
    pub shown: usize,
}

/// Rounds as they were composed last, so that those that look the same are the
/// same: a cache, never a source.
#[derive(Debug, Clone, Default)]
pub struct Memo {
    rounds: HashMap<Seq, (Look, Arc<ShownRound>)>,
    /// What each overlay's summary is shown as.
    notices: HashMap<OverlayId, (String, Notice)>,
}

/// About what a composed round holds beside the blocks that it shares with its
/// rows.
const ROUND_BYTES: usize = 1024;

impl Memo {
    /// Forgets what is not shown any more: what is kept follows what the view
    /// shows, not what it ever showed.
    pub(crate) fn keep(&mut self, shown: &Composed) {
        if self.rounds.len() > shown.visible.len() {
            let visible: HashSet<Seq> = shown.visible.iter().copied().collect();
            self.rounds.retain(|id, _| visible.contains(id));
        }
        if self.notices.len() > shown.hidden.len() {
            let notices: HashSet<&OverlayId> = shown.notices().map(|it| &it.overlay).collect();
            self.notices.retain(|id, _| notices.contains(id));
        }
    }

    /// About how many bytes it holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let notices = self.notices.values().map(|(summary, _)| 2 * summary.len() + ROUND_BYTES);
        self.rounds.len() * ROUND_BYTES + notices.sum::<usize>()
    }
}

/// Everything that the look of a round depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Look {
    rows: usize,
    answers: usize,
    clears: Vec<(ContentRef, OverlayId)>,
    repeats: Vec<((Seq, u32), (Seq, u32))>,
    loose: Vec<(Seq, u32)>,
}

/// A composed view.
#[derive(Debug, Clone, Default)]
pub struct Composed {
    /// What is shown, in order.
    pub entries: Vec<Entry>,
    /// Uncalibrated tokens of all of it.
    pub tokens: i64,
    /// The shown rounds, in order.
    pub visible: Vec<Seq>,
    /// The rounds under each outermost range overlay, by its index among those
    /// that were given.
    pub hidden: Vec<(usize, Vec<Seq>)>,
    /// Duplicates and their originals.
    pub repeats: Vec<((Seq, u32), (Seq, u32))>,
}

/// Overlays laid out for looking up.
pub(crate) struct Layers<'a> {
    /// Ranges of the outermost range overlays, sorted: first, last, overlay.
    ranges: Vec<(Seq, Seq, usize)>,
    clears: HashMap<Seq, Vec<(ContentRef, &'a str, &'a OverlayId)>>,
}

impl<'a> Layers<'a> {
    /// Of overlays in force, oldest commit first: of two clears of one piece
    /// the later shows.
    pub(crate) fn of(overlays: &'a [Overlay]) -> Self {
        let mut ranges: Vec<(Seq, Seq, usize)> = Vec::new();
        for index in outermost(overlays) {
            let of_this = overlays[index].covered.ranges().iter();
            ranges.extend(of_this.map(|range| (range.first, range.last, index)));
        }
        let mut clears: HashMap<Seq, Vec<(ContentRef, &str, &OverlayId)>> = HashMap::new();
        for overlay in overlays.iter().filter(|it| !it.is_range()) {
            for piece in &overlay.cleared {
                let row = clears.entry(piece.content.seq).or_default();
                row.retain(|(content, ..)| *content != piece.content);
                row.push((piece.content, &piece.shown_as, &overlay.id));
            }
        }
        ranges.sort_unstable();
        Self { ranges, clears }
    }

    /// The outermost range overlay over a row.
    pub(crate) fn over(&self, seq: Seq) -> Option<usize> {
        let after = self.ranges.partition_point(|(first, ..)| *first <= seq);
        let (_, last, overlay) = self.ranges.get(after.checked_sub(1)?)?;
        (*last >= seq).then_some(*overlay)
    }

    /// What is shown instead of a whole block.
    pub(crate) fn clear_of(&self, seq: Seq, block: u32) -> Option<&'a OverlayId> {
        let row = self.clears.get(&seq)?;
        row.iter().find(|(content, ..)| content.block == block).map(|(_, _, id)| *id)
    }

    fn of_row(&self, seq: Seq) -> &[(ContentRef, &'a str, &'a OverlayId)] {
        self.clears.get(&seq).map_or(&[], Vec::as_slice)
    }
}

/// The range overlays that lie under no other. Range overlays are disjoint or
/// nested, so the one over another, if there is one, is over its first row.
fn outermost(all: &[Overlay]) -> Vec<usize> {
    let mut largest_first: Vec<(i64, usize)> = all
        .iter()
        .enumerate()
        .filter(|(_, it)| it.is_range())
        .map(|(index, it)| (it.covered.len(), index))
        .collect();
    // Of two that cover the same, the later shows.
    largest_first.sort_unstable_by(|a, b| b.cmp(a));
    let mut over: BTreeMap<Seq, (Seq, usize)> = BTreeMap::new();
    let mut out = Vec::new();
    for (_, index) in largest_first {
        let covered = &all[index].covered;
        let Some(first) = covered.ranges().first() else { continue };
        let above = over.range(..=first.first).next_back().filter(|(_, it)| it.0 >= first.first);
        if above.is_some_and(|(_, (_, above))| all[*above].covered.contains_all(covered)) {
            continue;
        }
        over.extend(covered.ranges().iter().map(|it| (it.first, (it.last, index))));
        out.push(index);
    }
    out
}

/// Composes the view.
#[must_use]
pub fn compose(lens: Lens<'_>, overlays: &[Overlay], memo: &mut Memo) -> Composed {
    let layers = Layers::of(overlays);
    let placed = place(lens, &layers);
    let mut out = Composed {
        visible: placed
            .iter()
            .filter_map(|it| if let Place::Round(id) = it { Some(*id) } else { None })
            .collect(),
        ..Composed::default()
    };
    let visible: HashSet<Seq> = out.visible.iter().copied().collect();
    let mut hidden: HashMap<usize, usize> = HashMap::new();
    for place in placed {
        match place {
            Place::Hidden(overlay, round) => {
                let at = *hidden.entry(overlay).or_insert_with(|| {
                    out.hidden.push((overlay, Vec::new()));
                    if let Some(notice) = notice(lens, &overlays[overlay], memo) {
                        out.tokens += notice.tokens;
                        out.entries.push(Entry::Notice(notice));
                    }
                    out.hidden.len() - 1
                });
                out.hidden[at].1.push(round);
            }
            Place::Loose(seq, blocks) => {
                let round = Arc::new(loose_round(lens, &layers, seq, &blocks));
                out.tokens += round.tokens;
                out.entries.push(Entry::Round(round));
            }
            Place::Round(id) => {
                let Some(round) = lens.history.round(id) else { continue };
                let look = look_of(lens, &layers, &visible, round);
                out.repeats.extend_from_slice(&look.repeats);
                let shown = match memo.rounds.get(&id) {
                    Some((known, shown)) if *known == look => Arc::clone(shown),
                    _ => {
                        let shown = Arc::new(show_round(lens, &layers, round, &look));
                        memo.rounds.insert(id, (look, Arc::clone(&shown)));
                        shown
                    }
                };
                out.tokens += shown.tokens;
                out.entries.push(Entry::Round(shown));
            }
        }
    }
    out
}

enum Place {
    Round(Seq),
    Hidden(usize, Seq),
    /// What a late row of a hidden round shows at its own place.
    Loose(Seq, Vec<u32>),
}

/// Every settled round that is shown to this lens, and late rows whose round is
/// hidden, in shown order.
fn place(lens: Lens<'_>, layers: &Layers<'_>) -> Vec<Place> {
    let order = lens.history.order().get(..lens.shown).unwrap_or_default();
    let mut loose = loose_rows(lens.history, layers).into_iter().peekable();
    let mut out = Vec::with_capacity(order.len());
    for id in order {
        let settled = lens.history.round(*id).and_then(|it| it.settled).unwrap_or(*id);
        while let Some((seq, blocks)) = loose.next_if(|(seq, _)| (*seq, *seq) < (settled, *id)) {
            out.push(Place::Loose(seq, blocks));
        }
        out.push(match layers.over(*id) {
            Some(overlay) => Place::Hidden(overlay, *id),
            None => Place::Round(*id),
        });
    }
    // Up to the first round that is not shown to this lens.
    let beyond = lens.history.order().get(lens.shown);
    let beyond = beyond.and_then(|id| Some((lens.history.round(*id)?.settled?, *id)));
    let before_it = loose.take_while(|(seq, _)| beyond.is_none_or(|end| (*seq, *seq) < end));
    out.extend(before_it.map(|(seq, blocks)| Place::Loose(seq, blocks)));
    out
}

/// Rows that came when their round was hidden already, and so are not hidden
/// with it; and what of them is shown there.
fn loose_rows(history: &History, layers: &Layers<'_>) -> Vec<(Seq, Vec<u32>)> {
    let mut rows: Vec<(Seq, Vec<u32>)> = Vec::new();
    let mut newest = None;
    for late in history.late_answers() {
        // One row may answer several calls.
        if newest.replace(late.seq) == Some(late.seq) || layers.over(late.seq).is_some() {
            continue;
        }
        // Where its round is shown, it is shown with it.
        let is_hidden = |round: &Round| layers.over(round.id).is_some();
        if !history.round_of(late.seq).is_some_and(is_hidden) {
            continue;
        }
        let Some(row) = history.row(late.seq) else { continue };
        let count = u32::try_from(row.message.blocks.len()).unwrap_or(u32::MAX);
        let is_shown = |block: &u32| match history.fate(late.seq, *block) {
            Some(Fate::Answers(call)) => {
                layers.over(call.seq).is_some()
                    && is_in_force(history, call.seq, (late.seq, *block))
            }
            Some(Fate::Orphan) | None => true,
        };
        let blocks: Vec<u32> = (0..count).filter(is_shown).collect();
        if !blocks.is_empty() {
            rows.push((late.seq, blocks));
        }
    }
    rows
}

fn look_of(lens: Lens<'_>, layers: &Layers<'_>, visible: &HashSet<Seq>, round: &Round) -> Look {
    let answer_rows = round.calls.iter().filter_map(|call| call.answers.last()).map(|it| it.seq);
    let mut rows: Vec<Seq> = round.rows.iter().copied().chain(answer_rows).collect();
    rows.sort_unstable();
    rows.dedup();
    let clears = rows.iter().flat_map(|seq| layers.of_row(*seq));
    let is_shown = |of: Seq, at: (Seq, u32)| {
        visible.contains(&of)
            && layers.clear_of(at.0, at.1).is_none()
            && is_in_force(lens.history, of, at)
    };
    let repeats = lens.sight.may_repeat(round.id).iter().filter(|at| {
        layers.clear_of(at.0, at.1).is_none() && is_in_force(lens.history, round.id, **at)
    });
    Look {
        rows: round.rows.len(),
        answers: round.calls.iter().map(|call| call.answers.len()).sum(),
        clears: clears.map(|(content, _, id)| (*content, (*id).clone())).collect(),
        repeats: repeats
            .filter_map(|at| lens.sight.original_of(*at, is_shown).map(|original| (*at, original)))
            .collect(),
        loose: loose_blocks(lens.history, layers, round),
    }
}

fn is_in_force(history: &History, round: Seq, at: (Seq, u32)) -> bool {
    history.round(round).is_some_and(|it| {
        it.calls.iter().any(|call| call.answers.last().is_some_and(|a| (a.seq, a.block) == at))
    })
}

/// Results in rows of `round` that answer a call of a hidden round.
fn loose_blocks(history: &History, layers: &Layers<'_>, round: &Round) -> Vec<(Seq, u32)> {
    let blocks = round.rows.iter().flat_map(|seq| {
        let count = history.row(*seq).map_or(0, |row| row.message.blocks.len());
        (0..u32::try_from(count).unwrap_or(u32::MAX)).map(|block| (*seq, block))
    });
    let is_loose = |at: &(Seq, u32)| {
        let Some(Fate::Answers(call)) = history.fate(at.0, at.1) else { return false };
        let is_elsewhere = call.seq != round.id && layers.over(call.seq).is_some();
        is_elsewhere && is_in_force(history, call.seq, *at)
    };
    blocks.filter(is_loose).collect()
}

fn notice(lens: Lens<'_>, overlay: &Overlay, memo: &mut Memo) -> Option<Notice> {
    if overlay.summary.is_empty() {
        return None;
    }
    if let Some((summary, notice)) = memo.notices.get(&overlay.id)
        && *summary == overlay.summary
        && notice.covered == overlay.covered
    {
        return Some(notice.clone());
    }
    let text = envelope::of(lens.sight.policy(), overlay);
    let block = Block::text(text.as_str());
    let notice = Notice {
        overlay: overlay.id.clone(),
        text: Arc::from(text),
        covered: overlay.covered.clone(),
        is_summary: overlay.kind != crate::model::OverlayKind::Snip,
        tokens: i64::from(tokens::block(&block)) + tokens::MESSAGE_TOKENS,
    };
    memo.notices.insert(overlay.id.clone(), (overlay.summary.clone(), notice.clone()));
    Some(notice)
}

fn show_round(lens: Lens<'_>, layers: &Layers<'_>, round: &Round, look: &Look) -> ShownRound {
    let mut total = 0;
    let mut messages = Vec::with_capacity(round.rows.len());
    for seq in &round.rows {
        let Some(row) = lens.history.row(*seq) else { continue };
        let mut blocks = Vec::with_capacity(row.message.blocks.len());
        for index in 0..u32::try_from(row.message.blocks.len()).unwrap_or(u32::MAX) {
            let is_paired = matches!(lens.history.fate(*seq, index), Some(Fate::Answers(_)));
            if is_paired && !look.loose.contains(&(*seq, index)) {
                continue;
            }
            if let Some((block, tokens)) = show_block(lens, layers, look, row, index) {
                total += i64::from(tokens);
                blocks.push(ShownBlock { index, block, tokens });
            }
        }
        total += tokens::MESSAGE_TOKENS;
        messages.push(shown_message(row, blocks));
    }
    let mut calls = Vec::with_capacity(round.calls.len());
    for call in &round.calls {
        let answer = call.answers.last().and_then(|at| {
            let row = lens.history.row(at.seq)?;
            let (block, tokens) = show_block(lens, layers, look, row, at.block)?;
            total += i64::from(tokens);
            let moved = call.answers.first().is_some_and(|first| first.is_late);
            Some(Answer::Result { seq: at.seq, index: at.block, block, tokens, moved })
        });
        if answer.is_none() {
            total += tokens::SYNTHETIC_RESULT_TOKENS;
        }
        calls.push(ShownCall {
            seq: round.id,
            block: call.block,
            id: Arc::clone(&call.id),
            repeats: call.repeats,
            answer: answer.unwrap_or(Answer::Missing),
        });
    }
    ShownRound { id: round.id, lane: Arc::clone(&round.lane), messages, calls, tokens: total }
}

fn loose_round(lens: Lens<'_>, layers: &Layers<'_>, seq: Seq, blocks: &[u32]) -> ShownRound {
    let look =
        Look { rows: 1, answers: 0, clears: Vec::new(), repeats: Vec::new(), loose: Vec::new() };
    let mut tokens = tokens::MESSAGE_TOKENS;
    let mut messages = Vec::new();
    let mut lane = Arc::from("");
    if let Some(row) = lens.history.row(seq) {
        lane = Arc::from(row.message.lane.as_str());
        let shown = blocks.iter().filter_map(|index| {
            let (block, count) = show_block(lens, layers, &look, row, *index)?;
            tokens += i64::from(count);
            Some(ShownBlock { index: *index, block, tokens: count })
        });
        messages.push(shown_message(row, shown.collect()));
    }
    ShownRound { id: seq, lane, messages, calls: Vec::new(), tokens }
}

fn shown_message(row: &Row, blocks: Vec<ShownBlock>) -> ShownMessage {
    let message = &row.message;
    ShownMessage {
        seq: row.seq,
        role: message.role,
        author: Arc::from(message.author.as_str()),
        model: Arc::from(message.model.as_str()),
        provider_id: Arc::from(message.provider_id.as_str()),
        format: message.format,
        extra_json: message.extra_json.clone(),
        blocks,
    }
}

/// A block as it is shown, and what it counts as; `None` where it is not.
fn show_block(
    lens: Lens<'_>,
    layers: &Layers<'_>,
    look: &Look,
    row: &Row,
    index: u32,
) -> Option<(Arc<Block>, u32)> {
    let (block, count) = plain_block(lens, row, index)?;
    let at = (row.seq, index);
    if let Some((_, original)) = look.repeats.iter().find(|(repeat, _)| *repeat == at) {
        let marker = dedupe_files::marker(&lens.sight.policy().dedupe_files, *original);
        let block = shown_as(&block, None, &marker);
        let count = tokens::block(&block);
        return Some((Arc::new(block), count));
    }
    let mut shown: Option<Block> = None;
    for (content, text, _) in layers.of_row(row.seq) {
        if content.block == index {
            shown = Some(shown_as(shown.as_ref().unwrap_or(&block), content.output, text));
        }
    }
    match shown {
        Some(shown) => {
            let count = tokens::block(&shown);
            Some((Arc::new(shown), count))
        }
        None => Some((block, count)),
    }
}

/// A block as it looked at first sight, duplicates in full.
pub(crate) fn plain_block(lens: Lens<'_>, row: &Row, index: u32) -> Option<(Arc<Block>, u32)> {
    if let Some(seen) = lens.sight.seen(row.seq, index) {
        return seen.block.clone().map(|block| (block, seen.tokens));
    }
    let at = usize::try_from(index).ok()?;
    let block = row.message.blocks.get(at)?;
    Some((Arc::clone(block), row.tokens.blocks.get(at).copied().unwrap_or(0)))
}

/// `block` with `text` in place of what it holds (of one output of it).
pub(crate) fn shown_as(block: &Block, output: Option<u32>, text: &str) -> Block {
    let words = || BlockKind::Text(Text { text: text.to_owned(), ..Text::default() });
    let kind = match &block.kind {
        BlockKind::ToolResult(result) => BlockKind::ToolResult(ToolResult {
            output: match output {
                None => vec![ToolOutput::Text(text.to_owned().into())],
                Some(only) => result
                    .output
                    .iter()
                    .zip(0_u32..)
                    .map(|(part, index)| {
                        if index == only {
                            ToolOutput::Text(text.to_owned().into())
                        } else {
                            part.clone()
                        }
                    })
                    .collect(),
            },
            ..result.clone()
        }),
        BlockKind::ToolUse(call) => BlockKind::ToolUse(crate::model::ToolUse {
            input_json: text.to_owned().into(),
            ..call.clone()
        }),
        BlockKind::Opaque(opaque) if !opaque.call_id.is_empty() && opaque.is_result => {
            BlockKind::ToolResult(ToolResult {
                tool_use_id: opaque.call_id.clone(),
                output: vec![ToolOutput::Text(text.to_owned().into())],
                ..ToolResult::default()
            })
        }
        BlockKind::Text(old) => BlockKind::Text(Text {
            text: text.to_owned(),
            provider_id: old.provider_id.clone(),
            ..Text::default()
        }),
        BlockKind::Image(_)
        | BlockKind::Opaque(_)
        | BlockKind::Thinking(_)
        | BlockKind::RedactedThinking(_) => words(),
    };
    let keeps_extras = matches!(block.kind, BlockKind::ToolUse(_) | BlockKind::ToolResult(_));
    let extra_json = if keeps_extras { block.extra_json.clone() } else { bytes::Bytes::new() };
    Block { kind, extra_json }
}
