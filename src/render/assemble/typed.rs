//! The contract's own messages: nothing is merged, nothing invented.

use super::{Part, Rendered, ends_with_assistant};
use crate::{
    model::Role,
    render::{
        items::Items,
        piece::{Origin, Speaker, TypedPiece},
        typed,
    },
};

/// There is no place beside the messages: system items stand first, as system
/// messages. Tools are left to who makes the request of them.
pub(super) fn messages(parts: &[Part<'_>], items: &Items) -> Rendered {
    let mut pieces = Vec::with_capacity(parts.len() * 2 + 4);
    for text in &items.system {
        pieces.push(typed::server_message(Role::System, &[text], Origin::synthetic()));
    }
    let context = items.user_context();
    if !context.is_empty() {
        pieces.push(typed::server_message(Role::User, &context, Origin::synthetic()));
    }
    for part in parts {
        match part {
            Part::Round(round) => pieces.extend(round.typed.iter().cloned()),
            Part::Notice(notice) => {
                let overlay = Some(notice.overlay.clone());
                let origin = Origin { overlay, ..Origin::default() };
                pieces.push(typed::server_message(Role::User, &[&notice.text], origin));
            }
        }
    }
    remind(&mut pieces, items);
    let speakers = pieces.iter().map(|it| (speaker(it), &it.origin));
    let repairs = ends_with_assistant(speakers).into_iter().collect();
    let (typed, origins) = pieces.into_iter().map(|it| (it.message, it.origin)).unzip();
    Rendered { typed, origins, repairs, ..Rendered::default() }
}

fn remind(pieces: &mut Vec<TypedPiece>, items: &Items) {
    let reminders = items.reminders();
    if reminders.is_empty() {
        return;
    }
    let is_user = |it: &TypedPiece| it.message.role == Role::User;
    let at = pieces.iter().rposition(is_user).map_or(pieces.len(), |last| last + 1);
    pieces.insert(at, typed::server_message(Role::User, &reminders, Origin::synthetic()));
}

fn speaker(piece: &TypedPiece) -> Speaker {
    match piece.message.role {
        Role::User => Speaker::User,
        Role::Assistant => Speaker::Assistant,
        Role::System => Speaker::System,
    }
}
