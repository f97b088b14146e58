//! `concertina delete`: a session, for good.

use std::io::{self, BufRead as _, IsTerminal as _};

use super::{Out, Remote, Usage, text};
use crate::proto::v1;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session.
    session: String,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
}

pub(super) async fn run(args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    if !args.yes && !agreed(&args.session, &mut remote, out).await? {
        out.say("nothing was deleted");
        return Ok(());
    }
    let request = v1::DeleteSessionRequest { session_id: args.session.clone() };
    remote.delete_session(request).await?;
    if out.is_json() {
        out.json(&serde_json::json!({ "deleted": args.session }))?;
    } else {
        out.line(format!("deleted {}", args.session))?;
    }
    Ok(())
}

async fn agreed(session: &str, remote: &mut Remote, out: &mut Out) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(Usage::new("nobody can be asked here: say `--yes`").into());
    }
    let request = v1::GetSessionRequest { session_id: session.to_owned(), view: String::new() };
    let found = remote.get_session(request).await?.session.unwrap_or_default();
    let messages = text::count(found.next_seq - 1, "message");
    out.say(&format!("Delete `{session}` and its {messages} for good? Type `yes`:"));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(answer.trim() == "yes")
}
