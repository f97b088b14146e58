//! Sets what stands around the messages.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::value::RawValue;

use super::{Ctx, Error, Result, changes, fields::Fields, off_thread};
use crate::{
    model::{ContextItem, Placement, Revision, ViewName, WireFormat},
    store::{ItemAt, SetItem, Store},
    tokens,
};

/// A context item as a caller gives it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContextItemInput {
    /// Its name.
    pub name: String,
    /// Where it stands; `None` where the caller named nothing.
    pub placement: Option<Placement>,
    /// Text, or a JSON array of tool definitions; empty removes the item.
    pub content: Bytes,
    /// The shape of tool definitions.
    pub format: Option<WireFormat>,
    /// The view that shows it; empty: all.
    pub view: String,
}

/// Sets, replaces or (with empty content) removes a context item.
///
/// # Errors
///
/// [`Error::InvalidField`], [`Error::SessionNotFound`], [`Error::ViewNotFound`].
pub async fn set_context_item(
    ctx: &Ctx,
    session_id: &str,
    item: ContextItemInput,
    author: String,
) -> Result<Revision> {
    let mut fields = Fields::new();
    let session = fields.session("session_id", session_id);
    fields.name("author", &author);
    check(ctx, &item, &mut fields);
    fields.finish()?;
    let content = item.content.clone();
    let tokens = off_thread(content.len(), move || tokens::count_bytes(&content)).await?;
    let item = ContextItem {
        placement: item.placement.unwrap_or(Placement::System),
        format: item.format.filter(|_| item.placement == Some(Placement::Tools)),
        view: (!item.view.is_empty()).then(|| ViewName::new(&item.view)),
        name: item.name,
        content: item.content,
        tokens: i64::from(tokens),
    };
    if !item.content.is_empty() {
        let present = ctx.store.list_items(&session, ItemAt::Now).await?;
        check_room(ctx, &present, &item)?;
    }
    let set = SetItem { session: session.clone(), item, author, at: ctx.clock.now() };
    let work = |store: Arc<dyn Store>| async move { store.set_item(set).await };
    Ok(changes::write(ctx, &session, work, |revision| *revision).await?)
}

fn check(ctx: &Ctx, item: &ContextItemInput, fields: &mut Fields) {
    if item.name.is_empty() {
        fields.wrong("item.name", "expected a name, found nothing");
    }
    fields.name("item.name", &item.name);
    fields.text_bytes("item.content", item.content.len(), ctx.limits.context_item_bytes);
    if !item.view.is_empty() {
        fields.view("item.view", &item.view);
    }
    if item.content.is_empty() {
        return;
    }
    match item.placement {
        None => fields.wrong("item.placement", "expected a placement, found none"),
        Some(Placement::Tools) => check_tools(item, fields),
        Some(Placement::System | Placement::UserContext | Placement::Reminder) => {
            if std::str::from_utf8(&item.content).is_err() {
                fields.wrong("item.content", "expected UTF-8 text, found other bytes");
            }
        }
    }
}

fn check_tools(item: &ContextItemInput, fields: &mut Fields) {
    match item.format {
        None => fields.wrong("item.format", "expected the format of the tools, found none"),
        Some(WireFormat::Typed) => {
            fields.wrong("item.format", "expected a provider's format, found `TYPED`");
        }
        Some(_) => {}
    }
    let tools = serde_json::from_slice::<Vec<&RawValue>>(&item.content);
    let found = match tools {
        Ok(tools) if !tools.iter().all(|it| it.get().starts_with('{')) => {
            "other values in it".to_owned()
        }
        Ok(tools) => match tools.iter().position(|it| !has_name(it.get())) {
            None => return,
            Some(at) => format!("no name in tool {at}"),
        },
        Err(err) => err.to_string(),
    };
    fields.wrong("item.content", format!("expected a JSON array of objects, found {found}"));
}

/// Says whether a definition names its tool. A provider's own tools are known
/// by their type.
fn has_name(tool: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Tool {
        #[serde(rename = "type", default)]
        kind: Option<String>,
        #[serde(default)]
        name: Option<String>,
        #[serde(default)]
        function: Option<Function>,
    }
    #[derive(serde::Deserialize)]
    struct Function {
        #[serde(default)]
        name: Option<String>,
    }
    let Ok(tool) = serde_json::from_str::<Tool>(tool) else { return false };
    let is_own = tool.kind.is_some_and(|kind| kind != "function" && kind != "custom");
    let name = tool.name.or_else(|| tool.function.and_then(|it| it.name));
    is_own || name.is_some_and(|name| !name.trim().is_empty())
}

fn check_room(ctx: &Ctx, present: &[ContextItem], item: &ContextItem) -> Result<()> {
    let replaces = present.iter().any(|it| it.name == item.name && it.view == item.view);
    if replaces || present.len() < ctx.limits.context_items {
        return Ok(());
    }
    Err(Error::field(
        "item",
        format!("expected at most {} context items in a session", ctx.limits.context_items),
    ))
}
