//! From facts to pieces of a summary: each in several lengths, each length with
//! a rank that says what goes before it when there is too little room.

use super::{
    At,
    earlier::Carried,
    facts::{Facts, Kind, Remark, Request, Source, Statement},
    paths, ran, rank,
};
use crate::summary::{
    layout::Part,
    text::{head, shorten},
};

/// Said of a turn whose end the range does not hold: it follows the summary.
pub(super) const GOES_ON: &str = "goes on below";

/// A form of a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Form {
    /// How early it gets its room.
    pub rank: u16,
    /// The words, on one line.
    pub text: String,
}

/// A piece of a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// What it is about.
    pub part: Part,
    /// Where it stands.
    pub at: At,
    /// Among those of one rank, the largest goes first.
    pub tie: i64,
    /// From the shortest to the longest, ranks rising.
    pub forms: Vec<Form>,
}

impl Item {
    /// A piece; forms that say no more than the one before are left out.
    pub(super) fn new(
        part: Part,
        at: At,
        tie: i64,
        forms: impl IntoIterator<Item = (u16, String)>,
    ) -> Self {
        let mut item = Self { part, at, tie, forms: Vec::new() };
        for (rank, text) in forms {
            if item.forms.last().is_none_or(|it| it.text != text) {
                item.forms.push(Form { rank, text });
            }
        }
        item
    }
}

/// The pieces of a summary that has room for `room` tokens. `wishes` are words,
/// in lower case, whose pieces go before others.
pub(super) fn items(facts: &Facts, room: i64, wishes: &[String]) -> Vec<Item> {
    let mut out = Vec::new();
    let shortest = shortest_request(&facts.requests, room);
    requests(&facts.requests, shortest, &mut out);
    paths::items(&facts.files, room_for_paths(facts, room, shortest), &mut out);
    facts.commands.iter().for_each(|it| out.push(ran::command(it)));
    facts.failures.iter().for_each(|it| out.push(ran::failure(it)));
    todos(facts, &mut out);
    statements(facts, &mut out);
    let newest = facts.statements.values().max_by_key(|it| it.at);
    let is_told = |it: &&Remark| newest.is_none_or(|newest| !newest.text.starts_with(&it.text));
    facts.remarks.iter().filter(is_told).for_each(|it| out.extend(remark(it)));
    facts.others.iter().for_each(|it| out.push(ran::other(it)));
    facts.carried.iter().for_each(|it| out.push(carried(it)));
    for item in &mut out {
        let is_wished = item.forms.last().is_some_and(|it| {
            let lower = it.text.to_lowercase();
            wishes.iter().any(|wish| lower.contains(wish.as_str()))
        });
        if is_wished {
            item.forms.iter_mut().for_each(|it| it.rank = it.rank.saturating_sub(24).max(7));
        }
    }
    out
}

/// What is quoted holds no quote, so that it can be read back.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "'"))
}

/// Characters of the shortest form of a request: all of them together shall
/// take less than half of the room, at four characters a token.
fn shortest_request(requests: &[Request], room: i64) -> usize {
    let words = requests.iter().filter(|it| it.source <= Source::Summary).count();
    let share = usize::try_from(room.max(0)).unwrap_or(0).saturating_mul(4) * 2 / 5;
    (share / words.max(1)).clamp(24, 72)
}

/// Tokens that paths may take, so that what matters as much finds its room.
fn room_for_paths(facts: &Facts, room: i64, shortest: usize) -> i64 {
    let count = |it: usize| i64::try_from(it).unwrap_or(i64::MAX / 64);
    let requests = facts.requests.iter().filter(|it| it.source <= Source::Summary).count();
    let failures = facts.commands.iter().filter(|it| it.failures > 0).count();
    let todos = facts.todos.iter().filter(|it| it.status.is_open()).count();
    let others = count(requests) * (count(shortest) / 4 + 4) + count(failures + todos) * 13 + 60;
    (room - others).clamp(room / 4, room.max(0) * 6 / 10)
}

fn requests(requests: &[Request], shortest: usize, out: &mut Vec<Item>) {
    let newest = requests.iter().rposition(|it| it.source == Source::Words);
    for (index, request) in requests.iter().enumerate() {
        out.push(self::request(request, shortest, newest == Some(index)));
    }
}

fn request(request: &Request, shortest: usize, is_newest: bool) -> Item {
    let times = if request.times > 1 { format!(" ({}×)", request.times) } else { String::new() };
    let form = |most: usize| format!("{}{times}", quoted(&shorten(&request.text, most)));
    let (part, at, tie) = (Part::Request, request.at, request.at.seq);
    if request.is_program() {
        let forms = [(rank::PROGRAM, form(48)), (rank::FULL, form(100))];
        return Item::new(part, at, tie, forms);
    }
    let first = match request.source {
        Source::Words if is_newest => rank::NEWEST_REQUEST,
        Source::Words => rank::REQUEST,
        Source::Summary => rank::REQUEST + 1,
        Source::Retold | Source::Program => rank::CARRIED,
    };
    let mut forms = vec![
        (first, form(shortest)),
        (rank::LONGER_REQUEST, form(140)),
        (rank::OUTCOME + 2, form(320)),
        (rank::REST + 2, form(900)),
        (rank::FULL, form(3000)),
        (rank::FULL + 4, form(12_000)),
    ];
    if !request.asked.is_empty() {
        let asked = head(&request.asked, 120);
        forms.push((rank::OUTCOME, format!("{} (asked: {asked})", form(140))));
    }
    forms.sort_by_key(|it| it.0);
    for form in &mut forms {
        form.0 = form.0.max(first);
    }
    Item::new(part, at, tie, forms)
}

