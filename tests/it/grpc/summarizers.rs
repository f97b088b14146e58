//! A summarizer that does what it is told, and remembers what it was asked.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use concertina::summary::{self, Summarizer, SummarizerError, Summary, Task};
use tokio::sync::Semaphore;

/// Answers one task for each permit.
pub(crate) struct Scripted {
    permits: Semaphore,
    asked: Semaphore,
    answer: Answer,
    tasks: Mutex<Vec<Task>>,
}

/// What it answers.
enum Answer {
    Same(Result<Summary, String>),
    Extractive,
}

const OPEN: usize = 1000;

impl Scripted {
    fn new(answer: Answer, permits: usize) -> Arc<Self> {
        Arc::new(Self {
            permits: Semaphore::new(permits),
            asked: Semaphore::new(0),
            answer,
            tasks: Mutex::default(),
        })
    }

    /// Says the same each time, once it is released.
    pub(crate) fn saying(text: &str) -> Arc<Self> {
        let summary = Summary { text: text.into(), ..Summary::default() };
        Self::new(Answer::Same(Ok(summary)), 0)
    }

    /// Answers the same each time, at once.
    pub(crate) fn answering(answer: Result<Summary, String>) -> Arc<Self> {
        Self::new(Answer::Same(answer), OPEN)
    }

    /// Writes what the embedded summarizer would, at once.
    pub(crate) fn extractive() -> Arc<Self> {
        Self::new(Answer::Extractive, OPEN)
    }

    pub(crate) fn release(&self) {
        self.permits.add_permits(OPEN);
    }

    /// Waits again from now on.
    pub(crate) fn hold(&self) {
        self.permits.forget_permits(2 * OPEN);
    }

    /// Waits until it was asked once more than this was awaited.
    pub(crate) async fn was_asked(&self) {
        self.asked.acquire().await.unwrap().forget();
    }

    /// Waits until it was asked more often than that.
    pub(crate) async fn was_asked_after(&self, times: usize) {
        while self.tasks().len() <= times {
            tokio::task::yield_now().await;
        }
    }

    /// What it was asked so far.
    pub(crate) fn tasks(&self) -> Vec<Task> {
        self.tasks.lock().unwrap().clone()
    }
}

#[async_trait]
impl Summarizer for Scripted {
    fn name(&self) -> String {
        "scripted:test".into()
    }

    async fn summarize(&self, task: &Task) -> Result<Summary, SummarizerError> {
        assert!(!task.material.rounds.is_empty());
        self.tasks.lock().unwrap().push(task.clone());
        self.asked.add_permits(1);
        self.permits.acquire().await.unwrap().forget();
        match &self.answer {
            Answer::Same(answer) => answer.clone().map_err(SummarizerError),
            Answer::Extractive => {
                Ok(Summary { text: summary::extractive(task), ..Summary::default() })
            }
        }
    }
}
