//! Pairing over any shape of history, against the reference.

use concertina::{
    model::{Block, Message, Role},
    rounds::Placement,
    store::{Store, memory::MemoryStore},
};
use proptest::{collection::vec, prelude::*};

use super::{
    backends,
    support::{append, call, created, message, result, row},
};

/// One request: messages of one lane.
pub(super) type Request = Vec<Message>;

/// Few ids and lanes, so that ids repeat, cross lanes and lie far apart.
pub(super) fn messages() -> impl Strategy<Value = Message> {
    let ids = vec(prop_oneof!["[abc]", Just(String::new())], 0..4);
    (prop_oneof![Just(""), Just("x"), Just("y")], 0..5_u8, ids).prop_map(|(lane, sort, ids)| {
        let calls = ids.iter().map(|id| call(id));
        let results = ids.iter().map(|id| result(id, "ok"));
        let words = || Block::text("words").kind;
        match sort {
            0 => message(Role::Assistant, lane, calls.collect()),
            1 => message(Role::User, lane, results.collect()),
            2 => message(Role::User, lane, results.chain([words()]).collect()),
            3 => message(Role::Assistant, lane, calls.chain(results).collect()),
            _ => message(Role::User, lane, vec![words()]),
        }
    })
}

pub(super) fn requests() -> impl Strategy<Value = Vec<Request>> {
    vec(vec(messages(), 1..4), 1..25)
}

async fn placements(store: &dyn Store, requests: &[Request]) -> Vec<Placement> {
    let session = created(store, "s").await;
    let other = created(store, "other").await;
    let mut placements = Vec::new();
    for request in requests {
        let rows = request.iter().cloned().map(row).collect();
        placements.extend(store.append(append(&session, rows)).await.unwrap().placements);
        // Another session takes the one place that a forgetful writer has.
        store.append(append(&other, vec![row(Message::default())])).await.unwrap();
    }
    placements
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn i6_a_writer_that_forgets_pairs_like_the_reference(requests in requests()) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let expected = placements(&MemoryStore::new(), &requests).await;
            let backend = backends::sqlite_that_forgets().await;
            let found = placements(&*backend.store, &requests).await;
            backend.store.close().await;
            prop_assert_eq!(found, expected);
            Ok(())
        })?;
    }
}
