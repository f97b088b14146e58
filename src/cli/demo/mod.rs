//! `concertina demo`: a recorded session, played into a server of its own.
//!
//! Everything goes over a real port, through the same client as the other
//! commands. [`script`] reads the recording, [`play`] plays it, [`show`] tells
//! what came of it, [`fold`] what can be done and undone by hand.

mod fold;
mod play;
mod script;
mod show;

use std::path::PathBuf;

use super::{
    Out, Remote,
    args::PolicyArgs,
    local::{DataDir, Local},
    text::thousands,
};
use crate::proto::v1;
use script::Line;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The context window to play it in, in tokens.
    #[arg(long, default_value_t = 16_000, value_parser = clap::value_parser!(i64).range(1_000..))]
    window: i64,
    #[command(flatten)]
    policy: PolicyArgs,
    /// Keep the database here instead of in a temporary directory.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

/// The session that is played.
struct DemoSession {
    id: String,
    /// The row of the last request, where everything is appended.
    newest_request: i64,
}

impl DemoSession {
    fn context_request(&self) -> v1::GetContextRequest {
        v1::GetContextRequest {
            session_id: self.id.clone(),
            format: v1::WireFormat::AnthropicMessages.into(),
            ..v1::GetContextRequest::default()
        }
    }

    fn append_request(&self, line: &Line, context_fingerprint: String) -> v1::AppendTurnRequest {
        let payload = v1::ProviderPayload {
            format: v1::WireFormat::AnthropicMessages.into(),
            json: line.json.clone(),
        };
        v1::AppendTurnRequest {
            session_id: self.id.clone(),
            payload: Some(payload),
            context_fingerprint,
            ..v1::AppendTurnRequest::default()
        }
    }
}

pub(super) async fn run(args: Args, out: &mut Out) -> anyhow::Result<()> {
    let data = DataDir::new(args.data.clone())?;
    let local = Local::start(data.path()).await?;
    let mut remote = Remote::connect(&local.address())?;
    let outcome = play_and_show(&args, &local, &mut remote, out).await;
    // Connections that stay open would make the server wait for them.
    drop(remote);
    local.stop().await?;
    outcome?;
    if !out.is_json() {
        out.line("")?;
        out.line(farewell(&args, out))?;
    }
    Ok(())
}

async fn play_and_show(
    args: &Args,
    local: &Local,
    remote: &mut Remote,
    out: &mut Out,
) -> anyhow::Result<()> {
    let lines = script::lines()?;
    let mut session = create(args, remote).await?;
    session.newest_request = script::newest_request(&lines);
    if !out.is_json() {
        greet(args, local, remote, &session, out).await?;
    }
    let played = play::play(&lines, &session, remote, out).await?;
    if out.is_json() {
        return Ok(());
    }
    out.line("")?;
    out.line(play::summary(&played, lines.len()))?;
    show::last_context(&played, out)?;
    fold::strip(&session, remote, out).await?;
    fold::there_and_back(&session, remote, out).await?;
    fold::second_view(&session, remote, out).await?;
    show::nothing_is_lost(&session, remote, out).await
}

async fn create(args: &Args, remote: &mut Remote) -> anyhow::Result<DemoSession> {
    let model = v1::Model {
        name: "demo-model".into(),
        context_window: args.window,
        ..v1::Model::default()
    };
    let request = v1::CreateSessionRequest {
        display_name: "A tide table on the night the clocks change".into(),
        policy: args.policy.message()?,
        model: Some(model),
        ..v1::CreateSessionRequest::default()
    };
    let session = remote.create_session(request).await?.session.unwrap_or_default();
    for item in script::items() {
        let request = v1::SetContextItemRequest {
            session_id: session.id.clone(),
            item: Some(item),
            author: "demo".into(),
        };
        remote.set_context_item(request).await?;
    }
    Ok(DemoSession { id: session.id, newest_request: 0 })
}

async fn greet(
    args: &Args,
    local: &Local,
    remote: &mut Remote,
    session: &DemoSession,
    out: &mut Out,
) -> anyhow::Result<()> {
    let request = v1::GetSessionRequest { session_id: session.id.clone(), view: String::new() };
    let found = remote.get_session(request).await?;
    let preset = found.session.and_then(|session| session.views.into_iter().next());
    let preset = preset.and_then(|view| view.policy).unwrap_or_default().preset;
    let policy = if preset.is_empty() {
        "the default policy".to_owned()
    } else {
        format!("policy `{preset}`")
    };
    let reserve = found.budget.map_or(0, |budget| budget.output_reserve);
    let paint = out.paint();
    let title = paint.bold("An agent mends a tide table.");
    out.line(format!("{title} A recorded session, played into a server on {}.", local.address()))?;
    out.line(format!(
        "Window {} tokens, of which {} are kept for the answer; {policy}.",
        thousands(args.window),
        thousands(reserve),
    ))?;
    out.line("Every message is appended and kept. Before each call to the model the agent asks what to send.")?;
    out.line("")?;
    Ok(())
}

fn farewell(args: &Args, out: &Out) -> String {
    match &args.data {
        Some(data) => {
            format!("Look around: `concertina serve --data {}`, then `concertina sessions`.", data.display())
        }
        None => out.paint().dim(
            "Next: `concertina demo --window 200000`, `--preset cascade`, or `--data DIR` to look around after.",
        ),
    }
}
