//! Streams of answers.

use std::{future::Future, pin::Pin};

use tokio::sync::mpsc;
use tokio_stream::{Stream, wrappers::ReceiverStream};
use tonic::Status;

/// A stream of answers.
pub(super) type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// The other end of [`spawn`].
pub(super) type Outlet<T> = mpsc::Sender<Result<T, Status>>;

/// Answers that are read no further ahead than this.
const AHEAD: usize = 4;

/// A stream of what `produce` sends. It stops where its caller went away: a
/// send fails then.
pub(super) fn spawn<T, F>(produce: impl FnOnce(Outlet<T>) -> F) -> Answers<T>
where
    T: Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let (outlet, inlet) = mpsc::channel(AHEAD);
    tokio::spawn(produce(outlet));
    Box::pin(ReceiverStream::new(inlet))
}

/// A stream of what is there already.
pub(super) fn of<T: Send + 'static>(
    answers: impl Iterator<Item = T> + Send + 'static,
) -> Answers<T> {
    Box::pin(tokio_stream::iter(answers.map(Ok)))
}
