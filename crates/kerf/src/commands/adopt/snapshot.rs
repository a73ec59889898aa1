//! Everything the controller watches, listed once.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use kube::Client;
use serde_json::Value;

use crate::commands::listing::{Kind, list};

/// Objects by the plural of their kind.
pub(super) type Snapshot = BTreeMap<&'static str, Vec<Value>>;

/// Group, version, kind, plural, and whether a cluster may do without.
const KINDS: [(Kind, bool); 14] = [
    (("", "v1", "Pod", "pods"), false),
    (("", "v1", "Node", "nodes"), false),
    (("", "v1", "Namespace", "namespaces"), false),
    (("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims"), false),
    (("", "v1", "PersistentVolume", "persistentvolumes"), false),
    (("apps", "v1", "DaemonSet", "daemonsets"), false),
    (("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"), false),
    (("storage.k8s.io", "v1", "StorageClass", "storageclasses"), false),
    (("storage.k8s.io", "v1", "CSINode", "csinodes"), false),
    (("storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments"), false),
    (("karpenter.sh", "v1", "NodePool", "nodepools"), false),
    (("karpenter.sh", "v1", "NodeClaim", "nodeclaims"), false),
    (("karpenter.sh", "v1alpha1", "NodeOverlay", "nodeoverlays"), true),
    (("karpenter.k8s.aws", "v1", "EC2NodeClass", "ec2nodeclasses"), false),
];

/// Lists everything. What cannot be read must not look like it is not there.
pub(super) async fn take(client: &Client) -> Result<Snapshot> {
    let mut all = Snapshot::new();
    for (kind, is_optional) in KINDS {
        let plural = kind.3;
        let values = match list(client, kind).await {
            Err(kube::Error::Api(status)) if status.code == 404 && is_optional => Vec::new(),
            listed => listed.with_context(|| {
                format!("listing {plural}; is there a Karpenter of version 1 in this cluster?")
            })?,
        };
        all.insert(plural, values);
    }
    Ok(all)
}
