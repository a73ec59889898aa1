//! A cluster at work: nobody waits, and ten pods of four hundred deployments run on each node.

use std::sync::Arc;

use kerf_model::labels::well_known;
use kerf_model::node::{BoundPod, Node};
use kerf_model::pod::{PodAffinity, PodShape};
use kerf_model::resources::ResourceList;
use kerf_scheduler::PlacementProblem;

use super::catalogue::on_new_nodes;
use super::existing::node_of;
use super::mixed::{CPU_MILLIS, MEMORY_MEBIBYTES};
use super::pods::{plain, pod, spread, term};
use super::rng::Rng;

const DEPLOYMENTS: usize = 400;
const PODS_PER_NODE: usize = 10;
const NODE_CPUS: usize = 16;

/// So many pods that run, and one node on which none does: the last.
pub(super) fn running(count: usize) -> PlacementProblem {
    let rng = &mut Rng::new();
    let deployments: Vec<Arc<PodShape>> =
        (0..DEPLOYMENTS).map(|number| Arc::new(deployment(rng, number))).collect();
    let mut problem = on_new_nodes(Vec::new());
    let types = problem.pools[0].instance_types.clone();
    let nodes = count / PODS_PER_NODE;
    problem.nodes = (0..=nodes)
        .map(|number| Node {
            pods: if number < nodes { pods(number, &deployments) } else { Vec::new() },
            ..node_of(number, &types[NODE_CPUS - 1])
        })
        .map(Arc::new)
        .collect();
    problem
}

/// The same with each node as small as its pods allow, so that nobody fits on another.
pub(super) fn packed(count: usize) -> PlacementProblem {
    let mut problem = running(count);
    let types = problem.pools[0].instance_types.clone();
    for (number, node) in problem.nodes.iter_mut().enumerate() {
        let mut asked = ResourceList::new();
        for bound in &node.pods {
            asked.add(&bound.pod.shape.requests);
        }
        let smallest = types.iter().find(|it| asked.fits(&it.allocatable()));
        let smallest = node_of(number, smallest.expect("some instance type holds ten pods"));
        *node = Arc::new(Node { pods: node.pods.clone(), ..smallest });
    }
    problem
}

/// Of ten deployments five are plain, three keep level over zones, one over nodes, and one would
/// rather have a node for each pod.
fn deployment(rng: &mut Rng, number: usize) -> PodShape {
    let app = format!("app-{number}");
    let labels = [("app", app.as_str())];
    let plain = plain(&labels, rng.pick(&CPU_MILLIS), rng.pick(&MEMORY_MEBIBYTES));
    let rather_apart = || PodAffinity {
        preferred: vec![(1, term(well_known::HOSTNAME, &labels))],
        ..PodAffinity::default()
    };
    match number % 10 {
        0..5 => plain,
        5..8 => PodShape { spreads: vec![spread(well_known::ZONE, &labels)], ..plain },
        8 => PodShape { spreads: vec![spread(well_known::HOSTNAME, &labels)], ..plain },
        _ => PodShape { anti_affinity: rather_apart(), ..plain },
    }
}

fn pods(node: usize, deployments: &[Arc<PodShape>]) -> Vec<BoundPod> {
    let numbers = node * PODS_PER_NODE..(node + 1) * PODS_PER_NODE;
    numbers
        .map(|number| BoundPod {
            pod: pod("runs", number, deployments[number % DEPLOYMENTS].clone()),
            is_daemon: false,
            is_leaving: false,
        })
        .collect()
}
