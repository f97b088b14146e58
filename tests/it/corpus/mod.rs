//! Real sessions through the whole of appending and projecting: at every prefix
//! that ends where an agent would call its model, in every format.
//!
//! `CONCERTINA_CORPUS` names the folder of the recorded sessions; without it
//! the session that ships with the project is played. `CONCERTINA_EVERY` is how
//! many prefixes one checked prefix stands for (20 unless it says otherwise; 1
//! checks all of them); those next to a reduction are always checked.
//! `CONCERTINA_CHECKER` names an independent check of requests, which is then
//! asked about every checked context.
//!
//! All of it: `CONCERTINA_EVERY=1 cargo test --release --test it corpus`.

mod checks;
mod dedupe;
mod outside;
mod play;
pub(crate) mod read;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use self::{outside::Outside, play::Tally, read::Conversation};

pub(crate) const PRESETS: [&str; 6] =
    ["default", "four-level", "cascade", "teaching", "teaching-collapse", "claude-code"];
pub(crate) const WINDOWS: [i64; 3] = [32_000, 64_000, 200_000];

fn setting(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "the corpus is not part of the repository")]
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn every() -> usize {
    setting("CONCERTINA_EVERY").and_then(|it| it.parse().ok()).unwrap_or(20).max(1)
}

fn conversations() -> Vec<PathBuf> {
    match setting("CONCERTINA_CORPUS") {
        Some(folder) => read::files(&PathBuf::from(folder)),
        None => vec![PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/demo/session.jsonl"))],
    }
}

/// Plays every conversation under every preset and window, on as many threads
/// as there are processors.
fn play_all() -> Tally {
    let jobs: Vec<(PathBuf, &str, i64)> = conversations()
        .into_iter()
        .flat_map(|path| {
            PRESETS.into_iter().flat_map(move |preset| {
                let path = path.clone();
                WINDOWS.into_iter().map(move |window| (path.clone(), preset, window))
            })
        })
        .collect();
    let (next, total) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut outside = setting("CONCERTINA_CHECKER").map(Outside::start);
                let mut read: BTreeMap<PathBuf, Conversation> = BTreeMap::new();
                while let Some((path, preset, window)) =
                    jobs.get(next.fetch_add(1, Ordering::SeqCst))
                {
                    let conversation =
                        read.entry(path.clone()).or_insert_with(|| Conversation::read(path));
                    let tally =
                        play::play(conversation, preset, *window, every(), outside.as_mut());
                    total.lock().unwrap().add(&tally);
                }
                if let Some(outside) = outside {
                    outside.finish();
                }
            });
        }
    });
    total.into_inner().unwrap()
}

#[test]
fn i1_to_i7_hold_for_recorded_sessions_at_their_prefixes() {
    let started = Instant::now();
    let tally = play_all();
    let seconds = started.elapsed().as_secs();
    print(&format!("{tally} in {seconds} s"));
    assert!(tally.contexts >= 100, "{tally}");
    assert_eq!(tally.faults, Vec::<String>::new());
}

pub(crate) fn print(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{text}");
}
