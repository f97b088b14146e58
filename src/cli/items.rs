//! `concertina items`: what is put around the messages and never reduced.

use clap::{Subcommand, ValueEnum};

use super::{
    Out, Remote,
    args::{self, Format},
    json::ItemJson,
    names, text,
};
use crate::proto::v1::{self, context_item};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Lists the items in force.
    List {
        /// The session.
        session: String,
        /// Those that were in force at that revision.
        #[arg(long, value_name = "REVISION", visible_alias = "at")]
        at_revision: Option<i64>,
    },
    /// Sets or replaces one.
    Set {
        /// The session.
        session: String,
        /// The item's name; items of a placement stand in the order of their names.
        name: String,
        /// Its content, or @FILE; standard input where it is `-` or left out.
        content: Option<String>,
        /// Where it stands. What changes often (a date, a git status) is a reminder:
        /// in the system prompt it would cost the whole cache at each change.
        #[arg(long, value_enum, default_value_t = Placement::System)]
        placement: Placement,
        /// The shape of tool definitions.
        #[arg(long, value_enum)]
        format: Option<Format>,
        /// The view that shows it; left out: all of them.
        #[arg(long)]
        view: Option<String>,
    },
    /// Removes one.
    Remove {
        /// The session.
        session: String,
        /// The item's name.
        name: String,
        /// The view that shows it; left out: the one that all of them show.
        #[arg(long)]
        view: Option<String>,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Placement {
    /// In the system prompt.
    System,
    /// Tool definitions, a JSON array.
    Tools,
    /// Before the first user message.
    UserContext,
    /// Inside the last user message: for what changes often.
    Reminder,
}

impl Placement {
    fn wire(self) -> context_item::Placement {
        match self {
            Self::System => context_item::Placement::System,
            Self::Tools => context_item::Placement::Tools,
            Self::UserContext => context_item::Placement::UserContext,
            Self::Reminder => context_item::Placement::Reminder,
        }
    }
}

pub(super) async fn run(args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    match args.action {
        Action::List { session, at_revision } => list(session, at_revision, &mut remote, out).await,
        Action::Set { session, name, content, placement, format, view } => {
            let item = v1::ContextItem {
                name,
                placement: placement.wire().into(),
                content: args::argument_or_stdin(content.as_deref())?.into(),
                format: format.map_or(0, |format| format.wire().into()),
                view: view.unwrap_or_default(),
            };
            set(session, item, &mut remote, out).await
        }
        Action::Remove { session, name, view } => {
            remove(session, &name, view, &mut remote, out).await
        }
    }
}

async fn list(
    session_id: String,
    at_revision: Option<i64>,
    remote: &mut Remote,
    out: &mut Out,
) -> anyhow::Result<()> {
    let request = v1::ListContextItemsRequest { session_id, at_revision };
    let items = remote.list_context_items(request).await?.items;
    if out.is_json() {
        for item in &items {
            out.json(&ItemJson::new(item))?;
        }
        return Ok(());
    }
    if items.is_empty() {
        out.say("no context items");
        return Ok(());
    }
    out.line(text::table(
        ["name", "placement", "view", "#size", "*start"],
        items.iter().map(row).collect(),
    ))?;
    Ok(())
}

fn row(item: &v1::ContextItem) -> [String; 5] {
    let view = if item.view.is_empty() { "all".to_owned() } else { item.view.clone() };
    [
        item.name.clone(),
        names::placement(item.placement),
        view,
        text::bytes(u64::try_from(item.content.len()).unwrap_or(u64::MAX)),
        text::excerpt(&String::from_utf8_lossy(&item.content), 40),
    ]
}

async fn set(
    session_id: String,
    item: v1::ContextItem,
    remote: &mut Remote,
    out: &mut Out,
) -> anyhow::Result<()> {
    let request = v1::SetContextItemRequest { session_id, item: Some(item), author: String::new() };
    let revision = remote.set_context_item(request).await?.revision;
    if out.is_json() {
        out.json(&serde_json::json!({ "revision": revision }))?;
    } else {
        out.line(format!("revision {revision}"))?;
    }
    Ok(())
}

/// The API removes an item by setting it to nothing, at its own placement.
async fn remove(
    session_id: String,
    name: &str,
    view: Option<String>,
    remote: &mut Remote,
    out: &mut Out,
) -> anyhow::Result<()> {
    let view = view.unwrap_or_default();
    let listed = v1::ListContextItemsRequest { session_id: session_id.clone(), at_revision: None };
    let items = remote.list_context_items(listed).await?.items;
    let found = items.into_iter().find(|item| item.name == name && item.view == view);
    let Some(mut item) = found else {
        anyhow::bail!("session `{session_id}` has no context item `{name}`");
    };
    item.content.clear();
    set(session_id, item, remote, out).await
}
