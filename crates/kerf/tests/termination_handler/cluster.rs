//! A cluster whose nodes nobody of Kerf's made.

use kerf_testbed::{ControlPlane, Options, Part, Shared, User};
use serde_json::{Value, json};

use crate::account::Instance;

/// The user that `deploy/rbac-termination-handler.yaml` speaks of.
pub(crate) const USER: &str = "system:serviceaccount:kube-system:aws-node-termination-handler";

const RIGHTS: &str = include_str!("../../../../deploy/rbac-termination-handler.yaml");

/// Without the controllers of Kubernetes: what tests store stays as they stored it.
static CLUSTER: Shared = Shared::new(|| {
    Options::api_server().with(Part::Kwok).user(User::new(USER).in_group("system:serviceaccounts"))
});

/// The cluster, with the handler's rights.
pub(crate) fn cluster() -> &'static ControlPlane {
    let cluster = CLUSTER.get();
    cluster.apply(RIGHTS).unwrap();
    cluster
}

pub(crate) fn apply(objects: &[Value]) {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    CLUSTER.get().apply(&list.to_string()).unwrap();
}

/// A node on an instance, under whatever name. kwok plays its kubelet.
pub(crate) fn node(name: &str, instance: &Instance) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {"kubernetes.io/hostname": name}},
        "spec": {"providerID": format!("aws:///us-east-1a/{}", instance.id)},
    })
}

/// A pod that runs on a node and ends at once when it is asked to.
pub(crate) fn pod(name: &str, node: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "nodeName": node, "terminationGracePeriodSeconds": 0,
            "tolerations": [{"operator": "Exists"}],
            "containers": [{"name": "c", "image": "i"}],
        },
    })
}

/// The same of a DaemonSet.
pub(crate) fn daemon_pod(name: &str, node: &str) -> Value {
    let mut pod = pod(name, node);
    pod["metadata"]["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": "DaemonSet",
        "name": "agent", "uid": "0d5a0ac4-9d9b-4d69-a2d2-4ab05c2c0a7e", "controller": true}]);
    pod
}

/// What `kubectl get` prints of one object; nothing if it is not there.
pub(crate) fn get(kind: &str, name: &str, path: &str) -> String {
    let output = format!("--output=jsonpath={path}");
    CLUSTER.get().kubectl(&["get", kind, name, "--ignore-not-found", &output]).unwrap()
}

pub(crate) fn is_cordoned(node: &str) -> bool {
    get("node", node, "{.spec.unschedulable}") == "true"
}

pub(crate) fn is_ready(node: &str) -> bool {
    get("node", node, r#"{.status.conditions[?(@.type=="Ready")].status}"#) == "True"
}

pub(crate) fn has_pod(name: &str) -> bool {
    !get("pod", name, "{.metadata.name}").is_empty()
}

/// Has the API server know NodeClaims, and the handler read and delete them.
pub(crate) fn define_claims() {
    let rights = json!([
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": "nodeclaims"},
            "rules": [{"apiGroups": ["karpenter.sh"], "resources": ["nodeclaims"],
                "verbs": ["list", "delete"]}]},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": "nodeclaims"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                "name": "nodeclaims"},
            "subjects": [{"kind": "ServiceAccount", "name": "aws-node-termination-handler",
                "namespace": "kube-system"}]},
    ]);
    apply(rights.as_array().unwrap());
    CLUSTER.get().apply_files(&["deploy/crds"]).unwrap();
}

/// A claim whose node is up, held by its provisioner's finalizer.
pub(crate) fn claim_of(node: &str, pool: &str) {
    let claim = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": node, "labels": {"karpenter.sh/nodepool": pool},
            "finalizers": ["karpenter.sh/termination"]},
        "spec": {"requirements": [], "nodeClassRef":
            {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}},
    });
    apply(&[claim]);
    let status = json!({"status": {"nodeName": node}}).to_string();
    let arguments =
        ["patch", "nodeclaim", node, "--subresource=status", "--type=merge", "-p", &status];
    CLUSTER.get().kubectl(&arguments).unwrap();
}
