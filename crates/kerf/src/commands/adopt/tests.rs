//! The verdict on nodes is the engine's, and settings are those of the flags.

use kerf_engine::time::Time;
use serde_json::{Value, json};

use super::controller::Running;
use super::orders::{Nodes, judge};
use super::report::Report;
use super::snapshot::Snapshot;
use crate::commands::doctor::Facts;

const NOW: Time = Time::from_seconds(1_800_000_000);
const CREATED: &str = "2027-01-15T06:00:00Z";

/// A pool of Karpenter's with one node, which is what the pool asks for.
fn cluster() -> Snapshot {
    let class = json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"});
    let met = |kind: &str| {
        json!({"type": kind, "status": "True", "reason": kind, "message": "",
            "lastTransitionTime": CREATED, "observedGeneration": 1})
    };
    let all = |kinds: &[&str]| kinds.iter().map(|kind| met(kind)).collect::<Vec<Value>>();
    let pool = json!({
        "metadata": meta("default"),
        "spec": {"template": {"spec": {"nodeClassRef": class, "expireAfter": "720h", "requirements": [
            {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]}}},
        "status": {"conditions": all(&["Ready"])},
    });
    let labels = json!({"karpenter.sh/nodepool": "default", "kubernetes.io/arch": "amd64",
        "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"});
    let mut claim = json!({
        "metadata": meta("default-1"),
        "spec": {"nodeClassRef": class, "expireAfter": "720h", "requirements": []},
        "status": {"nodeName": "node-a", "providerID": "aws:///us-east-1a/i-1",
            "conditions": all(&["Launched", "Registered", "Initialized", "Ready"])},
    });
    claim["metadata"]["labels"] = labels.clone();
    claim["metadata"]["finalizers"] = json!(["karpenter.sh/termination"]);
    let mut node = json!({"metadata": meta("node-a"), "spec": {"providerID": "aws:///us-east-1a/i-1"},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    node["metadata"]["labels"] = labels;
    node["metadata"]["finalizers"] = json!(["karpenter.sh/termination"]);
    let class = json!({"metadata": meta("default"), "spec": {"role": "r",
        "amiSelectorTerms": [{"alias": "al2023@latest"}],
        "subnetSelectorTerms": [{"tags": {"a": "b"}}],
        "securityGroupSelectorTerms": [{"tags": {"a": "b"}}]},
        "status": {"conditions": all(&["Ready"])}});
    Snapshot::from([
        ("nodepools", vec![pool]),
        ("nodeclaims", vec![claim]),
        ("nodes", vec![node]),
        ("ec2nodeclasses", vec![class]),
    ])
}

fn meta(name: &str) -> Value {
    json!({"name": name, "uid": format!("uid-{name}"), "resourceVersion": "1", "generation": 1,
        "creationTimestamp": CREATED})
}

fn object<'a>(cluster: &'a mut Snapshot, kind: &str) -> &'a mut Value {
    &mut cluster.get_mut(kind).unwrap()[0]
}

#[test]
fn a_node_that_is_what_its_pool_asks_for_stays() {
    let nodes = judge(&cluster(), NOW).unwrap();
    assert_eq!((nodes.count, nodes.changes.len()), (1, 0), "{nodes:#?}");
}

#[test]
fn a_node_that_its_pool_no_longer_asks_for_is_named_with_the_reason() {
    let mut drifted = cluster();
    object(&mut drifted, "nodeclaims")["metadata"]["labels"]["kubernetes.io/arch"] = json!("arm64");
    let nodes = judge(&drifted, NOW).unwrap();
    let change = nodes.changes.get("default-1").map(String::as_str);
    assert_eq!(change, Some("replaced in time: RequirementsDrifted"), "{nodes:#?}");
    let mut expired = cluster();
    object(&mut expired, "nodeclaims")["spec"]["expireAfter"] = json!("1h");
    let nodes = judge(&expired, NOW).unwrap();
    let change = nodes.changes.get("default-1");
    assert!(change.is_some_and(|it| it.starts_with("deleted")), "{nodes:#?}");
}

fn facts(variables: &Value) -> Facts {
    let container =
        json!({"image": "public.ecr.aws/karpenter/controller:1.14.0", "env": variables});
    let deployment = json!({
        "metadata": {"name": "karpenter", "namespace": "kube-system"},
        "spec": {"template": {"spec": {"containers": [container]}}},
    });
    let lease = json!({"metadata": {"name": "karpenter-leader-election"},
        "spec": {"holderIdentity": "karpenter-abc"}});
    let own = kerf_api::crds();
    let definitions = own.iter().map(|one| serde_json::to_value(one).unwrap()).collect();
    Facts {
        now_seconds: 1_800_000_000,
        namespace: "kube-system".to_owned(),
        version: Ok("v1.36.3".to_owned()),
        lists: [
            ("deployments", Ok(vec![deployment])),
            ("leases", Ok(vec![lease])),
            ("customresourcedefinitions", Ok(definitions)),
        ]
        .into(),
        account: None,
    }
}

#[test]
fn settings_that_kerf_does_not_know_are_named() {
    let variables = json!([
        {"name": "CLUSTER_NAME", "value": "tidepool"},
        {"name": "FEATURE_GATES", "value": "ReservedCapacity=true"},
        {"name": "KARPENTER_OF_THE_FUTURE", "value": "true"},
        {"name": "AWS_REGION", "value": "us-east-1"},
    ]);
    let running = Running::of(&facts(&variables)).unwrap();
    assert_eq!(running.unknown_settings, ["KARPENTER_OF_THE_FUTURE"]);
    assert_eq!(running.known_settings, 3);
    assert_eq!(running.lease, "kube-system/karpenter-leader-election");
    assert!(!running.is_kerf);
    let text = Report::new(&facts(&variables), Nodes::default()).text();
    assert!(text.contains("held by karpenter-abc; Kerf asks for the same"), "{text}");
    assert!(text.contains("nothing changes"), "{text}");
}

#[test]
fn what_stands_in_the_way_and_what_does_not_go_back_is_said() {
    let mut facts = facts(&json!([]));
    let hook = json!({"metadata": {"name": "defaulting"},
        "webhooks": [{"name": "defaulting.webhook.karpenter.sh"}]});
    facts.lists.insert("mutatingwebhookconfigurations", Ok(vec![hook]));
    let claim = json!({"metadata": {"name": "a", "ownerReferences": [{"kind": "Provisioner"}]}});
    facts.lists.insert("nodeclaims", Ok(vec![claim]));
    let report = Report::new(&facts, Nodes::default());
    assert!(!report.changes_nothing());
    assert!(report.in_the_way[0].contains("kubectl delete mutatingwebhook"), "{report:#?}");
    assert!(report.back[0].starts_with("1 nodes belong to Provisioners"), "{report:#?}");
}
