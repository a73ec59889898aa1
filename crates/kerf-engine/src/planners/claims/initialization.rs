//! From a node of the cluster to one that is ready for pods.

use kerf_model::labels::well_known::INITIALIZED as INITIALIZED_LABEL;
use kerf_model::taint::is_known_ephemeral;

use super::work::Work;
use crate::condition::claim::{INITIALIZED, REGISTERED};
use crate::observed::{Claim, Node};

/// What a node lacks to be ready for pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    Nothing,
    Something {
        /// One word.
        reason: &'static str,
        /// A sentence.
        message: String,
    },
}

/// Notes that the node is ready for pods, or why not. There is no time limit.
pub(super) fn advance(work: &mut Work<'_>) {
    if !work.conditions.is_true(REGISTERED) || work.conditions.is_true(INITIALIZED) {
        return;
    }
    let node = work.world.node_of(work.claim);
    match lack(work.claim, node) {
        Lack::Something { reason, message } => {
            work.conditions.set_unknown(INITIALIZED, reason, &message);
        }
        // The node says so itself before the claim does: others read the label.
        Lack::Nothing if node.is_some_and(is_labelled) => {
            work.conditions.set_true(INITIALIZED);
        }
        Lack::Nothing => {}
    }
}

/// The first thing a node lacks.
pub(super) fn lack(claim: &Claim, node: Option<&Node>) -> Lack {
    let missing = |reason, message| Lack::Something { reason, message };
    let Some(node) = node else {
        return missing("NodeNotFound", "the claim's node is not there".to_owned());
    };
    if !node.is_ready {
        return missing("NodeNotReady", "the node does not say it is ready".to_owned());
    }
    let startup = &claim.spec.node.startup_taints;
    let is_startup = |taint: &&_| startup.iter().any(|own| own.same_mark(taint));
    if let Some(taint) = node.taints.iter().find(is_startup) {
        return missing("StartupTaintsExist", format!("the startup taint {taint} is still there"));
    }
    if let Some(taint) = node.taints.iter().find(|taint| is_known_ephemeral(taint)) {
        let message = format!("the taint {taint}, which should go by itself, is still there");
        return missing("KnownEphemeralTaintsExist", message);
    }
    let requested = claim.spec.requests.iter().filter(|(_, quantity)| !quantity.is_zero());
    for (resource, _) in requested {
        if node.allocatable.quantity(resource).is_zero() {
            let message = format!("the node does not offer the resource {resource} yet");
            return missing("ResourceNotRegistered", message);
        }
    }
    Lack::Nothing
}

fn is_labelled(node: &Node) -> bool {
    node.labels.get(INITIALIZED_LABEL).is_some_and(|value| value == "true")
}
