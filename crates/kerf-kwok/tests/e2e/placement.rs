//! Where pods may stand decides which nodes are made.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::Node;
use serde_json::json;

use crate::cluster::Cluster;
use crate::manifest::{TEST, deployment, pod, pool};

const ZONE: &str = "topology.kubernetes.io/zone";
const CPU: &str = "karpenter.kwok.sh/instance-cpu";

fn label<'a>(node: &'a Node, key: &str) -> &'a str {
    node.metadata.labels.as_ref().and_then(|labels| labels.get(key)).map_or("", String::as_str)
}

#[test]
fn a_hundred_pods_that_stand_apart_get_a_hundred_nodes() {
    let cluster = Cluster::of("apart");
    let apart = json!({ "affinity": { "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": { "matchLabels": { "app": "apart" } },
        }],
    }}});
    cluster.apply(&[pool(cluster.name, json!({})), deployment(cluster.name, "apart", 100, apart)]);
    cluster.wait("a hundred pods are ready", || cluster.ready_pods() == 100);
    assert_eq!(cluster.nodes().len(), 100);
    assert_eq!(cluster.claims().len(), 100);
}

#[test]
fn pods_that_spread_over_zones_get_nodes_in_every_zone() {
    let cluster = Cluster::of("zones");
    let spread = json!({ "topologySpreadConstraints": [{
        "topologyKey": ZONE,
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": { "matchLabels": { "app": "spread" } },
    }]});
    cluster.apply(&[pool(cluster.name, json!({})), deployment(cluster.name, "spread", 8, spread)]);
    cluster.wait("eight pods are ready", || cluster.ready_pods() == 8);
    let zones: BTreeMap<String, String> = cluster
        .nodes()
        .iter()
        .map(|node| (node.metadata.name.clone().unwrap(), label(node, ZONE).to_owned()))
        .collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for pod in cluster.pods() {
        let node = pod.spec.unwrap().node_name.unwrap();
        *counts.entry(zones[&node].as_str()).or_default() += 1;
    }
    assert_eq!(counts.values().collect::<Vec<_>>(), [&2, &2, &2, &2], "{counts:?}");
}

#[test]
fn a_pod_gets_a_node_in_the_zone_its_volume_lies_in() {
    let cluster = Cluster::of("volume");
    let volume = json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": { "name": "in-zone-c" },
        "spec": {
            "capacity": { "storage": "1Gi" },
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "by-hand",
            "claimRef": { "namespace": cluster.name, "name": "data" },
            "hostPath": { "path": "/data" },
            "nodeAffinity": { "required": { "nodeSelectorTerms": [{ "matchExpressions": [
                { "key": ZONE, "operator": "In", "values": ["test-zone-c"] },
            ]}]}},
        },
    });
    let claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": { "name": "data", "namespace": cluster.name },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "by-hand",
            "resources": { "requests": { "storage": "1Gi" } },
        },
    });
    let volumes = json!({ "volumes": [
        { "name": "data", "persistentVolumeClaim": { "claimName": "data" } },
    ]});
    cluster.apply(&[
        volume,
        claim,
        pool(cluster.name, json!({})),
        pod(cluster.name, "keeper", volumes),
    ]);
    cluster.wait("the pod is ready", || cluster.ready_pods() == 1);
    let zones: BTreeSet<String> =
        cluster.nodes().iter().map(|node| label(node, ZONE).to_owned()).collect();
    assert_eq!(zones, BTreeSet::from(["test-zone-c".to_owned()]));
}

#[test]
fn what_a_limit_range_gives_daemon_pods_is_kept_free_on_new_nodes() {
    let cluster = Cluster::of("daemons");
    let range = json!({
        "apiVersion": "v1", "kind": "LimitRange",
        "metadata": { "name": "defaults", "namespace": cluster.name },
        "spec": { "limits": [{ "type": "Container", "defaultRequest": { "cpu": "2" } }] },
    });
    let daemon = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet",
        "metadata": { "name": "agent", "namespace": cluster.name },
        "spec": {
            "selector": { "matchLabels": { "app": "agent" } },
            "template": {
                "metadata": { "labels": { "app": "agent" } },
                "spec": {
                    "nodeSelector": { TEST: cluster.name },
                    "containers": [{ "name": "pause", "image": "registry.k8s.io/pause:3.10" }],
                },
            },
        },
    });
    let pool = pool(cluster.name, json!({}));
    cluster.apply(&[range, daemon, pool, pod(cluster.name, "first", json!({}))]);
    // The first node is made by the template, which asks for nothing; its daemon pod shows what
    // admission makes of it.
    cluster.wait("the daemon set has a pod", || {
        cluster.pods().iter().any(|pod| pod.metadata.name.as_deref() != Some("first"))
    });
    let three = json!({ "containers": [{
        "name": "pause", "image": "registry.k8s.io/pause:3.10",
        "resources": { "requests": { "cpu": "3" } },
    }]});
    cluster.apply(&[pod(cluster.name, "second", three)]);
    cluster.wait("the second pod is ready beside a daemon pod", || {
        let pods = cluster.pods();
        let node = |name: &str| {
            let pod = pods.iter().find(|pod| pod.metadata.name.as_deref() == Some(name))?;
            pod.spec.as_ref()?.node_name.clone()
        };
        let Some(second) = node("second") else { return false };
        let beside = |pod: &&k8s_openapi::api::core::v1::Pod| {
            pod.metadata.name.as_deref().is_some_and(|name| name.starts_with("agent-"))
                && pod.spec.as_ref().is_some_and(|it| it.node_name.as_deref() == Some(&second))
        };
        pods.iter().any(|pod| beside(&pod))
    });
    let cpus: BTreeSet<u32> =
        cluster.nodes().iter().map(|node| label(node, CPU).parse().unwrap()).collect();
    // Three and two do not fit on four, of which pods can use less.
    assert_eq!(cpus, BTreeSet::from([2, 8]));
}

#[test]
fn a_node_is_ready_for_pods_once_its_startup_taints_are_gone() {
    let cluster = Cluster::of("startup");
    let taint = json!({ "template": { "spec": { "startupTaints": [
        { "key": "example.com/not-yet", "effect": "NoSchedule" },
    ]}}});
    cluster.apply(&[pool(cluster.name, taint), pod(cluster.name, "patient", json!({}))]);
    let reason = || {
        let claim = cluster.claims().pop()?;
        let conditions = claim.status?.conditions?;
        conditions.into_iter().find(|it| it.type_ == "Initialized").map(|it| it.reason)
    };
    cluster.wait("the claim says what it waits for", || {
        reason().as_deref() == Some("StartupTaintsExist")
    });
    assert_eq!(cluster.ready_pods(), 0);
    let of_pool = format!("--selector=karpenter.sh/nodepool={}", cluster.name);
    cluster.kubectl(&["taint", "nodes", &of_pool, "example.com/not-yet-"]);
    cluster.wait("the pod is ready", || cluster.ready_pods() == 1);
    cluster.wait("the claim is initialized", || reason().as_deref() == Some("Initialized"));
    assert_eq!(cluster.nodes().len(), 1);
}
