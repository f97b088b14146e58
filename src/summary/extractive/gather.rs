//! From rows to facts: one walk over the material.

use std::collections::BTreeSet;

use super::{
    At, Draft,
    acts::{Acts, Done},
    earlier,
    facts::{Facts, Kind, Remark, Request, Source, Statement},
    inline, outcome, prose,
    requests::{self, Weight},
    todos,
};
use crate::{
    model::{BlockKind, Role, Row, Seq, ToolResult, ToolUse},
    summary::{
        Material, MaterialRound,
        text::{flat, has, head},
    },
};

/// Longest text of a statement that is kept, in bytes.
const MOST_STATEMENT: usize = 12 << 10;
/// So few words are not understood alone.
const FEW_WORDS: usize = 4;

/// The facts of the material; `wishes` are words, in lower case, that the
/// caller asked to keep.
pub(super) fn facts(material: &Material, wishes: &[String]) -> Facts {
    let mut walk = Walk::new(wishes);
    let mut earlier: Vec<_> = material.earlier.iter().collect();
    let place = |it: &crate::summary::EarlierSummary| {
        it.covered.first().map_or(Seq(0), |range| range.first)
    };
    earlier.sort_by_key(|it| place(it));
    let mut earlier = earlier.into_iter().peekable();
    for round in &material.rounds {
        while let Some(summary) = earlier.next_if(|it| place(it) < round.id) {
            walk.earlier(&summary.text, place(summary));
        }
        walk.round(round);
    }
    for summary in earlier {
        walk.earlier(&summary.text, place(summary));
    }
    walk.draft.finish()
}

struct Walk<'a> {
    draft: Draft,
    acts: Acts,
    wishes: &'a [String],
    seen: BTreeSet<Seq>,
    /// A call that stands in an assistant's text and is not answered yet, and
    /// what was said with it.
    inline: Option<(inline::InlineCall, String)>,
    /// The question that an assistant asked last.
    asked: String,
}

impl<'a> Walk<'a> {
    fn new(wishes: &'a [String]) -> Self {
        Self {
            draft: Draft::default(),
            acts: Acts::default(),
            wishes,
            seen: BTreeSet::new(),
            inline: None,
            asked: String::new(),
        }
    }

    fn earlier(&mut self, text: &str, seq: Seq) {
        let turn = self.draft.facts.turns.map_or(0, |(_, last)| last);
        earlier::read(text, At { turn, seq: seq.0 }, Source::Summary, &mut self.draft);
    }

    fn round(&mut self, round: &MaterialRound) {
        self.draft.turn(round.turn);
        for row in &round.rows {
            // A row that answers calls of several rounds comes with each.
            if !self.seen.insert(row.seq) {
                continue;
            }
            self.draft.facts.messages += 1;
            let at = At { turn: round.turn, seq: row.seq.0 };
            match row.message.role {
                Role::Assistant => self.assistant(round, row, at),
                Role::User | Role::System => self.user(row, at),
            }
        }
    }

    fn user(&mut self, row: &Row, at: At) {
        for block in &row.message.blocks {
            match &block.kind {
                BlockKind::Text(text) => self.said(&text.text, row.message.role, at),
                BlockKind::ToolResult(result) => self.acts.note_open_file(result),
                _ => {}
            }
        }
    }

    fn said(&mut self, text: &str, role: Role, at: At) {
        if requests::is_observation(text)
            && let Some((call, why)) = self.inline.take()
        {
            let done = Done { tool: &call.tool, input_json: &call.input_json, at, why: &why };
            self.acts.done(&done, &outcome::Told::of_text(text), &mut self.draft);
            return;
        }
        let is_own_summary = requests::is_own_summary(text);
        if is_own_summary {
            earlier::read(text, at, Source::Retold, &mut self.draft);
        }
        let Some(said) = requests::said(text) else { return };
        let is_program = said.weight == Weight::Program || role == Role::System || is_own_summary;
        let is_short = said.text.split_whitespace().nth(FEW_WORDS).is_none();
        let asked = if is_short && !is_program { self.asked.clone() } else { String::new() };
        let source = if is_program { Source::Program } else { Source::Words };
        if !is_program {
            self.remarks(text, at, Speaker::User);
        }
        let text = if is_program { head(&said.text, 100) } else { said.text };
        self.draft.request(Request { at, text, times: 1, asked, source });
    }

