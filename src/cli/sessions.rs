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
    out.line(table(&sessions))?;
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

/// Origins have a column where there are any.
fn table(sessions: &[v1::Session]) -> String {
    if sessions.iter().all(|session| session.fork_origin.is_none()) {
        let rows = sessions.iter().map(row).collect();
        return text::table(["session", "*name", "#messages", "#revision", "changed"], rows);
    }
    let with_origin = |session: &v1::Session| {
        let [id, name, messages, revision, changed] = row(session);
        [id, name, messages, revision, changed, origin(session)]
    };
    let rows = sessions.iter().map(with_origin).collect();
    text::table(["session", "*name", "#messages", "#revision", "changed", "*fork of"], rows)
}

/// `tides, row 32 at revision 8`.
fn origin(session: &v1::Session) -> String {
    let told = |origin: &v1::ForkOrigin| {
        format!("{}, row {} at revision {}", origin.session_id, origin.seq, origin.revision)
    };
    session.fork_origin.as_ref().map(told).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_is_told_with_its_origin() {
        let session = |id: &str, fork_origin| v1::Session {
            id: id.into(),
            next_seq: 33,
            revision: 4,
            fork_origin,
            ..v1::Session::default()
        };
        let origin = v1::ForkOrigin { session_id: "tides".into(), seq: 32, revision: 8 };
        let told = table(&[session("what-if", Some(origin)), session("tides", None)]);
        let lines: Vec<_> = told.lines().map(str::trim_end).collect();
        assert!(lines[0].ends_with("changed  fork of"), "{told}");
        assert!(lines[1].ends_with("tides, row 32 at revision 8"), "{told}");
        assert!(!table(&[session("tides", None)]).contains("fork of"));
    }
}
