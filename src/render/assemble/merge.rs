//! Anthropic: neighbours of one role become one message.
//!
//! A later neighbour adds blocks and changes none, so each context is, block by
//! block, a prefix of the next.

use std::{borrow::Cow, ops::Range};

use bytes::Bytes;

use super::{
    Part, Rendered, START, ends_with_assistant,
    marks::{Marks, write_marked},
    starts_with_assistant,
};
use crate::{
    model::policy::CacheMark,
    render::{
        anthropic::{self, MessageWriter},
        items::Items,
        json::{self, Object},
        piece::{Origin, Piece, Repair, SpanKind, Speaker},
        text::is_blank,
    },
};

/// A piece in its place.
pub(super) struct Placed<'a> {
    pub(super) piece: Cow<'a, Piece>,
    pub(super) is_summary: bool,
}

/// Neighbours of one role.
pub(super) struct Group {
    pub(super) speaker: Speaker,
    pub(super) members: Range<usize>,
    /// False where signed thinking would not come first in the merged message.
    pub(super) keeps_thinking: bool,
}

pub(super) fn messages(parts: &[Part<'_>], items: &Items, marks: &[CacheMark]) -> Rendered {
    let mut repairs = Vec::new();
    let placed = place(parts, items, &mut repairs);
    let mut groups = group(&placed);
    let reminders = items.reminders();
    if !reminders.is_empty() && groups.iter().all(|group| group.speaker != Speaker::User) {
        let members = placed.len()..placed.len();
        groups.push(Group { speaker: Speaker::User, members, keeps_thinking: false });
    }
    let reminded = groups.iter().rposition(|group| group.speaker == Speaker::User);
    let marks = Marks::of(marks, &placed, &groups);
    let mut rendered = Rendered {
        system_json: Bytes::from(system(items, &marks)),
        tools_json: Bytes::from(marks.tools(items)),
        ..Rendered::default()
    };
    for (index, group) in groups.iter().enumerate() {
        let tail: &[&str] = if reminded == Some(index) { &reminders } else { &[] };
        let (json, origin) = message(group, &placed, &marks, tail);
        rendered.messages.push(json);
        rendered.origins.push(origin);
    }
    let speakers = groups.iter().zip(&rendered.origins).map(|(it, origin)| (it.speaker, origin));
    repairs.extend(ends_with_assistant(speakers));
    rendered.repairs = repairs;
    rendered
}

/// All pieces in order, with what has to stand before them.
fn place<'a>(parts: &[Part<'a>], items: &Items, repairs: &mut Vec<Repair>) -> Vec<Placed<'a>> {
    let mut placed = Vec::with_capacity(parts.len() * 2 + 1);
    let mut first_part_end = 0;
    for part in parts {
        match part {
            Part::Round(round) => placed.extend(
                round
                    .pieces
                    .iter()
                    .map(|piece| Placed { piece: Cow::Borrowed(piece), is_summary: false }),
            ),
            Part::Notice(notice) if is_blank(&notice.text) => {}
            Part::Notice(notice) => placed.push(Placed {
                piece: Cow::Owned(anthropic::notice(notice)),
                is_summary: notice.is_summary,
            }),
        }
        if first_part_end == 0 {
            first_part_end = placed.len();
        }
    }
    let first = placed.first().map(|it| &it.piece);
    let is_compaction = first.is_some_and(|piece| piece.is_compaction);
    let starts_late = first.filter(|it| it.speaker == Speaker::Assistant && !is_compaction);
    let opening = if !items.user_context.is_empty() {
        Some(anthropic::user_text(items.user_context(), Origin::synthetic()))
    } else if let Some(piece) = starts_late {
        repairs.push(starts_with_assistant(piece.origin.last_seq()));
        Some(anthropic::user_text([START], Origin::synthetic()))
    } else {
        None
    };
    if let Some(piece) = opening {
        // A provider's own compaction has to come first.
        let at = if is_compaction { first_part_end } else { 0 };
        placed.insert(at, Placed { piece: Cow::Owned(piece), is_summary: false });
    }
    placed
}

fn group(placed: &[Placed<'_>]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::with_capacity(placed.len());
    for (index, it) in placed.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if group.speaker == it.piece.speaker => group.members.end = index + 1,
            _ => groups.push(Group {
                speaker: it.piece.speaker,
                members: index..index + 1,
                keeps_thinking: it.piece.starts_with_thinking(),
            }),
        }
    }
    groups
}

fn message(
    group: &Group,
    placed: &[Placed<'_>],
    marks: &Marks,
    reminders: &[&str],
) -> (Bytes, Origin) {
    let members = placed.get(group.members.clone()).unwrap_or_default();
    let first = group.members.start;
    if let [only] = members
        && reminders.is_empty()
        && !marks.touch(first)
    {
        return (only.piece.json.clone(), only.piece.origin.clone());
    }
    let size: usize = members.iter().map(|it| it.piece.json.len()).sum();
    let mut writer = MessageWriter::with_capacity(group.speaker, size + 128);
    for (index, it) in members.iter().enumerate() {
        let marked = marks.block_of(first + index);
        copy_blocks(&mut writer, &it.piece, marked, group.keeps_thinking);
    }
    for text in reminders {
        writer.block(SpanKind::Fixed, |out| json::text_part(out, "text", text, b""));
    }
    let merged = writer.close(&tails(members), origin(members));
    (merged.json, merged.origin)
}

fn copy_blocks(writer: &mut MessageWriter, piece: &Piece, marked: Option<usize>, thinks: bool) {
    for (index, block) in piece.blocks.iter().enumerate() {
        if block.kind == SpanKind::Thinking && !thinks {
            continue;
        }
        let json = piece.json.get(block.at.clone()).unwrap_or_default();
        writer.block(block.kind, |out| {
            if marked == Some(index) {
                write_marked(out, json);
            } else {
                out.extend_from_slice(json);
            }
        });
    }
}

fn origin(members: &[Placed<'_>]) -> Origin {
    let mut members = members.iter();
    let Some(first) = members.next() else { return Origin::synthetic() };
    let mut origin = first.piece.origin.clone();
    for it in members {
        origin.absorb(&it.piece.origin);
    }
    origin
}

/// What the pieces have besides role and content, as one object; of a key that
/// repeats, the first.
fn tails(members: &[Placed<'_>]) -> Vec<u8> {
    let mut all = Vec::new();
    for tail in members.iter().map(|it| tail(&it.piece)).filter(|it| !it.is_empty()) {
        let mut object = vec![b'{'];
        object.extend_from_slice(tail);
        object.push(b'}');
        let mut both = Vec::new();
        let mut writer = Object::open(&mut both);
        writer.extras_of_both(&all, &object, |_| true);
        writer.close();
        all = both;
    }
    all
}

/// The members after the list of blocks.
fn tail(piece: &Piece) -> &[u8] {
    let end = piece.blocks.last().map_or(piece.json.len(), |block| block.at.end);
    let rest = piece.json.get(end..).unwrap_or_default();
    rest.strip_prefix(b"],").and_then(|rest| rest.strip_suffix(b"}")).unwrap_or_default()
}

fn system(items: &Items, marks: &Marks) -> Vec<u8> {
    let mut out = Vec::new();
    let last = items.system.len().saturating_sub(1);
    if !items.system.is_empty() {
        json::list(&mut out, items.system.iter().enumerate(), |out, (index, text)| {
            let mut block = Vec::with_capacity(text.len() + 32);
            json::text_part(&mut block, "text", text, b"");
            if marks.on_system && index == last {
                write_marked(out, &block);
            } else {
                out.extend_from_slice(&block);
            }
        });
    }
    out
}
