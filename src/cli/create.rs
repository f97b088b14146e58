//! `concertina create`: an empty session.

use std::collections::HashMap;

use super::{
    Out, Remote, Usage,
    args::{self, ModelArgs, PolicyArgs},
    json::SessionJson,
};
use crate::proto::v1;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Its id; the server makes one where it is left out.
    session: Option<String>,
    /// Free text to tell it by.
    #[arg(long)]
    name: Option<String>,
    /// A label, `key=value`; may be given several times.
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = parse_label)]
    labels: Vec<(String, String)>,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    policy: PolicyArgs,
    /// Makes a retry safe.
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

fn parse_label(argument: &str) -> Result<(String, String), Usage> {
    args::label(argument)
}

pub(super) async fn run(args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    let request = v1::CreateSessionRequest {
        session_id: args.session.unwrap_or_default(),
        display_name: args.name.unwrap_or_default(),
        labels: args.labels.into_iter().collect::<HashMap<_, _>>(),
        policy: args.policy.message()?,
        model: args.model.message(),
        request_id: args.request_id.unwrap_or_default(),
        ..v1::CreateSessionRequest::default()
    };
    let answer = remote.create_session(request).await?;
    for warning in &answer.warnings {
        out.problem("warning", warning);
    }
    let session = answer.session.unwrap_or_default();
    if out.is_json() {
        out.json(&SessionJson::new(&session))?;
    } else {
        out.line(&session.id)?;
    }
    Ok(())
}
