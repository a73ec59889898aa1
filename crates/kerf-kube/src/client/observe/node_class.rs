//! Providers' settings objects, of whatever kind.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_api::Condition;
use kerf_engine::observed::{NodeClass, NodeClassStatus};
use kerf_model::node_spec::NodeClassRef;
use kube::api::{ApiResource, DynamicObject};
use serde_json::Value;

use super::meta::{conditions, meta, own_annotations};

/// Group, kind and name.
pub(crate) fn key(class: &DynamicObject, kind: &ApiResource) -> NodeClassRef {
    NodeClassRef {
        group: kind.group.clone(),
        kind: kind.kind.clone(),
        name: class.metadata.name.clone().unwrap_or_default(),
    }
}

/// Reads a node class. What its spec means is the provider's business.
pub(crate) fn read(class: &DynamicObject, kind: &ApiResource) -> NodeClass {
    let mut status = class.data.get("status").cloned().unwrap_or_default();
    let stored = status.as_object_mut().and_then(|status| status.remove("conditions"));
    let stored: Vec<Condition> =
        serde_json::from_value(stored.unwrap_or_default()).unwrap_or_default();
    NodeClass {
        annotations: annotations(class, kind),
        finalizers: class.metadata.finalizers.clone().unwrap_or_default(),
        spec: Arc::new(class.data.get("spec").cloned().unwrap_or_default()),
        status: NodeClassStatus {
            conditions: conditions(Some(&stored)),
            resolved: Arc::new(without_nothing(status)),
        },
        ..NodeClass::new(meta(&class.metadata), key(class, kind))
    }
}

/// Those in the API's own domains, and in that of the provider: its hashes are there.
fn annotations(class: &DynamicObject, kind: &ApiResource) -> BTreeMap<String, String> {
    let of_provider = |key: &str| key.split_once('/').is_some_and(|(it, _)| it == kind.group);
    let all = class.metadata.annotations.iter().flatten();
    let of_provider = all.filter(|(key, _)| of_provider(key));
    let of_provider = of_provider.map(|(key, value)| (key.clone(), value.clone()));
    own_annotations(&class.metadata).into_iter().chain(of_provider).collect()
}

/// A status without fields is none.
fn without_nothing(status: Value) -> Value {
    match status {
        Value::Object(fields) if fields.is_empty() => Value::Null,
        status => status,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn annotations_of_the_provider_are_read_and_those_of_strangers_are_not() {
        let kind = ApiResource {
            group: "karpenter.k8s.aws".to_owned(),
            version: "v1".to_owned(),
            api_version: "karpenter.k8s.aws/v1".to_owned(),
            kind: "EC2NodeClass".to_owned(),
            plural: "ec2nodeclasses".to_owned(),
        };
        let class = json!({"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass",
            "metadata": {"name": "default", "annotations": {
                "karpenter.k8s.aws/ec2nodeclass-hash": "7", "karpenter.sh/mark": "yes",
                "kubectl.kubernetes.io/last-applied-configuration": "{}"}}});
        let class = read(&serde_json::from_value(class).expect("it is an object"), &kind);
        let keys: Vec<&str> = class.annotations.keys().map(String::as_str).collect();
        assert_eq!(keys, ["karpenter.k8s.aws/ec2nodeclass-hash", "karpenter.sh/mark"]);
    }
}
