//! `concertina import`: recorded sessions, whoever recorded them.
//!
//! Files are streamed: what is held is one batch. What cannot be read is named
//! by its line and the rest is imported. Batches bear request ids made from
//! their place and content, so an import that was interrupted may be run again
//! with the same `--session`: what is there already is not stored twice.

mod batch;
mod file;
mod report;

use std::{collections::BTreeSet, path::PathBuf};

use clap::builder::PossibleValuesParser;

use super::{
    Out, Remote,
    args::{ModelArgs, PolicyArgs},
    failure::Partly,
};
use crate::{ingest::session::SourceFormat, proto::v1};
use report::Report;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The files.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Append everything to this session; it is created where it is not there.
    /// Left out: a new session for each file.
    #[arg(long)]
    session: Option<String>,
    /// What recorded them; left out: what they look like.
    #[arg(long, value_name = "FORMAT", value_parser = format_names())]
    format: Option<String>,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    policy: PolicyArgs,
}

fn format_names() -> PossibleValuesParser {
    PossibleValuesParser::new(SourceFormat::ALL.map(|(_, name)| name))
}

/// Fails at the end where anything could not be read or stored.
pub(super) async fn run(args: Args, mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    let mut complete = true;
    let mut told = BTreeSet::new();
    for path in &args.files {
        match file::import(path, &args, &mut remote, &mut told, out).await {
            Ok(report) => {
                complete &= report.is_complete();
                report.print(out)?;
            }
            Err(error) if is_about_this_file(&error) => {
                complete = false;
                out.problem("error", &format!("{}: {error:#}", path.display()));
            }
            Err(error) => return Err(error),
        }
    }
    if complete { Ok(()) } else { Err(Partly.into()) }
}

/// Anything but a refusal of the server, which would refuse the next file too.
fn is_about_this_file(error: &anyhow::Error) -> bool {
    !error.is::<super::remote::Refusal>()
}

/// The session to import into. What the server says of each new session alike
/// is told once.
async fn session(
    name: &str,
    args: &Args,
    remote: &mut Remote,
    told: &mut BTreeSet<String>,
    out: &mut Out,
) -> anyhow::Result<String> {
    let request = v1::CreateSessionRequest {
        session_id: args.session.clone().unwrap_or_default(),
        display_name: name.to_owned(),
        policy: args.policy.message()?,
        model: args.model.message(),
        ..v1::CreateSessionRequest::default()
    };
    match remote.create_session(request).await {
        Ok(created) => {
            for warning in created.warnings {
                if told.insert(warning.clone()) {
                    out.problem("warning", &warning);
                }
            }
            Ok(created.session.unwrap_or_default().id)
        }
        Err(refusal) if refusal.reason == "SESSION_EXISTS" => {
            Ok(args.session.clone().unwrap_or_default())
        }
        Err(refusal) => Err(refusal.into()),
    }
}
