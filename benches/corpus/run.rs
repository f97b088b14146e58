//! Plays everything that a plan names, on as many threads as there are
//! processors.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use anyhow::ensure;

use super::{
    cache::{Cache, Spent},
    plan::{Candidate, Plan},
    play::{Answer, play},
    read::Conversation,
    simple::{self, Simple},
    tally::Tally,
    wire::{Reader, tokens_of},
};

/// Larger than any session: nothing has to be reduced.
const NO_WINDOW: i64 = 1_000_000_000;
/// The reserve for the answer, as most presets have it: at most a quarter.
const RESERVE: i64 = 8_192;
/// The rules are checked of one context of so many.
const CHECKED: usize = 16;

/// What a window came to.
pub(crate) struct Results {
    pub(crate) window: i64,
    /// Names of the sessions that fill it, with their tokens.
    pub(crate) sessions: Vec<(String, i64)>,
    pub(crate) candidates: Vec<(String, Tally)>,
    pub(crate) simple: Vec<(&'static str, Spent)>,
}

/// A session, and what it costs where nothing is reduced.
struct Session {
    conversation: Conversation,
    /// Tokens of everything before each call.
    whole: Vec<i64>,
    /// By window and simple policy.
    spent: Vec<Vec<Spent>>,
}

impl Session {
    fn tokens(&self) -> i64 {
        self.whole.last().copied().unwrap_or(0)
    }
}

/// What a context may have.
fn limit(window: i64) -> i64 {
    window - RESERVE.min(window / 4)
}

pub(crate) fn run(plan: &Plan) -> anyhow::Result<Vec<Results>> {
    let sessions = each(&plan.files, |path| whole(Conversation::read(path), &plan.windows))?;
    let mut out = Vec::new();
    for (at, window) in plan.windows.iter().copied().enumerate() {
        let mut filling: Vec<&Session> =
            sessions.iter().filter(|it| it.tokens() >= limit(window)).collect();
        if filling.len() > plan.most_sessions {
            filling.sort_by_key(|it| it.tokens());
            filling.truncate(plan.most_sessions);
        }
        let jobs: Vec<(&Candidate, &Session)> = plan
            .candidates
            .iter()
            .flat_map(|candidate| filling.iter().map(move |session| (candidate, *session)))
            .collect();
        let mut tallies = each(&jobs, |(candidate, session)| one(candidate, session, window))?;
        let mut candidates = Vec::new();
        for candidate in &plan.candidates {
            let mut sum = Tally::default();
            tallies.drain(..filling.len()).for_each(|tally| sum.add(tally));
            candidates.push((candidate.name.clone(), sum));
        }
        let simple = Simple::ALL.iter().enumerate().map(|(policy, simple)| {
            let mut sum = Spent::default();
            for session in &filling {
                sum.add(&session.spent[at][policy]);
            }
            (simple.name(), sum)
        });
        out.push(Results {
            window,
            sessions: filling
                .iter()
                .map(|it| (it.conversation.name.clone(), it.tokens()))
                .collect(),
            candidates,
            simple: simple.collect(),
        });
    }
    Ok(out)
}

/// A session without reductions, and under the simple policies.
fn whole(conversation: Conversation, windows: &[i64]) -> anyhow::Result<Session> {
    let off = Candidate { name: String::new(), preset: "off".to_owned(), patch: String::new() };
    let mut caches: Vec<Vec<Cache>> = windows
        .iter()
        .map(|window| Simple::ALL.iter().map(|_| Cache::new(limit(*window))).collect())
        .collect();
    let (mut reader, mut tokens) = (Reader::default(), Vec::new());
    play(&conversation, &off, NO_WINDOW, |nth, answer| {
        let Answer::Context(context) = answer else { anyhow::bail!("a session is too large") };
        let history = reader.read(context)?;
        let all = history.fixed_tokens + tokens_of(&history.blocks);
        tokens.push(all);
        for (window, caches) in windows.iter().zip(&mut caches) {
            for (policy, cache) in Simple::ALL.iter().zip(caches) {
                let sent = policy.context(&history, limit(*window))?;
                if nth % CHECKED == 0 {
                    let faults = simple::faults(&sent);
                    ensure!(faults.is_empty(), "{}: {faults:?}", policy.name());
                }
                cache.call(sent, all);
            }
        }
        Ok(())
    })?;
    let spent = caches.iter().map(|all| all.iter().map(|it| it.spent).collect()).collect();
    Ok(Session { conversation, whole: tokens, spent })
}

/// A session under one policy.
fn one(candidate: &Candidate, session: &Session, window: i64) -> anyhow::Result<Tally> {
    let conversation = &session.conversation;
    let mut tally = Tally { sessions: 1, ..Tally::default() };
    let (mut reader, mut cache) = (Reader::default(), Cache::new(limit(window)));
    let collapses = play(conversation, candidate, window, |nth, answer| {
        let Answer::Context(context) = answer else {
            tally.irreducible += 1;
            return Ok(());
        };
        tally.context(context);
        cache.call(reader.read(context)?, session.whole.get(nth).copied().unwrap_or(0));
        Ok(())
    })?;
    tally.collapses(&conversation.name, &conversation.messages, &collapses);
    tally.spent = cache.spent;
    Ok(tally)
}

/// What `work` makes of each job, in their order.
fn each<J: Sync, R: Send>(
    jobs: &[J],
    work: impl Fn(&J) -> anyhow::Result<R> + Sync,
) -> anyhow::Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, anyhow::Result<R>)>> = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::SeqCst);
                    let Some(job) = jobs.get(at) else { return };
                    let result = work(job);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
