//! What the controller tells: metrics under their public names, Events, readiness.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use serde_json::json;

use crate::cluster::Cluster;
use crate::manifest::{pod, pool};

#[test]
fn metrics_carry_their_public_names() {
    let cluster = Cluster::of("telling");
    let limited = json!({ "containers": [{
        "name": "pause", "image": "registry.k8s.io/pause:3.10",
        "resources": { "requests": { "cpu": "1" }, "limits": { "cpu": "2" } },
    }]});
    cluster.apply(&[pool(cluster.name, json!({})), pod(cluster.name, "only", limited)]);
    cluster.wait("the pod is ready", || cluster.ready_pods() == 1);
    assert_eq!(cluster.controller.health.readiness(), Ok(()));
    let expected = [
        r#"karpenter_nodeclaims_created_total{"#,
        r#"karpenter_nodes_allocatable{resource_type="cpu""#,
        r#"karpenter_nodepools_usage{resource_type="cpu",nodepool="telling"}"#,
        r#"karpenter_nodepools_cost_total{nodepool="telling"}"#,
        r#"karpenter_pods_state{name="only",namespace="telling""#,
        r#"karpenter_cluster_state_synced 1"#,
        r#"operator_nodeclaim_status_condition_count{"#,
        "karpenter_build_info{",
        "process_resident_memory_bytes",
        "karpenter_scheduler_scheduling_duration_seconds_count{controller=\"provisioner\"}",
        r#"karpenter_cloudprovider_duration_seconds_bucket{controller="nodeclaim.lifecycle""#,
        r#"karpenter_nodepools_allowed_disruptions{nodepool="telling",reason="empty"} 1"#,
        r#"karpenter_nodepools_nodes_consuming_budgets{nodepool="telling",reason="drifted"} 0"#,
        r#"karpenter_voluntary_disruption_eligible_nodes{reason="empty"}"#,
        r#"karpenter_pods_startup_duration_seconds{quantile="0.99"}"#,
        "karpenter_pods_bound_duration_seconds_count",
        "karpenter_pods_provisioning_startup_duration_seconds_count",
        r#"karpenter_nodes_total_pod_limits{resource_type="cpu""#,
        r#"operator_nodeclaim_status_condition_transitions_total{type="Ready",status="True""#,
        r#"operator_status_condition_transitions_total{type="Launched""#,
        r#"client_go_request_total{code="201",method="POST"}"#,
        "process_cpu_seconds_total",
    ];
    cluster.wait("every metric is there", || {
        let page = cluster.controller.metrics();
        expected.iter().all(|part| page.contains(part))
    });
}

/// Nominations are rate-limited over all pods, and a hundred of another story may have used up what
/// there was: another pod is sent until one is told.
#[test]
fn a_pod_is_told_its_place() {
    let cluster = Cluster::of("told");
    cluster.apply(&[pool(cluster.name, json!({}))]);
    let alone = json!({ "affinity": { "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{
            "topologyKey": "kubernetes.io/hostname", "labelSelector": {},
        }],
    }}});
    let sent = Cell::new(0);
    cluster.wait("a pod is told its place", || {
        let ready = cluster.ready_pods();
        let told = (0..sent.get()).any(|number| {
            !cluster.events(cluster.name, &format!("pod-{number}"), "Nominated").is_empty()
        });
        if !told && ready == sent.get() {
            let next = format!("pod-{}", sent.get());
            cluster.apply(&[pod(cluster.name, &next, alone.clone())]);
            sent.set(sent.get() + 1);
        }
        told
    });
}

/// Metrics of the original, one a line: name, type, labels.
const RECORDED: &str = include_str!("metrics.txt");

#[test]
fn every_metric_of_the_original_is_there_with_its_type_and_labels() {
    let cluster = Cluster::of("recorded");
    let hopeless = json!({ "containers": [{
        "name": "pause", "image": "registry.k8s.io/pause:3.10",
        "resources": { "limits": { "example.com/gpu": "1" } },
    }]});
    let pods = [
        pool(cluster.name, json!({})),
        pod(cluster.name, "only", json!({})),
        pod(cluster.name, "never", hopeless),
    ];
    cluster.apply(&pods);
    cluster.wait("the pod is ready", || cluster.ready_pods() == 1);
    cluster.wait("the other is refused", || {
        !cluster.events(cluster.name, "never", "FailedScheduling").is_empty()
    });
    // Some are only there while nodes run, some only once they are gone.
    let seen = RefCell::new(told(&cluster.controller.metrics()));
    cluster.kubectl(&["delete", "pod", "only", "--wait=false"]);
    cluster.kubectl(&["delete", "nodeclaim", "--selector=karpenter.sh/nodepool=recorded"]);
    let missing = || {
        seen.borrow_mut().extend(told(&cluster.controller.metrics()));
        let recorded = RECORDED.lines().filter(|line| !line.starts_with('#'));
        recorded.filter(|line| !seen.borrow().contains(*line)).collect::<Vec<_>>().join("; ")
    };
    cluster.wait("every metric was there", || {
        let missing = missing();
        if !missing.is_empty() {
            eprintln!("missing: {missing}");
        }
        missing.is_empty()
    });
}

/// The metrics of a page in the form of the record. The sum of a histogram stands for all of it.
fn told(page: &str) -> BTreeSet<String> {
    let mut told = BTreeSet::new();
    let mut metric = ("", "");
    for line in page.lines().filter(|line| !line.starts_with("# HELP")) {
        if let Some(about) = line.strip_prefix("# TYPE ") {
            metric = about.split_once(' ').unwrap();
            continue;
        }
        let (name, kind) = metric;
        let sample = line.strip_prefix(name).unwrap().trim_start_matches("_sum");
        let Some(inside) = sample.strip_prefix('{') else {
            told.insert(format!("{name} {kind}"));
            continue;
        };
        let labels = inside.split("\",").filter_map(|label| label.split_once("=\""));
        let mut labels: Vec<&str> = labels.map(|(label, _)| label).collect();
        labels.sort_unstable();
        told.insert(format!("{name} {kind} {}", labels.join(",")));
    }
    told
}
