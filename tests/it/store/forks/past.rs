//! The state that a fork starts in, and what it remembers.

use concertina::{
    model::{Change, ForkOrigin, Revision, RevisionEntry, Seq, ViewName},
    store::{CommitOverlays, NewPin, Page, StateAt},
};

use super::{
    super::support::{
        all_rows, appended, collapse, commit, created, deletion, model, parts, pin, pins, revision,
        seqs, set,
    },
    AnyStore, forked,
    life::{held, live},
};

pub(in crate::store) async fn i8_a_fork_starts_in_the_state_before_the_next_row(store: AnyStore) {
    for seed in 1..6 {
        let origin = created(&*store, &format!("s{seed}")).await;
        let before = live(&*store, &origin, seed, 40).await;
        let newest = store.get_session(&origin).await.unwrap();
        for (last, (revision, expected)) in before.iter().enumerate().skip(1) {
            let seq = i64::try_from(last).unwrap();
            let fork = forked(&*store, &origin, &format!("f{seed}-{last}"), Some(seq)).await;
            let made = store.get_session(&fork).await.unwrap();
            assert_eq!(made.revision, *revision, "seed {seed}, row {last}");
            assert_eq!(held(&*store, &fork).await, *expected, "seed {seed}, row {last}");
            let origin =
                ForkOrigin { session_id: origin.id.clone(), seq: Seq(seq), revision: *revision };
            assert_eq!(made.fork_origin, Some(origin));
        }
        let whole = forked(&*store, &origin, &format!("whole{seed}"), None).await;
        assert_eq!(held(&*store, &whole).await, held(&*store, &origin).await);
        let made = store.get_session(&whole).await.unwrap();
        assert_eq!((made.revision, made.tokens), (newest.revision, newest.tokens));
    }
}

pub(in crate::store) async fn i8_the_past_of_a_fork_is_that_of_its_origin(store: AnyStore) {
    for seed in 11..15 {
        let origin = created(&*store, &format!("s{seed}")).await;
        live(&*store, &origin, seed, 40).await;
        let rows = all_rows(&*store, &origin).await;
        let page = Page { limit: 999, after: None };
        let entries = store.list_revisions(&origin, page.clone()).await.unwrap();
        for last in (1..=rows.len()).step_by(3) {
            let seq = i64::try_from(last).unwrap();
            let fork = forked(&*store, &origin, &format!("f{seed}-{last}"), Some(seq)).await;
            appended(&*store, &fork, 1).await;
            let started = store.get_session(&fork).await.unwrap().fork_origin.unwrap().revision;
            let own = store.list_revisions(&fork, page.clone()).await.unwrap();
            let (shared, own): (Vec<_>, Vec<_>) =
                own.into_iter().partition(|it| it.revision <= started);
            let expected = entries.iter().filter(|it| it.revision <= started);
            let place = |it: &RevisionEntry| (it.revision, it.time, it.author.clone());
            assert_eq!(
                shared.iter().map(place).collect::<Vec<_>>(),
                expected.map(place).collect::<Vec<_>>()
            );
            let came =
                Change::Appended { first: Seq(seq + 1), last: Seq(seq + 1), lane: String::new() };
            assert_eq!((own.len(), &own[0].change), (1, &came));
            for revision in (1..=started.0).map(Revision) {
                for name in ["main", "small"].map(ViewName::new) {
                    let then = store.state_at(&origin, &name, revision).await;
                    let found = store.state_at(&fork, &name, revision).await;
                    let (Ok(then), Ok(found)) = (&then, &found) else {
                        assert_eq!(format!("{found:?}"), format!("{then:?}"));
                        continue;
                    };
                    assert_eq!(found.view, then.view);
                    let ids = |state: &StateAt| {
                        state.overlays.iter().map(|it| it.id.clone()).collect::<Vec<_>>()
                    };
                    assert_eq!(ids(found), ids(then));
                    let next_seq = if revision == started { Seq(seq + 1) } else { then.next_seq };
                    assert_eq!(found.next_seq, next_seq);
                }
            }
        }
    }
}

pub(in crate::store) async fn a_fork_within_an_append_starts_with_all_that_it_shares(
    store: AnyStore,
) {
    let origin = created(&*store, "s").await;
    appended(&*store, &origin, 2).await;
    appended(&*store, &origin, 4).await;
    let fork = forked(&*store, &origin, "f", Some(4)).await;
    assert_eq!(revision(&*store, &fork).await, 2);
    let main = ViewName::main();
    let rows = async |at| store.state_at(&fork, &main, Revision(at)).await.unwrap().next_seq;
    assert_eq!((rows(1).await, rows(2).await), (Seq(1), Seq(5)));
    assert_eq!(appended(&*store, &fork, 1).await.first_seq, Seq(5));
    assert_eq!((rows(2).await, rows(3).await), (Seq(5), Seq(6)));
    let entries = store.list_revisions(&fork, Page { limit: 9, after: None }).await.unwrap();
    let appends: Vec<_> = entries
        .iter()
        .filter_map(|it| match it.change {
            Change::Appended { first, last, .. } => Some((first.0, last.0)),
            _ => None,
        })
        .collect();
    assert_eq!(appends, [(1, 4), (5, 5)]);
    let again = forked(&*store, &fork, "g", Some(3)).await;
    assert_eq!(seqs(&all_rows(&*store, &again).await), [1, 2, 3]);
    assert_eq!(revision(&*store, &again).await, 2);
}

pub(in crate::store) async fn what_a_deleted_view_held_stays_of_that_view(store: AnyStore) {
    let origin = created(&*store, "s").await;
    let small = ViewName::new("small");
    appended(&*store, &origin, 3).await;
    store.set_view(set(&origin, "small", parts(None))).await.unwrap();
    let overlays = vec![collapse("o", 1, 2)];
    let commit = CommitOverlays { view: small.clone(), ..commit(&origin, 3, overlays) };
    store.commit_overlays(commit).await.unwrap();
    store.pin(NewPin { view: small.clone(), ..pin(&origin, "p", 3, 3) }).await.unwrap();
    appended(&*store, &origin, 1).await;
    store.delete_view(deletion(&origin, "small")).await.unwrap();
    appended(&*store, &origin, 1).await;
    store.set_view(set(&origin, "small", parts(Some(model("m"))))).await.unwrap();
    appended(&*store, &origin, 1).await;

    for (last, is_there, overlays, held) in
        [(3, true, 1, 1), (4, false, 0, 0), (5, true, 0, 0), (6, true, 0, 0)]
    {
        let fork = forked(&*store, &origin, &format!("f{last}"), Some(last)).await;
        let again = forked(&*store, &fork, &format!("g{last}"), None).await;
        for session in [&fork, &again] {
            let views = store.get_session(session).await.unwrap().views;
            assert_eq!(views.iter().any(|it| it.name == small), is_there, "{last}");
            let listed = store.list_overlays(session, &small, true).await.unwrap();
            assert_eq!(listed.len(), overlays, "{last}");
            assert_eq!(pins(&*store, session, "small").await.len(), held, "{last}");
        }
    }
}
