//! Fleets that hold their pods whoever puts them there.

use std::sync::Arc;

use kerf_model::instance_type::InstanceType;
use kerf_model::labels::well_known;
use kerf_model::labels::{LabelRules, kwok};
use kerf_model::pod::{Pod, PodShape};
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::ResourceList;
use kerf_scheduler::{Binder, PlacementProblem, PoolWithTypes, SchedulerSettings, Solution, solve};
use proptest::prelude::*;

#[path = "../benches/hot_paths/workload/mod.rs"]
mod workload;

/// Pods of a kind: how many, milli-CPUs, mebibytes.
type Kind = (usize, i64, i64);

/// A node as another scheduler sees it.
struct Node {
    whole: ResourceList,
    free: ResourceList,
}

fn problem(kinds: &[Kind], binder: Binder) -> PlacementProblem {
    let mut problem = workload::problem("replicas-1").expect("a workload of that name");
    let mut pool = (*problem.pools[0].pool).clone();
    let on_demand = [well_known::ON_DEMAND];
    pool.template.spec.requirements =
        vec![RequirementEntry::new(well_known::CAPACITY_TYPE, Operator::In, on_demand)];
    let instance_types: Arc<[InstanceType]> = kerf_catalog::kwok().into();
    problem.pools = vec![PoolWithTypes { pool: Arc::new(pool), instance_types }];
    let label_rules = LabelRules::core().with(&kwok::provider_labels());
    problem.settings = SchedulerSettings { label_rules, binder, ..SchedulerSettings::default() };
    let model = problem.pods[0].clone();
    problem.pods = Vec::new();
    for (kind, (count, cpu, memory)) in kinds.iter().enumerate() {
        let requests = requests(*cpu, *memory);
        let shape = Arc::new(PodShape { requests, ..(*model.shape).clone() });
        problem.pods.extend((0..*count).map(|number| {
            let name = format!("{kind}-{number}");
            Pod { uid: name.clone(), name, created_at: 0, shape: shape.clone() }
        }));
    }
    problem
}

fn requests(milli_cpu: i64, mebibytes: i64) -> ResourceList {
    let memory = Quantity::from_bytes(mebibytes << 20);
    [("cpu", Quantity::from_milli(milli_cpu)), ("memory", memory), ("pods", Quantity::from_int(1))]
        .into_iter()
        .collect()
}

fn nodes(problem: &PlacementProblem, solution: &Solution) -> Vec<Node> {
    let node = |node: &kerf_scheduler::NewNode| {
        let option = &node.options[0];
        let instance_type = &problem.pools[node.pool].instance_types[option.instance_type];
        let whole = instance_type.allocatable_of(&instance_type.offerings[option.offering]);
        Node { free: whole.clone(), whole }
    };
    solution.new_nodes.iter().map(node).collect()
}

/// Gives each pod to the node that has the largest part free; answers how many find none.
fn left_over(mut nodes: Vec<Node>, pods: impl Iterator<Item = ResourceList>) -> usize {
    let part_free = |node: &Node| -> i128 {
        let part =
            |name| node.free.quantity(name).nanos() * 1_000_000 / node.whole.quantity(name).nanos();
        part("cpu") + part("memory")
    };
    let mut left_over = 0;
    for pod in pods {
        let fitting = nodes.iter_mut().filter(|node| pod.fits(&node.free));
        match fitting.max_by_key(|node| part_free(node)) {
            Some(node) => node.free.subtract(&pod),
            None => left_over += 1,
        }
    }
    left_over
}

/// The pods in the order given, the kinds in turn, or backwards.
fn orders(kinds: &[Kind]) -> [Vec<ResourceList>; 3] {
    let forwards = kinds
        .iter()
        .flat_map(|(count, cpu, memory)| std::iter::repeat_n(requests(*cpu, *memory), *count));
    let forwards: Vec<ResourceList> = forwards.collect();
    let most = kinds.iter().map(|(count, ..)| *count).max().unwrap_or(0);
    let in_turn = (0..most).flat_map(|number| {
        let there = kinds.iter().filter(move |(count, ..)| number < *count);
        there.map(|(_, cpu, memory)| requests(*cpu, *memory))
    });
    let backwards = forwards.iter().rev().cloned().collect();
    [in_turn.collect(), backwards, forwards]
}

const TWO_SHAPES: [Kind; 2] = [(500, 900, 3_100), (500, 3_500, 28 << 10)];

/// Small pods, and pods with much memory and with little.
const FOUR_SHAPES: [Kind; 4] =
    [(300, 250, 512), (200, 1_000, 8 << 10), (100, 4_000, 4 << 10), (40, 8_000, 60 << 10)];

#[test]
fn whatever_order_pods_come_in_hardly_anybody_is_left_over_on_a_fleet_made_for_that() {
    for kinds in [&TWO_SHAPES[..], &FOUR_SHAPES[..]] {
        let problem = problem(kinds, Binder::KubeScheduler);
        let solution = solve(&problem);
        assert!(solution.unplaced.is_empty());
        for order in orders(kinds) {
            let left = left_over(nodes(&problem, &solution), order.into_iter());
            let few = problem.pods.len() / 100;
            assert!(left <= few, "{left} of {kinds:?} on {} nodes", solution.new_nodes.len());
        }
    }
}

/// Otherwise the fleet above would be nothing special.
#[test]
fn on_the_tightest_fleet_many_are_left_over() {
    let problem = problem(&TWO_SHAPES, Binder::Planned);
    let solution = solve(&problem);
    for order in orders(&TWO_SHAPES) {
        assert!(left_over(nodes(&problem, &solution), order.into_iter()) > 20);
    }
}

/// The tight fleet of the four shapes is one as Karpenter makes it and costs 3.6 % less than any of
/// ours; so the headroom is measured against that, and what it costs has a ceiling of its own.
#[test]
fn headroom_for_any_order_costs_a_few_percent() {
    let kinds = [(&TWO_SHAPES[..], 105, 74_435_293), (&FOUR_SHAPES[..], 106, 33_858_653)];
    for (kinds, percent, ceiling_micros) in kinds {
        let price = |binder| solve(&problem(kinds, binder)).price.micros_per_hour();
        let (tight, free) = (price(Binder::Planned), price(Binder::KubeScheduler));
        assert!(free <= tight * percent / 100, "{tight} and {free} for {kinds:?}");
        assert!(free <= ceiling_micros, "{free} for {kinds:?}");
    }
}

#[test]
fn pods_that_are_all_alike_need_no_spare_headroom() {
    let kinds = [(300, 900, 3_100)];
    let planned = solve(&problem(&kinds, Binder::Planned));
    assert_eq!(planned, solve(&problem(&kinds, Binder::KubeScheduler)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_pod_has_one_place_and_every_node_a_pod(
        kinds in proptest::collection::vec((1..60_usize, 1..9_i64, 1..40_i64), 2..6)
    ) {
        let kinds: Vec<Kind> = kinds
            .into_iter()
            .map(|(count, cpu, memory)| (count, cpu * 450, memory * 700))
            .collect();
        let problem = problem(&kinds, Binder::KubeScheduler);
        let solution = solve(&problem);
        let mut places: Vec<usize> =
            solution.new_nodes.iter().flat_map(|node| node.pods.iter().copied()).collect();
        places.sort_unstable();
        prop_assert_eq!(places, (0..problem.pods.len()).collect::<Vec<_>>());
        prop_assert!(solution.new_nodes.iter().all(|node| !node.pods.is_empty()));
    }
}
