//! The scheduler of the simulated cluster binds as Kubernetes' would.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_sim::{Scenario, Simulation};

/// What runs where after ten minutes of a scenario with these workloads: app and node of each pod.
fn placed(workloads: &str) -> Vec<(String, String, String)> {
    let text = format!(
        "
name: binding
ends: 10m
cloud: {{catalogue: kwok, zones: [a, b, c]}}
pools: [{{name: default, requirements: [os in linux, arch in amd64], consolidateAfter: Never}}]
workloads: [{workloads}]
"
    );
    let scenario = Arc::new(Scenario::parse(&text).expect("the scenario can be read"));
    let mut simulation = Simulation::new(scenario, 3).expect("the cloud sells something");
    simulation.run();
    assert_eq!(simulation.checker().violations, []);
    let store = &simulation.store;
    let pods = store.pods.values().filter_map(|pod| {
        let node = &store.nodes[pod.node()?];
        let zone = node.labels["topology.kubernetes.io/zone"].clone();
        Some((pod.shape.labels["app"].clone(), node.meta.name.to_string(), zone))
    });
    pods.collect()
}

#[test]
fn pods_that_spread_over_zones_differ_by_one_at_most() {
    let placed = placed("{deployment: web, replicas: 8, requests: {cpu: '1'}, spread: [zone]}");
    let mut zones: BTreeMap<&str, u32> = BTreeMap::new();
    for (_, _, zone) in &placed {
        *zones.entry(zone).or_default() += 1;
    }
    let mut counts: Vec<u32> = zones.into_values().collect();
    counts.sort_unstable();
    assert_eq!(counts, [2, 3, 3]);
}

#[test]
fn pods_that_stand_apart_have_a_node_each() {
    let placed = placed("{deployment: web, replicas: 5, requests: {cpu: 100m}, apart: [hostname]}");
    let nodes: BTreeSet<&str> = placed.iter().map(|(_, node, _)| node.as_str()).collect();
    assert_eq!((placed.len(), nodes.len()), (5, 5));
}

#[test]
fn pods_that_stay_together_share_a_zone() {
    let placed = placed("{deployment: web, replicas: 6, requests: {cpu: '3'}, together: [zone]}");
    let zones: BTreeSet<&str> = placed.iter().map(|(_, _, zone)| zone.as_str()).collect();
    assert_eq!((placed.len(), zones.len()), (6, 1));
}

#[test]
fn a_host_port_is_taken_once_a_node() {
    let placed = placed("{deployment: web, replicas: 3, requests: {cpu: 100m}, hostPorts: [80]}");
    let nodes: BTreeSet<&str> = placed.iter().map(|(_, node, _)| node.as_str()).collect();
    assert_eq!((placed.len(), nodes.len()), (3, 3));
}

#[test]
fn a_daemon_runs_on_every_node() {
    let placed = placed(
        "{deployment: web, replicas: 4, requests: {cpu: 100m}, apart: [hostname]}, \
         {daemonSet: agent, requests: {cpu: 50m}}",
    );
    let on = |app: &str| -> BTreeSet<String> {
        placed.iter().filter(|(of, ..)| of == app).map(|(_, node, _)| node.clone()).collect()
    };
    assert_eq!(on("web").len(), 4);
    assert_eq!(on("web"), on("agent"));
}

#[test]
fn a_stateful_set_comes_up_pod_by_pod() {
    let placed = placed("{statefulSet: data, replicas: 3, requests: {cpu: '1'}, volume: true}");
    assert_eq!(placed.len(), 3);
}
