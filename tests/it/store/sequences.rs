//! Every write, in any order: SQLite must answer as the reference does, before
//! and after a restart, and the past must stay as it was.

use concertina::store::{Store, memory::MemoryStore};
use proptest::{collection::vec, option, prelude::*, sample::Index};

use super::{
    backends::{forgetful, open},
    player::{Key, Player, Range, VIEWS, Write},
};

fn ranges() -> impl Strategy<Value = Vec<Range>> {
    let range = (0..5_u8, 1..24_i64, 0..6_i64, any::<bool>())
        .prop_map(|(kind, first, len, keeps)| Range { kind, first, len, keeps });
    vec(range, 1..3)
}

fn rarely() -> impl Strategy<Value = bool> {
    prop::bool::weighted(0.1)
}

fn key() -> impl Strategy<Value = Key> {
    option::weighted(0.2, (0..2_u8, prop_oneof![9 => Just(1_u8), 1 => Just(2)]))
}

fn which() -> impl Strategy<Value = Index> {
    any::<Index>()
}

fn reductions() -> impl Strategy<Value = Write> {
    let view = 0..VIEWS.len();
    prop_oneof![
        4 => (view.clone(), ranges(), option::weighted(0.1, which()), rarely(), key()).prop_map(
            |(view, ranges, supersedes, is_stale, key)| Write::Commit {
                view, ranges, supersedes, is_stale, key
            }
        ),
        3 => (which(), any::<bool>(), any::<bool>()).prop_map(
            |(overlay, clears_too, pins)| Write::RollBack { overlay, clears_too, pins }
        ),
        2 => (view, 1..24_i64, 0..6_i64, key())
            .prop_map(|(view, first, len, key)| Write::Pin { view, first, len, key }),
        1 => which().prop_map(Write::Unpin),
    ]
}

fn plans() -> impl Strategy<Value = Write> {
    prop_oneof![
        4 => (0..VIEWS.len(), ranges(), any::<bool>(), rarely(), key()).prop_map(
            |(view, ranges, is_own, is_stale, key)| Write::Prepare {
                view, ranges, is_own, is_stale, key
            }
        ),
        4 => (vec(which(), 1..3), rarely(), option::weighted(0.1, which()), key()).prop_map(
            |(plans, is_other, supersedes, key)| Write::CommitPlans {
                plans, is_other, supersedes, key
            }
        ),
        1 => (vec(which(), 0..3), 1..200_i64)
            .prop_map(|(plans, seconds)| Write::Renew { plans, seconds }),
        1 => vec(which(), 0..3).prop_map(Write::Abandon),
        1 => (86_100..86_420_i64).prop_map(|seconds| Write::Expire { seconds }),
    ]
}

fn others() -> impl Strategy<Value = Write> {
    let view = 0..VIEWS.len();
    prop_oneof![
        3 => (1..4_usize, key()).prop_map(|(rows, key)| Write::Append { rows, key }),
        1 => Just(Write::ElsewhereAppend),
        2 => any::<u16>().prop_map(Write::Fork),
        3 => (view.clone(), 0..3_u8, rarely()).prop_map(
            |(view, model, only_without_model)| Write::SetView { view, model, only_without_model }
        ),
        2 => view.clone().prop_map(Write::DeleteView),
        2 => (0..2_u8, option::of(view), 0..3_u8)
            .prop_map(|(name, view, content)| Write::SetItem { name, view, content }),
        1 => (option::of(0..3_u8), option::of(0..2_u8))
            .prop_map(|(name, label)| Write::Rename { name, label }),
    ]
}

fn writes() -> impl Strategy<Value = Vec<Write>> {
    vec(prop_oneof![4 => reductions(), 4 => plans(), 3 => others()], 1..50)
}

async fn compare(writes: Vec<Write>) -> Result<(), TestCaseError> {
    let dir = tempfile::tempdir().unwrap();
    let (memory, sqlite) = (MemoryStore::new(), open(dir.path(), forgetful()).await);
    let mut reference = Player::start(&memory).await;
    let mut player = Player::start(&sqlite).await;
    for write in &writes {
        let expected = reference.play(write).await;
        prop_assert_eq!(player.play(write).await, expected, "{:?}", write);
        let expected = reference.look().await;
        prop_assert_eq!(player.look().await, expected, "after {:?}", write);
    }
    reference.check_what_was_seen().await;
    let (found, expected) = (player.read_everything().await, reference.read_everything().await);
    for (found, expected) in found.iter().zip(&expected) {
        prop_assert_eq!(found, expected);
    }
    prop_assert_eq!(found.len(), expected.len());
    sqlite.close().await;
    let sqlite_again = open(dir.path(), forgetful()).await;
    let mut player = player.on(&sqlite_again);
    reference.abandon_own().await;
    let (found, expected) = (player.read_everything().await, reference.read_everything().await);
    for (found, expected) in found.iter().zip(&expected) {
        prop_assert_eq!(found, expected, "after a restart");
    }
    prop_assert_eq!(found.len(), expected.len());
    sqlite_again.close().await;
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn i8_sqlite_answers_as_the_reference_whatever_is_written(writes in writes()) {
        tokio::runtime::Runtime::new().unwrap().block_on(compare(writes))?;
    }
}
