//! `concertina sessions`: what is there, newest first.

use super::{Out, Remote, args, json::SessionJson, names, text};
use crate::proto::v1;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only sessions with this label, `key=value`; may be given several times.
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = args::label)]
    labels: Vec<(String, String)>,
    /// Only forks of this session.
    #[arg(long, value_name = "SESSION")]
    forks_of: Option<String>,
    /// At most so many.
    #[arg(long, default_value_t = 50)]
    limit: usize,
}

const MAX_PAGE: usize = 1000;

pub(super) async fn run(args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    let sessions = list(&args, &mut remote).await?;
    if out.is_json() {
        for session in &sessions {
            out.json(&SessionJson::new(session))?;
        }
        return Ok(());
    }
    if sessions.is_empty() {
        out.say("no sessions");
        return Ok(());
    }
    let rows = sessions.iter().map(row).collect();
    let table = text::table(["session", "*name", "#messages", "#revision", "changed"], rows);
    out.line(table)?;
    Ok(())
}

async fn list(args: &Args, remote: &mut Remote) -> anyhow::Result<Vec<v1::Session>> {
    let mut sessions = Vec::new();
    let mut page_token = String::new();
    while sessions.len() < args.limit {
        let page_size = (args.limit - sessions.len()).min(MAX_PAGE);
        let request = v1::ListSessionsRequest {
            page_size: i32::try_from(page_size).unwrap_or(i32::MAX),
            page_token,
            labels: args.labels.iter().cloned().collect(),
            fork_origin_session_id: args.forks_of.clone().unwrap_or_default(),
            ..v1::ListSessionsRequest::default()
        };
        let page = remote.list_sessions(request).await?;
        sessions.extend(page.sessions);
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    Ok(sessions)
}

fn row(session: &v1::Session) -> [String; 5] {
    [
        session.id.clone(),
        text::excerpt(&session.display_name, 32),
        text::thousands(session.next_seq - 1),
        text::thousands(session.revision),
        names::time(session.update_time.as_ref()),
    ]
}
