//! The chart on a real API server, and what it installs at work.

use std::path::Path;
use std::time::Duration;

use kerf_testbed::{AwsStandIn, ControlPlane, Kubelets, Options, Program, wait_until};
use serde_json::Value;

use crate::manifests::HELM;
use crate::{CHART, CRD_CHART};

/// Some ten seconds when nothing else runs.
const SOON: Duration = Duration::from_secs(240);
/// From the launch of an instance to its node.
const BOOT: Duration = Duration::from_millis(300);
const CLUSTER: &str = "tidepool";
const PROBES: &str = "HEALTH_PROBE_PORT";
const METRICS: &str = "METRICS_PORT";

/// What is there before anybody installs: two nodes in two zones for the controller, and a namespace
/// that takes only pods of the restricted profile.
const BEFORE: &str = "
apiVersion: v1
kind: Namespace
metadata:
  name: karpenter
  labels: {pod-security.kubernetes.io/enforce: restricted}
---
apiVersion: v1
kind: Node
metadata:
  name: system-a
  annotations: {kwok.x-k8s.io/node: fake}
  labels: {kubernetes.io/os: linux, kubernetes.io/hostname: system-a, topology.kubernetes.io/zone: us-east-1a}
status: {allocatable: {cpu: '1', memory: 4Gi, pods: '20'}, capacity: {cpu: '1', memory: 4Gi, pods: '20'}}
---
apiVersion: v1
kind: Node
metadata:
  name: system-b
  annotations: {kwok.x-k8s.io/node: fake}
  labels: {kubernetes.io/os: linux, kubernetes.io/hostname: system-b, topology.kubernetes.io/zone: us-east-1b}
status: {allocatable: {cpu: '1', memory: 4Gi, pods: '20'}, capacity: {cpu: '1', memory: 4Gi, pods: '20'}}
";

/// Values as the guides of four years print them, with one that no longer means anything.
const VALUES: &str = "
controller: {clusterName: tidepool}
settings:
  batchIdleDuration: 300ms
  aws: {interruptionQueueName: tidepool, enablePodENI: true}
defaultPool:
  requirements:
    karpenter.sh/capacity-type: [spot, on-demand]
    karpenter.k8s.aws/instance-category: [c, m, r]
";

const PODS: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: inflate, namespace: default}
spec:
  replicas: 3
  selector: {matchLabels: {app: inflate}}
  template:
    metadata: {labels: {app: inflate}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: never-pulled, resources: {requests: {cpu: 1500m}}}]
";

#[test]
fn what_the_chart_installs_leads_launches_nodes_and_takes_them_away() {
    let cluster = ControlPlane::start(Options::simulated_cluster()).unwrap();
    cluster.apply(BEFORE).unwrap();
    let aws = AwsStandIn::start().unwrap();
    let made = aws.quick_start(CLUSTER);
    let kubelets = Kubelets::start(&cluster, &aws, BOOT).unwrap();

    // Twice: the second time nothing changes.
    let arguments = ["--namespace=karpenter", "--create-namespace", "--wait", "--timeout=4m"];
    let said = HELM.install(&cluster, "karpenter", CHART, VALUES, &arguments).unwrap();
    assert!(said.contains("STATUS: deployed"), "{said}");
    warns_of_old_values(&said);
    let generation = || {
        get(&cluster, &["deployment", "karpenter", "-nkarpenter"])["metadata"]["generation"].clone()
    };
    let first = generation();
    let said = HELM.install(&cluster, "karpenter", CHART, VALUES, &arguments).unwrap();
    assert!(said.contains("REVISION: 2"), "{said}");
    assert_eq!(generation(), first, "an upgrade to the same changes nothing");
    stands_in_two_zones(&cluster);

    let kerf = Path::new(env!("CARGO_BIN_EXE_kerf"));
    let mut command = cluster.container("karpenter", "karpenter", kerf).unwrap();
    command.envs(aws.environment());
    let running = Program::start(command, &[PROBES, METRICS]).unwrap();
    answers_its_probes(&cluster, &running);

    cluster.apply(PODS).unwrap();
    let pods = || list(&cluster, "pods");
    let runs = |pod: &Value| pod["status"]["phase"] == "Running";
    let all_run = || pods().len() == 3 && pods().iter().all(runs);
    assert!(wait_until(SOON, all_run), "{:?}\n{}", pods(), running.written());
    let of_pool = list(&cluster, "nodes").into_iter().filter(is_of_default_pool).count();
    assert!(of_pool > 0, "they run on nodes of the pool that the chart made");

    crate::doctor::finds_what_lacks_until_it_is_mended(&cluster, &aws, &made);

    cluster.kubectl(&["delete", "deployment", "inflate"]).unwrap();
    cluster.kubectl(&["delete", "nodepools,ec2nodeclasses", "--all", "--wait=false"]).unwrap();
    let all_gone = || {
        list(&cluster, "nodeclaims").is_empty()
            && list(&cluster, "ec2nodeclasses").is_empty()
            && list(&cluster, "nodes").len() == 2
    };
    assert!(
        wait_until(SOON, all_gone),
        "{:?}\n{}",
        list(&cluster, "nodeclaims"),
        running.written()
    );
    let (is_well, log) = running.end().unwrap();
    assert!(is_well, "{log}");
    assert!(!log.contains("forbidden"), "it has every right it needs: {log}");
    drop(kubelets);

    HELM.on(&cluster, &["uninstall", "karpenter", "--namespace=karpenter", "--wait"]).unwrap();
    definitions_stay_and_can_be_taken_over(&cluster);
}

