//! A termination handler: nodes and pods, and nothing of Kerf's own kinds.

use kerf_engine::notice::{NoticeKind, NoticeOutcome};
use kerf_engine::{Role, Settings};
use kerf_kube::{NoProvider, NoticeDelivery};
use serde_json::json;
use tokio::sync::{mpsc, watch};

use crate::account::{Account, SOON};
use crate::calls::controller;

/// What draining needs.
pub(crate) const ROLE: &str = "
apiVersion: v1
kind: Namespace
metadata: {name: karpenter}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: handler}
rules:
- {apiGroups: [''], resources: [pods, nodes], verbs: [list, watch]}
- {apiGroups: [''], resources: [nodes], verbs: [get, patch]}
- {apiGroups: [''], resources: [pods/eviction], verbs: [create]}
- {apiGroups: [''], resources: [events], verbs: [create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: handler}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: handler}
subjects: [{kind: ServiceAccount, name: karpenter, namespace: karpenter}]
";

/// Drains a node whose instance is taken, with a pod on it that ends at once.
pub(crate) fn drain(account: &Account) {
    let node = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node" },
        "spec": { "providerID": "aws:///zone-a/i-1" },
    });
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "pod", "namespace": "default" },
        "spec": {
            "nodeName": "node", "terminationGracePeriodSeconds": 0,
            "containers": [{ "name": "c", "image": "i" }],
        },
    });
    let objects = json!({ "apiVersion": "v1", "kind": "List", "items": [node, pod] });
    account.control_plane.apply(&objects.to_string()).unwrap();
    assert_eq!(notified(account), NoticeOutcome::Drained);
    let node = account.control_plane.kubectl(&["get", "node", "node", "--output=json"]).unwrap();
    let node: serde_json::Value = serde_json::from_str(&node).unwrap();
    assert_eq!(node["spec"]["unschedulable"], json!(true));
    let pods = account.control_plane.kubectl(&["get", "pods", "--output=name"]).unwrap();
    assert_eq!(pods.trim(), "");
}

/// What comes of a notice about the node's instance, given again for as long as it has to be.
fn notified(account: &Account) -> NoticeOutcome {
    let settings = Settings { role: Role::TerminationHandler, ..Settings::default() };
    let (notices, deliveries) = mpsc::channel(1);
    let (_lead, leading) = watch::channel(true);
    let handler = controller(account, NoProvider, settings, deliveries);
    let health = handler.health.clone();
    let outcome = async {
        loop {
            let (delivery, outcome) =
                NoticeDelivery::new(NoticeKind::SpotInterrupted, vec!["i-1".into()]);
            notices.send(delivery).await.unwrap();
            match outcome.await.unwrap() {
                NoticeOutcome::NotInTime => {}
                outcome => return outcome,
            }
        }
    };
    account.runtime.block_on(async {
        tokio::select! {
            outcome = outcome => outcome,
            ended = handler.run(leading, std::future::pending()) => panic!("{ended:?}"),
            () = tokio::time::sleep(SOON) => panic!("{:?}", health.readiness()),
        }
    })
}
