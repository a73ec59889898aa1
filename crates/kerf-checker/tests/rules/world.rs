//! Tiny problems and answers by hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_checker::{Rule, check};
use kerf_model::budget::BudgetList;
use kerf_model::duration::NillableDuration;
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::{LabelRules, kwok, well_known};
use kerf_model::node::{BoundPod, Node};
use kerf_model::node_spec::{NodeClassRef, NodeSpec};
use kerf_model::pod::{Pod, PodAffinityTerm, PodShape, SpreadConstraint};
use kerf_model::pool::{ConsolidationPolicy, Disruption, NodePool, NodeTemplate, Sizing};
use kerf_model::price::Price;
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::{CPU, PODS, ResourceList};
use kerf_model::selector::{LabelSelector, TermNamespaces};
use kerf_scheduler::{
    ExistingPlacement, NewNode, PlacementProblem, PoolWithTypes, SchedulerSettings, Solution,
    TypeOption, Unplaced,
};

pub(crate) const ZONES: [&str; 3] = ["a", "b", "c"];
/// Indexes of the instance types every pool has.
pub(crate) const SMALL: usize = 0;
pub(crate) const LARGE: usize = 1;

/// The answer the rule allows and the one it forbids.
#[track_caller]
pub(crate) fn bites(rule: Rule, problem: &PlacementProblem, legal: &Solution, illegal: &Solution) {
    let found = check(problem, legal);
    assert!(found.is_empty(), "the legal answer is refused: {found:#?}");
    let found = check(problem, illegal);
    assert!(!found.is_empty(), "the illegal answer is accepted");
    assert!(found.iter().all(|each| each.rule == rule), "refused for other reasons: {found:#?}");
}

/// No pods and no nodes; one pool `ash` of the two instance types in every zone.
pub(crate) fn world() -> PlacementProblem {
    let label_rules = LabelRules::core().with(&kwok::provider_labels());
    PlacementProblem {
        pods: Vec::new(),
        daemons: Vec::new(),
        daemon_names: Vec::new(),
        nodes: Vec::new(),
        pools: vec![pool("ash")],
        held: BTreeMap::new(),
        namespaces: ["shop", "ops"]
            .map(|name| (name.to_owned(), BTreeMap::new()))
            .into_iter()
            .collect::<BTreeMap<_, _>>()
            .into(),
        settings: SchedulerSettings { label_rules, ..SchedulerSettings::default() },
    }
}

/// A pod of one processor labelled `app`.
pub(crate) fn shape(app: &str) -> PodShape {
    PodShape {
        namespace: "shop".to_owned(),
        labels: labels(&[("app", app)]),
        requests: amounts(1),
        ..PodShape::default()
    }
}

pub(crate) fn pods(shapes: impl IntoIterator<Item = PodShape>) -> Vec<Pod> {
    let named = |(number, shape): (usize, PodShape)| Pod {
        name: format!("pod-{number}"),
        uid: format!("uid-{number}"),
        created_at: 0,
        shape: Arc::new(shape),
    };
    shapes.into_iter().enumerate().map(named).collect()
}

/// A node of four processors in a zone.
pub(crate) fn node(name: &str, zone: &str) -> Node {
    Node {
        name: name.to_owned(),
        pool: None,
        labels: labels(&[(well_known::HOSTNAME, name), (well_known::ZONE, zone)]),
        taints: Vec::new(),
        initialized: true,
        capacity: capacity(4),
        allocatable: capacity(4),
        pods: Vec::new(),
        volume_limits: BTreeMap::new(),
    }
}

pub(crate) fn runs(shape: PodShape) -> BoundPod {
    let pod = Pod {
        name: "running".to_owned(),
        uid: "running".to_owned(),
        created_at: 0,
        shape: Arc::new(shape),
    };
    BoundPod { pod, is_daemon: false, is_leaving: false }
}

