//! What surrounds every call: the caller's deadline, panics, and statuses that
//! the transport makes itself and that the contract wants to read otherwise.

use std::{
    convert::Infallible,
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use http::{HeaderMap, Request, Response};
use tonic::{Code, Status, body::Body};
use tower::{Layer, Service};

use super::status;
use crate::{
    id::IdSource,
    service::{Error, excerpt},
};

/// Puts [`Guarded`] around a service.
#[derive(Clone)]
pub(super) struct Guard {
    ids: Arc<dyn IdSource>,
}

impl Guard {
    pub(super) fn new(ids: Arc<dyn IdSource>) -> Self {
        Self { ids }
    }
}

impl<S> Layer<S> for Guard {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded { inner, ids: self.ids.clone() }
    }
}

/// A service whose calls end in time and never in a panic.
#[derive(Clone)]
pub(super) struct Guarded<S> {
    inner: S,
    ids: Arc<dyn IdSource>,
}

impl<S> Service<Request<Body>> for Guarded<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let ids = self.ids.clone();
        // Armed here, before the transport arms its own for the same time: that
        // one answers CANCELLED.
        let expiry = deadline(request.headers()).map(tokio::time::sleep);
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = pin!(caught(answer));
            let outcome = match expiry {
                None => answer.await,
                Some(expiry) => tokio::select! {
                    biased;
                    outcome = answer => outcome,
                    () = expiry => Err(Error::Deadline),
                },
            };
            Ok(match outcome {
                Ok(response) => reworded(response, ids.as_ref()),
                Err(err) => status::of(&err, ids.as_ref()).into_http(),
            })
        })
    }
}

/// Turns a panic of `answer` into an error; its message goes to the log.
async fn caught(
    answer: impl Future<Output = Result<Response<Body>, Infallible>>,
) -> Result<Response<Body>, Error> {
    let mut answer = pin!(answer);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(Ok(response))) => Poll::Ready(Ok(response)),
        Ok(Poll::Ready(Err(never))) => match never {},
        Err(panic) => Poll::Ready(Err(Error::internal(said(panic.as_ref())))),
    })
    .await
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("a handler panicked: {}", text.unwrap_or_default())
}

/// The transport's own refusals, in the contract's terms.
fn reworded(response: Response<Body>, ids: &dyn IdSource) -> Response<Body> {
    let Some(told) = Status::from_header_map(response.headers()) else { return response };
    match in_our_terms(&told) {
        Some(err) => status::of(&err, ids).into_http(),
        None => response,
    }
}

fn in_our_terms(told: &Status) -> Option<Error> {
    if !told.details().is_empty() {
        return None;
    }
    let message = told.message();
    match told.code() {
        Code::OutOfRange | Code::ResourceExhausted if message.contains("too large") => {
            let mut numbers = numbers(message);
            Some(Error::MessageTooLarge {
                size: numbers.next().unwrap_or_default(),
                limit: numbers.next().unwrap_or_default(),
            })
        }
        Code::Internal if is_undecodable(message) => Some(Error::field(
            "request",
            format!("expected the contract's message, found {}", cut(message)),
        )),
        Code::Internal => Some(Error::internal(message.to_owned())),
        _ => None,
    }
}

/// Bytes that are no message, or not compressed as they say.
fn is_undecodable(message: &str) -> bool {
    message.contains("failed to decode Protobuf message") || message.contains("decompressing")
}

fn cut(message: &str) -> String {
    let detail = message.rsplit_once("failed to decode Protobuf message: ").map(|it| it.1);
    excerpt(detail.unwrap_or(message))
}

fn numbers(message: &str) -> impl Iterator<Item = u64> + '_ {
    message.split(|it: char| !it.is_ascii_digit()).filter_map(|it| it.parse().ok())
}

/// How long the caller waits, from `grpc-timeout`: up to eight digits and a
/// unit.
pub(super) fn deadline(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.len() > 8 {
        return None;
    }
    let count: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(count * 3600)),
        "M" => Some(Duration::from_secs(count * 60)),
        "S" => Some(Duration::from_secs(count)),
        "m" => Some(Duration::from_millis(count)),
        "u" => Some(Duration::from_micros(count)),
        "n" => Some(Duration::from_nanos(count)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use tonic_types::StatusExt as _;
    use tower::{ServiceExt as _, service_fn};

    use super::*;
    use crate::id::CountingSource;

    async fn guarded<F>(request: Request<Body>, answer: F) -> Status
    where
        F: Future<Output = Result<Response<Body>, Infallible>> + Send + 'static,
    {
        let mut answer = Some(answer);
        let inner = service_fn(move |_| answer.take().expect("called once"));
        let guard = Guard::new(Arc::new(CountingSource::default()));
        let response = guard.layer(inner).oneshot(request).await.unwrap();
        Status::from_header_map(response.headers()).expect("a status")
    }

    fn reason(status: &Status) -> String {
        status.get_details_error_info().map(|it| it.reason).unwrap_or_default()
    }

    #[tokio::test]
    async fn r3_a_deadline_that_passes_is_told_as_one() {
        let mut request = Request::new(Body::empty());
        request.headers_mut().insert("grpc-timeout", "1n".parse().unwrap());
        let status = guarded(request, std::future::pending()).await;
        assert_eq!(status.code(), Code::DeadlineExceeded);
        assert_eq!(reason(&status), "DEADLINE");
    }

    #[tokio::test]
    async fn a_panic_is_internal_and_keeps_quiet() {
        let answer = async { panic!("secret") };
        let status = guarded(Request::new(Body::empty()), answer).await;
        assert_eq!(status.code(), Code::Internal);
        assert_eq!(reason(&status), "INTERNAL");
        assert!(!status.message().contains("secret"));
    }

    #[tokio::test]
    async fn r1_the_transports_refusal_of_a_large_message_names_size_and_limit() {
        let answer = async {
            let text = "Error, decoded message length too large: found 70 bytes, \
                        the limit is: 64 bytes";
            Ok(Status::out_of_range(text).into_http())
        };
        let status = guarded(Request::new(Body::empty()), answer).await;
        assert_eq!(status.code(), Code::ResourceExhausted);
        let info = status.get_details_error_info().unwrap();
        assert_eq!(info.reason, "MESSAGE_TOO_LARGE");
        assert_eq!((&*info.metadata["size"], &*info.metadata["limit"]), ("70", "64"));
    }

    #[test]
    fn timeouts_are_read_in_every_unit() {
        let read = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("grpc-timeout", text.parse().unwrap());
            deadline(&headers)
        };
        assert_eq!(read("2H"), Some(Duration::from_hours(2)));
        assert_eq!(read("3S"), Some(Duration::from_secs(3)));
        assert_eq!(read("99999999n"), Some(Duration::from_nanos(99_999_999)));
        for text in ["", "S", "1", "1x", "123456789S", "-1S"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
