//! Nodes and claims in; nodes of the placement problem, out.

mod printed;

use kerf_engine::Settings;
use kerf_engine::time::Time;
use kerf_kube::{Manifests, WatchUpdate};
use printed::yaml;
use serde_json::{Value, json};

/// The nodes of the problem that these objects pose, or what is wrong with them.
fn nodes(node: Option<&str>, claim: Option<&str>, csi: Option<&str>) -> String {
    let mut manifests = Manifests::default();
    let objects = [("v1", "Node", node), ("storage.k8s.io/v1", "CSINode", csi)];
    for (api_version, kind, text) in objects {
        let Some(text) = text else { continue };
        let mut object: Value = yaml(text);
        object["apiVersion"] = json!(api_version);
        object["kind"] = json!(kind);
        manifests.add(0, object).expect("readable");
    }
    if let Some(claim) = claim {
        manifests.report(1, WatchUpdate::Claim, yaml(claim));
    }
    match manifests.observe(Settings::default(), Vec::new(), Time::default()) {
        Ok(observed) => {
            let asked = observed.problem();
            asked
                .problem
                .nodes
                .iter()
                .map(|node| printed::node(node))
                .collect::<Vec<_>>()
                .join("\n")
        }
        Err(problems) => {
            problems.iter().map(|it| format!("! {}", it.problem)).collect::<Vec<_>>().join("\n")
        }
    }
}

const CLAIM: &str = "
metadata:
  name: web-abc
  labels: {karpenter.sh/nodepool: web, team: shop}
spec:
  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
  requirements:
    - {key: zone, operator: In, values: [a]}
    - {key: arch, operator: In, values: [amd64, arm64]}
    - {key: gen, operator: Gt, values: ['3']}
  taints: [{key: team, value: shop, effect: NoSchedule}]
  startupTaints: [{key: cni, effect: NoExecute}]
status:
  providerID: aws:///i-1
  nodeName: node-1
  capacity: {cpu: '4', memory: 16Gi, nvidia.com/gpu: '1'}
  allocatable: {cpu: 3900m, memory: 15Gi, nvidia.com/gpu: '1'}
";

#[track_caller]
fn check(node: &str, claim: Option<&str>, expected: &str) {
    assert_eq!(nodes(Some(node), claim, None), printed::expectation(expected));
}

#[test]
fn a_node_of_nobodys_keeps_its_own_labels_and_taints() {
    check(
        "
metadata: {name: n1, labels: {zone: a}}
spec:
  taints:
    - {key: node.kubernetes.io/not-ready, effect: NoSchedule}
    - {key: x, value: 'y', effect: PreferNoSchedule}
status: {capacity: {cpu: 4, pods: 110}, allocatable: {cpu: 3500m, pods: 110}}
",
        None,
        "
n1 pool - up
labels zone=a
taint node.kubernetes.io/not-ready:NoSchedule
taint x=y:PreferNoSchedule
has cpu=4 nodes=1 pods=110
gives cpu=3500m pods=110
",
    );
}

#[test]
fn until_it_is_registered_the_claim_speaks_for_the_node() {
    check(
        "
metadata: {name: node-1, labels: {zone: b, node.kubernetes.io/instance-type: m5.xlarge}}
spec: {providerID: 'aws:///i-1', taints: [{key: karpenter.sh/unregistered, effect: NoExecute}]}
status: {capacity: {cpu: 4, nvidia.com/gpu: 0}, allocatable: {cpu: 3800m}}
",
        Some(CLAIM),
        "
node-1 pool web coming
labels karpenter.sh/nodepool=web team=shop zone=a
taint team=shop:NoSchedule
has cpu=4 memory=16Gi nodes=1 nvidia.com/gpu=1
gives cpu=3800m memory=15Gi nvidia.com/gpu=1
",
    );
}

