//! `micro_clear`: old tool results (and old pictures) as a placeholder.
//!
//! May drop: what a result says. Keeps: the call and its answer's place, the
//! newest results, those that the model has not seen yet, and what is
//! protected.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    model::{
        Block, BlockKind, Cause, Cleared, ContentRef, Role, Seq, StageKind, ToolOutput,
        policy::MicroClear,
        shown::{Answer, ShownRound},
    },
    policies::tools,
    projection::{
        bench::{Bench, Proposal, Reduction, kind_bytes},
        compose,
        protect::protected,
        sight::{result_bytes, result_chars},
        stages::strip_images,
        text,
        window::share_of,
    },
    rounds::CallKey,
    tokens,
};

/// A piece that is shown in full.
#[derive(Clone)]
struct Candidate {
    content: ContentRef,
    /// Its round's position in the view.
    position: usize,
    /// The row that holds its call.
    call: Seq,
    tool: String,
    /// As it looked at first sight.
    block: Arc<Block>,
    /// As it is shown.
    tokens: i64,
    is_exempt: bool,
    /// The result that it is shown as a duplicate of.
    repeats: Option<(Seq, u32)>,
}

/// A piece that is worth clearing, with the duplicates that would show its text
/// again if it went alone.
struct Piece {
    cleared: Vec<Cleared>,
    /// Tokens that clearing it frees.
    frees: i64,
    /// Bytes that it frees.
    bytes: i64,
}

