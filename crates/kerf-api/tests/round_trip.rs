//! Objects survive being decoded and encoded, and being read into the model and written again.

use std::fmt::Debug;

use kerf_api::convert::{
    capacity_buffer_from_model, capacity_buffer_to_model, node_claim_from_model,
    node_claim_to_model, node_overlay_from_model, node_overlay_to_model, node_pool_from_model,
    node_pool_to_model,
};
use kerf_api::node_pool::NodePool;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The objects of a corpus file that an API server accepts, as it would store them: without the
/// fields that are null, and with the one default that stands inside a list.
fn accepted(file: &str) -> Vec<Value> {
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it for tests");
    let text = std::fs::read_to_string(format!("{root}/tests/corpus/{file}")).expect("a corpus");
    let documents: Vec<Value> = serde_saphyr::from_multiple(&text).expect("a corpus is YAML");
    let mut objects: Vec<Value> = documents
        .into_iter()
        .filter(|object| object["metadata"]["annotations"]["kerf.test/expect"] == "accepted")
        .collect();
    for object in &mut objects {
        drop_nulls(object);
        let budgets = object.pointer_mut("/spec/disruption/budgets").and_then(Value::as_array_mut);
        for budget in budgets.into_iter().flatten().filter_map(Value::as_object_mut) {
            budget.entry("nodes").or_insert(json!("10%"));
        }
    }
    assert!(objects.len() >= 5, "{file} has only {} accepted objects", objects.len());
    objects
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        Value::Array(list) => list.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

fn survives<T, M>(
    file: &str,
    to_model: impl Fn(&T) -> Result<M, Vec<kerf_api::FieldError>>,
    from_model: impl Fn(&M) -> T,
) where
    T: DeserializeOwned + Serialize + Debug,
    M: PartialEq + Debug,
{
    for object in accepted(file) {
        let decoded: T = serde_json::from_value(object.clone()).expect("an accepted object");
        assert_eq!(serde_json::to_value(&decoded).expect("JSON"), object);
        let model = to_model(&decoded).unwrap_or_else(|problems| panic!("{object}: {problems:?}"));
        let again = to_model(&from_model(&model)).expect("what Kerf writes Kerf can read");
        assert_eq!(again, model, "{object}");
    }
}

#[test]
fn node_claims_survive() {
    survives("nodeclaim.yaml", node_claim_to_model, node_claim_from_model);
}

#[test]
fn node_overlays_survive() {
    survives("nodeoverlay.yaml", node_overlay_to_model, node_overlay_from_model);
}

#[test]
fn capacity_buffers_survive() {
    survives("capacitybuffer.yaml", capacity_buffer_to_model, capacity_buffer_from_model);
}

/// The hash tells an empty list from an absent one and a budget may be unreadable; everything else
/// of a pool survives.
#[test]
fn node_pools_survive() {
    for object in accepted("nodepool.yaml") {
        let decoded: NodePool = serde_json::from_value(object.clone()).expect("an accepted object");
        assert_eq!(serde_json::to_value(&decoded).expect("JSON"), object);
        let mut model = node_pool_to_model(&decoded).expect("an accepted pool");
        if !model.disruption.budgets.unreadable().is_empty() {
            continue;
        }
        let again = node_pool_to_model(&node_pool_from_model(&model)).expect("readable");
        model.hash.clone_from(&again.hash);
        assert_eq!(again, model, "{object}");
    }
}

#[test]
fn the_hash_of_a_full_template_survives() {
    let pool: NodePool = serde_json::from_value(json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "full"},
        "spec": {"template": {
            "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "requirements": [{"key": "a", "operator": "Exists"}],
                "taints": [{"key": "t", "value": "v", "effect": "NoSchedule"}],
                "startupTaints": [{"key": "s", "effect": "NoExecute"}],
                "terminationGracePeriod": "90m",
                "expireAfter": "720h"
            }
        }}
    }))
    .expect("a pool");
    let model = node_pool_to_model(&pool).expect("readable");
    let again = node_pool_to_model(&node_pool_from_model(&model)).expect("readable");
    assert_eq!(again, model);
}

/// What `disruption` leaves out is what an API server fills in, for pools that come from files.
#[test]
fn a_pool_without_disruption_settings_has_the_defaults_of_the_schema() {
    let read = |disruption: Value| {
        let mut pool = json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "p"},
            "spec": {"template": {"spec": {
                "nodeClassRef": {"group": "g", "kind": "K", "name": "n"}, "requirements": [],
            }}},
        });
        if !disruption.is_null() {
            pool["spec"]["disruption"] = disruption;
        }
        let pool: NodePool = serde_json::from_value(pool).expect("a pool");
        node_pool_to_model(&pool).expect("readable").disruption
    };
    let defaults = read(json!({
        "consolidateAfter": "0s", "consolidationPolicy": "WhenEmptyOrUnderutilized",
        "budgets": [{"nodes": "10%"}],
    }));
    assert_eq!(read(Value::Null), defaults);
    assert_eq!(read(json!({})), defaults);
    assert_eq!(read(json!({"budgets": [{}]})), defaults);
    assert_eq!(read(json!({"budgets": []})).budgets.budgets(), []);
}

#[test]
fn every_unreadable_field_is_named() {
    let pool: NodePool = serde_json::from_value(json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "bad"},
        "spec": {
            "limits": {"cpu": "lots"},
            "weight": -1,
            "disruption": {"consolidateAfter": "soon"},
            "template": {"spec": {
                "nodeClassRef": {"group": "g", "kind": "K", "name": "n"},
                "requirements": [{"key": "a", "operator": "is"}],
                "taints": [{"key": "t", "effect": "Never"}],
                "expireAfter": "1 month",
                "terminationGracePeriod": "-"
            }}
        }
    }))
    .expect("a pool");
    let problems = node_pool_to_model(&pool).expect_err("unreadable");
    let fields: Vec<&str> = problems.iter().map(|problem| problem.field.as_str()).collect();
    assert_eq!(
        fields,
        [
            "spec.limits.cpu",
            "spec.disruption.consolidateAfter",
            "spec.weight",
            "spec.template.spec.requirements[0].operator",
            "spec.template.spec.taints[0].effect",
            "spec.template.spec.expireAfter",
            "spec.template.spec.terminationGracePeriod",
        ]
    );
}
