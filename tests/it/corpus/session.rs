//! Sessions as a play makes them, through the use cases.

use concertina::{
    model::{Message, Revision, WireFormat},
    service::{
        AppendTurn, ContextInput, ContextItemInput, CreateSession, Ctx, ModelInput, append_turn,
        create_session, set_context_item,
    },
};

use super::read::Conversation;

/// One that is never reduced.
pub(crate) const NEVER: &str = "never";

/// Creates a session with a conversation's items, and no message.
pub(crate) async fn create(
    ctx: &Ctx,
    id: &str,
    conversation: &Conversation,
    preset: &str,
    window: i64,
) {
    let input = CreateSession {
        session_id: id.into(),
        preset: preset.into(),
        model: ModelInput { context_window: window, ..ModelInput::default() },
        ..CreateSession::default()
    };
    create_session(ctx, input).await.unwrap();
    for item in &conversation.items {
        let input = ContextItemInput {
            name: item.name.clone(),
            placement: Some(item.placement),
            content: item.content.clone(),
            format: item.format,
            view: String::new(),
        };
        set_context_item(ctx, id, input, String::new()).await.unwrap();
    }
}

/// Appends messages; the revision afterwards.
pub(crate) async fn say(ctx: &Ctx, id: &str, messages: Vec<Message>) -> Revision {
    let input = AppendTurn { session_id: id.into(), messages, ..AppendTurn::default() };
    append_turn(ctx, input).await.unwrap().revision
}

/// Asks for a context in a format.
pub(crate) fn asking(id: &str, format: WireFormat) -> ContextInput {
    ContextInput { session_id: id.into(), format: Some(format), ..ContextInput::default() }
}