pub(crate) fn propose(bench: &Bench<'_>) -> Result<Proposal, &'static str> {
    let rules = &bench.facts.policy.micro_clear;
    let (cause, wanted) = wanted(bench, rules)?;
    let frees: i64 = wanted.iter().map(|piece| piece.frees).sum();
    let least = share_of(bench.facts.window.limit(), rules.at_least_ratio);
    if wanted.is_empty() {
        return Err("nothing_to_clear");
    }
    if tokens::calibrate(frees, bench.facts.window.factor) < least && !is_over_bytes(bench) {
        return Err("frees_too_little");
    }
    let cleared = wanted.into_iter().flat_map(|piece| piece.cleared).collect();
    Ok(Proposal { stage: StageKind::MicroClear, cause, reduction: Reduction::Clear(cleared) })
}

/// Why to act, and on which pieces, oldest first.
fn wanted(bench: &Bench<'_>, rules: &MicroClear) -> Result<(Cause, Vec<Piece>), &'static str> {
    let calls = crossed_calls(bench, rules);
    let is_idle = is_idle(bench, rules);
    let basis = bench.facts.policy.window.basis;
    let is_over = rules.start_ratio > 0.0
        && bench.used() >= bench.facts.window.at_ratio(basis, rules.start_ratio);
    let is_over_bytes = is_over_bytes(bench);
    if !rules.each_request && calls.is_none() && !is_idle && !is_over && !is_over_bytes {
        return Err("below_threshold");
    }
    let candidates = candidates(bench, rules);
    let kept = kept(bench, rules, &candidates);
    let old = || pieces(bench, rules, &candidates, |it| !kept.contains(&it.content));
    if rules.each_request {
        return Ok((Cause::Pressure, old().collect()));
    }
    if let Some(calls) = calls {
        let border = call_border(bench, rules, calls);
        let is_older = |it: &Candidate| it.is_result() && it.call < border;
        let wanted: Vec<Piece> = pieces(bench, rules, &candidates, is_older).collect();
        if !wanted.is_empty() {
            return Ok((Cause::ToolCalls, wanted));
        }
    }
    if is_idle {
        let wanted: Vec<Piece> = old().collect();
        if !wanted.is_empty() {
            return Ok((Cause::Idle, wanted));
        }
    }
    if !is_over && !is_over_bytes {
        return Err("nothing_to_clear");
    }
    let until =
        if is_over { bench.facts.window.at_ratio(basis, rules.until_ratio) } else { i64::MAX };
    Ok((Cause::Pressure, down_to(bench, until, old())))
}

/// The first of `pieces` that bring the view down to `until` tokens and below
/// the limit of bytes.
fn down_to(bench: &Bench<'_>, until: i64, pieces: impl Iterator<Item = Piece>) -> Vec<Piece> {
    let window = bench.facts.window;
    let (mut messages, mut bytes) = (bench.composed.tokens, bench.composed.bytes());
    let mut wanted = Vec::new();
    for piece in pieces {
        let fits_bytes = rendered(bench, bytes) <= share_of(window.bytes_limit, 0.8);
        if window.used(messages) <= until && fits_bytes {
            break;
        }
        messages -= piece.frees;
        bytes -= piece.bytes;
        wanted.push(piece);
    }
    wanted
}

fn is_over_bytes(bench: &Bench<'_>) -> bool {
    rendered(bench, bench.composed.bytes()) > bench.facts.window.bytes_limit
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "requests are far below 2^52 bytes"
)]
fn rendered(bench: &Bench<'_>, bytes: i64) -> i64 {
    (bytes as f64 * bench.facts.window.bytes_ratio) as i64
}

/// The results that stay: the newest few, the newest as far as they fit into
/// their share, and everything of the newest turns.
fn kept(bench: &Bench<'_>, rules: &MicroClear, candidates: &[Candidate]) -> BTreeSet<ContentRef> {
    let window = bench.facts.window;
    let share = share_of(window.room(), rules.keep_share.min(0.4));
    let newest_turns = bench.newest_turns(rules.keep_turns);
    let mut sum = 0;
    let mut out = BTreeSet::new();
    let results = candidates.iter().rev().filter(|it| it.is_result());
    for (nth, it) in results.enumerate() {
        sum += tokens::calibrate(it.tokens, window.factor);
        let fits = rules.keep_share > 0.0 && sum <= share;
        if nth < rules.keep_results || fits {
            out.insert(it.content);
        }
    }
    out.extend(candidates.iter().filter(|it| it.position >= newest_turns).map(|it| it.content));
    out
}

/// How many calls the newest crossing of first + n × every stands at, where no
/// clear of this stage was made since.
fn crossed_calls(bench: &Bench<'_>, rules: &MicroClear) -> Option<usize> {
    let calls = bench.lens.history.call_seqs();
    let crossing = |count: usize| {
        let beyond = count.checked_sub(rules.first_calls)?;
        let steps = beyond.checked_div(rules.every_calls).unwrap_or(0);
        Some(rules.first_calls + steps * rules.every_calls)
    };
    if rules.first_calls == 0 {
        return None;
    }
    let now = crossing(calls.len())?;
    let acted_at = bench
        .facts
        .ever
        .iter()
        .filter(|it| it.cause == Cause::ToolCalls)
        .map(|it| it.commit_revision)
        .max();
    let calls_then = acted_at.map_or(0, |revision| {
        calls.partition_point(|seq| {
            bench.lens.history.row(*seq).is_some_and(|row| row.revision <= revision)
        })
    });
    (crossing(calls_then).is_none_or(|then| then < now)).then_some(now)
}

/// The row of the first call, of the first `calls`, whose result stays.
fn call_border(bench: &Bench<'_>, rules: &MicroClear, calls: usize) -> Seq {
    // Calls of one message share its seq: a cut inside it keeps them all.
    let end = calls.saturating_sub(rules.keep_results);
    bench.lens.history.call_seqs().get(end).copied().unwrap_or(Seq(i64::MAX))
}

/// Says whether the session has been idle so long, and was not cleared for it
/// since its newest assistant message.
fn is_idle(bench: &Bench<'_>, rules: &MicroClear) -> bool {
    let Some(last) = bench.lens.history.last_assistant_at() else { return false };
    let acted = bench.facts.ever.iter().any(|it| it.cause == Cause::Idle && it.commit_time >= last);
    rules.idle_minutes > 0
        && !acted
        && bench.facts.now.seconds_since(last) >= rules.idle_minutes.saturating_mul(60)
}

/// Everything of the tools in question that is shown in full, in shown order,
/// and old pictures where the policy has them.
fn candidates(bench: &Bench<'_>, rules: &MicroClear) -> Vec<Candidate> {
    let protected = protected(bench).all();
    let reduced: BTreeSet<(Seq, u32)> = bench
        .in_force
        .iter()
        .flat_map(|it| &it.cleared)
        .map(|it| (it.content.seq, it.content.block))
        .collect();
    let repeats: BTreeMap<(Seq, u32), (Seq, u32)> =
        bench.composed.repeats.iter().copied().collect();
    let newest_turns = bench.newest_turns(rules.keep_turns.max(1));
    let mut out = Vec::new();
    for (position, round) in bench.placed_rounds() {
        let is_protected = protected.contains(&round.id);
        if rules.clear_images && position < newest_turns {
            out.extend(pictures(round, position, is_protected, &reduced));
        }
        for call in &round.calls {
            let Answer::Result { seq, index, block, tokens, .. } = &call.answer else {
                continue;
            };
            let key = CallKey { seq: call.seq, block: call.block };
            let tool = bench.lens.history.call(key).map_or("", |(name, _)| name);
            let is_result = matches!(block.kind, BlockKind::ToolResult(_));
            if !is_result || reduced.contains(&(*seq, *index)) || !is_selected(rules, tool) {
                continue;
            }
            out.push(Candidate {
                content: ContentRef { seq: *seq, block: *index, output: None },
                position,
                call: call.seq,
                tool: tool.to_owned(),
                block: bench.plain_block(*seq, *index).unwrap_or_else(|| Arc::clone(block)),
                tokens: i64::from(*tokens),
                is_exempt: is_protected || bench.lens.history.is_unseen(&round.lane, *seq),
                repeats: repeats.get(&(*seq, *index)).copied(),
            });
        }
    }
    out
}

fn pictures(
    round: &ShownRound,
    position: usize,
    is_exempt: bool,
    reduced: &BTreeSet<(Seq, u32)>,
) -> Vec<Candidate> {
    let of_user = round.messages.iter().filter(|message| message.role == Role::User);
    of_user
        .flat_map(|message| message.blocks.iter().map(move |block| (message.seq, block)))
        .filter(|(seq, block)| {
            matches!(block.block.kind, BlockKind::Image(_))
                && !reduced.contains(&(*seq, block.index))
        })
        .map(|(seq, block)| Candidate {
            content: ContentRef { seq, block: block.index, output: None },
            position,
            call: seq,
            tool: String::new(),
            block: Arc::clone(&block.block),
            tokens: i64::from(block.tokens),
            is_exempt,
            repeats: None,
        })
        .collect()
}

impl Candidate {
    fn is_result(&self) -> bool {
        matches!(self.block.kind, BlockKind::ToolResult(_))
    }
}

/// What clearing comes to, for each candidate that `goes` and frees something.
///
/// An original takes its duplicates along, for they would show its text again;
/// where one of them has to stay, it stays as well.
fn pieces<'a>(
    bench: &'a Bench<'_>,
    rules: &'a MicroClear,
    candidates: &'a [Candidate],
    goes: impl Fn(&Candidate) -> bool + 'a,
) -> impl Iterator<Item = Piece> + 'a {
    let mut followers: BTreeMap<(Seq, u32), Vec<&Candidate>> = BTreeMap::new();
    for it in candidates {
        if let Some(original) = it.repeats {
            followers.entry(original).or_default().push(it);
        }
    }
    let leaders = candidates.iter().filter(|it| it.repeats.is_none());
    leaders.filter_map(move |it| {
        let at = (it.content.seq, it.content.block);
        let all: Vec<&Candidate> =
            std::iter::once(it).chain(followers.remove(&at).unwrap_or_default()).collect();
        if !all.iter().all(|it| !it.is_exempt && goes(it)) {
            return None;
        }
        let mut piece = Piece { cleared: Vec::new(), frees: 0, bytes: 0 };
        for it in all {
            let shown_as = placeholder(bench, rules, it)?;
            let tokens = i64::from(tokens::block(&compose::shown_as(&it.block, None, &shown_as)));
            piece.frees += it.tokens - tokens;
            if it.repeats.is_none() {
                let bytes = kind_bytes(&it.block.kind).saturating_sub(shown_as.len());
                piece.bytes += i64::try_from(bytes).unwrap_or(i64::MAX);
            }
            piece.cleared.push(Cleared { content: it.content, shown_as });
        }
        (piece.frees > 0).then_some(piece)
    })
}

