//! Fresh stores to run the suite on.

use std::sync::Arc;

use concertina::store::{Store, memory::MemoryStore};
use tempfile::TempDir;

/// A store, and the folder that it lives in as long as it is looked at.
pub(super) struct Backend {
    pub store: Arc<dyn Store>,
    _dir: Option<TempDir>,
}

pub(super) async fn memory() -> Backend {
    Backend { store: Arc::new(MemoryStore::new()), _dir: None }
}
