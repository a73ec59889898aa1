//! The scenarios in `examples/scenarios` play without breaking a rule.

use std::path::PathBuf;
use std::sync::Arc;

use kerf_sim::{Report, Scenario, Simulation};

fn scenario(name: &str) -> Arc<Scenario> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/scenarios")
        .join(format!("{name}.yaml"));
    let text = std::fs::read_to_string(path).expect("the scenario is there");
    Arc::new(Scenario::parse(&text).expect("the scenario can be read"))
}

fn play(name: &str, seed: u64) -> Report {
    let mut simulation = Simulation::new(scenario(name), seed).expect("the cloud sells something");
    simulation.run();
    Report::of(&simulation)
}

#[test]
fn inflate_goes_up_and_down_as_told() {
    let report = play("inflate", 1);
    assert_eq!(report.violations, [], "{report:#?}");
    assert!(report.launches > 0);
}

#[test]
fn whatever_goes_wrong_beside_interruptions_every_notice_has_its_outcome() {
    for seed in 1..=10 {
        let report = play("interruptions", seed);
        assert_eq!(report.violations, [], "seed {seed}: {report:#?}");
        let told = |reason: &str| report.kubernetes_events.get(reason).copied().unwrap_or_default();
        assert!(told("SpotInterrupted") > 20, "seed {seed}: {:?}", report.kubernetes_events);
        assert!(
            told("TerminatingOnInterruption") > 20,
            "seed {seed}: {:?}",
            report.kubernetes_events
        );
    }
}

#[test]
fn three_hundred_drifted_nodes_are_replaced_a_tenth_at_a_time_each_replacement_first() {
    let report = play("drift", 1);
    assert_eq!(report.violations, [], "{report:#?}");
    assert_eq!(report.launches, 600, "one replacement for each node: {report:#?}");
    let told = |reason: &str| report.kubernetes_events.get(reason).copied().unwrap_or_default();
    assert_eq!(told("DisruptionTerminating"), 600, "{:?}", report.kubernetes_events);
}

/// The kubelet dies; the node is deleted a minute later, and its pod and volume never leave it.
const DEAD_KUBELET: &str = r#"
name: dead kubelet
ends: 40m
cloud: {catalogue: kwok, zones: [a], boot: 15s..40s}
pools:
  - {name: default, requirements: [os in linux, arch in amd64], consolidateAfter: 1h}
workloads:
  - {statefulSet: data, replicas: 1, requests: {cpu: "1", memory: 2Gi}, volume: true}
timeline:
  - {at: 5m, fault: kubelet dies}
  - {at: 6m, delete: node}
expect:
  - {at: 4m59s, running: {data: "1"}, nodes: "1"}
  - {at: 12m, running: {data: "1"}, nodes: "1", claims: "1"}
"#;

#[test]
fn an_instance_whose_kubelet_died_is_ended_once_its_node_is_deleted() {
    let scenario = Arc::new(Scenario::parse(DEAD_KUBELET).expect("the scenario can be read"));
    for seed in 1..=5 {
        let mut simulation =
            Simulation::new(scenario.clone(), seed).expect("the cloud sells something");
        simulation.run();
        let report = Report::of(&simulation);
        assert_eq!(report.violations, [], "seed {seed}: {report:#?}");
    }
}

/// The instance is taken at 7m; by then its pods run elsewhere, and it never dies under a node.
const ANNOUNCED: &str = r#"
name: announced
ends: 10m
cloud: {catalogue: kwok, zones: [a, b], boot: 15s..40s}
pools:
  - {name: spot, requirements: [os in linux, arch in amd64, capacity in spot]}
workloads:
  - {deployment: web, replicas: 40, requests: {cpu: 900m, memory: 1Gi}, spread: [zone]}
timeline:
  - {at: 5m, fault: interruption}
expect:
  - {at: 4m59s, running: {web: "40"}, pending: "0"}
  - {at: 6m50s, running: {web: "40"}, pending: "0"}
  - {at: 9m, running: {web: "40"}, pending: "0"}
"#;

#[test]
fn pods_of_an_announced_machine_run_elsewhere_before_it_is_taken() {
    let scenario = Arc::new(Scenario::parse(ANNOUNCED).expect("the scenario can be read"));
    for seed in 1..=20 {
        let mut simulation =
            Simulation::new(scenario.clone(), seed).expect("the cloud sells something");
        simulation.run();
        let report = Report::of(&simulation);
        assert_eq!(report.violations, [], "seed {seed}: {report:#?}");
        assert_eq!(
            report.kubernetes_events.get("TerminatingOnInterruption"),
            Some(&2),
            "seed {seed}"
        );
    }
}

/// Nodes are empty when the watch of pods stalls. Pods come to them unheard, and then nodes are to
/// go: one is deleted, the others have been empty for long enough.
const STALLED_PODS: &str = r#"
name: stalled pods
ends: 60m
cloud: {catalogue: kwok, zones: [a], boot: 15s..40s}
pools:
  - name: default
    requirements: [os in linux, arch in amd64, type in c-4x-amd64-linux]
    consolidateAfter: 5m
workloads:
  - {deployment: web, replicas: 9, requests: {cpu: "1"}}
  - {deployment: late, replicas: 0, requests: {cpu: 500m}, maxUnavailable: "0"}
timeline:
  - {at: 9m, scale: web, to: 0}
  - {at: 10m, fault: stalled pods}
  - {at: 10m10s, scale: late, to: 12}
  - {at: 11m, delete: claim}
  - {at: 40m, scale: late, to: 0}
expect:
  - {at: 8m59s, running: {web: "9"}, pending: "0"}
  - {at: 39m, running: {late: "12"}, pending: "0"}
  - {at: 59m, pending: "0", nodes: "0"}
"#;

#[test]
fn no_node_ends_under_pods_that_the_watch_has_not_told_of() {
    let scenario = Arc::new(Scenario::parse(STALLED_PODS).expect("the scenario can be read"));
    for seed in 1..=20 {
        let mut simulation =
            Simulation::new(scenario.clone(), seed).expect("the cloud sells something");
        simulation.run();
        let report = Report::of(&simulation);
        assert_eq!(report.violations, [], "seed {seed}: {report:#?}");
    }
}