/// What is shown instead; `None` where the piece is too short to bother.
fn placeholder(bench: &Bench<'_>, rules: &MicroClear, it: &Candidate) -> Option<String> {
    let (seq, block) = (it.content.seq, it.content.block);
    match &it.block.kind {
        BlockKind::ToolResult(result) => {
            // A duplicate's own text is its marker; its original's counts.
            let chars = result_chars(result);
            if it.repeats.is_none() && chars <= rules.min_chars && !has_image(&result.output) {
                return None;
            }
            // The sizes are those of what the placeholder stands for and points
            // at: the stored result, not what an earlier stage left of it.
            let stored = bench.stored_result(seq, block);
            let stored = stored.unwrap_or(result);
            let values: [(&str, &dyn std::fmt::Display); 5] = [
                ("bytes", &result_bytes(stored)),
                ("chars", &result_chars(stored)),
                ("seq", &seq),
                ("block", &block),
                ("tool", &it.tool),
            ];
            Some(text::fill(&rules.placeholder, &values))
        }
        BlockKind::Image(image) => {
            strip_images::describe(&bench.facts.policy.strip_images.marker, image, seq, block)
        }
        _ => None,
    }
}

fn is_selected(rules: &MicroClear, tool: &str) -> bool {
    (rules.tools.is_empty() || tools::selects(&rules.tools, tool))
        && !tools::selects(&rules.exclude_tools, tool)
}

fn has_image(output: &[ToolOutput]) -> bool {
    output.iter().any(|part| matches!(part, ToolOutput::Image(_)))
}
