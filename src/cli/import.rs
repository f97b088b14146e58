//! stub
use super::{Out, Remote};
#[derive(Debug, clap::Args)]
pub(super) struct Args {}
pub(super) async fn run(_: Args, _: Remote, _: &mut Out) -> anyhow::Result<()> {
    Ok(())
}