fn todos(facts: &Facts, out: &mut Vec<Item>) {
    let at = facts.todos_at;
    let mut done = Vec::new();
    for (index, todo) in facts.todos.iter().enumerate() {
        if !todo.status.is_open() {
            done.push(head(&todo.text, 60));
            continue;
        }
        // Its order is the list's.
        let place = i64::try_from(index).unwrap_or(i64::MAX);
        let mark = if todo.status == super::todos::Status::InProgress { "[~]" } else { "[ ]" };
        let forms = [
            (rank::TODO, format!("{mark} {}", head(&todo.text, 64))),
            (rank::OUTCOME, format!("{mark} {}", todo.text)),
        ];
        let at = At { turn: at.turn, seq: at.seq.saturating_add(place) };
        out.push(Item::new(Part::Todo, at, -place, forms));
    }
    if !done.is_empty() {
        let count = done.len();
        let forms = [
            (rank::ROUND_OFF, format!("{count} of {} planned steps done", facts.todos.len())),
            (rank::FULL, format!("done: {}", done.join(", "))),
        ];
        out.push(Item::new(Part::Activity, at, 0, forms));
    }
}

fn statements(facts: &Facts, out: &mut Vec<Item>) {
    let newest = facts.statements.values().map(|it| it.at).max();
    for statement in facts.statements.values() {
        out.push(self::statement(statement, newest == Some(statement.at)));
    }
    let last = newest.and_then(|at| facts.statements.get(&at.turn));
    let asked_last = facts.requests.iter().filter(|it| !it.is_program()).map(|it| it.at).max();
    let is_open = match (last, asked_last) {
        (Some(last), Some(asked)) => !last.is_end || last.at < asked,
        (None, asked) => asked.is_some(),
        (Some(last), None) => !last.is_end,
    };
    let has_todos = facts.todos.iter().any(|it| it.status.is_open());
    if is_open && !has_todos {
        let at = last.map(|it| it.at).max(asked_last).unwrap_or_default();
        let text = match facts.turns {
            Some((_, last)) if asked_last.is_some() => format!("turn {} {GOES_ON}", last.max(1)),
            _ => format!("the work {GOES_ON}"),
        };
        out.push(Item::new(Part::Todo, at, 0, [(rank::LONGER_REQUEST, text)]));
    }
}

fn statement(statement: &Statement, is_newest: bool) -> Item {
    let (at, tie, text) = (statement.at, statement.at.seq, &statement.text);
    if is_newest {
        let forms = [
            (rank::STATE, head(text, 90)),
            (rank::LONGER_STATE, head(text, 260)),
            (rank::ROUND_OFF, head(text, 700)),
            (rank::FULL, head(text, 3000)),
        ];
        return Item::new(Part::State, at, tie, forms);
    }
    // What is said before a call tells less than what is said at the end.
    let later = if statement.is_end { 0 } else { 10 };
    let form = |most: usize| format!("→ {}", head(text, most));
    let forms = [
        (rank::OUTCOME + later, form(70)),
        (rank::ROUND_OFF + later, form(200)),
        (rank::FULL + later, form(700)),
        (rank::FULL + later + 4, form(3000)),
    ];
    Item::new(Part::Outcome, at, tie, forms)
}

fn remark(remark: &Remark) -> Option<Item> {
    let weight = u16::try_from(remark.weight.min(8)).unwrap_or(8);
    let (part, first) = match remark.kind {
        Kind::Decision => {
            (Part::Decision, if weight >= 3 { rank::DECISION } else { rank::OUTCOME })
        }
        Kind::Constraint => (Part::Constraint, rank::CONSTRAINT + 8 - weight),
        Kind::Finding => (Part::Finding, rank::FINDING + 8 - weight),
        Kind::Wished => (Part::Finding, rank::DECISION),
    };
    let tie = i64::from(remark.weight).saturating_mul(1 << 40).saturating_add(remark.at.seq);
    let forms = [(first, shorten(&remark.text, 110)), (rank::ROUND_OFF, remark.text.clone())];
    Some(Item::new(part, remark.at, tie, forms)).filter(|it| !it.forms.is_empty())
}

fn carried(carried: &Carried) -> Item {
    let first = match carried.part {
        Part::Failure => rank::TOOL_FAILED,
        Part::State | Part::Activity => rank::FINDING,
        _ => rank::CARRIED,
    };
    // What was where things stood is history now.
    let part = if carried.part == Part::State { Part::Outcome } else { carried.part };
    let forms = [(first, shorten(&carried.text, 120)), (rank::ROUND_OFF, carried.text.clone())];
    Item::new(part, carried.at, carried.at.seq, forms)
}
