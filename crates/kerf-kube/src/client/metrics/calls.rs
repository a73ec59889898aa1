//! What calls and thoughts are counted as.

use kerf_engine::action::Deed;
use kerf_engine::event::{Failure, Outcome};
use kerf_engine::measure::Measure;
use kerf_engine::time::Span;

/// Groups and kinds of what is written.
const CLAIM: (&str, &str) = ("karpenter.sh", "nodeclaims");
const POOL: (&str, &str) = ("karpenter.sh", "nodepools");
const NODE: (&str, &str) = ("", "nodes");
const POD: (&str, &str) = ("", "pods");

/// What a deed that took so long adds to the metrics.
pub(crate) fn call(
    deed: &Deed,
    outcome: &Outcome,
    span: Span,
    provider: &'static str,
) -> Vec<Measure> {
    let (controller, method) = match deed {
        Deed::Launch(_) => ("nodeclaim.lifecycle", "Create"),
        Deed::Terminate { .. } => ("nodeclaim.lifecycle", "Delete"),
        Deed::ListMachines => ("nodeclaim.garbagecollection", "List"),
        Deed::Solve(_) => {
            let labels = vec![("controller", "provisioner".to_owned())];
            let metric = "karpenter_scheduler_scheduling_duration_seconds";
            return vec![Measure::Took { metric, labels, span }];
        }
        deed => return request(deed, outcome, span),
    };
    let labels = vec![
        ("controller", controller.to_owned()),
        ("method", method.to_owned()),
        ("provider", provider.to_owned()),
    ];
    let took = Measure::Took {
        metric: "karpenter_cloudprovider_duration_seconds",
        labels: labels.clone(),
        span,
    };
    let failed = error(outcome).map(|error| {
        let labels = labels.into_iter().chain([("error", error.to_owned())]).collect();
        Measure::one("karpenter_cloudprovider_errors_total", labels)
    });
    std::iter::once(took).chain(failed).collect()
}

/// A write to the API server, by the public names of what was written and what it answered.
fn request(deed: &Deed, outcome: &Outcome, span: Span) -> Vec<Measure> {
    let (verb, (group, kind), subresource) = match deed {
        Deed::CreateClaim(_) => ("POST", CLAIM, ""),
        Deed::PatchClaim { .. } => ("PATCH", CLAIM, ""),
        Deed::WriteClaimStatus { .. } => ("PATCH", CLAIM, "status"),
        Deed::DeleteClaim { .. } => ("DELETE", CLAIM, ""),
        Deed::PatchNode { .. } => ("PATCH", NODE, ""),
        Deed::DeleteNode { .. } => ("DELETE", NODE, ""),
        Deed::EvictPod { .. } => ("POST", POD, "eviction"),
        Deed::DeletePod { .. } => ("DELETE", POD, ""),
        Deed::PatchPool { .. } => ("PATCH", POOL, ""),
        Deed::WritePoolStatus { .. } => ("PATCH", POOL, "status"),
        Deed::Launch(_) | Deed::Terminate { .. } | Deed::ListMachines | Deed::Solve(_) => {
            return Vec::new();
        }
    };
    let labels = [
        ("verb", verb),
        ("group", group),
        ("version", "v1"),
        ("kind", kind),
        ("subresource", subresource),
    ];
    let labels = labels.map(|(name, value)| (name, value.to_owned())).into();
    let code = code(outcome, verb).to_owned();
    let total = vec![("code", code), ("method", verb.to_owned())];
    vec![
        Measure::Took { metric: "client_go_request_duration_seconds", labels, span },
        Measure::one("client_go_request_total", total),
    ]
}

/// The server's answer, as far as outcomes tell it.
fn code(outcome: &Outcome, verb: &str) -> &'static str {
    match outcome {
        Outcome::NotFound => "404",
        Outcome::Failed(Failure::Conflict) => "409",
        Outcome::Failed(Failure::Invalid { .. }) => "422",
        Outcome::Failed(Failure::Refused { .. }) => "429",
        Outcome::Failed(_) => "<error>",
        _ if verb == "POST" => "201",
        _ => "200",
    }
}

/// The public name of what went wrong; a machine that is gone counts as an error too.
fn error(outcome: &Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::NotFound => Some("NodeClaimNotFoundError"),
        Outcome::Failed(Failure::InsufficientCapacity { .. }) => Some("InsufficientCapacityError"),
        Outcome::Failed(Failure::NodeClassNotReady { .. }) => Some("NodeClassNotReadyError"),
        Outcome::Failed(_) => Some(""),
        _ => None,
    }
}
