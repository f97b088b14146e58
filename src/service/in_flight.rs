//! Requests that are being carried out: the same one that comes again meanwhile
//! waits for the first, and then is told what that came to.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{Mutex as Gate, OwnedMutexGuard};

use crate::store::{RequestKey, SessionRef};

type Key = (SessionRef, String);

/// The requests of one process, by session and `request_id`.
#[derive(Debug, Default)]
pub struct InFlight {
    gates: Mutex<HashMap<Key, Arc<Gate<()>>>>,
}

/// The turn of a request; dropped, the next of the same id has it.
pub(super) struct Turn {
    all: Arc<InFlight>,
    key: Key,
    gate: Arc<Gate<()>>,
    held: Option<OwnedMutexGuard<()>>,
}

impl InFlight {
    /// Waits until no other of the same id is under way.
    pub(super) async fn turn(self: &Arc<Self>, session: &SessionRef, request: &RequestKey) -> Turn {
        let key = (session.clone(), request.id.clone());
        let gate = Arc::clone(self.gates().entry(key.clone()).or_default());
        // Made before the wait: who gives up waiting leaves nothing behind.
        let mut turn = Turn { all: Arc::clone(self), key, gate: Arc::clone(&gate), held: None };
        turn.held = Some(gate.lock_owned().await);
        turn
    }

    fn gates(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Arc<Gate<()>>>> {
        self.gates.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        drop(self.held.take());
        let mut gates = self.all.gates();
        // The map's and this one's: nobody else waits.
        if Arc::strong_count(&self.gate) == 2 {
            gates.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Namespace, SessionId};

    fn key() -> (SessionRef, RequestKey) {
        let session = SessionRef { namespace: Namespace::new("n"), id: SessionId::new("s") };
        (session, RequestKey { id: "r".into(), digest: [0; 32] })
    }

    #[tokio::test]
    async fn one_waits_for_the_other_and_nothing_stays_behind() {
        let (session, request) = key();
        let all = Arc::new(InFlight::default());
        let first = all.turn(&session, &request).await;
        let second = tokio::spawn({
            let (all, session, request) = (Arc::clone(&all), session.clone(), request.clone());
            async move { drop(all.turn(&session, &request).await) }
        });
        let given_up = all.turn(&session, &request);
        let waited = tokio::time::timeout(std::time::Duration::from_millis(1), given_up).await;
        assert!(waited.is_err() && !second.is_finished());
        drop(first);
        second.await.expect("it ends");
        assert!(all.gates().is_empty());
    }
}
