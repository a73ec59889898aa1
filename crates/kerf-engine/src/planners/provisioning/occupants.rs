//! Who stands on nodes, or is meant for them.

use std::collections::BTreeSet;

use kerf_model::hash::fnv1a;
use kerf_model::node::{BoundPod, Node as NodeView};
use rustc_hash::FxHashMap;

use super::{problem, waiting_pods};
use crate::time::Time;
use crate::world::World;

/// The pods of nodes and those meant for them, by what tells pods apart.
pub(in crate::planners) struct Occupants<'a> {
    world: &'a World,
    meant: FxHashMap<&'a str, Vec<BoundPod>>,
}

impl<'a> Occupants<'a> {
    pub(in crate::planners) fn new(world: &'a World, now: Time) -> Self {
        let waiting = waiting_pods(world, now);
        Self { world, meant: problem::meant(world, &waiting, now) }
    }

    /// Those a problem has on a node.
    pub(in crate::planners) fn of_view(view: &NodeView) -> BTreeSet<u64> {
        view.pods.iter().map(|bound| fnv1a(bound.pod.uid.as_bytes())).collect()
    }

    /// Whether nobody but these is on a node that is there.
    pub(in crate::planners) fn are_among(&self, node: &str, known: &BTreeSet<u64>) -> bool {
        let Some((name, node)) = self.world.nodes.get_key_value(node) else { return false };
        let claim = self.world.claim_of(node).map(|claim| &claim.meta.name);
        let meant = self.meant.get(&**claim.unwrap_or(name)).into_iter().flatten();
        let meant = meant.map(|bound| fnv1a(bound.pod.uid.as_bytes()));
        let there = self.world.pods_on(name).map(|pod| fnv1a(pod.meta.uid.as_bytes()));
        there.chain(meant).all(|pod| known.contains(&pod))
    }
}
