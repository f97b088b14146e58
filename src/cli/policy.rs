//! stub
use super::Out;
#[derive(Debug, clap::Args)]
pub(super) struct Args {}
pub(super) fn run(_: &Args, _: &mut Out) -> anyhow::Result<()> {
    Ok(())
}
pub(super) fn whole(_preset: &str, _patch: Option<&[u8]>) -> anyhow::Result<Vec<u8>> {
    Ok(vec![])
}
