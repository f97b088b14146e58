//! Rounds over a fork's border.

use concertina::model::{Role, Seq};

use super::{
    super::support::{append, appended, call, created, message, row, words},
    AnyStore, answer, forked,
};

pub(in crate::store) async fn a_round_that_had_not_settled_is_in_flight_again(store: AnyStore) {
    let origin = created(&*store, "s").await;
    let rows = vec![
        words("go"),
        row(message(Role::Assistant, "", vec![call("a"), call("b")])),
        answer("a"),
        answer("a"),
        answer("b"),
        words("and now"),
    ];
    store.append(append(&origin, rows)).await.unwrap();
    let open = forked(&*store, &origin, "open", Some(3)).await;
    let done = store.append(append(&open, vec![answer("b")])).await.unwrap();
    assert_eq!((done.placements[0].round, &*done.placements[0].settles), (Seq(2), &[Seq(2)][..]));
    assert!(!done.placements[0].answers[0].is_late);

    let again = forked(&*store, &origin, "again", Some(4)).await;
    let done = store.append(append(&again, vec![answer("a")])).await.unwrap();
    assert_eq!(done.placements[0].answers[0].supersedes, Some((Seq(4), 0)));
    assert_eq!(done.placements[0].settles, []);

    let none = forked(&*store, &origin, "none", Some(2)).await;
    let done = store.append(append(&none, vec![answer("b"), words("x")])).await.unwrap();
    assert_eq!(done.placements[0].answers[0].supersedes, None);
    assert_eq!(done.placements[1].settles, [Seq(2), Seq(4)], "newer words settle it");
    assert_eq!(done.placements[1].turn, 2);

    let settled = forked(&*store, &origin, "settled", Some(5)).await;
    let done = store.append(append(&settled, vec![answer("b"), answer("new")])).await.unwrap();
    assert!(done.placements[0].answers[0].is_late);
    assert_eq!(done.placements[0].answers[0].supersedes, Some((Seq(5), 0)));
    assert_eq!(done.placements[1].orphans, [0]);
}

pub(in crate::store) async fn a_round_may_be_in_flight_for_long(store: AnyStore) {
    let origin = created(&*store, "s").await;
    let calling = |lane: &str, ids: &[&str]| {
        let calls = ids.iter().map(|id| call(id)).collect();
        row(message(Role::Assistant, lane, calls))
    };
    let calls = vec![calling("slow", &["a", "b", "c"]), calling("never", &["z"])];
    store.append(append(&origin, calls)).await.unwrap();
    appended(&*store, &origin, 299).await;
    store.append(append(&origin, vec![answer("a")])).await.unwrap();
    appended(&*store, &origin, 300).await;
    store.append(append(&origin, vec![answer("b"), answer("c")])).await.unwrap();
    for (last, open) in [
        (2, &["c", "b", "a"][..]),
        (256, &["c", "b", "a"]),
        (301, &["c", "b", "a"]),
        (302, &["c", "b"]),
        (500, &["c", "b"]),
        (602, &["c", "b"]),
        (603, &["c"]),
        (604, &[]),
    ] {
        let fork = forked(&*store, &origin, &format!("f{last}"), Some(last)).await;
        let mut settles = Vec::new();
        for id in open.iter().chain(&["z"]) {
            let placed = store.append(append(&fork, vec![answer(id)])).await.unwrap().placements;
            assert!(!placed[0].answers[0].is_late, "at {last}, {id}");
            settles.push(placed[0].settles.clone());
        }
        let mut expected = vec![Vec::new(); open.len()];
        if let Some(last) = expected.last_mut() {
            *last = vec![Seq(1)];
        }
        expected.push(vec![Seq(2)]);
        assert_eq!(settles, expected, "at {last}");
    }
}
