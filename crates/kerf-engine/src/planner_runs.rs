//! How often each planner was asked, under the names of the controllers that dashboards know.

use crate::action::Subject;
use crate::observed::Name;
use crate::sample::Sample;
use crate::world::World;

/// The counts of one round.
#[derive(Debug, Default)]
pub(crate) struct PlannerRuns([u64; CONTROLLERS.len()]);

/// Karpenter runs many controllers; each subject stands for the one that does most of its work.
const CONTROLLERS: [&str; 12] = [
    "nodeclaim.lifecycle",
    "node.termination",
    "eviction-queue",
    "nodepool.readiness",
    "provisioner",
    "disruption",
    "nodeclaim.garbagecollection",
    "zonalshift",
    "interruption",
    "node.hydration",
    "nodeclass",
    "nodeoverlay.controller",
];

impl PlannerRuns {
    pub(crate) fn count(&mut self, world: &World, subject: &Subject) {
        let index = match subject {
            Subject::Claim(_) => 0,
            Subject::Node(name) if stays(world, name) => 9,
            Subject::Node(_) => 1,
            Subject::Pod(_) => 2,
            Subject::Pool(_) => 3,
            Subject::Provisioning => 4,
            Subject::Disruption | Subject::Consolidation => 5,
            Subject::Instances => 6,
            Subject::ZonalShift => 7,
            Subject::Notices => 8,
            Subject::NodeClass(_) => 10,
            Subject::Overlay(_) => 11,
        };
        self.0[index] += 1;
    }

    /// What was counted. A planner cannot fail: what it asks for may, and is counted there.
    pub(crate) fn samples(self) -> impl Iterator<Item = Sample> {
        let counted = CONTROLLERS.into_iter().zip(self.0).filter(|(_, count)| *count > 0);
        counted.map(|(controller, by)| Sample::Count {
            metric: "controller_runtime_reconcile_total",
            labels: vec![("controller", controller.to_owned()), ("result", "success".to_owned())],
            by,
        })
    }
}

/// Whether a node is there and not on its way out: joining looks after it, not termination.
fn stays(world: &World, node: &Name) -> bool {
    world.nodes.get(node).is_some_and(|node| !world.is_node_leaving(node))
}
