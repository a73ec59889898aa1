//! What finished actions mean for pods that have to leave.

use std::sync::Arc;

use crate::action::{Action, ActionKind};
use crate::condition::claim::DISRUPTION_REASON;
use crate::decision::Decision;
use crate::event::{Failure, Key, Outcome};
use crate::kubernetes_event::KubernetesEvent;
use crate::observed::{Claim, Node, Pod, PodKey};
use crate::sample::Sample;
use crate::world::World;

/// Why pods leave where nothing else is said.
const BY_FORCE: &str = "Forceful Termination";

/// What to make of a finished action about a pod.
pub(in crate::planners) fn conclude(
    world: &World,
    key: &PodKey,
    action: &Action,
    outcome: &Outcome,
) -> Decision {
    let mut decision = Decision::default();
    let pod = world.pods.get(key).map(Arc::as_ref);
    let node = pod.and_then(Pod::node).and_then(|node| world.nodes.get(node)).map(Arc::as_ref);
    let claim = node.and_then(|node| world.claim_of(node));
    match &action.kind {
        ActionKind::EvictPod { .. } => evicted(key, node, claim, outcome, &mut decision),
        // By now the pod may be gone; what was decided says it all.
        ActionKind::DeletePod { .. } if matches!(outcome, Outcome::Done) => {
            let text = format!("Deleting the pod: {}", action.reason);
            decision.record(KubernetesEvent::normal(Key::Pod(key.clone()), "Disrupted", text));
        }
        _ => {}
    }
    decision
}

fn evicted(
    key: &PodKey,
    node: Option<&Node>,
    claim: Option<&Claim>,
    outcome: &Outcome,
    decision: &mut Decision,
) {
    let code = match outcome {
        Outcome::Done | Outcome::Stored(_) => "200",
        Outcome::NotFound => "404",
        Outcome::Failed(Failure::Conflict) => "409",
        Outcome::Failed(Failure::Refused { .. }) => "429",
        _ => "500",
    };
    let labels = vec![("code", code.to_owned())];
    decision.samples.push(Sample::one("karpenter_pods_eviction_requests_total", labels));
    match outcome {
        Outcome::Done => {
            let condition = claim.and_then(|claim| claim.status.conditions.get(DISRUPTION_REASON));
            let reason = condition.map_or(BY_FORCE, |condition| condition.reason.as_str());
            let labels = vec![("reason", reason.to_owned())];
            decision.samples.push(Sample::one("karpenter_pods_drained_total", labels));
            let text = format!("Evicted pod: {reason}");
            decision.record(KubernetesEvent::normal(Key::Pod(key.clone()), "Evicted", text));
        }
        Outcome::Failed(Failure::Refused { message }) => {
            if let Some(node) = node {
                let about = Key::Node(node.meta.name.clone());
                let text = format!("Failed to drain node, evicting pod {key}: {message}");
                decision.record(KubernetesEvent::warning(about, "FailedDraining", text));
            }
        }
        _ => {}
    }
}
