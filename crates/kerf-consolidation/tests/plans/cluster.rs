//! Small clusters by hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_consolidation::{EvictionCost, NodeFacts, Snapshot};
use kerf_model::budget::BudgetList;
use kerf_model::duration::NillableDuration;
use kerf_model::instance_type::{InstanceType, Offering, Reservation};
use kerf_model::labels::{LabelRules, kwok, well_known};
use kerf_model::node::{BoundPod, Node};
use kerf_model::node_spec::{NodeClassRef, NodeSpec};
use kerf_model::pod::{Pod, PodShape, SpreadConstraint};
use kerf_model::pool::{ConsolidationPolicy, Disruption, NodePool, NodeTemplate, Sizing};
use kerf_model::price::Price;
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::{CPU, MEMORY, PODS, ResourceList};
use kerf_model::selector::LabelSelector;
use kerf_scheduler::{PlacementProblem, PoolWithTypes, SchedulerSettings};

pub(crate) const ZONES: [&str; 2] = ["a", "b"];
const MICROS_PER_CPU: u64 = 50_000;

/// One pool `ash` without nodes. It is made of instance types of 2, 4, 8, 16 and 32 processors,
/// `c2` to `c32`, each with four times the memory, on demand in two zones at 0.05 dollars an hour
/// and processor.
pub(crate) fn cluster() -> Snapshot {
    let types: Vec<InstanceType> = [2, 4, 8, 16, 32].map(on_demand_type).into();
    let problem = PlacementProblem {
        pods: Vec::new(),
        daemons: Vec::new(),
        daemon_names: Vec::new(),
        nodes: Vec::new(),
        pools: vec![pool("ash", types)],
        held: BTreeMap::new(),
        namespaces: Arc::new([("shop".to_owned(), BTreeMap::new())].into()),
        settings: SchedulerSettings {
            label_rules: LabelRules::core().with(&kwok::provider_labels()),
            ..SchedulerSettings::default()
        },
    };
    Snapshot { problem, nodes: Vec::new() }
}

/// Adds a node on which pods run.
pub(crate) fn add_node(
    snapshot: &mut Snapshot,
    instance_type: &str,
    (zone, capacity_type): (&str, &str),
    pods: impl IntoIterator<Item = PodShape>,
) -> usize {
    let number = snapshot.problem.nodes.len();
    let name = format!("node-{number:03}");
    let types = &snapshot.problem.pools[0].instance_types;
    let instance_type = types.iter().find(|known| known.name == instance_type);
    let instance_type = instance_type.expect("the pool has such a type");
    let labels = [
        (well_known::NODE_POOL, "ash"),
        (well_known::HOSTNAME, name.as_str()),
        (well_known::INSTANCE_TYPE, instance_type.name.as_str()),
        (well_known::CAPACITY_TYPE, capacity_type),
        (well_known::ZONE, zone),
    ];
    let bound: Vec<BoundPod> =
        pods.into_iter().enumerate().map(|(place, shape)| runs(&name, place, shape)).collect();
    let cost = EvictionCost::of_node(bound.iter().map(|_| EvictionCost::ONE));
    snapshot.problem.nodes.push(Arc::new(Node {
        labels: labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
        name,
        pool: Some("ash".to_owned()),
        taints: Vec::new(),
        initialized: true,
        capacity: (*instance_type.capacity).clone(),
        allocatable: instance_type.allocatable(),
        pods: bound,
        volume_limits: BTreeMap::new(),
    }));
    snapshot.nodes.push(NodeFacts {
        may_go: Ok(()),
        may_receive: true,
        reschedule_cost: cost,
        disruption_cost: cost,
        was_undone: false,
    });
    number
}

/// An on-demand node in the first zone with a pod of each of these sizes.
pub(crate) fn add(snapshot: &mut Snapshot, instance_type: &str, cpus: &[i64]) -> usize {
    let pods: Vec<PodShape> = cpus.iter().map(|cpu| shape("web", *cpu)).collect();
    add_node(snapshot, instance_type, (ZONES[0], well_known::ON_DEMAND), pods)
}

fn runs(node: &str, place: usize, shape: PodShape) -> BoundPod {
    let name = format!("{node}-pod-{place}");
    let pod = Pod { uid: name.clone(), name, created_at: 0, shape: Arc::new(shape) };
    BoundPod { pod, is_daemon: false, is_leaving: false }
}

