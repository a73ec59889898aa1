//! The weight of a pool is law: it is filled to its limits before a lighter one gets a pod that it
//! could take.

use std::sync::Arc;

use kerf_model::instance_type::InstanceType;
use kerf_model::labels::{LabelRules, kwok, well_known};
use kerf_model::pod::{Pod, PodShape};
use kerf_model::pool::NodePool;
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::ResourceList;
use kerf_scheduler::{Binder, PlacementProblem, PoolWithTypes, SchedulerSettings, Solution, solve};

#[path = "../benches/hot_paths/workload/mod.rs"]
mod workload;

/// The one instance type of the heavy pool: 8 processors, of which 7 pods of one can be had.
const RESERVED_TYPE: &str = "m-8x-amd64-linux";
const RESERVED_CPUS: i64 = 8;
const PODS_PER_RESERVED: usize = 7;
/// Of the two pools.
const RESERVED: usize = 0;

fn pool(base: &NodePool, name: &str, weight: u32, entries: &[(&str, &str)]) -> NodePool {
    let mut pool = NodePool { name: name.to_owned(), weight, ..base.clone() };
    let entry = |(key, value): &(&str, &str)| RequirementEntry::new(key, Operator::In, [*value]);
    pool.template.spec.requirements = entries.iter().map(entry).collect();
    pool
}

/// Pool `reserved` (weight 100, on-demand, one type, limited) and pool `general` (spot, any type).
fn problem(limit_cpus: i64, pods: &[(usize, i64, i64)], binder: Binder) -> PlacementProblem {
    let mut problem = workload::problem("replicas-1").expect("a workload of that name");
    let base = (*problem.pools[0].pool).clone();
    let on_demand = (well_known::CAPACITY_TYPE, well_known::ON_DEMAND);
    let of_type = (well_known::INSTANCE_TYPE, RESERVED_TYPE);
    let mut reserved = pool(&base, "reserved", 100, &[on_demand, of_type]);
    reserved.limits.insert("cpu", Quantity::from_int(limit_cpus));
    let general = pool(&base, "general", 0, &[(well_known::CAPACITY_TYPE, well_known::SPOT)]);
    let instance_types: Arc<[InstanceType]> = kerf_catalog::kwok().into();
    problem.pools = [reserved, general]
        .map(|pool| PoolWithTypes { pool: Arc::new(pool), instance_types: instance_types.clone() })
        .into();
    let label_rules = LabelRules::core().with(&kwok::provider_labels());
    problem.settings = SchedulerSettings { label_rules, binder, ..SchedulerSettings::default() };
    let model = problem.pods[0].clone();
    problem.pods = Vec::new();
    for (kind, (count, milli_cpu, mebibytes)) in pods.iter().enumerate() {
        let requests: ResourceList = [
            ("cpu", Quantity::from_milli(*milli_cpu)),
            ("memory", Quantity::from_bytes(mebibytes << 20)),
            ("pods", Quantity::from_int(1)),
        ]
        .into_iter()
        .collect();
        let shape = Arc::new(PodShape { requests, ..(*model.shape).clone() });
        problem.pods.extend((0..*count).map(|number| {
            let name = format!("{kind}-{number}");
            Pod { uid: name.clone(), name, created_at: 0, shape: shape.clone() }
        }));
    }
    problem
}

/// Nodes of the heavy pool, and how many pods they hold.
fn on_reserved(solution: &Solution) -> (usize, usize) {
    let nodes = solution.new_nodes.iter().filter(|node| node.pool == RESERVED);
    let pods: Vec<usize> = nodes.map(|node| node.pods.len()).collect();
    (pods.len(), pods.iter().sum())
}

#[track_caller]
fn assert_filled(limit_cpus: i64, replicas: usize) {
    for binder in [Binder::Planned, Binder::KubeScheduler] {
        let problem = problem(limit_cpus, &[(replicas, 1_000, 3 << 10)], binder);
        let solution = solve(&problem);
        assert!(solution.unplaced.is_empty());
        let most = usize::try_from(limit_cpus / RESERVED_CPUS).expect("a small number");
        let pods = replicas.min(most * PODS_PER_RESERVED);
        let nodes = pods.div_ceil(PODS_PER_RESERVED);
        let found = on_reserved(&solution);
        assert_eq!(found, (nodes, pods), "limit {limit_cpus}, {replicas} replicas, {binder:?}");
    }
}

#[test]
fn with_headroom_for_one_node_of_the_heavy_pool_that_node_is_made_and_full() {
    for replicas in [10, 25, 28, 60] {
        assert_filled(8, replicas);
    }
}

#[test]
fn with_headroom_for_four_nodes_of_the_heavy_pool_all_are_made_and_full() {
    for replicas in [60, 120, 200] {
        assert_filled(32, replicas);
    }
}

#[test]
fn no_number_of_replicas_and_no_limit_leave_the_heavy_pool_unfilled() {
    for limit_cpus in [0, 7, 8, 15, 16, 64] {
        for replicas in [1, 6, 7, 8, 13, 50, 90, 400] {
            assert_filled(limit_cpus, replicas);
        }
    }
}

#[test]
fn pods_of_several_kinds_fill_the_heavy_pool_first_whoever_binds_them() {
    let kinds = [(40, 1_000, 3 << 10), (40, 500, 1 << 10), (30, 2_000, 2 << 10)];
    for binder in [Binder::Planned, Binder::KubeScheduler] {
        let problem = problem(32, &kinds, binder);
        let solution = solve(&problem);
        let (nodes, _) = on_reserved(&solution);
        assert_eq!(nodes, 4, "{binder:?}");
        let smallest = Quantity::from_milli(500);
        for node in solution.new_nodes.iter().filter(|node| node.pool == RESERVED) {
            let option = &node.options[0];
            let types = &problem.pools[RESERVED].instance_types;
            let allocatable = types[option.instance_type].allocatable().quantity("cpu");
            let left = allocatable.saturating_sub(node.requests.quantity("cpu"));
            assert!(left < smallest, "{left} CPUs idle with {binder:?}");
        }
    }
}

#[test]
fn a_pod_that_only_the_light_pool_can_hold_takes_no_others_along() {
    // The large pod needs a node of the light pool, which has headroom for all the others.
    let kinds = [(1, 20_000, 8 << 10), (7, 1_000, 1 << 10)];
    for binder in [Binder::Planned, Binder::KubeScheduler] {
        let solution = solve(&problem(8, &kinds, binder));
        assert_eq!(on_reserved(&solution), (1, 7), "{binder:?}");
        assert_eq!(solution.new_nodes.len(), 2);
    }
}
