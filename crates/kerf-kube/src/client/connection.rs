//! How the API server is reached.

use std::pin::Pin;
use std::task::{Context, Poll};

use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{Method, Request, Response, StatusCode};
use kerf_runtime::LeaseTerm;
use kube::client::{Body, ClientBuilder};
use kube::core::Status;
use kube::core::response::StatusDetails;
use kube::{Client, Config};
use tower::{BoxError, Service};

/// A client that tries everything once: whether and when to try again is decided by the engine,
/// where it can be seen. Its own way of trying would keep a refused eviction waiting for seconds.
///
/// # Errors
/// The configuration names no server that can be reached, or credentials that cannot be read.
pub fn connect(config: Config) -> kube::Result<Client> {
    connect_leading(config, LeaseTerm::unlimited())
}

/// The same for a process that may write only while it holds a Lease. Whoever decided on a write
/// asked for the Lease too, but that may be a while ago: the process may have been stopped since.
///
/// # Errors
/// The configuration names no server that can be reached, or credentials that cannot be read.
pub fn connect_leading(mut config: Config, lease: LeaseTerm) -> kube::Result<Client> {
    config.default_retry = false;
    let guard = tower::layer::layer_fn(|inner| Guard { inner, lease: lease.clone() });
    Ok(ClientBuilder::try_from(config)?.with_layer(&guard).build())
}

/// The last step before a request leaves, and the first after its answer has come.
struct Guard<S> {
    inner: S,
    lease: LeaseTerm,
}

type Pending<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

impl<S, B> Service<Request<Body>> for Guard<S>
where
    S: Service<Request<Body>, Response = Response<B>>,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
{
    type Response = Response<B>;
    type Error = BoxError;
    type Future = Pending<Response<B>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Body>) -> Pending<Response<B>> {
        let is_write = ![Method::GET, Method::HEAD].contains(request.method());
        let lease = self.lease.clone();
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = match is_write {
                true => in_time(lease, answer).await?,
                false => answer.await.map_err(Into::into)?,
            };
            match asks_to_wait(&answer) {
                Some(status) => Err(kube::Error::Api(status.boxed()).into()),
                None => Ok(answer),
            }
        })
    }
}

/// The answer to a request that is sent only while the Lease is held. The time is looked at first:
/// a process that was stopped finds both the end of its Lease and a connection to write to.
async fn in_time<T, E: Into<BoxError>>(
    lease: LeaseTerm,
    answer: impl Future<Output = Result<T, E>>,
) -> Result<T, BoxError> {
    let not_sent = || kube::Error::Service("not sent: the leader lease has ended".into()).into();
    let Some(left) = lease.left() else { return Err(not_sent()) };
    tokio::select! {
        biased;
        () = tokio::time::sleep(left) => Err(not_sent()),
        answer = answer => answer.map_err(Into::into),
    }
}

/// A server with too many calls answers in plain text, and says in a header how long to wait. What
/// it writes as an object has that among its details already.
fn asks_to_wait<B>(answer: &Response<B>) -> Option<Status> {
    let code = answer.status();
    let is_busy = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE].contains(&code);
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !is_busy || kind.is_some_and(|kind| kind.contains("json")) {
        return None;
    }
    let header = answer.headers().get(RETRY_AFTER)?.to_str().ok()?;
    let retry_after_seconds = header.trim().parse().ok()?;
    let details = StatusDetails {
        name: String::new(),
        group: String::new(),
        kind: String::new(),
        uid: String::new(),
        causes: Vec::new(),
        retry_after_seconds,
    };
    let message = format!("the API server has too many calls ({code})");
    let status = Status::failure(&message, "TooManyRequests").with_code(code.as_u16());
    Some(status.with_details(details))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(code: u16, headers: &[(&str, &str)]) -> Response<()> {
        let mut answer = Response::builder().status(code);
        for (name, value) in headers {
            answer = answer.header(*name, *value);
        }
        answer.body(()).expect("it is well-formed")
    }

    #[test]
    fn how_long_a_busy_server_wants_to_be_left_alone_is_read_from_its_header() {
        let seconds = |code, headers: &[(&str, &str)]| {
            let status = asks_to_wait(&answer(code, headers))?;
            Some((status.code, status.details?.retry_after_seconds))
        };
        let plain = ("content-type", "text/plain; charset=utf-8");
        assert_eq!(seconds(429, &[("retry-after", "7"), plain]), Some((429, 7)));
        assert_eq!(seconds(503, &[("retry-after", "2")]), Some((503, 2)));
        assert_eq!(seconds(429, &[plain]), None);
        assert_eq!(seconds(200, &[("retry-after", "7")]), None);
        let json = ("content-type", "application/json");
        assert_eq!(seconds(429, &[("retry-after", "7"), json]), None, "its body says more");
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_could_not_leave_before_the_lease_ended_does_not() {
        let ready = || std::future::ready(Ok::<_, BoxError>("sent"));
        assert!(in_time(LeaseTerm::unlimited(), ready()).await.is_ok());
        let refused = in_time(LeaseTerm::not_begun(), ready()).await;
        assert!(refused.is_err_and(|error| error.to_string().contains("not sent")));
    }
}
