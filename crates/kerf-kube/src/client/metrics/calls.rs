//! What calls and thoughts are counted as.

use kerf_engine::action::Deed;
use kerf_engine::event::{Failure, Outcome};
use kerf_engine::measure::Measure;
use kerf_engine::time::Span;

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
        _ => return Vec::new(),
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
