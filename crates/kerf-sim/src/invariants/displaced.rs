//! Pods of nodes that are given up by choice: each has somewhere to go.
//!
//! Looked at when the decision is made, in the true state of that moment: what happens between a
//! decision and its end is nobody's fault.

use std::cmp::Reverse;
use std::sync::Arc;

use kerf_engine::action::{Action, ActionKind};
use kerf_engine::observed::{Node, Pod, PodOwner};
use kerf_model::node::{BoundPod, Node as ModelNode};
use kerf_model::resources::CPU;

use super::disruption::{is_in_order, is_surplus, reason, staying};
use super::place::{Place, place_of};
use super::true_state::{model_pod, problem};
use super::{Checker, Rule};
use crate::cloud::Cloud;
use crate::controllers::Workloads;
use crate::store::Store;

impl Checker {
    /// Looks at an action that an engine has just decided on.
    pub(crate) fn decided(
        &mut self,
        action: &Action,
        store: &Store,
        cloud: &Cloud,
        workloads: &Workloads,
    ) {
        self.now = store.now;
        let ActionKind::DeleteClaim { name, uid } = &action.kind else { return };
        if is_surplus(action) {
            return;
        }
        let Some((claim, node)) = staying(name, uid, store) else { return };
        if reason(action).is_none() && !is_in_order(claim, store, cloud, self.now) {
            return;
        }
        // Two that both lead take places that the other has promised to somebody.
        if self.is_overlap() {
            return;
        }
        let pods = self.moving_pods(node, store);
        if pods.is_empty() {
            return;
        }
        // Nodes that are about to go may go first, and take pods along that spreads count.
        let is_open = |other: &Arc<ModelNode>| {
            store.nodes.get(other.name.as_str()).is_none_or(|other| !other.is_closed())
        };
        let standing = self.standing.of(store);
        let open = standing.iter().filter(|it| is_open(it)).cloned().collect();
        let place_in = |nodes| without_place(&pods, node, nodes, store, cloud, workloads);
        if let Some(pod) = place_in(standing).and_then(|_| place_in(open)) {
            let (name, reason) = (&claim.meta.name, &action.reason);
            let what = format!("{name} is given up ({reason}); {} has no other place", pod.key);
            self.object(Rule::NowhereToGo, what);
        }
    }

    /// The pods of a node that would have to move, the largest first.
    fn moving_pods<'a>(&self, node: &Node, store: &'a Store) -> Vec<&'a Pod> {
        let pods = store.pods_on(&node.meta.name);
        let mut pods: Vec<&Pod> = pods.filter(|pod| self.has_to_move(pod)).collect();
        pods.sort_by_key(|pod| (Reverse(pod.shape.requests.quantity(CPU)), pod.key.clone()));
        pods
    }

    /// Whether a pod would have to move from its node, and has been there long enough to be known.
    pub(super) fn has_to_move(&self, pod: &Pod) -> bool {
        let is_of_node = matches!(pod.owner, PodOwner::DaemonSet | PodOwner::Node);
        !is_of_node && !pod.meta.is_deleting() && !pod.has_ended() && self.is_settled(pod)
    }
}

/// The first of a node's pods that has no place on these others, the pods before it having theirs.
fn without_place<'a>(
    pods: &[&'a Pod],
    node: &Node,
    mut nodes: Vec<Arc<ModelNode>>,
    store: &Store,
    cloud: &Cloud,
    workloads: &Workloads,
) -> Option<&'a Pod> {
    nodes.retain(|other| *other.name != *node.meta.name);
    for pod in pods {
        let problem = problem(vec![model_pod(pod)], nodes.clone(), store, cloud, workloads);
        let taken = match place_of(&problem) {
            None => return Some(pod),
            Some(Place::Existing(number)) => &mut nodes[number],
            Some(Place::New(node)) => {
                nodes.push(Arc::from(node));
                nodes.last_mut()?
            }
        };
        take(Arc::make_mut(taken), pod);
    }
    None
}

fn take(node: &mut ModelNode, pod: &Pod) {
    node.pods.push(BoundPod { pod: model_pod(pod), is_daemon: false, is_leaving: false });
}
