//! A thousand nodes that are half full.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::instance_type::InstanceType;
use kerf_model::labels::well_known;
use kerf_model::node::{BoundPod, Node};
use kerf_model::pod::{Pod, PodShape};
use kerf_model::taint::Toleration;
use kerf_scheduler::PlacementProblem;

use super::catalogue::{POOL, ZONES, on_new_nodes};
use super::mixed::{CPU_MILLIS, MEMORY_MEBIBYTES};
use super::pods::{plain, pod, spread};
use super::rng::Rng;

const NODES: usize = 1000;
/// The sizes of the nodes; eight is twice as frequent.
const NODE_CPUS: [usize; 4] = [4, 8, 8, 16];
/// Each of these takes a quarter of its node.
const PODS_PER_NODE: usize = 2;
const APPS: [&str; 10] =
    ["app-0", "app-1", "app-2", "app-3", "app-4", "app-5", "app-6", "app-7", "app-8", "app-9"];

/// Of the pods eight in ten fit into the holes, and half of those must keep their app level over
/// zones; one in ten fits into the larger holes; one in ten needs a new node.
pub(super) fn existing(count: usize) -> PlacementProblem {
    let rng = &mut Rng::new();
    let mut problem = on_new_nodes((0..count).map(|number| waiting(rng, number)).collect());
    let agent = PodShape {
        tolerations: vec![Toleration::of_everything()],
        ..plain(&[("daemon", "agent")], 100, 128)
    };
    let agent = Arc::new(agent);
    let types = problem.pools[0].instance_types.clone();
    problem.nodes = (0..NODES).map(|number| node(rng, number, &types, &agent).into()).collect();
    problem.daemons = vec![agent];
    problem
}

fn waiting(rng: &mut Rng, number: usize) -> Pod {
    let labels = [("app", rng.pick(&APPS))];
    let small = plain(&labels, rng.pick(&CPU_MILLIS), rng.pick(&MEMORY_MEBIBYTES));
    let shape = match rng.below(10) {
        0..4 => small,
        4..8 => PodShape { spreads: vec![spread(well_known::ZONE, &labels)], ..small },
        8 => plain(&[], 3000, 6 * 1024),
        _ => plain(&[], rng.pick(&[10_000, 11_000, 12_000, 13_000, 14_000]), 20 * 1024),
    };
    pod("waits", number, Arc::new(shape))
}

fn node(rng: &mut Rng, number: usize, types: &[InstanceType], agent: &Arc<PodShape>) -> Node {
    let cpus = rng.pick(&NODE_CPUS);
    // The first type has one processor, each next one more.
    let instance_type = &types[cpus - 1];
    let name = format!("node-{number}");
    let agent = pod(&format!("agent-{name}"), 0, agent.clone());
    let mut pods = vec![BoundPod { pod: agent, is_daemon: true, is_leaving: false }];
    for index in 0..PODS_PER_NODE {
        let cpus = i64::try_from(cpus).expect("a small number");
        let quarter = plain(&[("app", rng.pick(&APPS))], cpus * 1000 / 4, cpus * 2048 / 4 - 128);
        let pod = pod(&format!("runs-{name}"), index, Arc::new(quarter));
        pods.push(BoundPod { pod, is_daemon: false, is_leaving: false });
    }
    Node { pods, ..node_of(number, instance_type) }
}

/// A node of an instance type on which nothing runs.
pub(super) fn node_of(number: usize, instance_type: &InstanceType) -> Node {
    let name = format!("node-{number}");
    Node {
        labels: labels(&name, &instance_type.name, ZONES[number % ZONES.len()]),
        name,
        pool: Some(POOL.to_owned()),
        taints: Vec::new(),
        initialized: true,
        capacity: (*instance_type.capacity).clone(),
        allocatable: instance_type.allocatable(),
        pods: Vec::new(),
        volume_limits: BTreeMap::new(),
    }
}

fn labels(name: &str, instance_type: &str, zone: &str) -> BTreeMap<String, String> {
    let labels = [
        (well_known::NODE_POOL, POOL),
        (well_known::REGISTERED, "true"),
        (well_known::INITIALIZED, "true"),
        (well_known::HOSTNAME, name),
        (well_known::INSTANCE_TYPE, instance_type),
        (well_known::ARCH, well_known::ARCH_AMD64),
        (well_known::OS, well_known::OS_LINUX),
        (well_known::CAPACITY_TYPE, well_known::ON_DEMAND),
        (well_known::ZONE, zone),
    ];
    labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
}
