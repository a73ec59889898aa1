//! From Karpenter to Kerf and back, on a cluster that runs.

use std::collections::BTreeMap;
use std::process::Command;

use k8s_openapi::api::core::v1::Node;
use kerf_api::node_claim::NodeClaim;
use kerf_testbed::{Program, karpenter_program};
use kube::ResourceExt;
use serde_json::{Value, json};

use crate::cluster::{Cluster, SOON};
use crate::controller::Controller;
use crate::objects::{alone, pool};

const NODES: u32 = 100;
const POOL: &str = "fleet";

/// Conditions that say what somebody found who looked at a claim, sooner or later.
const FINDINGS: [&str; 2] = ["ConsistentStateFound", "Consolidatable"];

/// Karpenter with its kwok provider. It has no flags but these variables outside a cluster, and its
/// rights come with its chart; here it may do everything.
fn karpenter(cluster: &Cluster) -> Program {
    let mut command = Command::new(karpenter_program().unwrap());
    command.env("KUBECONFIG", cluster.control_plane.kubeconfig());
    command.env("SYSTEM_NAMESPACE", "karpenter").env("KARPENTER_SERVICE", "karpenter");
    command.env("DISABLE_LEADER_ELECTION", "true");
    Program::start(command, &["METRICS_PORT", "HEALTH_PROBE_PORT"]).unwrap()
}

/// What nodes and claims are, apart from what says when somebody looked last.
fn content(cluster: &Cluster) -> BTreeMap<String, Value> {
    let node = |node: Node| {
        let text = json!({
            "uid": node.uid(), "labels": node.labels(), "annotations": node.annotations(),
            "finalizers": node.finalizers(), "owners": node.owner_references(),
            "going": node.metadata.deletion_timestamp, "spec": node.spec,
        });
        (format!("node {}", node.name_any()), text)
    };
    let claim = |claim: NodeClaim| {
        let status = claim.status.clone().unwrap_or_default();
        let conditions = serde_json::to_value(&status.conditions).unwrap();
        let conditions: BTreeMap<String, Value> = conditions
            .as_array()
            .into_iter()
            .flatten()
            .map(|it| (it["type"].as_str().unwrap().to_owned(), it["status"].clone()))
            .filter(|(kind, _)| !FINDINGS.contains(&kind.as_str()))
            .collect();
        let text = json!({
            "uid": claim.uid(), "labels": claim.labels(), "annotations": claim.annotations(),
            "finalizers": claim.finalizers(), "owners": claim.owner_references(),
            "going": claim.metadata.deletion_timestamp, "spec": claim.spec,
            "node": status.node_name, "instance": status.provider_id, "conditions": conditions,
        });
        (format!("claim {}", claim.name_any()), text)
    };
    let nodes = cluster.nodes(POOL).into_iter().map(node);
    nodes.chain(cluster.claims(POOL).into_iter().map(claim)).collect()
}

/// That everything is as it was, apart from what is new.
fn assert_untouched(before: &BTreeMap<String, Value>, now: &BTreeMap<String, Value>, by: &str) {
    for (what, value) in before {
        let Some(after) = now.get(what) else { panic!("{by} ended {what}") };
        if value != after {
            panic!("{by} changed {what}:\n{value:#}\n{after:#}");
        }
    }
}

fn is_ready(claim: &NodeClaim) -> bool {
    let conditions = claim.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions.into_iter().flatten().any(|it| it.type_ == "Ready" && it.status == "True")
}

/// Has whoever runs now serve three more pods, and gives what there is then.
fn grown(cluster: &Cluster, replicas: u32) -> BTreeMap<String, Value> {
    cluster.scale(POOL, replicas);
    let all = replicas as usize;
    cluster.wait_for(SOON, "new pods have nodes", || cluster.unrest(POOL, all));
    cluster.wait("every node is taken in", || {
        let nodes = cluster.nodes(POOL);
        let is_done = |node: &Node| node.labels().contains_key("karpenter.sh/initialized");
        nodes.len() == all && nodes.iter().all(is_done)
    });
    // The label is written before the claim says so.
    cluster.wait("every claim is ready", || {
        let claims = cluster.claims(POOL);
        claims.len() == all && claims.iter().all(is_ready)
    });
    content(cluster)
}

#[test]
fn a_cluster_of_a_hundred_nodes_is_handed_over_to_kerf_and_back_and_no_node_is_touched() {
    let cluster =
        Cluster::with(&[pool(POOL, json!({"consolidateAfter": "0s"}), json!({})), alone(POOL, 0)]);
    let first = karpenter(&cluster);
    let made = grown(&cluster, NODES);
    first.end().unwrap();

    let proxy = cluster.proxy();
    let kerf = Controller::start(proxy.kubeconfig());
    let by_kerf = grown(&cluster, NODES + 3);
    assert_untouched(&made, &by_kerf, "Kerf");
    let (success, log) = kerf.end();
    assert!(success, "{log}");

    let last = karpenter(&cluster);
    let by_karpenter = grown(&cluster, NODES + 6);
    assert_untouched(&by_kerf, &by_karpenter, "Karpenter");
    last.end().unwrap();
    assert_eq!(cluster.ledger.made(POOL), NODES as usize + 6);
    assert_eq!(cluster.ledger.going_most(POOL), 0);
}
