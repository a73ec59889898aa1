//! From a node of the cluster to one that is ready for pods.

use kerf_model::labels::well_known::INITIALIZED as INITIALIZED_LABEL;

use super::super::joining::{Lack, lack};
use super::work::Work;
use crate::condition::claim::{INITIALIZED, REGISTERED};
use crate::observed::Node;

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

fn is_labelled(node: &Node) -> bool {
    node.labels.get(INITIALIZED_LABEL).is_some_and(|value| value == "true")
}
