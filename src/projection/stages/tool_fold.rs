//! `tool_fold`: the result of a completed call as one line of what it came to,
//! where later work already used it.
//!
//! May drop: what a result says, where a later call changed the file that was
//! read, read it again, ran or searched the same again, or opened what was
//! found. Keeps: the call, whether it failed, where the whole text can be read;
//! the newest turns as `collapse` keeps them, what the model has not seen yet,
//! and what is protected.

mod later;
mod line;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use self::later::Later;
use crate::{
    model::{
        Block, BlockKind, Cause, Cleared, ContentRef, Seq, StageKind, ToolOutput, ToolResult,
        shown::Answer,
    },
    policies::tools::{self, Access, Action},
    projection::{
        bench::{Bench, Proposal, Reduction},
        compose,
        protect::protected,
    },
    rounds::CallKey,
    tokens,
};

/// An act frees at least this part of what lies between the marks: each costs
/// the provider's cache once, and lines come one at a time.
const LEAST_PART: i64 = 4;

/// A shown call whose tool says what it does, and its result.
struct Done {
    action: Action,
    call: Seq,
    /// Message and block of the result.
    at: (Seq, u32),
    /// As it is shown.
    block: Arc<Block>,
    tokens: i64,
    outcome: Outcome,
    /// True where it has to stay as it is.
    is_exempt: bool,
    /// True where it shows less than it came to.
    is_reduced: bool,
    /// The result that it is shown as a duplicate of.
    repeats: Option<(Seq, u32)>,
}

/// What a result says of the call's success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Outcome {
    is_failed: bool,
    /// The command's exit code, where the result tells it.
    exit_code: Option<i64>,
}

/// A result that becomes a line, with the duplicates that would show its text
/// again if it went alone.
struct Piece {
    cleared: Vec<Cleared>,
    /// Tokens that it frees.
    frees: i64,
}

