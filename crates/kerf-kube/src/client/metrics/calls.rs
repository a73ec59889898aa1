//! What calls and solves are counted as.

use kerf_engine::action::{ActionKind, Call, Verb};
use kerf_engine::event::{Failure, Kind, Outcome};
use kerf_engine::sample::Sample;
use kerf_engine::time::Span;

/// What a solve that took so long adds to the metrics.
pub(crate) fn solve(span: Span) -> Vec<Sample> {
    let labels = vec![("controller", "provisioner".to_owned())];
    let metric = "karpenter_scheduler_scheduling_duration_seconds";
    vec![Sample::Took { metric, labels, span }]
}

/// What an action that took so long adds to the metrics.
pub(crate) fn call(
    kind: &ActionKind,
    outcome: &Outcome,
    span: Span,
    provider: &str,
) -> Vec<Sample> {
    match kind.info().call {
        Call::ShiftAccount => Vec::new(),
        Call::Solve => solve(span),
        Call::Provider { controller, method } => {
            let labels = [("controller", controller), ("method", method), ("provider", provider)];
            provider_call(labels, outcome, span)
        }
        Call::Api { verb, kind, subresource } => request(verb, kind, subresource, outcome, span),
    }
}

/// A call to the provider.
fn provider_call(labels: [(&'static str, &str); 3], outcome: &Outcome, span: Span) -> Vec<Sample> {
    let labels: Vec<_> = labels.map(|(name, value)| (name, value.to_owned())).into();
    let took = Sample::Took {
        metric: "karpenter_cloudprovider_duration_seconds",
        labels: labels.clone(),
        span,
    };
    let failed = error(outcome).map(|error| {
        let labels = labels.into_iter().chain([("error", error.to_owned())]).collect();
        Sample::one("karpenter_cloudprovider_errors_total", labels)
    });
    std::iter::once(took).chain(failed).collect()
}

/// A write to the API server, by the public names of what was written and what it answered.
fn request(
    verb: Verb,
    kind: Kind,
    subresource: &str,
    outcome: &Outcome,
    span: Span,
) -> Vec<Sample> {
    let (resource, verb) = (kind.resource(), verb.as_str());
    let labels = [
        ("verb", verb),
        ("group", resource.group),
        ("version", resource.version),
        ("kind", resource.plural),
        ("subresource", subresource),
    ];
    let labels = labels.map(|(name, value)| (name, value.to_owned())).into();
    let code = code(outcome, verb).to_owned();
    let total = vec![("code", code), ("method", verb.to_owned())];
    vec![
        Sample::Took { metric: "client_go_request_duration_seconds", labels, span },
        Sample::one("client_go_request_total", total),
    ]
}

/// The server's answer, as far as outcomes tell it.
fn code(outcome: &Outcome, verb: &str) -> &'static str {
    match outcome {
        Outcome::NotFound => "404",
        Outcome::Failed(Failure::Denied { .. }) => "403",
        Outcome::Failed(Failure::Conflict) => "409",
        Outcome::Failed(Failure::Invalid { .. }) => "422",
        Outcome::Failed(Failure::Refused { .. } | Failure::Throttled { .. }) => "429",
        Outcome::Failed(_) => "<error>",
        _ if verb == "POST" => "201",
        _ => "200",
    }
}

/// The public name of what went wrong; an instance that is gone counts as an error too.
fn error(outcome: &Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::NotFound => Some("NodeClaimNotFoundError"),
        Outcome::Failed(Failure::InsufficientCapacity { .. }) => Some("InsufficientCapacityError"),
        Outcome::Failed(Failure::NodeClassNotReady { .. }) => Some("NodeClassNotReadyError"),
        Outcome::Failed(Failure::RebootNotImplemented { .. }) => {
            Some("NodeRebootNotImplementedError")
        }
        Outcome::Failed(Failure::RebootFailed { .. }) => Some("NodeRebootFailedError"),
        Outcome::Failed(_) => Some(""),
        _ => None,
    }
}