/// A pod of so many processors and as many gibibytes.
pub(crate) fn shape(app: &str, cpu: i64) -> PodShape {
    PodShape {
        namespace: "shop".to_owned(),
        labels: [("app".to_owned(), app.to_owned())].into(),
        requests: [
            (CPU, Quantity::from_int(cpu)),
            (MEMORY, Quantity::from_bytes(cpu << 30)),
            (PODS, Quantity::from_int(1)),
        ]
        .into_iter()
        .collect(),
        ..PodShape::default()
    }
}

/// Such a pod that must keep its app level over the domains of a label.
pub(crate) fn spread_shape(app: &str, cpu: i64, key: &str) -> PodShape {
    let selector = LabelSelector {
        match_labels: [("app".to_owned(), app.to_owned())].into(),
        match_expressions: Vec::new(),
    };
    let spread = SpreadConstraint {
        topology_key: key.to_owned(),
        max_skew: 1,
        required: true,
        min_domains: None,
        selector: Some(selector),
        match_label_keys: Vec::new(),
        honours_affinity: true,
        honours_taints: false,
    };
    PodShape { spreads: vec![spread], ..shape(app, cpu) }
}

/// Changes the pool.
pub(crate) fn change_pool(snapshot: &mut Snapshot, change: impl FnOnce(&mut NodePool)) {
    change(Arc::make_mut(&mut snapshot.problem.pools[0].pool));
}

/// Gives the pool other instance types.
pub(crate) fn set_types(snapshot: &mut Snapshot, types: Vec<InstanceType>) {
    snapshot.problem.pools[0].instance_types = types.into();
}

/// Nothing can be launched any more.
pub(crate) fn sell_out(snapshot: &mut Snapshot) {
    let mut types = snapshot.problem.pools[0].instance_types.to_vec();
    for known in &mut types {
        Arc::make_mut(&mut known.offerings).iter_mut().for_each(|it| it.available = false);
    }
    set_types(snapshot, types);
}

/// An instance type `cN`, sold on demand in both zones.
pub(crate) fn on_demand_type(cpu: u64) -> InstanceType {
    let price = cpu * MICROS_PER_CPU;
    let offerings = ZONES.map(|zone| offering(zone, well_known::ON_DEMAND, price)).into();
    instance_type(&format!("c{cpu}"), cpu, offerings)
}

pub(crate) fn instance_type(name: &str, cpu: u64, offerings: Vec<Offering>) -> InstanceType {
    let cpus = i64::try_from(cpu).expect("a small number");
    InstanceType {
        name: name.to_owned(),
        requirements: [
            is_in(well_known::INSTANCE_TYPE, &[name]),
            is_in(well_known::ZONE, &ZONES),
            is_in(well_known::CAPACITY_TYPE, &well_known::CAPACITY_TYPES),
        ]
        .into(),
        capacity: Arc::new(ResourceList::from_iter([
            (CPU, Quantity::from_int(cpus)),
            (MEMORY, Quantity::from_bytes(cpus * (4 << 30))),
            (PODS, Quantity::from_int(110)),
        ])),
        overhead: Arc::default(),
        offerings: offerings.into(),
    }
}

pub(crate) fn offering(zone: &str, capacity_type: &str, micros: u64) -> Offering {
    let is_reserved = capacity_type == well_known::RESERVED;
    Offering {
        requirements: [
            is_in(well_known::ZONE, &[zone]),
            is_in(well_known::CAPACITY_TYPE, &[capacity_type]),
        ]
        .into(),
        price: Price::from_micros_per_hour(micros),
        available: true,
        reservation: is_reserved.then(|| Reservation { id: "cr-1".to_owned(), remaining: 1 }),
        capacity_override: ResourceList::new(),
        overhead_override: None,
    }
}

pub(crate) fn is_in(key: &str, values: &[&str]) -> RequirementEntry {
    RequirementEntry::new(key, Operator::In, values.iter().copied())
}

fn pool(name: &str, types: Vec<InstanceType>) -> PoolWithTypes {
    let node_class = NodeClassRef { group: "g".into(), kind: "K".into(), name: "usual".into() };
    let spec = NodeSpec {
        requirements: Vec::new(),
        taints: Vec::new(),
        startup_taints: Vec::new(),
        node_class,
        termination_grace: None,
        expire_after: NillableDuration::default(),
    };
    let pool = NodePool {
        name: name.to_owned(),
        weight: 0,
        sizing: Sizing::Dynamic,
        limits: ResourceList::new(),
        disruption: Disruption {
            policy: ConsolidationPolicy::default(),
            consolidate_after: NillableDuration::default(),
            budgets: BudgetList::default(),
        },
        template: NodeTemplate { labels: BTreeMap::new(), annotations: BTreeMap::new(), spec },
        hash: String::new(),
    };
    PoolWithTypes { pool: Arc::new(pool), instance_types: types.into() }
}
