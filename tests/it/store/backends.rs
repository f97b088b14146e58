//! Fresh stores to run the suite on.

use std::{path::Path, sync::Arc};

use concertina::store::{
    Store,
    memory::MemoryStore,
    sqlite::{Options, SqliteStore},
};
use tempfile::TempDir;

use crate::grpc::remote_store::RemoteStore;

/// A store, and the folder that it lives in as long as it is looked at.
pub(super) struct Backend {
    pub store: Arc<dyn Store>,
    _dir: Option<TempDir>,
}

pub(super) async fn memory() -> Backend {
    Backend { store: Arc::new(MemoryStore::new()), _dir: None }
}

pub(super) async fn sqlite_on_disk() -> Backend {
    sqlite(Options::default()).await
}

/// The writer remembers one session at a time and no old calls: whatever it
/// needs comes back from the database.
pub(super) async fn sqlite_that_forgets() -> Backend {
    sqlite(forgetful()).await
}

pub(super) fn forgetful() -> Options {
    Options { sessions_in_memory: 1, calls_in_memory: 0, ..Options::default() }
}

/// What the contract reaches of a store, over the wire.
pub(super) async fn sqlite_through_grpc() -> Backend {
    Backend { store: Arc::new(RemoteStore::start().await), _dir: None }
}

async fn sqlite(options: Options) -> Backend {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), options).await;
    Backend { store: Arc::new(store), _dir: Some(dir) }
}

pub(super) async fn open(dir: &Path, options: Options) -> SqliteStore {
    SqliteStore::open(dir, options).await.unwrap()
}
