//! Streams of answers.

use std::{future::Future, pin::Pin, sync::Arc};

use tokio::sync::mpsc;
use tokio_stream::{Stream, wrappers::ReceiverStream};
use tonic::Status;

use super::status;
use crate::{id::IdSource, service::Error};

/// A stream of answers.
pub(super) type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// The other end of [`spawn`].
pub(super) type Outlet<T> = mpsc::Sender<Result<T, Status>>;

/// Answers that are read no further ahead than this.
const AHEAD: usize = 4;

/// A stream of what `produce` sends. It stops where its caller went away: a
/// send fails then. A panic is told as an error: a stream that just ends looks
/// complete.
pub(super) fn spawn<T, F>(
    ids: Arc<dyn IdSource>,
    produce: impl FnOnce(Outlet<T>) -> F,
) -> Answers<T>
where
    T: Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let (outlet, inlet) = mpsc::channel(AHEAD);
    let task = tokio::spawn(produce(outlet.clone()));
    tokio::spawn(async move {
        if let Err(err) = task.await {
            // Where nobody listens any more there is nobody to tell.
            let _ = outlet.send(Err(status::of(&Error::internal(err), ids.as_ref()))).await;
        }
    });
    Box::pin(ReceiverStream::new(inlet))
}

/// A stream of what is there already.
pub(super) fn of<T: Send + 'static>(
    answers: impl Iterator<Item = T> + Send + 'static,
) -> Answers<T> {
    Box::pin(tokio_stream::iter(answers.map(Ok)))
}

#[cfg(test)]
mod tests {
    use tokio_stream::StreamExt as _;
    use tonic::Code;

    use super::*;
    use crate::id::CountingSource;

    #[tokio::test]
    async fn a_stream_that_breaks_says_so() {
        let ids = Arc::new(CountingSource::default());
        let mut answers = spawn(ids, |outlet| async move {
            let _ = outlet.send(Ok(1)).await;
            panic!("input that nobody thought of");
        });
        assert_eq!(answers.next().await.unwrap().unwrap(), 1);
        assert_eq!(answers.next().await.unwrap().unwrap_err().code(), Code::Internal);
        assert!(answers.next().await.is_none());
    }

    #[tokio::test]
    async fn nothing_is_produced_for_nobody() {
        let (done, ended) = tokio::sync::oneshot::channel();
        let ids = Arc::new(CountingSource::default());
        let answers = spawn(ids, |outlet| async move {
            while outlet.send(Ok(())).await.is_ok() {}
            done.send(()).unwrap();
        });
        drop(answers);
        assert!(ended.await.is_ok());
    }
}