pub(crate) fn propose(bench: &Bench<'_>) -> Result<Proposal, &'static str> {
    let rules = &bench.facts.policy.tool_fold;
    let window = bench.facts.window;
    let basis = bench.facts.policy.window.basis;
    let start = window.at_ratio(basis, rules.start_ratio);
    let until = window.at_ratio(basis, rules.until_ratio);
    if bench.used() < start {
        return Err("below_threshold");
    }
    let done = done(bench);
    let later = Later::of(&done);
    let mut messages = bench.composed.tokens;
    let mut cleared = Vec::new();
    for piece in pieces(bench, &done, &later) {
        if window.used(messages) <= until {
            break;
        }
        messages -= piece.frees;
        cleared.extend(piece.cleared);
    }
    if cleared.is_empty() {
        return Err("nothing_to_fold");
    }
    if bench.used() - window.used(messages) < (start - until) / LEAST_PART {
        return Err("frees_too_little");
    }
    let reduction = Reduction::Clear(cleared);
    Ok(Proposal { stage: StageKind::ToolFold, cause: Cause::Pressure, reduction })
}

/// The shown calls that were answered, in shown order.
fn done(bench: &Bench<'_>) -> Vec<Done> {
    let protected = protected(bench).all();
    let keep_turns = bench.facts.policy.collapse.keep_turns.max(1);
    let newest_turns = bench.newest_turns(keep_turns);
    let reduced: BTreeSet<(Seq, u32)> = bench
        .in_force
        .iter()
        .flat_map(|it| &it.cleared)
        .map(|it| (it.content.seq, it.content.block))
        .collect();
    let repeats: BTreeMap<(Seq, u32), (Seq, u32)> =
        bench.composed.repeats.iter().copied().collect();
    // What each lane opened last: some tools work on that.
    let mut opened: HashMap<&str, String> = HashMap::new();
    let mut out = Vec::new();
    for (position, round) in bench.placed_rounds() {
        let is_kept = position >= newest_turns || protected.contains(&round.id);
        for call in &round.calls {
            let key = CallKey { seq: call.seq, block: call.block };
            let Some((tool, input)) = bench.lens.history.call(key) else { continue };
            let open = opened.get(round.lane.as_ref()).map(String::as_str);
            let Some(action) = tools::action_of(tool, input, open) else { continue };
            if let [file] = action.files.as_slice() {
                opened.insert(&round.lane, file.path.clone());
            }
            let Answer::Result { seq, index, block, tokens, .. } = &call.answer else {
                continue;
            };
            let at = (*seq, *index);
            let Some(stored) = bench.stored_result(at.0, at.1) else { continue };
            let is_cleared = reduced.contains(&at);
            let is_cut = bench.lens.sight.seen(at.0, at.1).is_some();
            out.push(Done {
                outcome: line::outcome(&action, stored),
                action,
                call: call.seq,
                at,
                block: Arc::clone(block),
                tokens: i64::from(*tokens),
                is_exempt: is_kept
                    || is_cleared
                    || has_opaque(stored)
                    || bench.lens.history.is_unseen(&round.lane, at.0),
                is_reduced: is_cleared || is_cut,
                repeats: repeats.get(&at).copied(),
            });
        }
    }
    out
}

fn has_opaque(result: &ToolResult) -> bool {
    result.output.iter().any(|part| matches!(part, ToolOutput::Opaque(_)))
}

/// What becomes a line, oldest first.
///
/// An original takes its duplicates along, for they would show its text again;
/// where one of them has to stay, it stays as well.
fn pieces<'a>(
    bench: &'a Bench<'_>,
    done: &'a [Done],
    later: &'a Later<'_>,
) -> impl Iterator<Item = Piece> + 'a {
    let mut followers: HashMap<(Seq, u32), Vec<&Done>> = HashMap::new();
    let mut repeats_of: BTreeMap<(Seq, u32), usize> = BTreeMap::new();
    for (_, original) in &bench.composed.repeats {
        *repeats_of.entry(*original).or_default() += 1;
    }
    for it in done {
        if let Some(original) = it.repeats {
            followers.entry(original).or_default().push(it);
        }
    }
    done.iter().filter(|it| it.repeats.is_none()).filter_map(move |it| {
        let repeats = followers.remove(&it.at).unwrap_or_default();
        // One that is not among them shows its text again.
        let is_all = repeats.len() == repeats_of.get(&it.at).copied().unwrap_or(0);
        let mut piece = Piece { cleared: Vec::new(), frees: 0 };
        let mut shown = 0;
        for it in std::iter::once(it).chain(repeats).take_while(|_| is_all) {
            let cleared = fold(bench, it, later)?;
            let block = compose::shown_as(&it.block, None, &cleared.shown_as);
            shown += it.tokens;
            piece.frees += it.tokens - i64::from(tokens::block(&block));
            piece.cleared.push(cleared);
        }
        // What frees less than half is worth more as it is.
        (piece.frees > 0 && piece.frees * 2 >= shown).then_some(piece)
    })
}

/// The line of a result, where later work used it.
fn fold(bench: &Bench<'_>, it: &Done, later: &Later<'_>) -> Option<Cleared> {
    if it.is_exempt {
        return None;
    }
    let used = later.use_of(it)?;
    let stored = bench.stored_result(it.at.0, it.at.1)?;
    let content = ContentRef { seq: it.at.0, block: it.at.1, output: None };
    Some(Cleared { content, shown_as: line::line(it, stored, &used) })
}

impl Done {
    /// The text of the result as it is shown.
    fn words(&self) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
        let output = match &self.block.kind {
            BlockKind::ToolResult(result) => result.output.as_slice(),
            _ => &[],
        };
        output.iter().filter_map(|part| match part {
            ToolOutput::Text(text) => Some(String::from_utf8_lossy(text)),
            _ => None,
        })
    }

    /// Says whether all that it does to files is reading them.
    fn is_reading(&self) -> bool {
        self.action.files.iter().all(|file| matches!(file.access, Access::Read(_)))
    }
}