pub(crate) fn pool(name: &str) -> PoolWithTypes {
    let class = NodeClassRef { group: "g".into(), kind: "K".into(), name: "usual".into() };
    let spec = NodeSpec {
        requirements: Vec::new(),
        taints: Vec::new(),
        startup_taints: Vec::new(),
        node_class: class,
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
    let instance_types = [instance_type("small", 2), instance_type("large", 8)];
    PoolWithTypes { pool: Arc::new(pool), instance_types: Arc::new(instance_types) }
}

/// Changes the only pool of the problem.
pub(crate) fn change_pool(problem: &mut PlacementProblem, change: impl FnOnce(&mut NodePool)) {
    change(Arc::make_mut(&mut problem.pools[0].pool));
}

/// Changes the instance types of the only pool.
pub(crate) fn change_types(
    problem: &mut PlacementProblem,
    change: impl FnOnce(&mut [InstanceType]),
) {
    let mut types = problem.pools[0].instance_types.to_vec();
    change(&mut types);
    problem.pools[0].instance_types = types.into();
}

fn instance_type(name: &str, cpu: i64) -> InstanceType {
    let offering = |zone: &str| Offering {
        requirements: [
            is_in(well_known::ZONE, &[zone]),
            is_in(well_known::CAPACITY_TYPE, &[well_known::ON_DEMAND]),
        ]
        .into(),
        price: Price::from_micros_per_hour(cpu as u64 * 50_000),
        available: true,
        reservation: None,
        capacity_override: ResourceList::new(),
        overhead_override: None,
    };
    InstanceType {
        name: name.to_owned(),
        requirements: [
            is_in(well_known::INSTANCE_TYPE, &[name]),
            is_in(well_known::ZONE, &ZONES),
            is_in(well_known::CAPACITY_TYPE, &[well_known::ON_DEMAND]),
            is_in(kwok::INSTANCE_CPU, &[&cpu.to_string()]),
        ]
        .into(),
        capacity: capacity(cpu).into(),
        overhead: Arc::default(),
        offerings: ZONES.map(offering).into(),
    }
}

pub(crate) fn is_in(key: &str, values: &[&str]) -> RequirementEntry {
    RequirementEntry::new(key, Operator::In, values.iter().copied())
}

pub(crate) fn labels(labels: &[(&str, &str)]) -> BTreeMap<String, String> {
    labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// So many processors and one pod slot.
pub(crate) fn amounts(cpu: i64) -> ResourceList {
    [(CPU, Quantity::from_int(cpu)), (PODS, Quantity::from_int(1))].into_iter().collect()
}

fn capacity(cpu: i64) -> ResourceList {
    [(CPU, Quantity::from_int(cpu)), (PODS, Quantity::from_int(10))].into_iter().collect()
}

pub(crate) fn selector(app: &str) -> Option<LabelSelector> {
    let match_labels = labels(&[("app", app)]);
    Some(LabelSelector { match_labels, match_expressions: Vec::new() })
}

pub(crate) fn term(key: &str, app: &str) -> PodAffinityTerm {
    let namespaces = TermNamespaces::default();
    PodAffinityTerm { topology_key: key.to_owned(), selector: selector(app), namespaces }
}

pub(crate) fn spread(key: &str, app: &str) -> SpreadConstraint {
    SpreadConstraint {
        topology_key: key.to_owned(),
        max_skew: 1,
        required: true,
        min_domains: None,
        selector: selector(app),
        match_label_keys: Vec::new(),
        honours_affinity: true,
        honours_taints: false,
    }
}

pub(crate) fn on(node: usize, pods: &[usize]) -> ExistingPlacement {
    ExistingPlacement { node, pods: pods.to_vec() }
}

/// A node of the first pool in one of the zones that may be any of the types.
pub(crate) fn new(
    problem: &PlacementProblem,
    zones: &[&str],
    types: &[usize],
    pods: &[usize],
) -> NewNode {
    let pool = &problem.pools[0];
    let names: Vec<&str> =
        types.iter().map(|each| pool.instance_types[*each].name.as_str()).collect();
    let mut requirements = pool.pool.template.spec.requirements.clone();
    requirements.push(is_in(well_known::INSTANCE_TYPE, &names));
    requirements.push(is_in(well_known::CAPACITY_TYPE, &[well_known::ON_DEMAND]));
    requirements.push(is_in(well_known::ZONE, zones));
    requirements.sort();
    let option = |each: &usize| {
        let offering = ZONES.iter().position(|zone| *zone == zones[0]);
        let offering = offering.expect("the zone is one of the three");
        let price = pool.instance_types[*each].offerings[offering].price;
        TypeOption { instance_type: *each, offering, price }
    };
    let mut requests = ResourceList::new();
    pods.iter().for_each(|pod| requests.add(&problem.pods[*pod].shape.requests));
    NewNode {
        pool: 0,
        requirements,
        options: types.iter().map(option).collect(),
        pods: pods.to_vec(),
        requests,
        min_values_relaxed: false,
    }
}

/// The answer with these nodes; everybody else stays without a place.
pub(crate) fn answer(
    problem: &PlacementProblem,
    existing: impl IntoIterator<Item = ExistingPlacement>,
    new_nodes: impl IntoIterator<Item = NewNode>,
) -> Solution {
    let existing: Vec<_> = existing.into_iter().collect();
    let new_nodes: Vec<_> = new_nodes.into_iter().collect();
    let placed: Vec<usize> = existing
        .iter()
        .flat_map(|each| &each.pods)
        .chain(new_nodes.iter().flat_map(|each| &each.pods))
        .copied()
        .collect();
    let unplaced = (0..problem.pods.len()).filter(|pod| !placed.contains(pod));
    let unplaced = unplaced.map(|pod| Unplaced { pod, reason: "not tried".to_owned() }).collect();
    let micros = new_nodes.iter().filter_map(|node| node.options.first());
    let micros = micros.map(|option| option.price.micros_per_hour()).sum();
    let price = Price::from_micros_per_hour(micros);
    let (deferred, lower_bound) = (Vec::new(), Price::ZERO);
    Solution { existing, new_nodes, unplaced, deferred, price, lower_bound }
}
