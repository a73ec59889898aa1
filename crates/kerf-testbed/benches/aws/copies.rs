//! Claims and their nodes by the thousand: copies of one that was launched.

use futures_util::stream::{self, StreamExt};
use k8s_openapi::api::core::v1::Node;
use kube::api::{
    Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams,
};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};

/// Objects that are made side by side.
const AT_ONCE: usize = 64;
/// Makes kwok play a node's kubelet; thousands of heartbeats would be what is measured.
const FAKE_NODE: &str = "kwok.x-k8s.io/node";

/// Claims, whatever their spec.
pub(crate) fn claims(client: &Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("karpenter.sh", "v1", "NodeClaim");
    Api::all_with(client.clone(), &ApiResource::from_gvk_with_plural(&kind, "nodeclaims"))
}

/// Copies the only claim and its node so often. Returns the ids of the copies' instances.
pub(crate) async fn copy(client: &Client, count: usize) -> Vec<String> {
    let (claims, nodes) = (claims(client), Api::<Node>::all(client.clone()));
    let claim = claims.list(&Default::default()).await.unwrap().items.pop().unwrap();
    let name = claim.data["status"]["nodeName"].as_str().unwrap().to_owned();
    let node = nodes.get(&name).await.unwrap();
    let made = stream::iter(0..count).map(|number| {
        let (claims, nodes, claim, node) = (&claims, &nodes, &claim, &node);
        async move { make(claims, nodes, claim, node, number).await }
    });
    made.buffer_unordered(AT_ONCE).collect().await
}

async fn make(
    claims: &Api<DynamicObject>,
    nodes: &Api<Node>,
    claim: &DynamicObject,
    node: &Node,
    number: usize,
) -> String {
    let (instance, name) = (format!("i-{number:017x}"), format!("copy-{number}"));
    let zone = claim.labels()["topology.kubernetes.io/zone"].clone();
    let provider_id = format!("aws:///{zone}/{instance}");
    let mut copy = claim.clone();
    bare(&mut copy.metadata, &name);
    let mut status = copy.data["status"].take();
    status["providerID"] = json!(provider_id);
    status["nodeName"] = json!(name);
    let made = claims.create(&PostParams::default(), &copy).await.unwrap();
    let status = json!({"status": status});
    claims.patch_status(&name, &PatchParams::default(), &Patch::Merge(&status)).await.unwrap();
    let mut copy = node.clone();
    bare(&mut copy.metadata, &name);
    copy.annotations_mut().remove(FAKE_NODE);
    copy.labels_mut().insert("kubernetes.io/hostname".to_owned(), name.clone());
    for owner in copy.metadata.owner_references.iter_mut().flatten() {
        (owner.name, owner.uid) = (name.clone(), made.uid().unwrap());
    }
    copy.spec.as_mut().unwrap().provider_id = Some(provider_id);
    let status = json!({"status": serde_json::to_value(&copy.status).unwrap_or(Value::Null)});
    nodes.create(&PostParams::default(), &copy).await.unwrap();
    nodes.patch_status(&name, &PatchParams::default(), &Patch::Merge(&status)).await.unwrap();
    instance
}

/// What is left of an object's metadata in a copy.
fn bare(metadata: &mut kube::core::ObjectMeta, name: &str) {
    *metadata = kube::core::ObjectMeta {
        name: Some(name.to_owned()),
        labels: metadata.labels.take(),
        annotations: metadata.annotations.take(),
        finalizers: metadata.finalizers.take(),
        owner_references: metadata.owner_references.take(),
        ..Default::default()
    };
}
