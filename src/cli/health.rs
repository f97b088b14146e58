//! `concertina health`: for people and for container health checks.

use serde::Serialize;

use super::{Out, Remote, failure::Partly};

#[derive(Debug, clap::Args)]
pub(super) struct Args {}

#[derive(Serialize)]
struct HealthJson {
    status: &'static str,
}

/// Fails where the server is not serving, so that a script need not read it.
pub(super) async fn run(mut remote: Remote, out: &mut Out) -> anyhow::Result<()> {
    let status = remote.serving_status().await?;
    if out.is_json() {
        out.json(&HealthJson { status })?;
    } else {
        out.line(status)?;
    }
    if status == "SERVING" { Ok(()) } else { Err(Partly.into()) }
}
