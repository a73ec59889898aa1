//! One request, there and back.

use std::sync::Arc;

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, DATE, HOST, HeaderValue, RETRY_AFTER};
use hyper::{Request, Response, StatusCode};
use kube::client::Body;
use serde_json::{Value, json};

use super::Shared;
use super::call::ApiCall;
use super::rule::{ApiFault, Verdict};
use super::stream::WatchStream;

/// The connection ends without a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the proxy hung up")]
pub(super) struct Broken;

type Answer = Response<UnsyncBoxBody<Bytes, Broken>>;

/// Passes a request on unless a rule says otherwise.
pub(super) async fn carry(
    request: Request<Incoming>,
    shared: Arc<Shared>,
) -> Result<Answer, Broken> {
    let uri = request.uri();
    let mut call = ApiCall::new(request.method(), uri.path(), uri.query());
    let verdict = shared.rules().judge(&call);
    let answer = match verdict {
        Verdict::Pass => pass(request, &call, &shared).await,
        Verdict::Drop | Verdict::Fault(ApiFault::HangUp) => Err(Broken),
        Verdict::Fault(ApiFault::Silence) => std::future::pending().await,
        Verdict::Fault(ApiFault::Slow(by)) => {
            tokio::time::sleep(by).await;
            pass(request, &call, &shared).await
        }
        Verdict::Fault(ApiFault::Dated(date)) => {
            let mut answer = pass(request, &call, &shared).await?;
            answer.headers_mut().insert(DATE, HeaderValue::from_static(date));
            Ok(answer)
        }
        Verdict::Fault(ApiFault::LostAnswer) => {
            let answer = pass(request, &call, &shared).await;
            call.status = answer.map_or(0, |answer| answer.status().as_u16());
            shared.note(call);
            return Err(Broken);
        }
        Verdict::Fault(ApiFault::Answer { code, retry_after_seconds }) => {
            Ok(refusal(code, retry_after_seconds))
        }
        Verdict::DoAndDrop(told) => {
            let answer = pass(request, &call, &shared).await;
            call.status = answer.map_or(0, |answer| answer.status().as_u16());
            // Whoever asked may have gone.
            let _ = told.send(call.clone());
            shared.note(call);
            return Err(Broken);
        }
    };
    call.status = answer.as_ref().map_or(0, |answer| answer.status().as_u16());
    shared.note(call);
    answer
}

async fn pass(
    request: Request<Incoming>,
    call: &ApiCall,
    shared: &Arc<Shared>,
) -> Result<Answer, Broken> {
    let (mut head, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| Broken)?.to_bytes();
    head.headers.remove(HOST);
    let request = Request::from_parts(head, Body::from(body));
    let answer = shared.upstream.send(request).await.map_err(|_| Broken)?;
    let (head, body) = answer.into_parts();
    let body = match call.is_watch && head.status.is_success() {
        true => WatchStream::start(body, call.clone(), shared).boxed_unsync(),
        false => body.map_err(|_| Broken).boxed_unsync(),
    };
    Ok(Response::from_parts(head, body))
}

/// A refusal as the API server writes it. One for too many calls is plain text, as where it comes
/// from before anybody has looked at the request.
fn refusal(code: u16, retry_after_seconds: Option<u32>) -> Answer {
    let (kind, body) = match (code, retry_after_seconds) {
        (429, Some(_)) => {
            ("text/plain; charset=utf-8", "Too many requests, please try again later.\n".to_owned())
        }
        _ => ("application/json", status(code, retry_after_seconds).to_string()),
    };
    let body = Full::new(Bytes::from(body)).map_err(|never| match never {}).boxed_unsync();
    let mut answer = Response::new(body);
    *answer.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Some(seconds) = retry_after_seconds {
        answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    answer
}

/// The object that says what went wrong.
pub(super) fn status(code: u16, retry_after_seconds: Option<u32>) -> Value {
    let reason = match code {
        409 => "Conflict",
        410 => "Expired",
        429 => "TooManyRequests",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        _ => "InternalError",
    };
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": format!("injected {code}"), "reason": reason, "code": code,
        "details": { "retryAfterSeconds": retry_after_seconds.unwrap_or_default() },
    })
}
