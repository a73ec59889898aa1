//! Which changes make it worth searching again where nothing was found.

use std::sync::Arc;

use crate::condition::claim::CONSOLIDATABLE;
use crate::event::{Key, Object};
use crate::observed::{Claim, Node, Pod};
use crate::world::World;

/// Whether an object is about to become something that a plan depends on.
pub(in crate::planners::disruption) fn has_changed(world: &World, object: &Object) -> bool {
    match object {
        Object::Pod(pod) => {
            let differs = |former: &Arc<Pod>| {
                former.phase != pod.phase
                    || former.meta.is_deleting() != pod.meta.is_deleting()
                    || former.do_not_disrupt != pod.do_not_disrupt
            };
            let former = world.pods.get(&pod.key);
            pod.node().is_some() && former.is_none_or(differs)
                || former.is_some_and(|it| it.node() != pod.node())
        }
        Object::Claim(claim) => {
            let is_quiet = |claim: &Claim| claim.status.conditions.is_true(CONSOLIDATABLE);
            let former = world.claims.get(&claim.meta.name);
            former.is_none_or(|former| is_quiet(former) != is_quiet(claim))
        }
        Object::Node(node) => {
            let differs = |former: &Arc<Node>| {
                former.taints != node.taints
                    || former.labels != node.labels
                    || former.annotations != node.annotations
            };
            world.nodes.get(&node.meta.name).is_none_or(differs)
        }
        Object::Pool(pool) => {
            let former = world.pools.get(&pool.meta.name);
            former.is_none_or(|former| former.meta.generation != pool.meta.generation)
        }
        Object::PodDisruptionBudget(_) => true,
        _ => false,
    }
}

/// Whether a plan depends on an object that is about to be gone.
pub(in crate::planners::disruption) fn is_change_by_end(key: &Key) -> bool {
    matches!(
        key,
        Key::Pod(_) | Key::Claim(_) | Key::Node(_) | Key::Pool(_) | Key::PodDisruptionBudget(_)
    )
}
