//! Making pods leave.

use k8s_openapi::api::core::v1::Pod;
use kerf_engine::event::{Failure, Outcome};
use kerf_engine::observed::PodKey;
use kube::Client;
use kube::api::{Api, EvictParams};
use kube::core::Status;

use super::claims::{deleted, of_identity};

/// The cause the API server gives for an eviction that a budget does not allow now.
const BUDGET_CAUSE: &str = "DisruptionBudget";
/// What the API server says of a pod with two budgets, with status 500.
const TWO_BUDGETS: &str = "more than one PodDisruptionBudget";

/// Asks a pod to leave, respecting its budgets. A pod that is another by now has left.
pub(super) async fn evict(
    client: &Client,
    pod: &PodKey,
    uid: &str,
    grace_seconds: Option<u32>,
) -> kube::Result<Outcome> {
    let api = Api::<Pod>::namespaced(client.clone(), &pod.namespace);
    let mut delete_options = of_identity(uid);
    delete_options.grace_period_seconds = grace_seconds;
    let delete_options = Some(delete_options);
    let eviction = EvictParams { delete_options, ..EvictParams::default() };
    match api.evict(&pod.name, &eviction).await {
        Ok(_) => Ok(Outcome::Done),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(Outcome::NotFound),
        Err(kube::Error::Api(status)) if is_refused_by_budget(&status) => {
            Ok(Outcome::Failed(Failure::Refused { message: status.message.clone() }))
        }
        Err(error) => Err(error),
    }
}

/// Whether a budget is why. A server with too many calls answers with the same code, and so does one
/// that has yet to count what a budget allows; that one says how long to wait.
fn is_refused_by_budget(status: &Status) -> bool {
    let names_budget = status.details.as_ref().is_some_and(|details| {
        let mut causes = details.causes.iter();
        details.retry_after_seconds == 0 && causes.any(|cause| cause.reason == BUDGET_CAUSE)
    });
    (status.code == 429 && names_budget) || status.message.contains(TWO_BUDGETS)
}

/// Deletes a pod whatever its budgets say.
pub(super) async fn delete(
    client: &Client,
    pod: &PodKey,
    uid: &str,
    grace_seconds: u64,
) -> kube::Result<Outcome> {
    let api = Api::<Pod>::namespaced(client.clone(), &pod.namespace);
    let mut params = of_identity(uid);
    params.grace_period_seconds = Some(u32::try_from(grace_seconds).unwrap_or(u32::MAX));
    deleted(api.delete(&pod.name, &params).await.map(drop))
}
