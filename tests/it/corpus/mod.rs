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
//! Every context is held to its format's rules, to its budget, to being a
//! prefix of the next, and to showing the newest request. Of the first one at
//! each checked prefix every block is looked for, in a view composed anew from
//! what the store holds, which must be the same bytes.
//!
//! At its end a play is asked again by a server that just started, asked for
//! contexts of earlier revisions, and rolled back, overlay by overlay in an
//! order of its own, down to what a session shows that never had one. Where
//! prefixes are sampled, so are the ends: those of every third play (each
//! preset and each window with another third of the conversations), with eight
//! contexts read again in each part instead of forty.
//!
//! All of it: `CONCERTINA_EVERY=1 cargo test --release --test it corpus`.

mod checks;
mod dedupe;
mod ending;
mod markers;
mod outside;
mod play;
pub(crate) mod read;
mod session;
mod shadow;
mod tally;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use self::{outside::Outside, play::Depth, read::Conversation, tally::Tally};

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

/// How deep the play of a conversation under a preset and a window goes, by
/// their numbers.
fn depth(conversation: usize, preset: usize, window: usize) -> Depth {
    let (every, turn) = (every(), conversation + preset + window);
    let is_whole = every == 1;
    let reads = if is_whole { 40 } else { 8 };
    Depth { every, turn, has_end: is_whole || turn % 3 == 0, reads }
}

struct Job {
    path: PathBuf,
    preset: &'static str,
    window: i64,
    depth: Depth,
}

fn jobs() -> Vec<Job> {
    let mut jobs = Vec::new();
    for (at, path) in conversations().into_iter().enumerate() {
        for (nth, preset) in PRESETS.into_iter().enumerate() {
            for (size, window) in WINDOWS.into_iter().enumerate() {
                let depth = depth(at, nth, size);
                jobs.push(Job { path: path.clone(), preset, window, depth });
            }
        }
    }
    jobs
}

/// Plays every conversation under every preset and window, on as many threads
/// as there are processors.
fn play_all() -> Tally {
    let jobs = jobs();
    let (next, total) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut outside = setting("CONCERTINA_CHECKER").map(Outside::start);
                let mut read: BTreeMap<PathBuf, Conversation> = BTreeMap::new();
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let read = read
                        .entry(job.path.clone())
                        .or_insert_with(|| Conversation::read(&job.path));
                    let outside = outside.as_mut();
                    let tally = play::play(read, job.preset, job.window, job.depth, outside);
                    total.lock().unwrap().add(tally);
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
fn i1_to_i8_and_i11_to_i15_hold_for_recorded_sessions() {
    let started = Instant::now();
    let tally = play_all();
    let seconds = started.elapsed().as_secs();
    print(&format!("{tally} in {seconds} s"));
    assert!(tally.contexts >= 100, "{tally}");
    assert_eq!((tally.fault_count, tally.faults), (0, Vec::new()));
}

pub(crate) fn print(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{text}");
}
