//! Everything the controller watches, listed once.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams};
use serde_json::Value;

/// Objects by the plural of their kind.
pub(super) type Snapshot = BTreeMap<&'static str, Vec<Value>>;

/// Group, version, kind, plural, and whether a cluster may do without.
const KINDS: [(&str, &str, &str, &str, bool); 14] = [
    ("", "v1", "Pod", "pods", false),
    ("", "v1", "Node", "nodes", false),
    ("", "v1", "Namespace", "namespaces", false),
    ("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", false),
    ("", "v1", "PersistentVolume", "persistentvolumes", false),
    ("apps", "v1", "DaemonSet", "daemonsets", false),
    ("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", false),
    ("storage.k8s.io", "v1", "StorageClass", "storageclasses", false),
    ("storage.k8s.io", "v1", "CSINode", "csinodes", false),
    ("storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", false),
    ("karpenter.sh", "v1", "NodePool", "nodepools", false),
    ("karpenter.sh", "v1", "NodeClaim", "nodeclaims", false),
    ("karpenter.sh", "v1alpha1", "NodeOverlay", "nodeoverlays", true),
    ("karpenter.k8s.aws", "v1", "EC2NodeClass", "ec2nodeclasses", false),
];

/// Lists everything. What cannot be read must not look like it is not there.
pub(super) async fn take(client: &Client) -> Result<Snapshot> {
    let mut all = Snapshot::new();
    for (group, version, kind, plural, is_optional) in KINDS {
        let gvk = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&gvk, plural);
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        let objects = match api.list(&ListParams::default()).await {
            Ok(found) => found.items,
            Err(kube::Error::Api(status)) if status.code == 404 && is_optional => Vec::new(),
            Err(error) => {
                return Err(error).with_context(|| {
                    format!("listing {plural}; is there a Karpenter of version 1 in this cluster?")
                });
            }
        };
        let values = objects.iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
        all.insert(plural, values);
    }
    Ok(all)
}
