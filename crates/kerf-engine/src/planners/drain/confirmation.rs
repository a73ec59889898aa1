//! That no pod is left on a node follows from silence; before anything ends by it, the API server
//! itself is asked, once.

use std::sync::Arc;

use crate::action::{Action, ActionKind};
use crate::decision::Decision;
use crate::event::Outcome;
use crate::memory::{Confirmation, Update};
use crate::observed::{Name, Node, Pod, PodKey};
use crate::reason::Reason;
use crate::time::{Span, Time};
use crate::world::World;

/// An answer counts for so long: what follows from it is written at once, or tried again soon.
const HOLDS_FOR: Span = Span::from_seconds(30);
/// Pods that the server has and nobody told of are on their way; then it is asked again.
const AGAIN_AFTER: Span = Span::from_seconds(5);

/// Whether the API server has no pod on the node that is not known to be there. Asks it where it
/// has not said so lately.
pub(in crate::planners) fn is_confirmed(
    world: &World,
    node: &Node,
    now: Time,
    decision: &mut Decision,
) -> bool {
    let known = world.memory.confirmations.get(&node.meta.name);
    let known = known.filter(|it| it.uid == node.meta.uid && now < it.at + HOLDS_FOR);
    match known {
        Some(Confirmation { knows_all: true, .. }) => return true,
        Some(Confirmation { at, .. }) if now < *at + AGAIN_AFTER => {
            decision.wake(*at + AGAIN_AFTER);
        }
        _ => {
            let (node, uid) = (node.meta.name.clone(), node.meta.uid.clone());
            let kind = ActionKind::ConfirmDrained { node, uid };
            decision.act(kind, Reason::AbsenceUnconfirmed);
        }
    }
    false
}

/// What to make of the answer.
pub(in crate::planners) fn confirmed(
    world: &World,
    action: &Action,
    outcome: &Outcome,
) -> Decision {
    let mut decision = Decision::default();
    if let (ActionKind::ConfirmDrained { node, uid }, Outcome::PodsOn(pods)) =
        (&action.kind, outcome)
    {
        let knows_all = pods.iter().all(|(key, uid)| is_known(world, node, key, uid));
        let confirmation = Confirmation { uid: uid.clone(), at: action.at, knows_all };
        decision.remember(Update::Confirmed { node: node.clone(), confirmation });
    }
    decision
}

/// What to remember when a pod is about to become this: one more on a node makes the answer old.
pub(in crate::planners) fn on_pod_change(world: &World, pod: &Pod) -> Decision {
    let mut decision = Decision::default();
    if let Some(node) = pod.node()
        && world.memory.confirmations.contains_key(node)
        && !is_known(world, node, &pod.key, &pod.meta.uid)
    {
        decision.remember(Update::Unconfirmed(node.clone()));
    }
    decision
}

fn is_known(world: &World, node: &Name, key: &PodKey, uid: &Arc<str>) -> bool {
    let pod = world.pods.get(key).filter(|pod| pod.meta.uid == *uid);
    pod.is_some_and(|pod| pod.node() == Some(node))
}
