//! What the controller tells: metrics under their public names, Events, readiness.

use serde_json::json;

use crate::cluster::Cluster;
use crate::manifest::{pod, pool};

#[test]
fn metrics_and_events_carry_their_public_names() {
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
        r#"karpenter_nodepools_allowed_disruptions{nodepool="telling",reason="Empty"} 1"#,
        r#"karpenter_nodepools_nodes_consuming_budgets{nodepool="telling",reason="Drifted"} 0"#,
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
    cluster.wait("the pod is told its place", || {
        !cluster.events(cluster.name, "only", "Nominated").is_empty()
    });
}
