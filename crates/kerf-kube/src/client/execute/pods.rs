//! Making pods leave.

use k8s_openapi::api::core::v1::Pod;
use kerf_engine::event::{Failure, Outcome};
use kerf_engine::observed::PodKey;
use kube::Client;
use kube::api::{Api, EvictParams};

use super::claims::{deleted, of_identity};

/// What the API server says of a pod with two budgets, with status 500.
const TWO_BUDGETS: &str = "more than one PodDisruptionBudget";

/// Asks a pod to leave, respecting its budgets. A pod that is another by now has left.
pub(super) async fn evict(client: &Client, pod: &PodKey, uid: &str) -> kube::Result<Outcome> {
    let api = Api::<Pod>::namespaced(client.clone(), &pod.namespace);
    let delete_options = Some(of_identity(uid));
    let eviction = EvictParams { delete_options, ..EvictParams::default() };
    match api.evict(&pod.name, &eviction).await {
        Ok(_) => Ok(Outcome::Done),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(Outcome::NotFound),
        Err(kube::Error::Api(status))
            if status.code == 429 || status.message.contains(TWO_BUDGETS) =>
        {
            Ok(Outcome::Failed(Failure::Refused { message: status.message.clone() }))
        }
        Err(error) => Err(error),
    }
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
