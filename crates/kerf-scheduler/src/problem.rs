//! What is to be decided: pods without a place, and everything a place could be.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::instance_type::InstanceType;
use kerf_model::labels::LabelRules;
use kerf_model::node::Node;
use kerf_model::pod::{Pod, PodShape};
use kerf_model::pool::NodePool;
use kerf_model::price::Price;
use kerf_model::resources::ResourceList;
use serde::{Deserialize, Serialize};

/// A placement problem, in words. What it shares with the next problem (nodes, shapes, pools,
/// instance types) is shared by pointer: making one copies nothing of a node that did not change.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlacementProblem {
    /// Pods that need a place.
    pub pods: Vec<Pod>,
    /// One shape for each daemon set: what every node it runs on must also hold.
    pub daemons: Vec<Arc<PodShape>>,
    /// The name of each of them, for explanations; none where nobody knows.
    #[serde(default)]
    pub daemon_names: Vec<Arc<str>>,
    /// Nodes that exist or are on their way.
    pub nodes: Vec<Arc<Node>>,
    /// Where new nodes may come from, in the order they are tried.
    pub pools: Vec<PoolWithTypes>,
    /// By pool: what counts against its limits besides the nodes, because it may have to stay.
    #[serde(default)]
    pub held: BTreeMap<String, ResourceList>,
    /// The labels of each namespace, by name.
    pub namespaces: Arc<BTreeMap<String, BTreeMap<String, String>>>,
    /// How to decide.
    pub settings: SchedulerSettings,
}

/// A pool and the instance types it can be made of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PoolWithTypes {
    /// The pool. Only dynamic pools get new nodes.
    pub pool: Arc<NodePool>,
    /// Every instance type its cloud offers it.
    pub instance_types: Arc<[InstanceType]>,
}

/// How to decide.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SchedulerSettings {
    /// Which labels may be used and which are well known.
    pub label_rules: LabelRules,
    /// What to do with preferences.
    pub preferences: PreferencePolicy,
    /// What to do when too few distinct values are left.
    pub min_values: MinValuesPolicy,
    /// What one more node is worth avoiding, on top of its price: another kubelet, another copy of
    /// each daemon, another launch call, another address.
    pub node_overhead: Price,
    /// How much work may go into making the fleet cheaper after everything is placed; counted in
    /// filled bins, so that the answer does not depend on the speed of the processor.
    pub improvement_effort: u32,
    /// Most instance types a new node keeps as options.
    pub instance_type_options_max: usize,
    /// Who fills the new nodes.
    pub binder: Binder,
}

/// Who puts the pods onto new nodes once they are up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Binder {
    /// Each pod goes where the plan has it.
    Planned,
    /// Another scheduler, which fills nodes as it likes. Fleets are simulated for that, and the
    /// cheapest on which nobody is left over is chosen rather than the one with the least to spare.
    KubeScheduler,
}

/// What to do with preferred affinities and spreads that need not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PreferencePolicy {
    /// Treat them as required until they cannot be met.
    Respect,
    /// Do not look at them.
    Ignore,
}

/// What to do when fewer distinct values are left than a pool's `minValues` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MinValuesPolicy {
    /// Do not make the node.
    Strict,
    /// Make it with what is there.
    BestEffort,
}

/// 0.03 dollars an hour, about 22 a month: a root volume of 80 GiB at 0.08 $ per GiB and month
/// (0.009 $/h), a monitoring agent paid by the host (15 $ a month, 0.02 $/h), and the launch. What
/// daemon sets take is counted with the pods. Below the price of all but the smallest instance
/// types, so it decides between fleets of nearly equal price only.
pub const NODE_OVERHEAD_DEFAULT: Price = Price::from_micros_per_hour(30_000);

/// Filled bins; each takes microseconds.
pub const IMPROVEMENT_EFFORT_DEFAULT: u32 = 2_000;

/// Most instance types the API lets a claim list.
pub const INSTANCE_TYPE_OPTIONS_MAX: usize = 600;

impl Default for SchedulerSettings {
    fn default() -> Self {
        Self {
            label_rules: LabelRules::core(),
            preferences: PreferencePolicy::Respect,
            min_values: MinValuesPolicy::Strict,
            node_overhead: NODE_OVERHEAD_DEFAULT,
            improvement_effort: IMPROVEMENT_EFFORT_DEFAULT,
            instance_type_options_max: INSTANCE_TYPE_OPTIONS_MAX,
            binder: Binder::Planned,
        }
    }
}
