//! Keeps work on large input off the async threads.

use super::{Error, Result, limits::OFF_THREAD_BYTES};

/// Runs `work`, here where it is little and on a thread of its own where it is
/// much: one large message must not hold up every other session.
///
/// # Errors
///
/// [`Error::Internal`] where `work` panicked.
pub async fn off_thread<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    if bytes <= OFF_THREAD_BYTES {
        return Ok(work());
    }
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[tokio::test]
    async fn only_large_work_moves() {
        let here = thread::current().id();
        let at = |bytes| off_thread(bytes, || thread::current().id());
        assert_eq!(at(OFF_THREAD_BYTES).await.unwrap(), here);
        assert_ne!(at(OFF_THREAD_BYTES + 1).await.unwrap(), here);
    }

    #[tokio::test]
    async fn a_panic_is_an_internal_error() {
        let work = || -> usize { panic!("input that nobody thought of") };
        let outcome = off_thread(OFF_THREAD_BYTES + 1, work).await;
        assert!(matches!(outcome, Err(Error::Internal(_))));
    }
}