#[test]
fn until_it_is_initialized_taints_that_pass_do_not_count() {
    let node = |initialized: &str| {
        format!(
            "
metadata:
  name: node-1
  labels:
    karpenter.sh/nodepool: web
    karpenter.sh/registered: 'true'
    karpenter.sh/initialized: '{initialized}'
    node.kubernetes.io/instance-type: m5.xlarge
spec:
  providerID: aws:///i-1
  taints:
    - {{key: cni, effect: NoExecute}}
    - {{key: node.kubernetes.io/not-ready, effect: NoExecute}}
    - {{key: readiness.k8s.io/gpu, value: x, effect: NoSchedule}}
    - {{key: mine, effect: NoSchedule}}
status: {{capacity: {{cpu: 4}}, allocatable: {{cpu: 4}}}}
"
        )
    };
    check(
        &node("false"),
        Some(CLAIM),
        "
node-1 pool web coming
labels karpenter.sh/initialized=false karpenter.sh/nodepool=web karpenter.sh/registered=true
.. node.kubernetes.io/instance-type=m5.xlarge
taint mine:NoSchedule
has cpu=4 memory=16Gi nodes=1 nvidia.com/gpu=1
gives cpu=4 memory=15Gi nvidia.com/gpu=1
",
    );
    check(
        &node("true"),
        Some(CLAIM),
        "
node-1 pool web up
labels karpenter.sh/initialized=true karpenter.sh/nodepool=web karpenter.sh/registered=true
.. node.kubernetes.io/instance-type=m5.xlarge
taint cni:NoExecute
taint node.kubernetes.io/not-ready:NoExecute
taint readiness.k8s.io/gpu=x:NoSchedule
taint mine:NoSchedule
has cpu=4 nodes=1
gives cpu=4
",
    );
}

#[test]
fn a_cordoned_node_is_closed_even_before_its_taint_is_there() {
    check(
        "{metadata: {name: n1}, spec: {unschedulable: true}}",
        None,
        "
n1 pool - up
labels
taint node.kubernetes.io/unschedulable:NoSchedule
has nodes=1
gives
",
    );
}

#[test]
fn what_cannot_be_understood_is_named_by_field() {
    check(
        "
metadata: {name: n1}
spec: {taints: [{key: a, effect: Sometimes}]}
status: {capacity: {cpu: much}, allocatable: {memory: -1Gi}}
",
        None,
        "
! spec.taints[0].effect: unknown taint effect \"Sometimes\"; the effects are NoSchedule,
.. PreferNoSchedule, NoExecute
! status.capacity.cpu: quantity \"much\" ends in \"much\", which is not a suffix; expected one of
.. n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or an exponent such as e3
! status.allocatable.memory: \"-1Gi\" is less than nothing
",
    );
}

#[test]
fn a_claim_without_a_node_counts_as_one_from_the_start() {
    assert_eq!(
        nodes(None, Some(CLAIM), None),
        "web-abc pool web coming\n\
         labels karpenter.sh/nodepool=web team=shop zone=a\n\
         taint team=shop:NoSchedule\n\
         has cpu=4 memory=16Gi nodes=1 nvidia.com/gpu=1\n\
         gives cpu=3900m memory=15Gi nvidia.com/gpu=1"
    );
    let (unlaunched, _) = CLAIM.split_once("status:").expect("it has a status");
    let unlaunched =
        unlaunched.replace("  taints:", "  resources: {requests: {cpu: 1}}\n  taints:");
    assert_eq!(
        nodes(None, Some(&unlaunched), None),
        "web-abc pool web coming\n\
         labels karpenter.sh/nodepool=web team=shop zone=a\n\
         taint team=shop:NoSchedule\n\
         has cpu=1 nodes=1\n\
         gives cpu=1"
    );
}

#[test]
fn volume_limits_come_from_the_drivers_report() {
    let csi = "
metadata: {name: n1}
spec:
  drivers:
    - {name: ebs.csi.aws.com, nodeID: i-1, allocatable: {count: 25}}
    - {name: efs.csi.aws.com, nodeID: i-1}
    - {name: odd, nodeID: i-1, allocatable: {count: -1}}
";
    assert_eq!(
        nodes(Some("metadata: {name: n1}"), None, Some(csi)),
        "n1 pool - up\nlabels\nhas nodes=1\ngives\nebs.csi.aws.com up to 25"
    );
}

#[test]
fn a_managed_node_counts_once_its_instance_and_its_type_are_known() {
    let node = |labels: &str, id: &str| {
        format!("metadata: {{name: n1, labels: {{{labels}}}}}\nspec: {{{id}}}")
    };
    let id = "providerID: aws:///i-1";
    let pool = "karpenter.sh/nodepool: web";
    for (labels, id, tracked) in [
        ("".to_owned(), "", true),
        (pool.to_owned(), "", false),
        (pool.to_owned(), id, false),
        (format!("{pool}, node.kubernetes.io/instance-type: m5.large"), id, true),
        (format!("{pool}, node.kubernetes.io/instance-type: m5.large"), "", false),
        (format!("{pool}, karpenter.sh/initialized: 'true'"), id, true),
    ] {
        let nodes = nodes(Some(&node(&labels, id)), None, None);
        assert_eq!(!nodes.is_empty(), tracked, "{labels} {id}");
    }
}
