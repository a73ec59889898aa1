//! What happens, in the words of Karpenter's log of 2021, for runbooks that look for them.
//!
//! Beside the usual log, and only where `--log-format legacy` is on: the lines are told from what
//! the engine hears and orders.

use std::collections::{BTreeMap, BTreeSet};

use kerf_engine::World;
use kerf_engine::action::{Action, ActionKind};
use kerf_engine::event::{Event, Instance, Key, Object, Outcome};
use kerf_engine::observed::{Name, Pod, PodOwner, PodPhase};
use kerf_engine::reason::Reason;
use kerf_model::budget::DisruptionReason;
use kerf_model::labels::well_known::{CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL, ZONE};
use kerf_model::resources::PODS;
use kerf_model::taint::DISRUPTED_KEY;
use kerf_runtime::log;
use tracing::info;

/// Instance types that a line names; Karpenter passed twenty to EC2.
const TYPES_MAX: usize = 20;

/// Tells what happens.
#[derive(Debug, Default)]
pub(crate) struct RunbookLog {
    is_on: bool,
    /// Pools that were told to begin.
    pools: BTreeSet<Name>,
    /// Whether pods are waiting for more to come.
    is_batching: bool,
    /// Pods that came to nodes since the last line about it.
    bound: BTreeMap<Name, usize>,
    lines: Vec<Line>,
}

/// A line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Line {
    controller: &'static str,
    text: String,
    provisioner: String,
    node: String,
}

impl RunbookLog {
    pub(crate) fn new() -> Self {
        Self { is_on: log::tells_runbook(), ..Self::default() }
    }

    /// Notes an event, before the engine takes it in.
    pub(crate) fn hear(&mut self, event: &Event, world: &World) {
        if !self.is_on {
            return;
        }
        match event {
            Event::Seen(object) => {
                if let Object::Pod(pod) = &**object {
                    self.pod(pod, world);
                }
            }
            Event::Gone { key: Key::Pod(key), .. } => {
                if let Some(node) = world.pods.get(key).and_then(|pod| pod.node())
                    && is_managed(node, world)
                    && !world.pods_on(node).any(|pod| pod.key != *key && is_of_workload(pod))
                {
                    self.line("node", "Added TTL to empty node").node = node.to_string();
                }
            }
            Event::Gone { key: Key::Node(node), .. } if is_managed(node, world) => {
                self.line("termination", "Deleted node").node = node.to_string();
            }
            Event::Finished { outcome: Outcome::Launched(instance), .. } => {
                let text = launched(instance);
                let pool = instance.labels.get(NODE_POOL).cloned().unwrap_or_default();
                self.line("provisioning", text).provisioner = pool;
            }
            _ => {}
        }
    }

    fn pod(&mut self, pod: &Pod, world: &World) {
        match &pod.phase {
            PodPhase::Unschedulable { .. } if !self.is_batching => {
                self.is_batching = true;
                self.line("provisioning", "Waiting to batch additional pods");
            }
            PodPhase::Bound { node } => {
                let was_waiting = world.pods.get(&pod.key).is_some_and(|it| it.node().is_none());
                if was_waiting && is_of_workload(pod) && is_managed(node, world) {
                    *self.bound.entry(node.clone()).or_default() += 1;
                }
            }
            _ => {}
        }
    }

    /// Notes what was decided, and writes all lines.
    pub(crate) fn tell(&mut self, actions: &[Action], world: &World) {
        if !self.is_on {
            return;
        }
        let new: Vec<Name> =
            world.pools.keys().filter(|pool| !self.pools.contains(*pool)).cloned().collect();
        for pool in new {
            self.line("provisioning", "Starting provisioning loop").provisioner = pool.to_string();
            self.pools.insert(pool);
        }
        self.pools.retain(|pool| world.pools.contains_key(pool));
        for (node, count) in std::mem::take(&mut self.bound) {
            let text = format!("Bound {count} pod(s) to node {node}");
            self.line("provisioning", text).node = node.to_string();
        }
        actions.iter().for_each(|action| self.decided(action, world));
        self.packed(actions);
        for Line { controller, text, provisioner, node } in std::mem::take(&mut self.lines) {
            info!(target: log::RUNBOOK, controller, provisioner, node, "{text}");
        }
    }

    fn decided(&mut self, action: &Action, world: &World) {
        match (&action.kind, &action.reason) {
            (ActionKind::Solve(_), Reason::PodsPending { count }) => {
                self.is_batching = false;
                self.line("provisioning", format!("Found {count} provisionable pods"));
            }
            (ActionKind::DeleteClaim { name, .. }, Reason::Disruption { reason, .. })
                if *reason == DisruptionReason::Empty =>
            {
                let Some(claim) = world.claims.get(name) else { return };
                let pool = claim.pool().and_then(|pool| world.pools.get(pool));
                let after = pool.map(|pool| pool.spec.disruption.consolidate_after.to_string());
                let after = after.unwrap_or_default();
                let text = format!("Triggering termination after {after} for empty node");
                let node = claim.status.node_name.as_deref().unwrap_or_default().to_owned();
                self.line("node", text).node = node;
            }
            (ActionKind::PatchNode { name, patch, .. }, _)
                if patch.taints_added.iter().any(|taint| taint.key == DISRUPTED_KEY) =>
            {
                self.line("termination", "Cordoned node").node = name.to_string();
            }
            _ => {}
        }
    }

    /// New claims of one decision, by pool.
    fn packed(&mut self, actions: &[Action]) {
        let mut by_pool: BTreeMap<&Name, (usize, i128, &[String])> = BTreeMap::new();
        for action in actions {
            let ActionKind::CreateClaim(new) = &action.kind else { continue };
            let requirements = &new.spec.node.requirements;
            let types = requirements.iter().find(|entry| entry.key == INSTANCE_TYPE);
            let types = types.map(|entry| entry.values.as_slice()).unwrap_or_default();
            let packing = by_pool.entry(&new.pool.0).or_insert((0, 0, types));
            packing.0 += 1;
            packing.1 += new.spec.requests.quantity(PODS).value();
        }
        let lines = by_pool.into_iter().map(|(pool, (nodes, pods, types))| Line {
            controller: "provisioning",
            text: format!(
                "Computed packing of {nodes} node(s) for {pods} pod(s) with instance type \
                 option(s) [{}]",
                types[..types.len().min(TYPES_MAX)].join(" ")
            ),
            provisioner: pool.to_string(),
            node: String::new(),
        });
        self.lines.extend(lines);
    }

    fn line(&mut self, controller: &'static str, text: impl Into<String>) -> &mut Line {
        self.lines.push(Line { controller, text: text.into(), ..Line::default() });
        let last = self.lines.len() - 1;
        &mut self.lines[last]
    }
}

fn launched(instance: &Instance) -> String {
    let label = |key: &str| instance.labels.get(key).map(String::as_str).unwrap_or_default();
    let id = instance.provider_id.rsplit('/').next().unwrap_or_default();
    format!(
        "Launched instance: {id}, type: {}, zone: {}, capacityType: {}",
        label(INSTANCE_TYPE),
        label(ZONE),
        label(CAPACITY_TYPE)
    )
}

/// Whether a claim stands for a node.
fn is_managed(node: &str, world: &World) -> bool {
    world.nodes.get(node).is_some_and(|node| world.claim_of(node).is_some())
}

fn is_of_workload(pod: &Pod) -> bool {
    !matches!(pod.owner, PodOwner::DaemonSet | PodOwner::Node)
}