    fn assistant(&mut self, round: &MaterialRound, row: &Row, at: At) {
        let mut before = "";
        let mut has_calls = false;
        for (index, block) in row.message.blocks.iter().enumerate() {
            match &block.kind {
                BlockKind::Text(text) if !text.text.trim().is_empty() => {
                    before = &text.text;
                    self.remarks(before, at, Speaker::Assistant);
                }
                BlockKind::ToolUse(call) => {
                    has_calls = true;
                    let why = prose::first(before);
                    let answer = answer(round, row.seq, index, call);
                    let done =
                        Done { tool: &call.name, input_json: &call.input_json, at, why: &why };
                    let told = answer.map_or_else(outcome::Told::nothing, outcome::Told::of_result);
                    self.acts.done(&done, &told, &mut self.draft);
                    self.person(&told, at);
                }
                _ => {}
            }
        }
        self.concluded(before, has_calls, at);
    }

    /// What an assistant said last in its message.
    fn concluded(&mut self, said: &str, has_calls: bool, at: At) {
        if said.is_empty() {
            return;
        }
        self.inline = None;
        if !has_calls {
            self.inline = inline::call(said).map(|call| (call, prose::first(said)));
        }
        let list = todos::boxes(said);
        if list.len() > 1 {
            self.draft.todos(list, at);
        }
        let is_end = !has_calls && self.inline.is_none();
        self.asked = prose::last_question(said).unwrap_or_default();
        let text = flat(&prose::gist(said), MOST_STATEMENT);
        if !text.is_empty() {
            self.draft.facts.statements.insert(at.turn, Statement { at, text, is_end });
        }
    }

    /// Words of a person who declined a call.
    fn person(&mut self, told: &outcome::Told, at: At) {
        let Some(words) = told.declined_with() else { return };
        let text = flat(words, MOST_STATEMENT);
        self.remarks(words, at, Speaker::User);
        let asked = String::new();
        self.draft.request(Request { at, text, times: 1, asked, source: Source::Words });
    }

    fn remarks(&mut self, text: &str, at: At, speaker: Speaker) {
        for sentence in prose::sentences(text) {
            let lower = sentence.to_lowercase().replace('’', "'");
            let kinds = [
                (Kind::Decision, prose::decision(&lower)),
                (Kind::Constraint, speaker.weigh(Speaker::User, prose::constraint(&lower))),
                (Kind::Finding, speaker.weigh(Speaker::Assistant, prose::finding(&lower))),
                (Kind::Wished, u32::from(self.wishes.iter().any(|it| has(&lower, it))) * 6),
            ];
            let best = kinds.into_iter().max_by_key(|(kind, weight)| (*weight, *kind));
            if let Some((kind, weight)) = best.filter(|(_, weight)| *weight > 0) {
                self.draft.remark(Remark { at, kind, weight, text: head(&sentence, 320) });
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Assistant,
}

impl Speaker {
    /// A weight that only this speaker's words have.
    fn weigh(self, of: Self, weight: u32) -> u32 {
        if self == of { weight } else { 0 }
    }
}

/// The answer to a call: as the material pairs them; where it does not name the
/// call at all, the first result in the round that bears its id.
fn answer<'a>(
    round: &'a MaterialRound,
    seq: Seq,
    block: usize,
    call: &ToolUse,
) -> Option<&'a ToolResult> {
    let named = round.calls.iter().find(|it| {
        it.call.0 == seq && usize::try_from(it.call.1).is_ok_and(|index| index == block)
    });
    if let Some(named) = named {
        let (seq, block) = named.answer?;
        let row = round.rows.iter().find(|row| row.seq == seq)?;
        return match &row.message.blocks.get(usize::try_from(block).ok()?)?.kind {
            BlockKind::ToolResult(result) => Some(result),
            _ => None,
        };
    }
    let blocks = round.rows.iter().flat_map(|row| &row.message.blocks);
    blocks
        .filter_map(|block| match &block.kind {
            BlockKind::ToolResult(result) => Some(result),
            _ => None,
        })
        .find(|result| result.tool_use_id == call.id)
}
