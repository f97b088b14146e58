//! `concertina fork`: a session that goes on from a row of another.

use super::{Out, Remote, json::SessionJson};
use crate::proto::v1;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session to fork.
    session: String,
    /// The new session's id; the server makes one where it is left out.
    new_session: Option<String>,
    /// The last row to share; left out: all of them.
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(i64).range(1..))]
    seq: Option<i64>,
    /// Free text to tell it by.
    #[arg(long)]
    name: Option<String>,
    /// Makes a retry safe.
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

pub(super) async fn run(args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    let request = v1::ForkSessionRequest {
        session_id: args.session,
        new_session_id: args.new_session.unwrap_or_default(),
        seq: args.seq,
        display_name: args.name.unwrap_or_default(),
        request_id: args.request_id.unwrap_or_default(),
    };
    let session = remote.fork_session(request).await?.session.unwrap_or_default();
    if out.is_json() {
        out.json(&SessionJson::new(&session))?;
    } else {
        out.line(&session.id)?;
    }
    Ok(())
}
