//! Executors: each action becomes one call, and its answer an outcome.
//!
//! Nothing is tried twice here: whether and when to try again is the engine's decision. Changes
//! carry the version they were decided on, deletions the identity they are meant for, so a call
//! that comes too late changes nothing.

mod claims;
mod failure;
mod nodes;
mod pace;
mod pods;
mod pools;

use std::sync::Arc;
use std::time::Duration;

use kerf_engine::action::ActionKind;
use kerf_engine::event::{Failure, Instance, Outcome};
use kube::Client;
use tokio::time::timeout;

use crate::client::cloud::{Cloud, Ending};

pub use pace::Pace;

/// A call without an answer for so long is given up; what it did shows in the objects.
const CALL_WITHIN: Duration = Duration::from_secs(30);

/// Carries out actions.
#[derive(Clone)]
pub struct Executor<C> {
    client: Client,
    cloud: Arc<C>,
    pace: Pace,
}

impl<C: Cloud> Executor<C> {
    /// An executor that calls the API server no faster than the pace allows.
    pub fn new(client: Client, cloud: Arc<C>, pace: Pace) -> Self {
        Self { client, cloud, pace }
    }

    /// Carries an action out.
    pub async fn carry_out(&self, kind: &ActionKind) -> Outcome {
        match kind {
            ActionKind::Launch(claim) => launched(self.cloud.launch(claim).await),
            ActionKind::Terminate { claim, provider_id } => {
                match self.cloud.terminate(claim, provider_id.as_deref()).await {
                    Ok(Ending::Begun) => Outcome::Done,
                    Ok(Ending::Gone) => Outcome::NotFound,
                    Err(failure) => Outcome::Failed(failure),
                }
            }
            ActionKind::ListInstances => match self.cloud.instances().await {
                Ok(instances) => Outcome::Instances(instances.into_iter().map(Arc::new).collect()),
                Err(failure) => Outcome::Failed(failure),
            },
            kind => {
                self.pace.turn().await;
                match timeout(CALL_WITHIN, self.write(kind)).await {
                    Ok(result) => result.unwrap_or_else(failure::outcome),
                    Err(_) => Outcome::Failed(Failure::Unavailable {
                        message: format!("no answer within {} s", CALL_WITHIN.as_secs()),
                    }),
                }
            }
        }
    }

    async fn write(&self, kind: &ActionKind) -> kube::Result<Outcome> {
        match kind {
            ActionKind::CreateClaim(claim) => claims::create(&self.client, claim).await,
            ActionKind::PatchClaim { name, revision, patch } => {
                claims::patch(&self.client, name, *revision, patch).await
            }
            ActionKind::WriteClaimStatus { name, revision, status } => {
                claims::write_status(&self.client, name, *revision, status).await
            }
            ActionKind::DeleteClaim { name, uid } => claims::delete(&self.client, name, uid).await,
            ActionKind::PatchNode { name, uid, patch } => {
                nodes::patch(&self.client, name, uid, patch).await
            }
            ActionKind::DeleteNode { name, uid } => nodes::delete(&self.client, name, uid).await,
            ActionKind::EvictPod { pod, uid } => pods::evict(&self.client, pod, uid).await,
            ActionKind::DeletePod { pod, uid, grace_seconds } => {
                pods::delete(&self.client, pod, uid, *grace_seconds).await
            }
            ActionKind::PatchPool { name, revision, annotations } => {
                pools::patch(&self.client, self.cloud.as_ref(), name, *revision, annotations).await
            }
            ActionKind::WritePoolStatus { name, revision, status } => {
                let cloud = self.cloud.as_ref();
                pools::write_status(&self.client, cloud, name, *revision, status).await
            }
            ActionKind::Launch(_)
            | ActionKind::Terminate { .. }
            | ActionKind::ListInstances
            | ActionKind::Solve(_)
            | ActionKind::ZonalShift(_) => {
                unreachable!("the cloud, the solver pool and kerf-zonal carry these out")
            }
        }
    }
}

fn launched(result: Result<Instance, Failure>) -> Outcome {
    match result {
        Ok(instance) => Outcome::Launched(Arc::new(instance)),
        Err(failure) => Outcome::Failed(failure),
    }
}
