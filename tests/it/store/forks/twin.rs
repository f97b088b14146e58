//! A fork behaves like a session whose rows were appended anew.

use concertina::{
    model::{Message, Seq},
    rounds::Placement,
    store::{SessionRef, Store, memory::MemoryStore},
};
use proptest::{collection::vec, prelude::*};

use super::super::{
    backends,
    shapes::{Request, requests},
    support::{all_rows, append, created, row, session},
};
use super::forked;

/// A fork of the session before, at a share of its rows, and what came to it.
type Branch = (usize, Vec<Request>);

fn branches() -> impl Strategy<Value = Vec<Branch>> {
    vec((0..=1000_usize, vec(requests_of_one(), 1..6)), 1..5)
}

fn requests_of_one() -> impl Strategy<Value = Request> {
    vec(super::super::shapes::messages(), 1..4)
}

async fn say(store: &dyn Store, session: &SessionRef, request: &[Message]) -> Vec<Placement> {
    let rows = request.iter().cloned().map(row).collect();
    store.append(append(session, rows)).await.unwrap().placements
}

/// Every placement of a session and of its forks, each forked from the last.
/// After each append something comes to the others, which must not be seen.
async fn of_forks(store: &dyn Store, first: &[Request], branches: &[Branch]) -> Vec<Placement> {
    let mut sessions = vec![created(store, "s0").await];
    let mut placements = Vec::new();
    for request in first {
        placements.extend(say(store, &sessions[0], request).await);
    }
    for (number, (share, requests)) in branches.iter().enumerate() {
        let last = sessions.last().unwrap();
        let rows = store.get_session(last).await.unwrap().next_seq.0 - 1;
        let seq = point(*share, rows);
        let fork = forked(store, last, &format!("s{}", number + 1), Some(seq)).await;
        for request in requests {
            for other in &sessions {
                say(store, other, request).await;
            }
            placements.extend(say(store, &fork, request).await);
        }
        sessions.push(fork);
    }
    placements
}

/// The same, each session made from its first row on.
async fn of_twins(store: &dyn Store, first: &[Request], branches: &[Branch]) -> Vec<Placement> {
    let mut before: Vec<Message> = first.iter().flatten().cloned().collect();
    let twin = created(store, "t0").await;
    let mut placements = Vec::new();
    for request in first {
        placements.extend(say(store, &twin, request).await);
    }
    for (number, (share, requests)) in branches.iter().enumerate() {
        let seq = point(*share, i64::try_from(before.len()).unwrap());
        before.truncate(usize::try_from(seq).unwrap());
        let twin = created(store, &format!("t{}", number + 1)).await;
        say(store, &twin, &before).await;
        for request in requests {
            placements.extend(say(store, &twin, request).await);
            before.extend(request.iter().cloned());
        }
    }
    placements
}

fn point(share: usize, rows: i64) -> i64 {
    1 + i64::try_from(share).unwrap() * (rows - 1) / 1000
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn i6_a_fork_pairs_like_a_session_made_anew(
        first in requests(),
        branches in branches(),
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let expected = of_twins(&MemoryStore::new(), &first, &branches).await;
            let reference = of_forks(&MemoryStore::new(), &first, &branches).await;
            prop_assert_eq!(&reference, &expected);
            for backend in [backends::sqlite_on_disk().await, backends::sqlite_that_forgets().await] {
                let found = of_forks(&*backend.store, &first, &branches).await;
                let rows = all_rows(&*backend.store, &session("s1")).await;
                backend.store.close().await;
                prop_assert_eq!(&found, &expected);
                prop_assert!(rows.iter().zip(1..).all(|(row, seq)| row.seq == Seq(seq)));
            }
            Ok(())
        })?;
    }
}
