//! stub
use super::Out;
#[derive(Debug, clap::Args)]
pub(super) struct Args {}
pub(super) async fn run(_: Args, _: &mut Out) -> anyhow::Result<()> {
    Ok(())
}