/// One warning for each era, and one for what has no effect.
fn warns_of_old_values(said: &str) {
    for warning in [
        "Warning: values of charts 0.19 to 0.31: settings.aws.interruptionQueueName (write settings.interruptionQueue)",
        "Warning: values of charts 0.5 to 0.6: controller.clusterName (write settings.clusterName)",
        "Warning: settings.aws.enablePodENI has no effect",
    ] {
        assert!(said.contains(warning), "{warning}: {said}");
    }
    assert_eq!(said.matches("Warning:").count(), 3, "{said}");
}

fn stands_in_two_zones(cluster: &ControlPlane) {
    let labels = ["pods", "-nkarpenter", "-lkarpenter=controller"];
    let pods = get(cluster, &labels)["items"].as_array().cloned().unwrap();
    let mut nodes: Vec<_> =
        pods.iter().filter_map(|pod| pod["spec"]["nodeName"].as_str()).collect();
    nodes.sort_unstable();
    assert_eq!(nodes, ["system-a", "system-b"]);
}

/// The probes of the stored Deployment, asked where its container listens.
fn answers_its_probes(cluster: &ControlPlane, running: &Program) {
    let deployment = get(cluster, &["deployment", "karpenter", "-nkarpenter"]);
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    for probe in ["livenessProbe", "readinessProbe"] {
        let path = container[probe]["httpGet"]["path"].as_str().unwrap();
        let is_well = || running.get(PROBES, path).is_some_and(|it| it.contains("200 OK"));
        assert!(wait_until(SOON, is_well), "{probe}: {:?}", running.get(PROBES, path));
    }
    assert!(running.get(METRICS, "/metrics").unwrap().contains("karpenter_cluster_state_synced"));
    let holder = || {
        let lease = ["lease", "karpenter-leader-election", "-nkarpenter"];
        get(cluster, &lease)["spec"]["holderIdentity"].as_str().map(str::to_owned)
    };
    assert!(wait_until(SOON, || holder().is_some_and(|it| !it.is_empty())), "it leads");
}

/// The chart's definitions outlive it, and the other chart can take them over.
fn definitions_stay_and_can_be_taken_over(cluster: &ControlPlane) {
    let count = || get(cluster, &["crd"])["items"].as_array().map_or(0, Vec::len);
    assert_eq!(count(), 5);
    let arguments = ["--namespace=karpenter", "--take-ownership"];
    HELM.install(cluster, "karpenter-crd", CRD_CHART, "", &arguments).unwrap();
    HELM.on(cluster, &["uninstall", "karpenter-crd", "--namespace=karpenter"]).unwrap();
    assert_eq!(count(), 5, "they are kept");
}

fn is_of_default_pool(node: &Value) -> bool {
    node["metadata"]["labels"]["karpenter.sh/nodepool"] == "default"
}

fn list(cluster: &ControlPlane, kind: &str) -> Vec<Value> {
    get(cluster, &[kind])["items"].as_array().cloned().unwrap_or_default()
}

/// An object or a list; null if there is none.
fn get(cluster: &ControlPlane, what: &[&str]) -> Value {
    let arguments = [&["get", "--output=json"], what].concat();
    let text = cluster.kubectl(&arguments).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}
