//! The objects that calls are made about.

use std::collections::BTreeMap;

use kerf_engine::action::NewClaim;
use kerf_model::claim::NodeClaim;
use kerf_model::duration::NillableDuration;
use kerf_model::labels::well_known::{INSTANCE_TYPE, NODE_POOL};
use kerf_model::node_spec::{NodeClassRef, NodeSpec};
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::ResourceList;
use serde_json::{Value, json};

const GROUP: &str = "karpenter.kwok.sh";
const KIND: &str = "KWOKNodeClass";
/// One of the types the kwok cloud has.
const TYPE: &str = "c-4x-amd64-linux";

/// A pool with its node class, an overlay, a node, and two pods on it.
pub(crate) fn all() -> String {
    let class = json!({
        "apiVersion": format!("{GROUP}/v1alpha1"), "kind": KIND,
        "metadata": { "name": "default" }, "spec": {},
    });
    let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node" } });
    let overlay = json!({
        "apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay",
        "metadata": { "name": "overlay" }, "spec": { "requirements": [], "price": "1" },
    });
    let objects = [class, pool(), overlay, node, pod("evicted"), pod("deleted")];
    json!({ "apiVersion": "v1", "kind": "List", "items": objects }).to_string()
}

/// A scheduler's configuration with default spreads.
pub(crate) fn default_spreads() -> Value {
    json!({ "podTopologySpread": { "defaultConstraints": [{
        "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "ScheduleAnyway",
    }]}})
}

/// A claim of the pool, which has this identity.
pub(crate) fn claim(pool_uid: &str) -> NewClaim {
    let node_class =
        NodeClassRef { group: GROUP.to_owned(), kind: KIND.to_owned(), name: "default".to_owned() };
    let node = NodeSpec {
        requirements: vec![RequirementEntry::new(INSTANCE_TYPE, Operator::In, [TYPE])],
        taints: Vec::new(),
        startup_taints: Vec::new(),
        node_class,
        termination_grace: None,
        expire_after: NillableDuration::NEVER,
    };
    let spec = NodeClaim {
        name: "claim".to_owned(),
        labels: BTreeMap::from([(NODE_POOL.to_owned(), "pool".to_owned())]),
        annotations: BTreeMap::new(),
        node,
        requests: ResourceList::new(),
    };
    NewClaim { spec, pool: ("pool".into(), pool_uid.into()) }
}

fn pool() -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": { "name": "pool" },
        "spec": { "template": { "spec": {
            "nodeClassRef": { "group": GROUP, "kind": KIND, "name": "default" },
            "requirements": [
                { "key": "kubernetes.io/os", "operator": "In", "values": ["linux"] },
            ],
        }}},
    })
}

fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": name, "namespace": "default" },
        "spec": { "nodeName": "node", "containers": [{ "name": "c", "image": "i" }] },
    })
}
