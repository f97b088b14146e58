//! A server within this process, for the demo.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use crate::{
    config::Config,
    grpc::{self, Running},
    id::{IdSource as _, UuidSource},
};

/// Where the server keeps its data: a folder of the caller's, or one that is
/// removed at the end.
pub(super) struct DataDir {
    path: PathBuf,
    temporary: bool,
}

impl DataDir {
    pub(super) fn new(kept: Option<PathBuf>) -> anyhow::Result<Self> {
        let temporary = kept.is_none();
        let path = kept.unwrap_or_else(|| {
            std::env::temp_dir().join(format!("concertina-demo-{}", UuidSource.next()))
        });
        fs::create_dir_all(&path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self { path, temporary })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for DataDir {
    fn drop(&mut self) {
        if self.temporary {
            // Nothing can be done about a folder that will not go.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// A server on a port of its own.
pub(super) struct Local(Running);

impl Local {
    pub(super) async fn start(data: &Path) -> anyhow::Result<Self> {
        let config = Config {
            data: data.to_owned(),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            ..Config::default()
        };
        Ok(Self(grpc::start(&config).await?))
    }

    pub(super) fn address(&self) -> String {
        self.0.address().to_string()
    }

    pub(super) async fn stop(self) -> anyhow::Result<()> {
        Ok(self.0.stop().await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_of_its_own_is_removed() {
        let mine = DataDir::new(None).expect("a folder");
        let path = mine.path().to_owned();
        assert!(path.is_dir());
        drop(mine);
        assert!(!path.exists());

        let theirs = tempfile::tempdir().expect("a folder");
        drop(DataDir::new(Some(theirs.path().to_owned())).expect("a folder"));
        assert!(theirs.path().is_dir());
    }
}
