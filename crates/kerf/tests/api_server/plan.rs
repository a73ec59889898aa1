//! `kerf plan` of a cluster: what waits there, and what files would add.

use std::process::Command;

use serde_json::Value;

use crate::server::control_plane;

/// A pool, and one pod that waits for it in each of two namespaces.
const CLUSTER: &str = "
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: planned}
spec:
  template:
    spec:
      requirements:
        - {key: kubernetes.io/os, operator: In, values: [linux]}
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
        - {key: karpenter.kwok.sh/instance-cpu, operator: In, values: ['4']}
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
---
apiVersion: v1
kind: Namespace
metadata: {name: plan-here}
---
apiVersion: v1
kind: Namespace
metadata: {name: plan-there}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: plan-here}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: plan-there}
---
apiVersion: v1
kind: Pod
metadata: {name: waits, namespace: plan-here}
spec:
  nodeSelector: {karpenter.sh/nodepool: planned}
  containers: [{name: a, image: a, resources: {requests: {cpu: '3', memory: 1Gi}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: waits, namespace: plan-there}
spec:
  nodeSelector: {karpenter.sh/nodepool: planned}
  containers: [{name: a, image: a, resources: {requests: {cpu: '3', memory: 1Gi}}}]
";

/// The same pod from a file takes the place of the cluster's; the Deployment is new.
const FILE: &str = "
apiVersion: v1
kind: Pod
metadata: {name: waits, namespace: plan-here}
spec:
  nodeSelector: {karpenter.sh/nodepool: planned}
  containers: [{name: a, image: a, resources: {requests: {cpu: '500m', memory: 1Gi}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: plan-here}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {karpenter.sh/nodepool: planned}
      containers: [{name: a, image: a, resources: {requests: {cpu: '3', memory: 1Gi}}}]
";

fn plan(arguments: &[&str]) -> (Option<i32>, String, String) {
    let kubeconfig = control_plane().kubeconfig();
    let output = Command::new(env!("CARGO_BIN_EXE_kerf"))
        .arg("plan")
        .args(arguments)
        .env("KUBECONFIG", kubeconfig)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn planned(arguments: &[&str]) -> Value {
    let (code, text, errors) = plan(&[arguments, &["-o", "json"]].concat());
    assert_eq!(code, Some(0), "{errors}");
    serde_json::from_str(&text).unwrap()
}

fn pods(plan: &Value) -> Vec<String> {
    let nodes = plan["newNodes"].as_array().unwrap().iter();
    let pods = nodes.flat_map(|node| node["pods"].as_array().unwrap());
    let mut pods: Vec<String> = pods.map(|pod| pod.as_str().unwrap().to_owned()).collect();
    pods.sort();
    pods
}

#[test]
fn without_files_a_plan_is_for_the_pods_that_wait_in_the_cluster() {
    control_plane().apply(CLUSTER).unwrap();

    assert_eq!(pods(&planned(&["-n", "plan-here"])), ["plan-here/waits"]);
    assert_eq!(pods(&planned(&["-A"])), ["plan-here/waits", "plan-there/waits"]);
    let (_, page, _) = plan(&["-n", "plan-here", "--plain"]);
    assert!(page.contains("1 pod without a node in other namespaces"), "{page}");

    let file = std::env::temp_dir().join(format!("kerf-plan-{}.yaml", std::process::id()));
    std::fs::write(&file, FILE).unwrap();
    let name = file.to_str().unwrap();
    let with_file = planned(&["-n", "plan-here", "-f", name, "--diff"]);
    let expected = ["plan-here/waits", "plan-here/web-0", "plan-here/web-1"];
    assert_eq!(pods(&with_file), expected);
    assert_eq!(with_file["newNodes"].as_array().unwrap().len(), 2, "the smaller pod has room");
    assert!(with_file["today"]["nodes"].is_number(), "{with_file}");
    // A file alone is planned without the cluster, whose pool it needs.
    assert!(pods(&planned(&["-f", name])).is_empty());
    std::fs::remove_file(&file).unwrap();

    let (code, _, errors) = plan(&["--context", "no-such-context"]);
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("no-such-context") && errors.contains("--kubeconfig"), "{errors}");
}
