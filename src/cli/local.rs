//! stub
use std::path::{Path, PathBuf};
pub(super) struct DataDir(PathBuf);
impl DataDir {
    pub(super) fn new(kept: Option<PathBuf>) -> anyhow::Result<Self> {
        Ok(Self(kept.unwrap_or_default()))
    }
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}
pub(super) struct Local;
impl Local {
    pub(super) async fn start(_: &Path) -> anyhow::Result<Self> {
        Ok(Self)
    }
    pub(super) fn address(&self) -> String {
        String::new()
    }
    pub(super) async fn stop(self) -> anyhow::Result<()> {
        Ok(())
    }
}
