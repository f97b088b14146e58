//! Where `cache_control` goes. Only here: marks that came in were left out.

use crate::{
    model::policy::CacheMark,
    render::{
        assemble::merge::{Group, Placed},
        items::Items,
        json,
        piece::SpanKind,
    },
};

const MARK: &[u8] = br#""cache_control":{"type":"ephemeral"}}"#;

/// The marks of one request, each kind at most once: four at most.
pub(super) struct Marks {
    pub(super) on_system: bool,
    on_tools: bool,
    /// Piece and block of the marks within messages.
    in_messages: Vec<(usize, usize)>,
}

impl Marks {
    pub(super) fn of(asked: &[CacheMark], placed: &[Placed<'_>], groups: &[Group]) -> Self {
        let summary = || {
            let index = placed.iter().rposition(|placed| placed.is_summary)?;
            Some((index, placed.get(index)?.piece.blocks.len().checked_sub(1)?))
        };
        let mut in_messages = Vec::new();
        if asked.contains(&CacheMark::LastSummary) {
            in_messages.extend(summary());
        }
        if asked.contains(&CacheMark::LastMessage) {
            in_messages
                .extend(last_markable(placed, groups).filter(|spot| !in_messages.contains(spot)));
        }
        Self {
            on_system: asked.contains(&CacheMark::System),
            on_tools: asked.contains(&CacheMark::Tools),
            in_messages,
        }
    }

    pub(super) fn touch(&self, piece: usize) -> bool {
        self.block_of(piece).is_some()
    }

    /// The block of this piece that bears a mark. A summary has one block, so
    /// no piece bears two.
    pub(super) fn block_of(&self, piece: usize) -> Option<usize> {
        self.in_messages.iter().find(|(at, _)| *at == piece).map(|(_, block)| *block)
    }

    /// The tools as a JSON list, the last one marked; nothing without tools.
    pub(super) fn tools(&self, items: &Items) -> Vec<u8> {
        let Some(last) = items.tools.len().checked_sub(1).filter(|_| self.on_tools) else {
            return items.tools_json();
        };
        let mut out = Vec::new();
        json::list(&mut out, items.tools.iter().enumerate(), |out, (index, tool)| {
            if index == last {
                write_marked(out, tool.trim_ascii());
            } else {
                out.extend_from_slice(tool);
            }
        });
        out
    }
}

/// The last block that may bear a mark, from the last message backwards.
fn last_markable(placed: &[Placed<'_>], groups: &[Group]) -> Option<(usize, usize)> {
    groups.iter().rev().flat_map(|group| group.members.clone().rev()).find_map(|at| {
        let blocks = &placed.get(at)?.piece.blocks;
        let block = blocks.iter().rposition(|block| block.kind == SpanKind::Markable)?;
        Some((at, block))
    })
}

/// Copies an object with a mark as its last member.
pub(super) fn write_marked(out: &mut Vec<u8>, object: &[u8]) {
    let Some(members) = object.strip_suffix(b"}") else {
        return out.extend_from_slice(object);
    };
    out.extend_from_slice(members);
    if !members.trim_ascii_end().ends_with(b"{") {
        out.push(b',');
    }
    out.extend_from_slice(MARK);
}
