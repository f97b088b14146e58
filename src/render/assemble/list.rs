//! OpenAI, both formats: a flat list, where nothing is merged.

use bytes::Bytes;

use super::{Part, Rendered, START, ends_with_assistant, starts_with_assistant};
use crate::{
    model::WireFormat,
    render::{
        chat,
        items::Items,
        json,
        piece::{Origin, Piece, Repair, Speaker},
        responses,
        text::is_blank,
    },
};

pub(super) fn messages(parts: &[Part<'_>], items: &Items, format: WireFormat) -> Rendered {
    let mut repairs = Vec::new();
    let mut pieces = place(parts, items, format, &mut repairs);
    remind(&mut pieces, items, format);
    let speakers = pieces.iter().map(|it| (it.speaker, &it.origin));
    repairs.extend(ends_with_assistant(speakers));
    let mut rendered = Rendered {
        tools_json: Bytes::from(items.tools_json()),
        repairs,
        messages: Vec::with_capacity(pieces.len() + 1),
        origins: Vec::with_capacity(pieces.len() + 1),
        ..Rendered::default()
    };
    let mut system = Vec::new();
    if format == WireFormat::OpenAiChat {
        system.extend(items.system.iter().map(|text| {
            chat::server_message("system", Speaker::System, &[text], Origin::synthetic())
        }));
    } else {
        rendered.system_json = instructions(items);
    }
    for piece in system.into_iter().chain(pieces) {
        rendered.messages.push(piece.json);
        rendered.origins.push(piece.origin);
    }
    rendered
}

/// All pieces in order, with what has to stand before them.
fn place(
    parts: &[Part<'_>],
    items: &Items,
    format: WireFormat,
    repairs: &mut Vec<Repair>,
) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(parts.len() * 3 + 2);
    let mut first_part_end = 0;
    for part in parts {
        match part {
            Part::Round(round) => pieces.extend(round.pieces.iter().cloned()),
            Part::Notice(notice) if is_blank(&notice.text) => {}
            Part::Notice(notice) => {
                let overlay = Some(notice.overlay.clone());
                let origin = Origin { overlay, ..Origin::default() };
                pieces.push(user_message(&[&notice.text], origin, format));
            }
        }
        if first_part_end == 0 {
            first_part_end = pieces.len();
        }
    }
    let context = items.user_context();
    if !context.is_empty() {
        // A provider's own compaction has to come first.
        let is_compaction = pieces.first().is_some_and(|piece| piece.is_compaction);
        let at = if is_compaction { first_part_end } else { 0 };
        pieces.insert(at, user_message(&context, Origin::synthetic(), format));
        return pieces;
    }
    let first = pieces.iter().position(|piece| piece.speaker != Speaker::System);
    if let Some((at, piece)) = first.and_then(|at| Some((at, pieces.get(at)?)))
        && piece.speaker != Speaker::User
        && !piece.is_compaction
    {
        repairs.push(starts_with_assistant(piece.origin.last_seq()));
        // After instructions that stand there already: they keep their place.
        pieces.insert(at, user_message(&[START], Origin::synthetic(), format));
    }
    pieces
}

/// Reminders come after the last words of the user or a tool, so that a history
/// which ends with the assistant still does.
fn remind(pieces: &mut Vec<Piece>, items: &Items, format: WireFormat) {
    let reminders = items.reminders();
    if reminders.is_empty() {
        return;
    }
    let is_input = |piece: &Piece| matches!(piece.speaker, Speaker::User | Speaker::Tool);
    let at = pieces.iter().rposition(is_input).map_or(pieces.len(), |last| last + 1);
    pieces.insert(at, user_message(&reminders, Origin::synthetic(), format));
}

fn user_message(texts: &[&str], origin: Origin, format: WireFormat) -> Piece {
    match format {
        WireFormat::OpenAiResponses => responses::server_message(texts, origin),
        _ => chat::server_message("user", Speaker::User, texts, origin),
    }
}

/// The instructions, one string.
fn instructions(items: &Items) -> Bytes {
    if items.system.is_empty() {
        return Bytes::new();
    }
    let mut out = Vec::new();
    json::string(&mut out, &items.system.join("\n\n"));
    Bytes::from(out)
}
